"""Posteriors that were fitted apart, against the fit of all their islands at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from forests import make_data
from particletree import MCMC, SMC, BayesianTreeClassifier, Categorical, Exact, Posterior, TreePrior
from particletree._data import TrainingData, make_training_data
from particletree._inference.parallel import spawn
from particletree._model import ClassLabels, Flat, Numbers
from particletree._posterior.joining import islands_of

FIVE_SEEDS = np.random.SeedSequence(11).spawn(5)
SPLIT = (slice(0, 3), slice(3, 4), slice(4, 5))
SMALL = SMC.paper(n_particles=30)


def small_data(n_rows: int = 60, seed: int = 0) -> TrainingData:
    X, y = make_data(np.random.default_rng(seed), n_rows=n_rows)
    return make_training_data(X, y, 3)


def fit(sampler: SMC | MCMC, seeds: list[np.random.SeedSequence], data: TrainingData | None = None) -> Posterior:
    """Fit with these seeds of the islands or chains, which a sampler would otherwise spawn from one."""
    number = "n_chains" if isinstance(sampler, MCMC) else "n_islands"
    sampler, root = replace(sampler, **{number: len(seeds)}), np.random.SeedSequence(0)
    with pytest.MonkeyPatch.context() as patch:

        def spawn_these(seed, n, first=0):
            return seeds if seed is root else spawn(seed, n, first)

        patch.setattr("particletree._inference.sampler.spawn", spawn_these)
        return sampler.run(data or small_data(), TreePrior.paper(), Categorical(3.0), seed=root)


def fit_apart(sampler: SMC | MCMC) -> list[Posterior]:
    return [fit(sampler, FIVE_SEEDS[part]) for part in SPLIT]


def tree_keys(posterior: Posterior) -> list[bytes]:
    """Return for each tree the bytes of all that is known of it."""
    forest, keys = posterior.forest, []
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        rules = [tree.nodes[name].tobytes() for name in tree.nodes.dtype.names or () if name != "block"]
        numbers = [posterior.log_likelihoods[t].tobytes(), posterior.log_priors[t].tobytes()]
        keys.append(b"".join([*rules, *numbers, tree.node_statistics.tobytes()]))
    return keys


def assert_same_up_to_the_order_of_trees(merged: Posterior, whole: Posterior) -> NDArray[np.int64]:
    """Compare to the last bit, and return the place of each tree of the first in the second."""
    keys = tree_keys(whole)
    place = np.array([keys.index(key) for key in tree_keys(merged)])
    assert sorted(place) == list(range(whole.forest.n_trees))
    assert (merged.island_weights.toarray() == whole.island_weights.toarray()[:, place]).all()
    assert (merged.island_shares == whole.island_shares).all()
    assert (merged.weights == whole.weights[place]).all()
    return place


class TestIslands:
    @pytest.mark.parametrize("weighting", ["uniform", "evidence"])
    @pytest.mark.parametrize("proposal", ["prior", "optimal"])
    def test_equals_the_fit_of_all_islands_at_once(self, proposal: str, weighting: str) -> None:
        sampler = SMC.paper(n_particles=30, proposal=proposal, island_weighting=weighting)
        whole = fit(sampler, FIVE_SEEDS)
        merged = Posterior.merge(fit_apart(sampler), island_weighting=weighting)
        merged.check()
        assert_same_up_to_the_order_of_trees(merged, whole)
        assert whole.log_evidences is not None
        assert merged.log_evidences is not None
        assert (merged.log_evidences == whole.log_evidences).all()
        for mine, yours in zip(merged.trace, whole.trace, strict=True):
            assert mine.tobytes() == yours.tobytes()
        X = np.random.default_rng(1).uniform(-1, 6, size=(20, 3))
        assert merged.predictive(X) == pytest.approx(whole.predictive(X), abs=1e-14)

    def test_trees_that_several_fits_have_found_are_kept_once(self) -> None:
        data = make_training_data([[0.0], [1.0], [2.0]], [0, 1, 1], 2)
        sampler = SMC.paper(n_particles=300)
        parts = [fit(sampler, FIVE_SEEDS[part], data) for part in SPLIT]
        assert all((part.n_leaves == 1).any() for part in parts)  # a single leaf has no threshold that could differ
        merged = Posterior.merge(parts)
        assert (merged.n_leaves == 1).sum() == 1
        assert_same_up_to_the_order_of_trees(merged, fit(sampler, FIVE_SEEDS, data))

    def test_a_posterior_of_three_islands_weighs_three_times_one_of_one(self) -> None:
        parts = fit_apart(SMALL)
        merged = Posterior.merge(parts)
        assert merged.island_shares.tolist() == [0.2] * 5
        X = np.random.default_rng(1).uniform(-1, 6, size=(20, 3))
        expected = sum(share * part.predictive(X) for share, part in zip((0.6, 0.2, 0.2), parts, strict=True))
        assert merged.predictive(X) == pytest.approx(expected)

    def test_the_argument_decides_how_islands_weigh_not_the_fit(self) -> None:
        parts = fit_apart(SMC.paper(n_particles=30, island_weighting="evidence"))
        assert len(set(parts[0].island_shares.tolist())) == 3
        assert Posterior.merge(parts).island_shares.tolist() == [0.2] * 5
        by_evidence = Posterior.merge(fit_apart(SMALL), island_weighting="evidence")
        assert by_evidence.log_evidences is not None
        evidences = np.exp(by_evidence.log_evidences - by_evidence.log_evidences.max())
        assert by_evidence.island_shares == pytest.approx(evidences / evidences.sum())

    def test_merging_in_two_steps_is_merging_in_one(self) -> None:
        a, b, c = fit_apart(SMALL)
        assert_same_up_to_the_order_of_trees(Posterior.merge([Posterior.merge([a, b]), c]), Posterior.merge([a, b, c]))

    def test_posteriors_from_files(self, tmp_path: Path) -> None:
        parts = fit_apart(SMALL)
        for number, part in enumerate(parts):
            part.save(tmp_path / f"{number}.npz")
        merged = Posterior.merge(Posterior.load(tmp_path / f"{number}.npz") for number in range(3))
        assert_same_up_to_the_order_of_trees(merged, fit(SMALL, FIVE_SEEDS))
        merged.save(tmp_path / "merged.npz")
        assert_same_up_to_the_order_of_trees(Posterior.load(tmp_path / "merged.npz"), merged)

    def test_of_one_is_the_same(self) -> None:
        (alone, *_) = fit_apart(SMALL)
        assert_same_up_to_the_order_of_trees(Posterior.merge([alone]), alone)

    def test_names_and_labels_are_kept(self) -> None:
        pandas = pytest.importorskip("pandas")
        X, y = make_data(np.random.default_rng(0))
        frame, labels = pandas.DataFrame(X, columns=["a", "b", "c"]), np.array(["no", "yes", "maybe"])[y]
        fits = [BayesianTreeClassifier(sampler=SMALL, random_state=i).fit(frame, labels) for i in range(2)]
        merged = Posterior.merge(model.posterior_ for model in fits)
        assert merged.feature_names == ["a", "b", "c"]
        assert merged.target.classes.tolist() == ["maybe", "no", "yes"]
        assert merged.n_islands == 10


class TestChains:
    sampler = MCMC(n_iterations=300, burn_in=50, thin=2)

    def test_equals_the_fit_of_all_chains_at_once(self) -> None:
        whole, merged = fit(self.sampler, FIVE_SEEDS), Posterior.merge(fit_apart(self.sampler))
        merged.check()
        place = assert_same_up_to_the_order_of_trees(merged, whole)
        assert merged.log_evidences is None
        for mine, yours in zip(merged.trace, whole.trace, strict=True):
            kept = yours["tree"] >= 0
            assert (place[mine["tree"][kept]] == yours["tree"][kept]).all()
            assert (mine["tree"][~kept] == -1).all()
            assert (mine["move"] == yours["move"]).all()
        for mine, yours in zip(merged.along_chains(merged.n_leaves), whole.along_chains(whole.n_leaves), strict=True):
            assert mine.tolist() == yours.tolist()

    def test_the_parts_are_left_as_they_were(self) -> None:
        parts = fit_apart(self.sampler)
        before = [trace["tree"].tolist() for part in parts for trace in part.trace]
        Posterior.merge(parts)
        assert [trace["tree"].tolist() for part in parts for trace in part.trace] == before

    def test_cut_short_by_until(self) -> None:
        parts = fit_apart(self.sampler)
        merged = Posterior.merge(part.until(120) for part in parts)
        whole = fit(self.sampler, FIVE_SEEDS).until(120)
        merged.check()
        X = np.random.default_rng(1).uniform(-1, 6, size=(20, 3))
        assert merged.predictive(X) == pytest.approx(whole.predictive(X), abs=1e-12)

    def test_chains_of_different_lengths_are_refused(self) -> None:
        a = fit(self.sampler, FIVE_SEEDS[:1])
        b = fit(MCMC(n_iterations=200, burn_in=0), FIVE_SEEDS[1:2])
        with pytest.raises(ValueError, match=r"number of kept iterations of each chain: \[125\] and \[200\]"):
            Posterior.merge([a, b])

    def test_chains_have_no_evidence_to_weigh_them_by(self) -> None:
        with pytest.raises(ValueError, match="needs a sampler that estimates the evidence"):
            Posterior.merge(fit_apart(self.sampler), island_weighting="evidence")


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"prior": TreePrior(alpha=0.5)},
                r"in the prior: TreePrior\(alpha=0.95, .*\) and TreePrior\(alpha=0.5",
            ),
            ({"leaf": Categorical(4.0)}, "in the leaf model: .*3.0.* and .*4.0"),
            ({"leaf": Flat(3.0)}, "in the leaf model: Categorical.* and Flat"),
            ({"n_features": 4}, "in the number of features: 3 and 4"),
            ({"feature_names": ["a", "b", "c"]}, r"in the feature names: None and \['a', 'b', 'c'\]"),
            ({"target": ClassLabels(np.array([1, 2, 3]))}, r"in the target: .*\[0, 1, 2\].* and .*\[1, 2, 3\]"),
            ({"target": Numbers(3)}, r"in the target: ClassLabels.*\[0, 1, 2\].* and Numbers\(n_targets=3"),
        ],
    )
    def test_says_what_differs(self, change: dict[str, Any], message: str) -> None:
        a, b, _ = fit_apart(SMALL)
        with pytest.raises(ValueError, match=f"Posteriors 0 and 1 cannot be merged.*{message}"):
            Posterior.merge([a, replace(b, **change)])

    def test_other_data(self) -> None:
        a = fit(SMALL, FIVE_SEEDS[:1])
        b = fit(SMALL, FIVE_SEEDS[1:2], small_data(n_rows=61))
        with pytest.raises(ValueError, match="differ in the training data, by the statistics of all rows: "):
            Posterior.merge([a, b])

    def test_other_data_with_the_same_class_counts(self) -> None:
        iris = load_iris()
        X, y = iris.data, iris.target
        a = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, y).posterior_
        b = BayesianTreeClassifier(sampler=SMALL, random_state=1).fit(3 * X[:, ::-1], y).posterior_
        message = r"because they were fitted to different data; they differ in the values of the features x\[0\], "
        with pytest.raises(ValueError, match=f"Posteriors 0 and 1 cannot be merged, {message}"):
            Posterior.merge([a, b])

    def test_folds_of_a_cross_validation(self) -> None:
        iris = load_iris()
        folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0).split(iris.data, iris.target)
        parts = [
            BayesianTreeClassifier(sampler=SMALL, random_state=i).fit(iris.data[train], iris.target[train]).posterior_
            for i, (train, _) in enumerate(folds)
        ]
        with pytest.raises(ValueError, match="Posteriors 0 and 1 cannot be merged, because they were fitted to diff"):
            Posterior.merge(parts)

    def test_other_labels_and_other_order_of_rows(self) -> None:
        X, y = make_data(np.random.default_rng(0))
        a = fit(SMALL, FIVE_SEEDS[:1])
        for labels, rows in ((np.roll(y, 1), X), (y[::-1], X[::-1])):
            b = fit(SMALL, FIVE_SEEDS[1:2], make_training_data(rows, labels, 3))
            with pytest.raises(ValueError, match=r"they differ in the rows \(which values and which target"):
                Posterior.merge([a, b])

    def test_other_data_from_files(self, tmp_path: Path) -> None:
        X, y = make_data(np.random.default_rng(0))
        fit(SMALL, FIVE_SEEDS[:1]).save(tmp_path / "a")
        fit(SMALL, FIVE_SEEDS[1:2], make_training_data(X + 1.0, y, 3)).save(tmp_path / "b")
        with pytest.raises(
            ValueError, match=r"fitted to different data; they differ in the values of the features x\[0\], "
        ):
            Posterior.merge(Posterior.load(tmp_path / name) for name in "ab")

    def test_posteriors_that_do_not_say_which_data_they_are_of(self) -> None:
        known, unknown = fit(SMALL, FIVE_SEEDS[:1]), replace(fit(SMALL, FIVE_SEEDS[1:2]), fingerprint=None)
        other = replace(fit(SMALL, FIVE_SEEDS[2:3]), fingerprint=None)
        with pytest.raises(
            ValueError, match=r"because posterior 1 does not say which data it was fitted to \(it has no fi"
        ):
            Posterior.merge([known, unknown])
        with pytest.raises(ValueError, match="because posterior 0 does not say which data it was fitted to"):
            Posterior.merge([unknown, known])
        assert Posterior.merge([unknown, other]).fingerprint is None

    def test_what_was_merged_still_says_which_data_it_is_of(self) -> None:
        a, b, _ = fit_apart(SMALL)
        assert Posterior.merge([a, b]).fingerprint == a.fingerprint == small_data().fingerprint

    def test_islands_and_chains(self) -> None:
        a, b = fit(SMALL, FIVE_SEEDS[:1]), fit(TestChains.sampler, FIVE_SEEDS[1:2])
        with pytest.raises(ValueError, match="kind of runs: 'islands of particles' and 'Markov chains'"):
            Posterior.merge([a, b])

    def test_the_same_seed_twice(self) -> None:
        a, b = fit(SMALL, FIVE_SEEDS[:2]), fit(SMALL, FIVE_SEEDS[1:3])
        with pytest.raises(ValueError, match="Posteriors 0 and 1 hold the same run"):
            Posterior.merge([a, b])

    def test_roots_alone_are_no_sign_of_the_same_seed(self) -> None:
        data = make_training_data([[1.0], [1.0]], [0, 1], 2)
        assert Posterior.merge(fit(SMALL, FIVE_SEEDS[part], data) for part in SPLIT).n_islands == 5

    def test_an_exact_posterior(self) -> None:
        data = make_training_data([[0.0], [1.0], [2.0]], [0, 1, 1], 2)
        exact = Exact(n_draws=20).run(data, TreePrior.paper(), Categorical(3.0), seed=np.random.SeedSequence(0))
        island = fit(SMALL, FIVE_SEEDS[:1], data)
        with pytest.raises(TypeError, match="Posterior 1 is exact: a sum over all trees"):
            Posterior.merge([island, exact])
        assert Posterior.merge([island, exact.draws()]).n_islands == 2

    def test_what_is_no_list_of_posteriors(self) -> None:
        posterior = fit(SMALL, FIVE_SEEDS[:1])
        with pytest.raises(TypeError, match=r"write Posterior.merge\(\[a, b\]\)"):
            Posterior.merge(posterior)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="the list of posteriors is empty"):
            Posterior.merge([])
        with pytest.raises(TypeError, match=r"number 1 is of type BayesianTreeClassifier; .* posterior_"):
            Posterior.merge([posterior, BayesianTreeClassifier()])  # type: ignore[list-item]

    def test_an_unknown_weighting(self) -> None:
        with pytest.raises(ValueError, match="must be one of uniform, evidence, got 'best'"):
            Posterior.merge(fit_apart(SMALL), island_weighting="best")


def test_islands_of_is_the_inverse_of_from_islands() -> None:
    posterior = fit(SMALL, FIVE_SEEDS)
    islands = islands_of(posterior)
    assert [island.forest.n_trees for island in islands] == np.diff(posterior.island_weights.indptr).tolist()
    again = Posterior.from_islands(
        islands, leaf=posterior.leaf, prior=posterior.prior, n_features=3, target=posterior.target
    )
    assert_same_up_to_the_order_of_trees(again, posterior)
