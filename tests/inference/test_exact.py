"""The exact recursion: against the oracle that lists every tree, against draws from the prior, and its own draws."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainc

import oracle
from oracle import DataSet, Enumeration, Leaf, Split, Tree, assert_frequencies, assert_mean
from particletree import Categorical, Exact, Flat, Posterior, TreePrior
from particletree._data import TrainingData, make_training_data
from particletree._inference.exact.blocks import Blocks, number_states
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.exact.sampler import ExactPosterior
from particletree._model import Forest
from particletree._model.prior import log_length
from particletree._model.validity import check_forest

PRIOR = TreePrior(alpha=0.9, beta=0.7)
MODELS = [(PRIOR, 1.5), (TreePrior(alpha=0.5, beta=0.0), 5.0), (TreePrior(alpha=0.95, beta=2.0), 0.3)]
N_DRAWS = 4000


def training_data(data: DataSet) -> TrainingData:
    return make_training_data(data.X, data.y, data.n_classes, data.weights)


def solve(data: DataSet, prior: TreePrior = PRIOR, leaf: Categorical | None = None, **limit: int) -> ExactRecursion:
    return ExactRecursion(training_data(data), prior, leaf or Categorical(1.5), **limit)


@cache
def enumeration(data: DataSet) -> Enumeration:
    return Enumeration(data, PRIOR, 1.5)


class Drawn(NamedTuple):
    """Draws of a solved recursion, one by one: a posterior would merge those that are equal."""

    recursion: ExactRecursion
    forest: Forest
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]


@cache
def drawn(data: DataSet) -> Drawn:
    recursion = solve(data)
    return Drawn(recursion, *recursion.draw(N_DRAWS, np.random.default_rng(7)))


def tree_of(forest: Forest, t: int, data: DataSet, check_counts: bool = False) -> Tree:
    """Read one tree of a forest back into the oracle's words, by sending the raw rows down."""
    nodes = forest.nodes

    def read(node: int, rows: tuple[int, ...]) -> Tree:
        feature, threshold = int(nodes["feature"][node]), float(nodes["threshold"][node])
        if check_counts:
            counts = forest.statistics[nodes["block"][node]]
            np.testing.assert_allclose(counts, data.counts(rows), rtol=1e-12)
        if feature < 0:
            return Leaf(rows)
        left = tuple(row for row in rows if data.X[row, feature] <= threshold)
        right = tuple(row for row in rows if data.X[row, feature] > threshold)
        assert left, "a cut leaves rows on the left"
        assert right, "a cut leaves rows on the right"
        children = int(nodes["left"][node]), int(nodes["right"][node])
        return Split(feature, threshold, threshold, read(children[0], left), read(children[1], right))

    return read(int(forest.roots[t]), tuple(range(len(data.X))))


@cache
def drawn_trees(data: DataSet) -> list[Tree]:
    return [tree_of(drawn(data).forest, t, data) for t in range(N_DRAWS)]


def with_gaps(tree: Tree, X: NDArray[np.float64]) -> Tree:
    """Replace each threshold by the gap of its block that it falls into."""
    if isinstance(tree, Leaf):
        return tree
    rows = [row for leaf, _ in oracle.leaves(tree) for row in leaf.rows]
    values = X[rows, tree.feature]
    low, high = float(values[values <= tree.low].max()), float(values[values > tree.low].min())
    return Split(tree.feature, low, high, with_gaps(tree.left, X), with_gaps(tree.right, X))


# Against the list of all trees


@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_the_oracle_lists_a_whole_prior(data: DataSet) -> None:
    assert math.fsum(enumeration(data).prior_probabilities) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("prior", "concentration"), MODELS, ids=str)
@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_evidence_is_the_sum_over_all_trees(data: DataSet, prior: TreePrior, concentration: float) -> None:
    listed = Enumeration(data, prior, concentration)
    recursion = solve(data, prior, Categorical(concentration))
    assert math.exp(recursion.log_evidence) == pytest.approx(listed.evidence, rel=1e-10)


@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_sizes_have_the_distribution_of_the_listed_trees(data: DataSet) -> None:
    listed, recursion = enumeration(data), solve(data)
    for found, expected in [
        (recursion.n_leaves_probabilities(), listed.n_leaves_probabilities()),
        (recursion.depth_probabilities(), listed.depth_probabilities()),
    ]:
        np.testing.assert_allclose(found[: len(expected)], expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found[len(expected) :], 0, rtol=0, atol=1e-10)


@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_predictive_is_that_of_the_listed_trees(data: DataSet) -> None:
    expected = enumeration(data).predictive(data.points())
    np.testing.assert_allclose(solve(data).predictive(data.points()), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_leaf_mixture_is_that_of_the_listed_trees(data: DataSet) -> None:
    recursion = solve(data)
    for x in data.points():
        expected: Counter[tuple[float, ...]] = Counter()
        for rows, weight in enumeration(data).leaf_mixture(x).items():
            expected[tuple(np.round(data.counts(rows), 9))] += weight
        found: Counter[tuple[float, ...]] = Counter()
        weights, counts = recursion.leaf_mixture(x)
        for weight, row in zip(weights, counts, strict=True):
            found[tuple(np.round(row, 9))] += weight
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert dict(found) == pytest.approx(dict(expected), abs=1e-10)


# Twelve rows, where there are too many trees to list


@cache
def prior_draws(data: DataSet) -> list[Tree]:
    rng = np.random.default_rng(11)
    return [oracle.draw_tree_from_prior(data.X, PRIOR, rng) for _ in range(N_DRAWS)]


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_evidence_is_the_mean_likelihood_under_the_prior(data: DataSet) -> None:
    evidence = math.exp(solve(data).log_evidence)
    ratios = [oracle.likelihood(data, tree, 1.5) / evidence for tree in prior_draws(data)]
    assert_mean(ratios, 1.0, "likelihood of a tree from the prior / evidence")


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_predictive_is_the_weighted_mean_under_the_prior(data: DataSet) -> None:
    recursion, points = solve(data), data.points()
    evidence, exact = math.exp(recursion.log_evidence), recursion.predictive(points)
    weights = np.array([oracle.likelihood(data, tree, 1.5) / evidence for tree in prior_draws(data)])
    for x, expected in zip(points, exact, strict=True):
        answers = [oracle.leaf_of(tree, x) for tree in prior_draws(data)]
        differences = np.array([oracle.leaf_predictive(data, leaf, 1.5) - expected for leaf in answers])
        for k in range(data.n_classes):
            assert_mean(
                weights * differences[:, k], 0.0, f"weighted predictive of class {k} at {x}, less the exact one"
            )


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_a_flat_likelihood_returns_the_prior(data: DataSet) -> None:
    recursion = solve(data, leaf=Flat())
    assert recursion.log_evidence == pytest.approx(0.0, abs=1e-12)
    sizes = recursion.n_leaves_probabilities()
    counts = np.bincount([oracle.n_leaves(tree) for tree in prior_draws(data)], minlength=len(sizes))
    assert_frequencies(counts, sizes, "number of leaves under the prior")
    depths = recursion.depth_probabilities()
    counts = np.bincount([oracle.tree_depth(tree) for tree in prior_draws(data)], minlength=len(depths))
    assert_frequencies(counts, depths, "depth under the prior")


def test_whole_weights_mean_repeated_rows() -> None:
    weights = [2, 1, 3, 1, 1, 2]
    weighted = DataSet("weighted", oracle.SIX_ROWS.X, oracle.SIX_ROWS.y, 2, [float(w) for w in weights])
    repeated = DataSet("repeated", np.repeat(weighted.X, weights, axis=0), np.repeat(weighted.y, weights).tolist(), 2)
    assert solve(weighted).log_evidence == pytest.approx(solve(repeated).log_evidence, abs=1e-12)
    found = solve(weighted).predictive(weighted.points())
    np.testing.assert_allclose(found, solve(repeated).predictive(weighted.points()), atol=1e-12)


# Draws


@pytest.mark.parametrize("data", [*oracle.SMALL, *oracle.TWELVE], ids=str)
def test_draws_are_valid_trees_with_their_own_prior_and_likelihood(data: DataSet) -> None:
    result = drawn(data)
    check_forest(result.forest, n_features=2)
    assert result.forest.n_trees == len(result.log_priors) == len(result.log_likelihoods) == N_DRAWS
    for t in range(200):
        tree = tree_of(result.forest, t, data, check_counts=True)
        expected = oracle.log_prior_density(data.X, PRIOR, tree)
        assert result.log_priors[t] == pytest.approx(expected, abs=1e-10)
        assert math.exp(result.log_likelihoods[t]) == pytest.approx(oracle.likelihood(data, tree, 1.5), rel=1e-10)


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_draws_know_their_gaps(data: DataSet) -> None:
    def gaps(tree: Tree) -> list[tuple[float, float]]:
        """Return the gaps of the splits in preorder."""
        return [] if isinstance(tree, Leaf) else [(tree.low, tree.high), *gaps(tree.left), *gaps(tree.right)]

    forest = drawn(data).forest
    for t in range(200):
        tree = forest.tree(t)
        is_split = tree.feature >= 0
        found = list(zip(tree.gap_low[is_split].tolist(), tree.gap_high[is_split].tolist(), strict=True))
        assert found == gaps(with_gaps(drawn_trees(data)[t], data.X))
        assert forest.log_gap_volumes[t] == pytest.approx(sum(log_length(low, high) for low, high in found))


@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_prior_masses_are_the_probabilities_of_the_listed_trees(data: DataSet) -> None:
    listed = dict(zip(enumeration(data).trees, enumeration(data).prior_probabilities, strict=True))
    masses = drawn(data).log_priors + drawn(data).forest.log_gap_volumes
    for tree, mass in list(zip(drawn_trees(data), masses, strict=True))[:200]:
        assert math.exp(mass) == pytest.approx(listed[with_gaps(tree, data.X)], rel=1e-9)


@pytest.mark.parametrize("data", oracle.SMALL, ids=str)
def test_draws_follow_the_probabilities_of_the_listed_trees(data: DataSet) -> None:
    number = {tree: i for i, tree in enumerate(enumeration(data).trees)}
    counts = np.zeros(len(number))
    for tree in drawn_trees(data):
        counts[number[with_gaps(tree, data.X)]] += 1
    assert_frequencies(counts, enumeration(data).probabilities, "tree")


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_draws_have_the_exact_sizes(data: DataSet) -> None:
    result = drawn(data)
    sizes, depths = result.recursion.n_leaves_probabilities(), result.recursion.depth_probabilities()
    assert_frequencies(np.bincount(result.forest.n_leaves, minlength=len(sizes)), sizes, "number of leaves")
    assert_frequencies(np.bincount(result.forest.depths, minlength=len(depths)), depths, "depth")


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_draws_have_the_exact_predictive(data: DataSet) -> None:
    result = drawn(data)
    for x, expected in zip(data.points(), result.recursion.predictive(data.points()), strict=True):
        answers = [oracle.leaf_of(tree, x) for tree in drawn_trees(data)]
        predictives = np.array([oracle.leaf_predictive(data, leaf, 1.5) for leaf in answers])
        for k in range(data.n_classes):
            assert_mean(predictives[:, k], expected[k], f"predictive of class {k} at {x}")


@pytest.mark.parametrize("data", oracle.TWELVE, ids=str)
def test_thresholds_are_uniform_within_their_gaps(data: DataSet) -> None:
    places = []
    for tree in drawn_trees(data):
        gap = with_gaps(tree, data.X)
        if isinstance(tree, Split) and isinstance(gap, Split):
            places.append((tree.low - gap.low) / (gap.high - gap.low))
    assert_frequencies(np.histogram(places, bins=8, range=(0, 1))[0], np.full(8, 1 / 8), "eighth of the gap")


def test_blocks_are_shared_by_the_trees() -> None:
    forest = drawn(oracle.TWO_CLASSES).forest
    assert forest.n_blocks <= drawn(oracle.TWO_CLASSES).recursion.n_blocks < forest.feature.size
    assert set(forest.nodes["block"]) == set(range(forest.n_blocks))
    assert len(set(forest.nodes["block"][forest.roots])) == 1, "all roots are the same block"


def test_the_same_seed_draws_the_same_trees() -> None:
    runs = [
        Exact(n_draws=20).run(
            training_data(oracle.SIX_ROWS), PRIOR, Categorical.paper(), seed=np.random.SeedSequence(seed)
        )
        for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(runs[0].forest.nodes["threshold"], runs[1].forest.nodes["threshold"])
    assert not np.array_equal(runs[0].forest.nodes["threshold"], runs[2].forest.nodes["threshold"])
    assert runs[0].log_evidence == runs[1].log_evidence == runs[2].log_evidence


# Edges


def all_zero(n_rows: int, y: list[int]) -> DataSet:
    return DataSet("identical", np.zeros((n_rows, 2)), y, 2)


@pytest.mark.parametrize("data", [all_zero(1, [1]), all_zero(5, [0, 1, 1, 0, 1])], ids=["one row", "identical rows"])
def test_where_nothing_varies_the_root_is_the_only_tree(data: DataSet) -> None:
    recursion = solve(data)
    assert (recursion.n_blocks, recursion.n_states) == (1, 1)
    assert recursion.log_evidence == pytest.approx(
        float(Categorical(1.5).log_marginal(data.counts(range(len(data.y)))))
    )
    forest, log_likelihoods, log_priors = recursion.draw(5, np.random.default_rng(0))
    check_forest(forest)
    np.testing.assert_array_equal(forest.n_leaves, 1)
    np.testing.assert_array_equal(log_priors, 0.0)
    np.testing.assert_allclose(log_likelihoods, recursion.log_evidence)
    np.testing.assert_allclose(recursion.n_leaves_probabilities(), [0, 1], atol=1e-15)
    np.testing.assert_allclose(recursion.depth_probabilities(), [1])
    weights, counts = recursion.leaf_mixture([3.0, -1.0])
    np.testing.assert_array_equal(weights, [1.0])
    np.testing.assert_array_equal(counts, [data.counts(range(len(data.y)))])


@pytest.mark.parametrize("n_classes", [1, 2])
def test_labels_of_one_class(n_classes: int) -> None:
    data = DataSet("one class", oracle.SIX_ROWS.X, [0] * 6, n_classes)
    recursion = solve(data)
    assert math.exp(recursion.log_evidence) == pytest.approx(Enumeration(data, PRIOR, 1.5).evidence, rel=1e-10)
    if n_classes == 1:
        np.testing.assert_allclose(recursion.predictive(data.X), 1.0)


def test_a_constant_feature_changes_nothing() -> None:
    wider = DataSet("constant", np.insert(oracle.SIX_ROWS.X, 1, 4.0, axis=1), oracle.SIX_ROWS.y, 2)
    assert solve(wider).log_evidence == pytest.approx(solve(oracle.SIX_ROWS).log_evidence, abs=1e-12)


def test_ranges_beyond_the_largest_float() -> None:
    X = oracle.SIX_ROWS.X / 5.0 - 0.9
    plain = DataSet("plain", X, oracle.SIX_ROWS.y, 2)
    huge = DataSet("huge", np.ldexp(X, 1024), oracle.SIX_ROWS.y, 2)
    assert np.isfinite(huge.X).all()
    with np.errstate(over="ignore"):
        assert np.isinf(huge.X[:, 0].max() - huge.X[:, 0].min())
    assert solve(huge).log_evidence == pytest.approx(solve(plain).log_evidence, abs=1e-12)
    np.testing.assert_allclose(solve(huge).predictive(np.ldexp(X, 1024)), solve(plain).predictive(X), atol=1e-12)
    between = X * 0.6 - 0.05
    np.testing.assert_allclose(
        solve(huge).predictive(np.ldexp(between, 1024)), solve(plain).predictive(between), atol=1e-12
    )
    forest, _, log_priors = solve(huge).draw(50, np.random.default_rng(0))
    check_forest(forest)
    assert np.isfinite(log_priors).all()
    assert np.isfinite(forest.log_gap_volumes).all()
    for t in range(50):
        tree_of(forest, t, huge)


def test_neighbouring_floats_are_told_apart() -> None:
    data = DataSet("neighbours", np.array([[1.0], [np.nextafter(1.0, 2.0)]]), [0, 1], 2)
    forest, _, _ = solve(data).draw(50, np.random.default_rng(0))
    for t in range(50):
        tree_of(forest, t, data)


def test_a_split_probability_of_almost_zero() -> None:
    recursion = solve(oracle.SIX_ROWS, TreePrior(alpha=0.5, beta=390.0))
    np.testing.assert_allclose(recursion.depth_probabilities()[2:], 0.0, atol=1e-15)
    assert recursion.draw(20, np.random.default_rng(0))[0].depths.max() == 1


# Size


def random_data(n_rows: int, n_features: int, n_values: int | None = None) -> DataSet:
    rng = np.random.default_rng(5)
    shape = (n_rows, n_features)
    X = rng.normal(size=shape) if n_values is None else rng.integers(n_values, size=shape).astype(float)
    return DataSet("random", X, rng.integers(3, size=n_rows).tolist(), 3)


@pytest.mark.parametrize("data", [random_data(12, 2), random_data(25, 2), random_data(60, 2, n_values=6)], ids=str)
def test_moderate_data_are_accepted(data: DataSet) -> None:
    recursion = solve(data)
    assert recursion.n_states < Exact().max_blocks
    assert recursion.n_leaves_probabilities().sum() == pytest.approx(1.0, abs=1e-10)
    assert recursion.depth_probabilities().sum() == pytest.approx(1.0, abs=1e-10)
    np.testing.assert_allclose(recursion.predictive(data.X[:2]).sum(axis=1), 1.0, atol=1e-10)


@pytest.mark.parametrize("n_values", [1, 2, 3, 10, 40])
def test_the_states_of_one_feature_are_known_in_advance(n_values: int) -> None:
    data = DataSet(
        "one feature", np.arange(float(n_values))[:, None] ** 2, [0, 1] * (n_values // 2) + [0] * (n_values % 2), 2
    )
    assert solve(data).n_states == number_states(n_values)


COMB = DataSet("comb", np.array([(x, float(0 < x < 9)) for x in range(10)]), [0, 1] * 5, 2)

SIZES = [*oracle.TWELVE, COMB, random_data(9, 4), random_data(30, 3, n_values=3), random_data(40, 2, n_values=5)]


@pytest.mark.parametrize("data", SIZES, ids=str)
def test_no_block_counts_for_more_depths_than_it_has(data: DataSet) -> None:
    """Block by block, because in the sum over blocks a bound that is too high hides behind others that are low."""
    given, recursion = training_data(data), solve(data)
    blocks = Blocks(given, Categorical(1.5).row_statistics(given.observations), PRIOR, max_states=10**6)
    n_depths = np.bincount(np.concatenate([level.blocks for level in recursion._levels]))
    assert (np.array([blocks._fewest_depths(mask) for mask in blocks._masks]) <= n_depths).all()


@pytest.mark.parametrize("data", SIZES, ids=str)
def test_nothing_that_fits_is_refused(data: DataSet) -> None:
    n_states = solve(data, max_blocks=10**6).n_states
    assert solve(data, max_blocks=n_states).n_states == n_states
    with pytest.raises(ValueError, match="max_blocks"):
        solve(data, max_blocks=n_states - 1)


@pytest.mark.parametrize("data", [random_data(5000, 3), random_data(40, 8), random_data(1000, 20, n_values=2)], ids=str)
def test_data_that_are_too_large_are_refused(data: DataSet) -> None:
    with pytest.raises(ValueError, match=r"needs a table of at least [\d,]+ .* at most 10\^\d+ states") as error:
        Exact(max_blocks=20_000).run(training_data(data), PRIOR, Categorical.paper(), seed=np.random.SeedSequence(0))
    message = str(error.value)
    assert f"{len(data.X):,} rows and {data.X.shape[1]} features" in message
    assert "max_blocks=20,000" in message
    assert "Use SMC or MCMC" in message


def test_too_many_cuts_are_refused() -> None:
    with pytest.raises(ValueError, match="rules, 25 times max_blocks"):
        solve(random_data(8, 400), max_blocks=1000)


# Parameters


def test_parameters_are_checked() -> None:
    assert Exact(n_draws=5).get_params() == {"n_draws": 5, "max_blocks": 200_000}
    with pytest.raises(ValueError, match=r"Exact.n_draws must be at least 1"):
        Exact(n_draws=0)
    with pytest.raises(TypeError, match=r"Exact.max_blocks must be an integer"):
        Exact(max_blocks=1e5)  # type: ignore[arg-type]


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="one row of 2 features"):
        solve(oracle.SIX_ROWS).leaf_mixture([1.0, 2.0, 3.0])


# The posterior that the sampler returns


@pytest.fixture(scope="module")
def posterior() -> ExactPosterior:
    data = oracle.THREE_CLASSES
    return Exact(n_draws=300).run(training_data(data), PRIOR, Categorical(1.5), seed=np.random.SeedSequence(1))


def test_the_posterior_answers_exactly(posterior: ExactPosterior) -> None:
    data = oracle.THREE_CLASSES
    recursion = solve(data)
    assert posterior.log_evidence == recursion.log_evidence
    assert posterior.log_evidence_se == 0.0
    np.testing.assert_array_equal(posterior.predictive(data.points()), recursion.predictive(data.points()))
    assert posterior.weights.sum() == pytest.approx(1.0)
    assert "log evidence" in str(posterior.summary())
    assert posterior.summary().verdict.startswith("Evidence, predictions and intervals are exact")


def test_intervals_are_quantiles_of_the_exact_mixture(posterior: ExactPosterior) -> None:
    x = oracle.THREE_CLASSES.points()[:4]
    interval = posterior.predictive_interval(x, level=0.8)
    for point, row in zip(x, interval, strict=True):
        weights, counts = solve(oracle.THREE_CLASSES).leaf_mixture(point)
        parameters = Categorical(1.5).pseudo_counts(counts)
        for k in range(3):
            below = betainc(parameters[:, k], parameters.sum(axis=1) - parameters[:, k], row[k][:, None]) @ weights
            np.testing.assert_allclose(below, [0.1, 0.9], atol=1e-8)


def test_the_draws_can_be_saved_but_not_taken_for_the_sum(posterior: ExactPosterior, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"posterior\.draws\(\)\.save\(path\)"):
        posterior.save(tmp_path / "exact.npz")
    draws = posterior.draws()
    draws.save(tmp_path / "draws.npz")
    loaded = Posterior.load(tmp_path / "draws.npz")
    assert type(ExactPosterior.load(tmp_path / "draws.npz")) is Posterior
    points = oracle.THREE_CLASSES.points()
    np.testing.assert_array_equal(loaded.predictive(points), draws.predictive(points))
    np.testing.assert_allclose(draws.predictive(points), posterior.predictive(points), atol=0.15)


def test_rows_can_be_left_out_of_the_draws_alone(posterior: ExactPosterior) -> None:
    """The sums over all trees are computed from the whole table."""
    with pytest.raises(TypeError, match=r"posterior\.draws\(\)\.without_rows\(\)"):
        posterior.without_rows()
    assert posterior.draws().without_rows().kept_rows is None


def test_pickled(posterior: ExactPosterior) -> None:
    points = oracle.THREE_CLASSES.points()
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.predictive(points), posterior.predictive(points))
