"""The posterior's answers, against the same answers computed tree by tree."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_array

from forests import TRACE, Grower, make_data, make_island, make_posterior
from particletree import SMC, BayesianTreeClassifier
from particletree._model import Categorical, ClassLabels, Flat, Forest, Numbers, TreePrior
from particletree._posterior import Island, Posterior
from particletree._posterior.predictions import batches
from particletree._posterior.predictions.leaf_mixtures import LeafMixtures
from particletree._posterior.predictions.trees import Predictions
from particletree._posterior.runs.evidence import standard_error

LEAF = Categorical(2.0)


def new_rows(seed: int, n_features: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(-1, 6, size=(25, n_features))


def single_cut(threshold: float, feature: int = 0) -> Forest:
    return Forest.from_preorder(
        offsets=[0, 3],
        feature=[feature, -1, -1],
        threshold=[threshold, np.nan, np.nan],
        gap_low=[np.floor(threshold), np.nan, np.nan],
        gap_high=[np.floor(threshold) + 1, np.nan, np.nan],
        right=[2, -1, -1],
        block=[0, 1, 2],
        statistics=np.array([[4.0, 3.0], [4.0, 1.0], [0.0, 2.0]]),
    )


def root_only() -> Forest:
    return Forest.from_preorder(offsets=[0, 1], feature=[-1], right=[-1], block=[0], statistics=np.array([[4.0, 3.0]]))


def island_of(forest: Forest, log_evidence: float | None = -4.0) -> Island:
    n = forest.n_trees
    log_marginals = LEAF.log_marginal(forest.statistics)[forest.nodes["block"]] * ~forest.is_split
    log_likelihoods = forest.sum_over_subtrees(log_marginals)[forest.roots]
    return Island(forest, np.full(n, 1 / n), log_likelihoods, np.full(n, -1.0), log_evidence, np.zeros(2, TRACE))


def join(islands: list[Island], classes: NDArray[Any] | None = None, **settings: Any) -> Posterior:
    target = ClassLabels(np.arange(2) if classes is None else classes)
    return Posterior.from_islands(islands, leaf=LEAF, prior=TreePrior.paper(), n_features=2, target=target, **settings)


class TestFromIslands:
    def test_keeps_what_each_island_says(self) -> None:
        rng = np.random.default_rng(0)
        X, y = make_data(rng)
        islands = [make_island(Grower(X, y, 3, rng), Categorical(3.0), n_trees=n) for n in (5, 20, 9)]
        posterior = Posterior.from_islands(
            islands, leaf=Categorical(3.0), prior=TreePrior.paper(), n_features=3, target=ClassLabels(np.arange(3))
        )
        posterior.check()
        assert posterior.n_islands == 3
        assert posterior.weights.sum() == pytest.approx(1)
        means = [island.weights @ island.forest.n_leaves for island in islands]
        assert posterior.island_weights @ posterior.n_leaves == pytest.approx(means)
        assert posterior.log_evidences is not None
        assert posterior.log_evidences.tolist() == [island.log_evidence for island in islands]

    def test_a_tree_of_two_islands_is_kept_once(self) -> None:
        both = Forest.concatenate([single_cut(1.5), single_cut(2.5)])
        posterior = join([island_of(single_cut(1.5)), island_of(both)])
        posterior.check()
        assert posterior.forest.n_trees == 2
        assert posterior.forest.n_blocks == 3
        assert posterior.island_weights.toarray().tolist() == [[1.0, 0.0], [0.5, 0.5]]
        assert posterior.weights.tolist() == [0.75, 0.25]

    def test_equal_trees_within_an_island_are_kept_once(self) -> None:
        posterior = join([island_of(single_cut(1.5).select([0, 0, 0]))])
        assert posterior.forest.n_trees == 1
        assert posterior.weights.tolist() == pytest.approx([1.0])

    def test_shares_by_evidence(self) -> None:
        islands = [island_of(single_cut(t), log_evidence=e) for t, e in ((1.5, -1000.0), (2.5, -1000.0 - np.log(3)))]
        assert join(islands).island_shares.tolist() == [0.5, 0.5]
        posterior = join(islands, island_weighting="evidence")
        assert posterior.island_shares == pytest.approx([0.75, 0.25])
        assert posterior.weights == pytest.approx([0.75, 0.25])

    def test_shares_need_evidence_and_a_known_rule(self) -> None:
        islands = [island_of(single_cut(1.5), log_evidence=None)]
        assert join(islands).log_evidences is None
        with pytest.raises(ValueError, match="needs a sampler that estimates the evidence"):
            join(islands, island_weighting="evidence")
        with pytest.raises(ValueError, match="must be one of uniform, evidence, got 'best'"):
            join(islands, island_weighting="best")

    def test_repr(self) -> None:
        assert repr(join([island_of(single_cut(1.5))])) == "Posterior(1 tree from 1 island)"


class TestTrees:
    def test_trees_have_names_and_labels(self) -> None:
        posterior = join([island_of(single_cut(1.5))], feature_names=["age", "size"], classes=np.array(["no", "yes"]))
        assert str(posterior.trees[0]).splitlines()[1] == "├── yes: no, p = 0.71 (5 rows: 4 no, 1 yes)"
        assert len(posterior.trees) == 1

    def test_best_tree_has_the_highest_posterior_probability(self) -> None:
        posterior, _ = make_posterior()
        scores = posterior.log_prior_masses + posterior.log_likelihoods
        assert str(posterior.best_tree()) == str(posterior.trees[int(scores.argmax())])

    def test_best_tree_counts_the_gap_not_the_density(self) -> None:
        narrow, wide = single_cut(1.5, feature=0), single_cut(7.5, feature=1)
        wide.nodes["gap_high"][wide.roots[0]] = 107.0
        island = replace(island_of(Forest.concatenate([narrow, wide])), log_priors=np.log([0.1, 0.01]))
        posterior = join([island])
        assert posterior.log_prior_masses == pytest.approx(np.log([0.1, 1.0]))
        assert posterior.best_tree().feature[0] == 1

    @pytest.mark.parametrize("order", [[0, 1], [1, 0]])
    def test_best_tree_is_the_first_of_those_that_differ_by_rounding(self, order: list[int]) -> None:
        island = island_of(Forest.concatenate([single_cut(1.5), single_cut(2.5)]))
        log_priors = np.array([-1.0, -1.0 + 1e-15])[order]
        assert join([replace(island, log_priors=log_priors)]).best_tree().threshold[0] == 1.5

    @pytest.mark.parametrize("seed", [0, 1])
    def test_best_tree_does_not_depend_on_the_units(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 3))
        y = (X[:, 0] + X[:, 1] > rng.normal(size=120)).astype(int)
        best = []
        for scale in (1.0, 1e6, 1e-3):
            model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=50, n_islands=2), random_state=seed)
            best.append(model.fit(X * scale, y).posterior_.best_tree())
        assert best[0].n_leaves > 1
        for scale, tree in zip((1e6, 1e-3), best[1:], strict=True):
            assert tree.feature.tolist() == best[0].feature.tolist()
            assert tree.node_statistics.tolist() == best[0].node_statistics.tolist()
            assert tree.apply(X * scale).tolist() == best[0].apply(X).tolist()

    def test_sample_follows_the_weights(self) -> None:
        forests = Forest.concatenate([single_cut(1.5), single_cut(2.5)])
        island = replace(island_of(forests), weights=np.array([0.9, 0.1]))
        drawn = join([island]).sample(2000, random_state=1)
        share = np.mean([tree.threshold[0] == 1.5 for tree in drawn])
        assert abs(share - 0.9) < 4 * np.sqrt(0.09 / 2000)

    def test_sample_takes_every_kind_of_random_state(self) -> None:
        posterior, _ = make_posterior()
        texts = [[str(tree) for tree in posterior.sample(5, random_state=7)] for _ in range(2)]
        assert texts[0] == texts[1]
        for state in (None, np.random.default_rng(0), np.random.RandomState(0)):
            assert len(posterior.sample(3, random_state=state)) == 3

    def test_sample_of_none(self) -> None:
        assert make_posterior()[0].sample(0) == []
        assert len(make_posterior()[0].sample(np.int64(2))) == 2  # type: ignore[arg-type]

    @pytest.mark.parametrize("n", [None, 2.0, "3", True, (2, 2)])
    def test_sample_takes_an_integer(self, n: Any) -> None:
        with pytest.raises(TypeError, match="n must be an integer, the number of trees to draw, got"):
            make_posterior()[0].sample(n)

    def test_sample_takes_no_negative_number(self) -> None:
        with pytest.raises(ValueError, match="n must be at least 0, got -1"):
            make_posterior()[0].sample(-1)


class TestNumbers:
    def test_weights_are_read_only(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            make_posterior()[0].weights[0] = 1.0

    def test_effective_sample_size(self) -> None:
        posterior = join([island_of(single_cut(1.5)), island_of(single_cut(2.5))])
        assert posterior.effective_sample_size == pytest.approx(2)

    def test_log_evidence_is_the_log_of_the_mean(self) -> None:
        posterior = join([island_of(single_cut(1.5), log_evidence=np.log(e)) for e in (1.0, 3.0)])
        assert posterior.log_evidence == pytest.approx(np.log(2))
        assert posterior.log_evidence_se == standard_error(np.log([1.0, 3.0]))

    def test_log_evidence_of_one_island_and_of_none(self) -> None:
        one = join([island_of(single_cut(1.5))])
        assert one.log_evidence == -4.0
        assert np.isnan(one.log_evidence_se)
        chain = join([island_of(single_cut(1.5), log_evidence=None)])
        for name in ("log_evidence", "log_evidence_se"):
            with pytest.raises(AttributeError, match="Markov chains do not estimate the evidence"):
                getattr(chain, name)

    def test_gain_shares_by_hand(self) -> None:
        forests = Forest.concatenate([single_cut(1.5, feature=0), single_cut(2.5, feature=1)])
        island = replace(island_of(forests), weights=np.array([0.8, 0.2]))
        assert join([island]).gain_shares() == pytest.approx([0.8, 0.2])
        assert join([island]).inclusion_probabilities() == pytest.approx([0.8, 0.2])

    def test_gain_shares_tree_by_tree(self) -> None:
        posterior, _ = make_posterior()
        earned = np.zeros(3)
        included = np.zeros(3)
        for tree, weight in zip(posterior.trees, posterior.weights, strict=True):
            for node in np.flatnonzero(tree.feature >= 0):
                left, right, whole = (
                    posterior.leaf.log_marginal(tree.node_statistics[i])
                    for i in (tree.left[node], tree.right[node], node)
                )
                earned[tree.feature[node]] += weight * (left + right - whole)
            included[np.unique(tree.feature[tree.feature >= 0])] += weight
        earned = np.maximum(earned, 0)
        assert posterior.gain_shares() == pytest.approx(earned / earned.sum())
        assert posterior.inclusion_probabilities() == pytest.approx(included)

    def test_gain_shares_are_zero_where_nothing_is_earned(self) -> None:
        assert join([island_of(root_only())]).gain_shares().tolist() == [0.0, 0.0]
        flat = replace(join([island_of(single_cut(1.5))]), leaf=Flat())
        assert flat.gain_shares().tolist() == [0.0, 0.0]


class TestPredictive:
    def test_is_the_weighted_mean_over_trees(self) -> None:
        posterior, _ = make_posterior()
        X = new_rows(0)
        expected = sum(
            weight * tree.means[tree.apply(X)] for tree, weight in zip(posterior.trees, posterior.weights, strict=True)
        )
        assert posterior.predictive(X) == pytest.approx(expected)

    def test_takes_lists_and_column_order(self) -> None:
        posterior, _ = make_posterior()
        X = new_rows(1)
        assert np.array_equal(posterior.predictive(X.tolist()), posterior.predictive(np.asfortranarray(X)))

    @pytest.mark.parametrize("method", ["predictive", "predictive_interval"])
    def test_says_what_is_wrong_with_x(self, method: str) -> None:
        posterior, _ = make_posterior()
        with pytest.raises(ValueError, match=r"shape \(rows, 3\), got \(4, 2\)"):
            getattr(posterior, method)(np.zeros((4, 2)))
        with pytest.raises(ValueError, match="Infinite value"):
            getattr(posterior, method)([[0.0, np.inf, 1.0]])

    def test_columns_in_another_order_are_refused(self) -> None:
        posterior = replace(make_posterior()[0], feature_names=["a", "b", "c"])
        frame = pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "c"])
        assert posterior.predictive(frame).shape[0] == 2
        with pytest.raises(ValueError, match="Select those, in that order"):
            posterior.predictive(frame[["c", "b", "a"]])

    @pytest.mark.parametrize("method", ["predictive", "predictive_interval"])
    def test_batches_and_threads_change_nothing(self, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
        posterior, _ = make_posterior()
        ask, X = getattr(posterior, method), np.random.default_rng(0).normal(2, 2, size=(50, 3))
        expected = ask(X)
        for n_rows in (1, 7):
            monkeypatch.setattr(batches, "LEAST_ROWS", n_rows)
            monkeypatch.setattr(batches, "MOST_ROWS", n_rows)
            for n_jobs in (None, 1, 2, 100_000):
                np.testing.assert_array_equal(ask(X, n_jobs=n_jobs), expected)

    def test_threads_fill_the_answer_under_any_backend(self, monkeypatch: pytest.MonkeyPatch) -> None:
        posterior, X = make_posterior()
        monkeypatch.setattr(batches, "MOST_ROWS", 5)
        with parallel_config("loky"):
            np.testing.assert_array_equal(posterior.predictive(X, n_jobs=2), posterior.predictive(X))

    def test_compiles_once_and_not_before_the_first_question(self) -> None:
        posterior, X = make_posterior()
        assert "_predictor" not in vars(posterior.predictions)
        posterior.predictive(X)
        predictor = posterior.predictions._predictor
        posterior.predictive_interval(X)
        assert posterior.predictions._predictor is predictor

    def test_copies_and_changes_compile_anew(self) -> None:
        posterior, X = make_posterior()
        posterior.predictive(X)
        assert "predictions" not in posterior.__getstate__()
        other = replace(posterior, island_shares=np.array([1.0, 0.0, 0.0]))
        first = [t for t, weight in enumerate(other.weights) if weight > 0]
        expected = sum(other.weights[t] * other.trees[t].means[other.trees[t].apply(X)] for t in first)
        assert other.predictive(X) == pytest.approx(expected)
        assert other.predictions._predictor.n_cuts < posterior.predictions._predictor.n_cuts


class TestInterval:
    def test_of_a_single_tree_is_a_beta_interval(self) -> None:
        posterior = join([island_of(single_cut(1.5))])
        low, high = posterior.predictive_interval([[1.0, 0.0]], level=0.8)[0, 0]
        assert (low, high) == pytest.approx(stats.beta(5, 2).ppf([0.1, 0.9]), abs=1e-9)

    def test_is_that_of_the_mixture_over_trees(self) -> None:
        posterior, _ = make_posterior()
        X = new_rows(2)
        interval = posterior.predictive_interval(X, level=0.9)
        cdf = np.zeros((2, X.shape[0], 3))
        for tree, weight in zip(posterior.trees, posterior.weights, strict=True):
            alpha = posterior.leaf.pseudo_counts(tree.node_statistics[tree.apply(X)])
            for end in (0, 1):
                cdf[end] += weight * stats.beta.cdf(interval[:, :, end], alpha, alpha.sum(1, keepdims=True) - alpha)
        assert cdf[0] == pytest.approx(0.05, abs=1e-9)
        assert cdf[1] == pytest.approx(0.95, abs=1e-9)

    @pytest.mark.parametrize("level", [0, 1, -0.1, 1.1, np.nan])
    def test_rejects_levels_outside(self, level: float) -> None:
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            make_posterior()[0].predictive_interval(np.zeros((1, 3)), level)

    @pytest.mark.parametrize("level", [None, "0.9", True, [0.9], 1j])
    def test_rejects_levels_that_are_no_numbers(self, level: Any) -> None:
        with pytest.raises(TypeError, match="level must be a number strictly between 0 and 1, got"):
            make_posterior()[0].predictive_interval(np.zeros((1, 3)), level)

    def test_a_subclass_may_supply_the_mixture(self) -> None:
        class Certain(Predictions):
            def mixtures(self, rows: NDArray[np.float64]) -> LeafMixtures:
                return LeafMixtures(np.ones((len(rows), 1)), np.zeros((len(rows), 1), dtype=int), np.ones((1, 2)))

        class CertainPosterior(Posterior):
            @cached_property
            def predictions(self) -> Predictions:
                return Certain(self.forest, self.weights, self.leaf, self.n_features, n_outputs=2)

        posterior = CertainPosterior(**vars(join([island_of(single_cut(1.5))])))
        assert posterior.predictive_interval([[0.0, 0.0]], 0.5)[0, 0] == pytest.approx(
            stats.beta(2, 2).ppf([0.25, 0.75])
        )


class TestCheck:
    @pytest.mark.parametrize(
        ("change", "rule"),
        [
            ({"target": ClassLabels(np.arange(2))}, "the statistics must be those of the target's outputs"),
            ({"target": ClassLabels(np.array([0, 1, 1]))}, "no two class labels may be the same"),
            ({"target": Numbers(3)}, "Categorical must have a target of its kind"),
            ({"feature_names": ["a"]}, "a feature name for each feature"),
            ({"log_likelihoods": np.zeros(3)}, "log_likelihoods must be"),
            ({"leaf": Categorical(9.0)}, "log_likelihoods must be the sums"),
            ({"log_priors": np.full(1, np.nan)}, "log_priors must be"),
            ({"log_evidences": np.array([np.inf] * 3)}, "log_evidences must be 3 finite numbers"),
            ({"island_shares": np.array([0.5, 0.6, -0.1])}, "island_shares must be at least 0 and sum to 1"),
            ({"island_shares": np.array([0.5, 0.5, 0.5])}, "island_shares must be at least 0 and sum to 1"),
            ({"island_shares": np.array([np.nan, 0.5, 0.5])}, "island_shares must be at least 0 and sum to 1"),
            ({"island_weights": csr_array(np.ones((3, 2)) / 2)}, "island_weights must be islands by trees"),
            ({"n_features": 1}, "feature must be below 1"),
            ({"trace": []}, "a trace for each island"),
        ],
    )
    def test_names_the_broken_rule(self, change: dict[str, Any], rule: str) -> None:
        with pytest.raises(ValueError, match=rule):
            replace(make_posterior()[0], **change).check()

    def test_a_row_of_island_weights_must_sum_to_one(self) -> None:
        posterior, _ = make_posterior()
        with pytest.raises(ValueError, match="island_weights must be at least 0 and sum to 1"):
            replace(posterior, island_weights=posterior.island_weights * 1.1).check()

    def test_there_must_be_a_tree(self) -> None:
        posterior, _ = make_posterior()
        with pytest.raises(ValueError, match="there must be a tree"):
            replace(posterior, forest=posterior.forest.select([])).check()


def test_pickles() -> None:
    posterior, X = make_posterior()
    posterior.predictive(X)
    assert np.array_equal(pickle.loads(pickle.dumps(posterior)).predictive(X), posterior.predictive(X))
