"""The posterior of sums of trees: its draws, what they predict, how chains agree, and files."""

import io
import json
import pickle
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from particletree import BARTPosterior, Posterior, TreePrior
from particletree._commands.main import main
from particletree._data import make_regression_data, make_training_data
from particletree._inference.bart.sampler import BARTChains
from particletree._model.bart import SumPrior
from particletree._model.distributions import Normal
from particletree._model.distributions.mixtures import Mixtures
from particletree._model.rule import NODE, goes_left
from particletree._posterior.base import NO_ROWS
from particletree._posterior.predictions.sums import mixture_log_density, mixture_quantile
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.convergence import RHAT_BAD, Convergence
from particletree._posterior.summary.sums import SumConvergence

CHAINS = BARTChains(n_iterations=40, n_chains=2)
SEED = np.random.SeedSequence(3)
RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=80), RNG.integers(0, 3, 80).astype(float), RNG.normal(size=80)])
ROWS[::6, 0] = np.nan
NUMBERS = make_regression_data(ROWS, np.nan_to_num(ROWS[:, 0]) + (ROWS[:, 1] == 2), categorical_features=[1])
# Most rows are of class 1, then 2, then 0: an order that is not its own inverse.
LABELS = make_training_data(ROWS, np.resize([1, 2, 1, 0, 2, 1], 80), n_classes=3, categorical_features=[1])


@pytest.fixture(scope="module")
def posterior():
    prior = SumPrior(n_trees=6)
    return CHAINS.run(NUMBERS, TreePrior(0.95, 1.0), prior, seed=SEED, feature_names=["a", "kind", "c"])


@pytest.fixture(scope="module")
def of_classes():
    return CHAINS.run(LABELS, TreePrior(0.95, 1.0), SumPrior(n_trees=6), seed=SEED)


def with_noise(posterior, sds):
    """Return the posterior with other standard deviations of the noise."""
    trace = posterior.records[0].trace.copy()
    trace["noise_sd"] = sds / posterior.scaling.width
    return replace(posterior, records=(replace(posterior.records[0], trace=trace),))


def test_the_repr_is_short(posterior, of_classes):
    assert repr(posterior) == "BARTPosterior(40 draws of 6 trees from 2 chains)"
    assert repr(of_classes) == "BARTPosterior(40 draws of 2 sums of 6 trees from 2 chains)"


def walk(nodes, values, x):
    """Send one row down a tree in preorder, and return the value of its leaf."""
    node = 0
    while nodes["feature"][node] >= 0:
        is_left = goes_left(x[nodes["feature"][node]][None], nodes[node : node + 1])[0]
        node = nodes["left" if is_left else "right"][node]
    return values[nodes["block"][node]]


def naive_draws(sums, rows):
    """Return what `TreeSums.draws` returns, row by row and tree by tree."""
    nodes, result, first = sums.nodes.view(NODE)[:, 0], np.zeros((len(rows), sums.n_draws)), 0
    for draw in range(sums.n_draws):
        for structure in sums.structure_of[draw]:
            tree = nodes[sums.starts[structure] : sums.starts[structure + 1]]
            n_leaves = int((tree["feature"] < 0).sum())
            result[:, draw] += [walk(tree, sums.values[first : first + n_leaves], x) for x in rows]
            first += n_leaves
    assert first == sums.values.size
    return result


class TestDraws:
    def test_they_are_sums_over_trees(self, posterior):
        sums = posterior.sums[0]
        rows = np.vstack([ROWS[:6], [[np.nan, 3.0, np.nan], [0.0, 4.0, 0.0]]])
        expected = naive_draws(sums, rows)
        np.testing.assert_allclose(sums.draws(rows), expected)
        np.testing.assert_allclose(sums.means(rows), expected.mean(axis=1))

    def test_one_row_is_answered_as_among_others(self, posterior):
        sums = posterior.sums[0]
        rows = np.vstack([ROWS, [[np.nan, 3.0, np.nan], [0.0, 4.0, 0.0]]])
        one_by_one = [rows[i : i + 1] for i in range(len(rows))]
        np.testing.assert_array_equal(np.vstack([sums.draws(row) for row in one_by_one]), sums.draws(rows))
        np.testing.assert_array_equal(np.hstack([sums.means(row) for row in one_by_one]), sums.means(rows))

    def test_joined_runs_are_their_draws_in_order(self, posterior):
        sums = posterior.sums[0]
        twice = TreeSums.join([sums, sums, sums])
        assert (twice.n_draws, twice.n_structures) == (3 * sums.n_draws, 3 * sums.n_structures)
        np.testing.assert_array_equal(twice.draws(ROWS), np.tile(sums.draws(ROWS), 3))

    def test_splits_are_counted(self, posterior):
        sums = posterior.sums[0]
        nodes, counts = sums.nodes.view(NODE)[:, 0], np.zeros((sums.n_draws, 3), dtype=int)
        for draw in range(sums.n_draws):
            for structure in sums.structure_of[draw]:
                features = nodes["feature"][sums.starts[structure] : sums.starts[structure + 1]]
                counts[draw] += np.bincount(features[features >= 0], minlength=3)
        np.testing.assert_array_equal(sums.split_counts(3), counts)
        mean, sd = posterior.variable_use()
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        np.testing.assert_allclose(mean, shares.mean(axis=0))
        np.testing.assert_allclose(sd, shares.std(axis=0))

    def test_mean_values_are_those_of_the_mean(self, posterior):
        sums = posterior.sums[0]
        totals, first_leaf = sums.mean_values()
        structures = np.arange(sums.n_structures, dtype=np.int32)[None]
        assert (first_leaf[0], first_leaf[-1]) == (0, totals.size)
        mean = replace(sums, structure_of=structures, values=totals, chain=sums.chain[:1])
        np.testing.assert_allclose(mean.draws(ROWS)[:, 0], sums.means(ROWS), rtol=1e-12)

    def test_the_record_counts_the_leaves(self, posterior):
        sums = posterior.sums[0]
        of_draws = sums.n_leaves_of_structures()[sums.structure_of].sum(axis=1)
        np.testing.assert_array_equal(posterior.records[0].trace["n_leaves"], of_draws)
        assert of_draws.sum() == sums.values.size

    def test_the_kernel_checks_the_trees_once(self, posterior):
        sums = replace(posterior.sums[0])
        expected = sums.draws(ROWS)
        assert sums.checked is sums.checked
        for array in (sums.nodes, sums.starts, sums.structure_of, sums.values):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(sums)).draws(ROWS), expected)
        with pytest.raises(ValueError, match="features of the trees"):
            sums.draws(ROWS[:, :1])

    def test_memory(self, posterior):
        assert 0 < posterior.n_bytes < 10**6


class TestImportances:
    def naive(self, posterior, rows, share_of_row):
        """Return the importances from their definition: the mean functions at rows that are changed."""
        lost = np.zeros(posterior.n_features)
        for sums, shares in zip(posterior.sums, share_of_row, strict=True):
            for feature in range(posterior.n_features):
                for step in (8, 16, 24, 32, 40, 48, 56, 64, 72):
                    changed = rows.copy()
                    changed[:, feature] = np.roll(rows[:, feature], step)
                    lost[feature] += shares @ (sums.means(rows) - sums.means(changed)) ** 2
        return lost / lost.sum()

    def test_numbers(self, posterior):
        expected = self.naive(posterior, posterior.kept_rows, np.ones((1, 80)))
        np.testing.assert_allclose(posterior.feature_importances(), expected, rtol=1e-9)
        np.testing.assert_allclose(posterior.feature_importances(ROWS), expected, rtol=1e-9)
        assert posterior.feature_importances().argmax() == 0

    def test_classes_after_others_count_by_the_probability_to_get_there(self, of_classes):
        probabilities = of_classes.predictive(of_classes.kept_rows)
        shares = [np.ones(80), 1 - probabilities[:, of_classes.class_order[0]]]
        expected = self.naive(of_classes, of_classes.kept_rows, shares)
        np.testing.assert_allclose(of_classes.feature_importances(), expected, rtol=1e-9)

    @pytest.mark.parametrize("kind", ["posterior", "of_classes"])
    def test_they_are_the_same_for_copies(self, kind, request, tmp_path):
        posterior = request.getfixturevalue(kind)
        expected = posterior.feature_importances()
        posterior.save(tmp_path / "p.npz")
        pickled, loaded = pickle.loads(pickle.dumps(posterior)), BARTPosterior.load(tmp_path / "p.npz")
        again = pickle.loads(pickle.dumps(pickled))
        for each in (pickled, loaded, again):
            np.testing.assert_array_equal(each.kept_rows, posterior.kept_rows)
            np.testing.assert_array_equal(each.kept_row_numbers, posterior.kept_row_numbers)
            np.testing.assert_array_equal(each.feature_importances(), expected)

    def test_without_rows(self, posterior, tmp_path):
        unknown = posterior.without_rows()
        with pytest.raises(ValueError, match="pass X"):
            unknown.feature_importances()
        np.testing.assert_array_equal(unknown.feature_importances(ROWS), posterior.feature_importances())
        assert "n.a. of the variance" in str(unknown.summary())
        posterior.save(tmp_path / "p.npz", keep_rows=False)
        for each in (unknown, BARTPosterior.load(tmp_path / "p.npz"), pickle.loads(pickle.dumps(unknown))):
            assert each.kept_rows is each.kept_row_numbers is None
            for needs_rows in (each.feature_importances, each.convergence):
                with pytest.raises(ValueError, match=re.escape(NO_ROWS)):
                    needs_rows()
            assert NO_ROWS in " ".join(str(each.summary()).split())

    def test_one_row_and_one_class_have_none(self):
        for data in (make_regression_data([[1.0]], [2.0]), make_training_data([[1.0], [2.0]], [0, 0], n_classes=1)):
            found = CHAINS.run(data, TreePrior(0.95, 1.0), SumPrior(n_trees=3), seed=SEED)
            assert found.feature_importances().tolist() == [0.0]


class TestFirstMissing:
    def test_a_coin_decides_the_side(self):
        """Where no row lacked a value, cuts send missing values left or right with equal probability."""
        rng = np.random.default_rng(1)
        X = rng.normal(size=(60, 1))
        data = make_regression_data(X, np.where(X[:, 0] > 0.5, 3.0, 0.0) + 0.1 * rng.normal(size=60))
        sums = (
            BARTChains(n_iterations=400, n_chains=2)
            .run(data, TreePrior.paper(), SumPrior(n_trees=6), seed=SEED)
            .sums[0]
        )
        cuts = sums.nodes.view(NODE)[:, 0]
        cuts = cuts[cuts["feature"] >= 0]
        _, first = np.unique(cuts["threshold"], return_index=True)
        side = goes_left(np.full(first.size, np.nan), cuts[first])
        error = 0.5 / np.sqrt(first.size)
        z = (side.mean() - 0.5) / error
        assert first.size > 200
        assert abs(z) < 4, f"share on the left {side.mean():.3f}, standard error {error:.3f}, z = {z:.2f}"
        draws = sums.draws(np.array([[np.nan]]))
        assert draws.min() < sums.draws(np.array([[0.0]])).mean() + 0.2
        assert draws.std() > 5 * sums.draws(np.array([[0.0]])).std()


class TestPredictions:
    def test_in_the_unit_of_the_data(self, posterior):
        functions = posterior.predictive_draws(ROWS)[..., 0]
        centre, width = posterior.scaling.centre, posterior.scaling.width
        np.testing.assert_allclose(functions, centre + width * posterior.sums[0].draws(ROWS))
        np.testing.assert_allclose(posterior.predictive(ROWS)[:, 0], functions.mean(axis=1))
        np.testing.assert_allclose(posterior.noise_sd, width * posterior.records[0].trace["noise_sd"])
        np.testing.assert_allclose(
            posterior.predictive_interval(ROWS, 0.5)[:, 0, 0], np.quantile(functions, 0.25, axis=1)
        )

    def test_classes_in_the_order_of_their_labels(self, of_classes):
        first, second = (
            ndtr(offset + sums.draws(ROWS)) for sums, offset in zip(of_classes.sums, of_classes.offsets, strict=True)
        )
        draws = of_classes.predictive_draws(ROWS)
        assert of_classes.class_order.tolist() == [1, 2, 0]
        one, two, three = of_classes.class_order
        np.testing.assert_allclose(draws[..., one], first)
        np.testing.assert_allclose(draws[..., two], (1 - first) * second)
        np.testing.assert_allclose(draws[..., three], (1 - first) * (1 - second))
        mean = of_classes.predictive(ROWS)
        np.testing.assert_allclose(mean[:, two], (1 - first.mean(axis=1)) * second.mean(axis=1))
        np.testing.assert_allclose(mean.sum(axis=1), 1.0)

    def test_batches_of_rows_change_nothing(self, posterior, of_classes, monkeypatch):
        for each in (posterior, of_classes):
            at_once = each.predictive_interval(ROWS), each.predictive(ROWS), each.predictions.averages(ROWS)
            monkeypatch.setattr("particletree._posterior.predictions.sums.LEAST_ROWS", 7)
            monkeypatch.setattr("particletree._posterior.predictions.sums.NUMBERS", 1)
            in_batches = each.predictive_interval(ROWS), each.predictive(ROWS), each.predictions.averages(ROWS)
            for one, other in zip(at_once, in_batches, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)
            monkeypatch.undo()

    def test_each_draw_has_its_own_noise(self, posterior):
        """The mixture over draws, whose noise here differs by a factor of a hundred, against its definition."""
        sds = np.random.default_rng(1).permutation(np.geomspace(0.02, 2.0, posterior.n_draws))
        uneven = with_noise(posterior, sds)
        functions, q = uneven.predictive_draws(ROWS)[..., 0], np.array([0.01, 0.2, 0.7, 0.999])
        quantiles = uneven.predictions.quantiles(ROWS, q)[:, 0]
        below = ndtr((quantiles[..., None] - functions[:, None]) / sds).mean(axis=-1)
        np.testing.assert_allclose(below, np.tile(q, (80, 1)), rtol=1e-9)
        y = functions[:, 3] + 0.1
        densities = norm.pdf(y[:, None], functions, sds).mean(axis=1)
        np.testing.assert_allclose(uneven.predictions.log_densities(ROWS, y[:, None]), np.log(densities))
        variance = functions.var(axis=1) + (sds**2).mean()
        np.testing.assert_allclose(uneven.predictions.deviations(ROWS)[:, 0], np.sqrt(variance))

    def test_observations_have_the_noise_of_their_draw(self, posterior):
        """Draws nearly without noise say which draw an observation is from; each draw is taken once."""
        is_exact = np.arange(posterior.n_draws) % 3 == 0
        uneven = with_noise(posterior, np.where(is_exact, 1e-9, 50.0))
        functions = uneven.predictive_draws(ROWS)[..., 0]
        drawn = uneven.predictions.observations(ROWS, uneven.n_draws, np.random.default_rng(0))[..., 0]
        distances = np.abs(drawn.T[:, None] - functions.T).max(axis=-1)  # of each observation of all rows to each draw
        np.testing.assert_array_equal((distances < 1e-7).sum(axis=0), is_exact)

    def test_averages_over_rows(self, posterior):
        np.testing.assert_allclose(posterior.predictions.averages(ROWS), posterior.predictive_draws(ROWS).mean(axis=0))

    def test_rows_are_checked(self, posterior):
        with pytest.raises(ValueError, match="must have the shape"):
            posterior.predictive([[0.0]])


class TestNormalMixtures:
    MEANS = np.array([[0.0, 0.1, 0.2], [-50.0, 0.0, 50.0], [1e6, 1e6, 1e6 + 1], [0.0, 0.0, 1e-9]])
    SDS = np.array([1.0, 0.2, 3.0])

    @pytest.mark.parametrize("q", [1e-6, 0.05, 0.3, 0.5, 0.9, 1 - 1e-6])
    def test_quantiles_are_those_of_the_general_mixtures(self, q):
        n, k = self.MEANS.shape
        distributions = Normal(self.MEANS.ravel(), np.tile(self.SDS, n))
        general = Mixtures(np.repeat(np.arange(n), k), np.full(n * k, 1 / k), np.arange(n * k), distributions, n)
        np.testing.assert_allclose(mixture_quantile(self.MEANS, self.SDS, q), general.quantile(q), rtol=1e-6, atol=1e-6)

    def test_one_component(self):
        quantile = mixture_quantile(np.array([[2.0]]), np.array([3.0]), 0.9)
        np.testing.assert_allclose(quantile, 2.0 + 3.0 * 1.2815515655446004)

    def test_log_density(self):
        y = self.MEANS.mean(axis=1) + 0.3
        expected = np.mean(np.exp(Normal(self.MEANS, self.SDS).log_density(y[:, None])), axis=1)
        found = mixture_log_density(y, self.MEANS, self.SDS)
        np.testing.assert_allclose(np.exp(found), expected, atol=1e-300)
        assert np.isfinite(mixture_log_density(np.array([1e5]), np.zeros((1, 3)), self.SDS)).all()


class TestConvergence:
    def test_chains_are_compared_at_rows(self, posterior):
        found = posterior.convergence()
        assert found.rhat_of_rows.shape == found.ess_of_rows.shape == (80, 1)
        assert found.noise.rhat > 0.9
        assert posterior.convergence(ROWS[:4]).rhat_of_rows.shape == (4, 1)

    def test_classes_have_no_noise(self, of_classes):
        found = of_classes.convergence(ROWS)
        assert found.noise is None
        assert found.rhat_of_rows.shape == (80, 2)

    def test_chains_that_disagree_show(self, posterior):
        sums = posterior.sums[0]
        shift = np.where(sums.chain == 1, 0.5, 0.0)
        n_values = sums.n_leaves_of_structures()[sums.structure_of].sum(axis=1)
        apart = replace(posterior, sums=(replace(sums, values=sums.values + np.repeat(shift, n_values)),))
        assert apart.convergence().share_settled == 0
        assert "have not settled" in str(apart.summary())

    @pytest.mark.parametrize(
        ("rhat", "ess", "start"),
        [
            (1.005, 401, "The chains agree: R-hat is below 1.01 and the effective sample size above 400 for the noise"),
            (1.005, 399, "The chains agree roughly: R-hat is 1.005 for the noise (effective sample size 399)"),
            (1.049, 200, "The chains agree roughly: R-hat is 1.049 for the noise (effective sample size 200)"),
            (1.05, 200, "The chains have not settled: R-hat is 1.050 for the noise (effective sample size 200); it"),
            (np.nan, np.nan, "The chains are too short to be compared"),
        ],
    )
    def test_the_rule_is_that_of_single_trees(self, rhat, ess, start):
        rows = np.full((20, 1), 1.001)
        rows[0] = 3.0  # one row in ten may be worse
        found = SumConvergence(4, 500, Convergence(rhat, ess, 100.0), rows, np.full((20, 1), 800.0))
        assert found.verdict().startswith(start)
        assert found.has_settled == (rhat < RHAT_BAD)
        assert not replace(found, rhat_of_rows=rows + 0.05).has_settled

    def test_how_far_another_seed_would_move(self):
        found = SumConvergence(4, 500, None, np.full((5, 1), 1.02), np.full((5, 1), 200.0))
        assert "move these by about 0.1 of their posterior standard deviation" in found.verdict()

    def test_it_is_computed_once(self, posterior):
        assert posterior.convergence() is posterior.convergence()

    def test_along_chains(self, posterior):
        one, two = posterior.along_chains(np.arange(40))
        assert (one.tolist(), two.tolist()) == (list(range(20)), list(range(20, 40)))

    def test_summary(self, posterior, of_classes):
        text = str(posterior.summary())
        for part in ("40 draws of 6 trees from 2 chains", "standard deviation", "kind", "R-hat", "regrow"):
            assert part in text
        assert "2 sums of 6 trees" in str(of_classes.summary())
        assert "standard deviation" not in str(of_classes.summary())
        assert posterior._repr_html_().startswith("<")


class TestFiles:
    def test_there_and_back(self, posterior, of_classes, tmp_path):
        for number, each in enumerate((posterior, of_classes)):
            path = tmp_path / f"{number}.npz"
            each.save(path)
            again = BARTPosterior.load(path)
            np.testing.assert_array_equal(again.predictive_draws(ROWS), each.predictive_draws(ROWS))
            for name in ("offsets", "scaling", "prior", "sum_prior", "target", "columns", "feature_names"):
                assert getattr(again, name) == getattr(each, name)
            assert again.fingerprint == each.fingerprint
            assert again.n_iterations == 40
            for one, other in zip(again.records, each.records, strict=True):
                np.testing.assert_array_equal(one.trace, other.trace)
            again.save(tmp_path / "again.npz")
            assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()

    def test_a_loaded_one_without_rows_cannot_go_on(self, posterior, tmp_path):
        posterior.save(tmp_path / "p.npz", keep_rows=False)
        again = BARTPosterior.load(tmp_path / "p.npz")
        with pytest.raises(ValueError, match="pass X"):
            again.convergence()
        assert "posterior.convergence(X)" in str(again.summary())
        with pytest.raises(ValueError, match="does not know where its chains stand"):
            CHAINS.run(NUMBERS, again.prior, again.sum_prior, seed=SEED, earlier=again)

    def test_other_files(self, posterior, tmp_path):
        (tmp_path / "text").write_bytes(b"no archive")
        with pytest.raises(ValueError, match="not an intact zip archive"):
            BARTPosterior.load(tmp_path / "text")

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("format", "particletree posterior", "it holds single trees, which particletree.load reads"),
            ("format", ["particletree posterior"], "does not say that the format is"),
            ("version", 2, "the file has version 2"),
            ("n_features", 1, "feature"),
            ("n_features", -1, "n_features in header.json"),
            ("offsets", [0.0, 0.0], "the members of 2 sums"),
            ("offsets", "x", "list of finite numbers"),
            ("scaling", [0.0], "scaling in header.json"),
            ("class_order", [0], "class_order must name each class once"),
            ("sum_prior", {}, "sum_prior in header.json"),
            ("sum_prior", {"n_trees": 7.0, "k": 2.0, "noise_df": 3.0, "noise_quantile": 0.9}, "n_trees trees"),
            ("prior", {"kind": "TreePrior", "alpha": 2.0}, "wrong parameters of TreePrior"),
            ("feature_names", ["a"], "feature name for each feature"),
            ("has_rows", 1, "has_rows in header.json must be true or false"),
            ("has_rows", False, "the members of 1 sums must be header.json, those of each sum, and chain as"),
            ("importances", [0.5, -0.5, 1.0], "must have exactly the keys"),
            ("fingerprint", {"n_rows": 1}, "fingerprint in header.json"),
            ("target", {"kind": "numbers", "n_targets": 2, "names": None}, "one number to predict"),
        ],
    )
    def test_wrong_headers(self, posterior, tmp_path, key, value, message):
        def change(members):
            header = json.loads(members["header.json"])
            members["header.json"] = json.dumps(header | {key: value}).encode()

        with pytest.raises(ValueError, match=message):
            load_changed(posterior, tmp_path, change)

    @pytest.mark.parametrize(
        ("name", "place", "value", "message"),
        [
            ("starts_0", 1, 10**9, "a tree|the trees"),
            ("structure_of_0", (0, 0), 10**6, "out of range"),
            ("structure_of_0", (0, 0), -1, "out of range"),
            ("values_0", 0, np.nan, "values of leaves must be finite"),
            ("chain", 0, 5, "chains must be numbered from 0"),
        ],
    )
    def test_wrong_arrays(self, posterior, tmp_path, name, place, value, message):
        def change(members):
            array = np.load(io.BytesIO(members[f"{name}.npy"]))
            array[place] = value
            members[f"{name}.npy"] = npy(array)

        with pytest.raises(ValueError, match=message):
            load_changed(posterior, tmp_path, change)

    @pytest.mark.parametrize(
        ("column", "value", "message"),
        [
            ("feature", 99, "feature must be below 3, the number of features"),
            ("kind", 9, "the kind of a rule"),
            ("left", 10**6, "must be in preorder, each the child of one split"),
            ("left", 0, "must be in preorder, each the child of one split"),
        ],
    )
    def test_wrong_nodes(self, posterior, tmp_path, column, value, message):
        def change(members):
            nodes = np.load(io.BytesIO(members["nodes_0.npy"]))
            nodes[column][np.flatnonzero(nodes["feature"] == 0)[0]] = value
            members["nodes_0.npy"] = npy(nodes)

        with pytest.raises(ValueError, match=message):
            load_changed(posterior, tmp_path, change)

    def test_the_loader_of_single_trees_names_the_right_one(self, posterior, tmp_path, capsys):
        posterior.save(tmp_path / "sums.npz")
        with pytest.raises(ValueError, match=r"sums\.npz: it holds sums of trees, which particletree\.load reads"):
            Posterior.load(tmp_path / "sums.npz")
        assert main(["report", str(tmp_path / "sums.npz"), "-o", str(tmp_path / "report.html")]) == 1
        assert "it holds sums of trees" in capsys.readouterr().err

    @pytest.mark.parametrize("feature", [-2, -3, -4, -5, -(2**31)])
    def test_leaves_must_have_feature_minus_one(self, posterior, tmp_path, feature):
        def change(members):
            nodes = np.load(io.BytesIO(members["nodes_0.npy"]))
            nodes["feature"][np.flatnonzero(nodes["feature"] == -1)[0]] = feature
            members["nodes_0.npy"] = npy(nodes)

        with pytest.raises(ValueError, match="feature must be -1 at a leaf"):
            load_changed(posterior, tmp_path, change)

    def test_noise_must_be_positive(self, posterior, tmp_path):
        def change(members):
            trace = np.load(io.BytesIO(members["trace_0.npy"]))
            trace["noise_sd"][3] = 0.0
            members["trace_0.npy"] = npy(trace)

        with pytest.raises(ValueError, match="noise of every draw"):
            load_changed(posterior, tmp_path, change)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0))
    return stream.getvalue()


def load_changed(posterior, folder, change):
    posterior.save(folder / "before.npz")
    with zipfile.ZipFile(folder / "before.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(folder / "after.npz", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return BARTPosterior.load(folder / "after.npz")
