"""The exact recursion on missing values and levels: against the list of all trees, and its own draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import mixed_data
import oracle
from mixed_data import MixedData
from number_oracle import EXPONENTIAL, GAUSSIAN, POISSON, WEIGHTS, NumberData, NumberEnumeration, case_name
from oracle import Enumeration, SetSplit, Split, Tree, assert_frequencies, assert_mean
from particletree import Categorical, Exact, Flat, TreePrior, _kernel
from particletree._inference.exact import blocks, divisions
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.exact.rule_table import Contents, RuleTable
from particletree._model import Forest
from particletree._model.leaf import LeafModel
from particletree._model.validity import check_forest
from read_trees import read_rule, read_tree, up_to_coins

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LIMITED = [
    TreePrior(alpha=0.9, beta=0.7, max_depth=2),
    TreePrior(alpha=0.8, beta=0.3, min_samples_split=3),
    TreePrior(alpha=0.9, beta=0.7, max_depth=3, min_samples_split=4),
    TreePrior(alpha=0.9, beta=0.7, max_depth=0),
]
MODELS = [(PRIOR, 1.5), (TreePrior(0.5, 0.0), 5.0), *((limited, 1.5) for limited in LIMITED)]
N_DRAWS = 1000


def solve(data: MixedData, prior: TreePrior = PRIOR, concentration: float = 1.5, **limit: int) -> ExactRecursion:
    return ExactRecursion(data.training_data(), prior, Categorical(concentration), **limit)


@cache
def enumeration(data: MixedData) -> Enumeration:
    return Enumeration(data, PRIOR, 1.5)


# What is compared; the planted errors below go through the same comparisons.


def check_evidence(data: MixedData) -> None:
    assert math.exp(solve(data).log_evidence) == pytest.approx(enumeration(data).evidence, rel=1e-10), "evidence"


def check_predictive(data: MixedData) -> None:
    found, expected = solve(data).predictive(data.points()), enumeration(data).predictive(data.points())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10, err_msg="predictive")


def check_draws(data: MixedData) -> None:
    """Compare the frequencies of the trees: those with a side that is not theirs are none of the list."""
    number = {tree: i for i, tree in enumerate(enumeration(data).trees)}
    forest = solve(data).draw(N_DRAWS, np.random.default_rng(7))[0]
    trees = [up_to_coins(read_tree(forest, t, data.X, data.n_levels), data.X) for t in range(N_DRAWS)]
    counts = np.zeros(len(number))
    np.add.at(counts, [number[tree] for tree in trees], 1)
    assert_frequencies(counts, enumeration(data).probabilities, "tree")


@pytest.mark.parametrize("data", mixed_data.SMALL, ids=str)
class TestAgainstTheListOfAllTrees:
    @pytest.mark.parametrize(("prior", "concentration"), MODELS, ids=str)
    def test_evidence_predictive_and_sizes(self, data: MixedData, prior: TreePrior, concentration: float) -> None:
        listed, recursion = Enumeration(data, prior, concentration), solve(data, prior, concentration)
        assert math.fsum(listed.prior_probabilities) == pytest.approx(1.0, abs=1e-12)
        assert math.exp(recursion.log_evidence) == pytest.approx(listed.evidence, rel=1e-10)
        points = data.points()
        np.testing.assert_allclose(recursion.predictive(points), listed.predictive(points), rtol=0, atol=1e-10)
        for found, expected in [
            (recursion.n_leaves_probabilities(), listed.n_leaves_probabilities()),
            (recursion.depth_probabilities(), listed.depth_probabilities()),
        ]:
            np.testing.assert_allclose(found[: len(expected)], expected, rtol=0, atol=1e-10)
            np.testing.assert_allclose(found[len(expected) :], 0, rtol=0, atol=1e-10)

    def test_the_leaf_mixture(self, data: MixedData) -> None:
        recursion = solve(data)
        for x in data.points():
            expected: dict[tuple[float, ...], float] = {}
            for rows, weight in enumeration(data).leaf_mixture(x).items():
                counts = tuple(np.round(data.counts(rows), 9).tolist())
                expected[counts] = expected.get(counts, 0.0) + weight
            found: dict[tuple[float, ...], float] = {}
            for weight, row in zip(*recursion.leaf_mixture(x), strict=True):
                counts = tuple(np.round(row, 9).tolist())
                found[counts] = found.get(counts, 0.0) + weight
            assert found == pytest.approx(expected, abs=1e-10)

    def test_draws_follow_the_probabilities_of_the_listed_trees(self, data: MixedData) -> None:
        check_draws(data)


NUMBERS: list[tuple[LeafModel, NumberData]] = [
    (GAUSSIAN, mixed_data.MISSING_NUMBERS.with_numbers("reals", [3.1, 2.9, 3.0, 5.5, 6.25], WEIGHTS[:5])),
    (POISSON, mixed_data.THREE_LEVELS.with_numbers("counts", [0, 2, 2, 9, 1])),
    (EXPONENTIAL, mixed_data.MIXED_ROWS.with_numbers("times", [0.4, 0.0, 2.5, 9.0, 1.25, 0.3, 4.0])),
]


@pytest.mark.parametrize("case", NUMBERS, ids=case_name)
@pytest.mark.parametrize("prior", [PRIOR, LIMITED[2]], ids=str)
def test_numbers_against_the_list_of_all_trees(case: tuple[LeafModel, NumberData], prior: TreePrior) -> None:
    leaf, data = case
    listed, recursion = NumberEnumeration(data, prior, leaf), ExactRecursion(data.training_data(), prior, leaf)
    assert recursion.log_evidence == pytest.approx(listed.log_evidence, abs=1e-8)
    expected = [listed.mixture(x).moments()[0] for x in data.points()]
    np.testing.assert_allclose(recursion.predictive(data.points()), expected, rtol=1e-7)
    sizes = listed.n_leaves_probabilities()
    np.testing.assert_allclose(recursion.n_leaves_probabilities()[: len(sizes)], sizes, atol=1e-9)


# Planted errors: the comparisons above must find each.


class ReversedContents(Contents):
    """Levels in the reverse order."""

    def having(self, feature: int, value: float) -> NDArray[np.bool_] | None:
        levels = self.levels.get(feature)
        return super().having(feature, value if levels is None else levels.shape[1] - 1 - value)


def with_coins_left(real: Callable[..., Any]) -> Callable[..., Any]:
    """Send whatever is even to the left."""

    def left_probability(table: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
        p_left = real(table, x)
        return np.where(p_left == 0.5, 1.0, p_left)

    return left_probability


PLANTED: dict[str, tuple[MixedData, Callable[[MixedData], None], list[tuple[str, Any]]]] = {
    "1/2 for 1/3": (mixed_data.MISSING_NUMBERS, check_evidence, [("particletree._model.prior.LOG_3", math.log(2))]),
    "an empty side has a share": (
        mixed_data.FIVE_LEVELS,
        check_evidence,
        [("particletree._inference.exact.divisions.log_set_probability", lambda k: -k * math.log(2))],
    ),
    "missing rows on the other side": (
        mixed_data.MISSING_NUMBERS,
        check_draws,
        [
            ("particletree._inference.exact.divisions.CUT_MISSING_LEFT", divisions.CUT_MISSING_RIGHT),
            ("particletree._inference.exact.divisions.CUT_MISSING_RIGHT", divisions.CUT_MISSING_LEFT),
        ],
    ),
    "levels in the reverse order": (
        mixed_data.THREE_LEVELS,
        check_predictive,
        [("particletree._inference.exact.blocks.Contents", ReversedContents)],
    ),
    "no coin for what a block does not have": (
        mixed_data.MIXED_ROWS,
        check_predictive,
        [
            (
                "particletree._inference.exact.rule_table.RuleTable.left_probability",
                with_coins_left(RuleTable.left_probability),
            )
        ],
    ),
    "a limit on rows that counts distinct ones": (
        mixed_data.MIXED_ROWS,
        lambda data: check_limited(data, TreePrior(0.9, 0.7, min_samples_split=6)),
        [("particletree._inference.exact.blocks.Blocks._n_given_rows", lambda blocks, block: block.bit_count())],
    ),
}


def check_limited(data: MixedData, prior: TreePrior) -> None:
    assert math.exp(solve(data, prior).log_evidence) == pytest.approx(Enumeration(data, prior, 1.5).evidence, rel=1e-10)


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_found(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, check, patches = PLANTED[error]
    check(data)
    for name, value in patches:
        monkeypatch.setattr(name, value)
    with pytest.raises((AssertionError, KeyError)):
        check(data)


# Twelve rows, where there are too many trees to list

MIXED = [*mixed_data.TWELVE, mixed_data.MANY_LEVELS]


class Drawn(NamedTuple):
    recursion: ExactRecursion
    forest: Forest
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]


@cache
def drawn(data: MixedData) -> Drawn:
    recursion = solve(data)
    return Drawn(recursion, *recursion.draw(N_DRAWS, np.random.default_rng(7)))


@cache
def prior_draws(data: MixedData) -> list[Tree]:
    rng = np.random.default_rng(11)
    return [oracle.draw_tree_from_prior(data.X, PRIOR, rng, data.n_levels) for _ in range(N_DRAWS)]


@pytest.mark.parametrize("data", MIXED, ids=str)
def test_evidence_and_predictive_are_means_under_the_prior(data: MixedData) -> None:
    recursion, trees = solve(data), prior_draws(data)
    weights = np.array([oracle.likelihood(data, tree, 1.5) for tree in trees]) / math.exp(recursion.log_evidence)
    assert_mean(weights, 1.0, "likelihood of a tree from the prior / evidence")
    for x, expected in zip(data.points(), recursion.predictive(data.points()), strict=True):
        leaves = [oracle.leaf_of(tree, x) for tree in trees]
        differences = np.array([oracle.leaf_predictive(data, leaf, 1.5) - expected for leaf in leaves])
        assert_mean(weights * differences[:, 0], 0.0, f"weighted predictive of class 0 at {x}, less the exact one")


@pytest.mark.parametrize("prior", [PRIOR, LIMITED[2]], ids=str)
@pytest.mark.parametrize("data", MIXED, ids=str)
def test_a_flat_likelihood_returns_the_prior(data: MixedData, prior: TreePrior) -> None:
    rng = np.random.default_rng(12)
    trees = [oracle.draw_tree_from_prior(data.X, prior, rng, data.n_levels) for _ in range(N_DRAWS)]
    recursion = ExactRecursion(data.training_data(), prior, Flat())
    assert recursion.log_evidence == pytest.approx(0.0, abs=1e-12)
    for sizes, measure in [
        (recursion.n_leaves_probabilities(), oracle.n_leaves),
        (recursion.depth_probabilities(), oracle.tree_depth),
    ]:
        counts = np.bincount([measure(tree) for tree in trees], minlength=len(sizes))
        assert_frequencies(counts, np.where(sizes < 1e-12, 0, sizes), measure.__name__)


@pytest.mark.parametrize("data", [*mixed_data.SMALL, *MIXED], ids=str)
def test_draws_are_valid_trees_with_their_own_prior_and_likelihood(data: MixedData) -> None:
    result = drawn(data)
    check_forest(result.forest, n_features=data.X.shape[1])
    for t in range(100):
        tree = read_tree(result.forest, t, data.X, data.n_levels)
        expected = oracle.log_prior_density(data.X, PRIOR, tree, data.n_levels)
        assert result.log_priors[t] == pytest.approx(expected, abs=1e-10)
        assert math.exp(result.log_likelihoods[t]) == pytest.approx(oracle.likelihood(data, tree, 1.5), rel=1e-10)


@pytest.mark.parametrize("data", mixed_data.SMALL, ids=str)
def test_prior_masses_are_the_probabilities_of_the_listed_trees(data: MixedData) -> None:
    listed = dict(zip(enumeration(data).trees, enumeration(data).prior_probabilities, strict=True))
    masses = drawn(data).log_priors + drawn(data).forest.log_gap_volumes
    for t in range(200):
        tree = up_to_coins(read_tree(drawn(data).forest, t, data.X, data.n_levels), data.X)
        assert math.exp(masses[t]) == pytest.approx(listed[tree], rel=1e-9)


@pytest.mark.parametrize("data", [*mixed_data.SMALL, *MIXED], ids=str)
def test_drawn_trees_have_the_exact_predictive_in_the_kernel(data: MixedData) -> None:
    result, points = drawn(data), data.points()
    blocks = _kernel.apply(points, result.forest.as_bytes(), result.forest.roots)
    means = Categorical(1.5).mean(result.forest.statistics)
    for i, expected in enumerate(result.recursion.predictive(points)):
        assert_mean(means[blocks[i], 0], expected[0], f"predictive of class 0 at {points[i]}")


def rules_of(data: MixedData) -> list[Split | SetSplit]:
    nodes = drawn(data).forest.nodes
    return [read_rule(node, data.n_levels) for node in nodes[nodes["feature"] >= 0]]


@pytest.mark.parametrize("data", [mixed_data.FIVE_LEVELS, mixed_data.MANY_LEVELS], ids=str)
def test_levels_that_the_data_do_not_have_go_left_by_fair_coins(data: MixedData) -> None:
    sets = [rule for rule in rules_of(data) if isinstance(rule, SetSplit)]
    unseen = sorted(set(range(data.n_levels[0] + 2)) - set(data.X[:, 0].astype(int)))
    for level in unseen[:3] + unseen[-1:]:
        assert_mean([float(level in rule.left_levels) for rule in sets], 0.5, f"level {level}")
    together = [float(unseen[0] in rule.left_levels and unseen[-1] in rule.left_levels) for rule in sets]
    assert_mean(together, 0.25, "two levels")


def test_first_missing_values_go_left_by_fair_coins() -> None:
    cuts = [rule for rule in rules_of(mixed_data.FIRST_MISSING_LATER) if isinstance(rule, Split) and rule.feature == 1]
    assert_mean([rule.missing_left for rule in cuts], 0.5, "side of missing values")


# Edges and size


def column(values: list[float], n_levels: int = 0) -> MixedData:
    y = [i % 2 for i in range(len(values))]
    return MixedData("one column", np.array(values)[:, None], y, 2, n_levels=(n_levels,))


def test_a_column_that_is_always_missing_changes_nothing() -> None:
    data = mixed_data.THREE_LEVELS
    wider = MixedData("wider", np.insert(data.X, 1, np.nan, axis=1), data.y, 2, n_levels=(3, 0, 0))
    assert solve(wider).log_evidence == pytest.approx(solve(data).log_evidence, abs=1e-12)
    assert solve(wider).predictive([[0, np.nan, 2.0]]) == pytest.approx(solve(data).predictive([[0, 2.0]]))
    assert solve(wider).predictive([[0, 7.5, 2.0]]) == pytest.approx(solve(data).predictive([[0, 2.0]]))


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_states_of_levels_are_known_in_advance(k: int) -> None:
    assert solve(column([float(i) for i in range(k)], n_levels=k)).n_states == blocks.level_states(k)


@pytest.mark.parametrize("data", [*mixed_data.SMALL, *MIXED], ids=str)
@pytest.mark.parametrize("prior", [PRIOR, *LIMITED], ids=str)
def test_nothing_that_fits_is_refused(data: MixedData, prior: TreePrior) -> None:
    n_states = solve(data, prior, max_blocks=10**6).n_states
    if n_states >= table_size_of_rules(data, prior):
        assert solve(data, prior, max_blocks=n_states).n_states == n_states
    if n_states > 1:
        with pytest.raises(ValueError, match="max_blocks"):
            solve(data, prior, max_blocks=n_states - 1)


def table_size_of_rules(data: MixedData, prior: TreePrior) -> float:
    return len(solve(data, prior)._rules.feature) / 25


@pytest.mark.parametrize("k", [15, 40, 500])
def test_too_many_levels_are_refused(k: int) -> None:
    with pytest.raises(ValueError, match=r"needs a table of at least .* Use SMC or MCMC"):
        Exact().run(
            column([float(i) for i in range(k)], n_levels=k).training_data(),
            PRIOR,
            Categorical.paper(),
            seed=np.random.SeedSequence(0),
        )
    with pytest.raises(ValueError, match="rules, 25 times max_blocks"):
        solve(column([float(i) for i in range(k)], n_levels=k), TreePrior.paper(max_depth=1), max_blocks=1000)


def test_the_limits_hold_in_drawn_trees() -> None:
    data = mixed_data.TWELVE_MIXED
    forest = solve(data, TreePrior(0.95, 0.1, max_depth=2)).draw(200, np.random.default_rng(1))[0]
    assert forest.depths.max() == 2
    forest = solve(data, TreePrior(0.95, 0.1, min_samples_split=5)).draw(200, np.random.default_rng(1))[0]
    sizes = forest.statistics.sum(axis=1)[forest.nodes["block"]]
    assert sizes[forest.nodes["feature"] >= 0].min() >= 5
    assert sizes.min() == 1
