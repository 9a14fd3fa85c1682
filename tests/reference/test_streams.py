"""Streams in plain Python: every law exactly, by enumeration against the oracle, and planted errors that are found."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import mondrian_oracle
from every_course import Courses
from mondrian_oracle import ALL_MISSING_FIRST, DATA, LEVELS, MISSING, NUMBERS, Marginal, MondrianOracle, StreamData
from oracle import assert_frequencies, assert_mean
from particletree import Categorical
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Gaussian, GaussianKnownVariance
from particletree._model.measure import Measure, UnitScale
from particletree._model.target import Numbers, Observations
from particletree.reference import questions, rules, streams
from particletree.reference.questions import Row, level_of, present_or_missing, side_of
from particletree.reference.streams import (
    BlockPosterior,
    Branch,
    Leaf,
    Model,
    Split,
    State,
    Tree,
    discounted,
    draw_index,
    extend,
    forget,
    learn,
    leaves_of,
    log_predictive,
    predictive,
    regrow,
    rejuvenated,
    remove,
    separation_probability,
)
from particletree.reference.weights import log_mean

RATE = 0.7
ANYWHERE = UnitScale(np.array([0.0, 1.0]), np.array([0.02, 0.98]), 1.0)
LABELS, KNOWN_NOISE, NOISE = Categorical(1.5), GaussianKnownVariance(0.4, 0.9, 0.5), Gaussian(0.4, 0.5, 0.6, 3.0)
MARGINALS: dict[str, tuple[LeafModel, Marginal]] = {
    "labels": (LABELS, mondrian_oracle.urn),
    "numbers": (KNOWN_NOISE, mondrian_oracle.normal),
    "numbers of unknown variance": (NOISE, mondrian_oracle.student),
}
Law = dict[Any, float]


@dataclass(frozen=True, eq=False)
class Stream:
    """A data set as the reference takes it, and the oracle on the same rows."""

    data: StreamData
    leaf: LeafModel
    marginal: Marginal

    @cached_property
    def model(self) -> Model:
        scales = tuple(None if has_levels else ANYWHERE for has_levels in self.data.has_levels)
        measure = Measure(np.array(self.data.weights), scales, self.data.rho)
        return Model(measure, RATE, self.leaf, self.statistics(0.0).size)

    def statistics(self, y: float) -> np.ndarray:
        if isinstance(self.leaf, Categorical):
            return np.eye(2)[int(y)]
        return self.leaf.row_statistics(Observations(Numbers(1), np.array([[y]])))[0]

    @cached_property
    def rows(self) -> list[Row]:
        pairs = zip(self.data.X, self.data.y, strict=True)
        return [self.model.row(i, x, self.statistics(y)) for i, (x, y) in enumerate(pairs)]

    @cached_property
    def posterior(self) -> BlockPosterior:
        return BlockPosterior(self.model)

    def oracle(self, rows: Sequence[int]) -> MondrianOracle:
        taken = self.data.take(rows)
        return MondrianOracle(replace(taken, X=self.model.measure.to_unit(taken.X)), self.marginal, RATE)

    def joint(self, rows: Sequence[int]) -> Law:
        """Return prior times likelihood of all trees on these rows, by the oracle."""
        number = dict(enumerate(rows))

        def rename(tree: Any) -> Any:
            if isinstance(tree, frozenset):
                return frozenset(number[row] for row in tree)
            return (tree[0], rename(tree[1]), rename(tree[2]))

        return {rename(tree): p for tree, p in self.oracle(rows).joint().items()}

    def courses(self, *met: int) -> Courses:
        """Return a random generator that takes all courses that some rows can tell apart."""
        places, levels = set[float](), set[int]()
        for row in met:
            for has_levels, u in zip(self.data.has_levels, self.rows[row].units.tolist(), strict=True):
                if has_levels:
                    levels.add(level_of(u))
                elif not math.isnan(u):
                    places.add(u)
        return Courses(sorted(places), sorted(levels))

    def trees(self, rows: Sequence[int], *met: int) -> Iterator[tuple[float, Tree]]:
        """Yield every tree on some rows with its posterior probability, as far as other rows can tell trees apart."""
        return self.courses(*met).of(lambda rng: self.posterior.draw([self.rows[row] for row in rows], rng))


@cache
def stream_of(data: StreamData, kind: str = "labels") -> Stream:
    y = data.y if kind == "labels" else tuple(1.3 * y + 0.17 * i for i, y in enumerate(data.y))
    return Stream(replace(data, y=y), *MARGINALS[kind])


def division(tree: Tree | None) -> Any:
    """Return what a tree does to its rows, in the oracle's words."""
    if isinstance(tree, Split):
        return (tree.rule.feature, division(tree.left), division(tree.right))
    assert tree is not None
    return frozenset(row.number for row in tree.rows)


def check_tree(tree: Tree, model: Model) -> None:
    """Check that every row is where the rules send it, and that boxes are those of their rows."""
    assert tree.rows
    assert tree.box.mass == pytest.approx(model.measure.mass(np.array([row.units for row in tree.rows])), abs=1e-15)
    if isinstance(tree, Split):
        for side, child in (("0", tree.left), ("1", tree.right)):
            assert {side_of(tree.rule, row) for row in child.rows} == {side}
            check_tree(child, model)


def check_law(law: Law, expected: Law, total: float = 1.0, limit: float = 1e-12) -> None:
    """Check that a law gives every tree the probability that is expected, up to a common factor."""
    difference = sum(abs(law.get(tree, 0.0) - expected.get(tree, 0.0) / total) for tree in law.keys() | expected) / 2
    assert difference < limit, f"the law is off by {difference:.3g} in total variation"


def law_of(pairs: Iterator[tuple[float, Tree]]) -> Law:
    law: Law = defaultdict(float)
    for p, tree in pairs:
        law[division(tree)] += p
    return law


@pytest.fixture(autouse=True)
def by_courses(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the plain-Python modules draw a cut and survivors in a way that has few outcomes."""
    if "real_draws" in request.fixturenames:
        return
    monkeypatch.setattr(rules, "uniform", lambda low, high, rng: rng.uniform(low, high))
    monkeypatch.setattr(
        # particle Gibbs puts the retained particle into the first place, whatever is drawn for it
        streams,
        "multinomial",
        lambda p, rng: np.array([0, *(rng.choice(len(p), p=p) for _ in p[1:])]),
    )


@pytest.fixture
def real_draws() -> None:
    """Ask for the modules as they are: for tests of the filter, with NumPy's random generator."""


# The recursion


@pytest.mark.parametrize("kind", MARGINALS)
@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_evidence_is_the_oracles(data: StreamData, kind: str) -> None:
    stream = stream_of(data, kind)
    for n in range(1, 6):
        expected = math.log(stream.oracle(range(n)).z())
        assert stream.posterior.block(stream.rows[:n]).log_evidence == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_blocks_are_drawn_from_their_posterior(data: StreamData) -> None:
    stream, rows = stream_of(data), range(4)
    for p, tree in stream.trees(rows):
        assert p > 0
        check_tree(tree, stream.model)
    check_law(law_of(stream.trees(rows)), stream.joint(rows), stream.oracle(rows).z())


# A row and a tree


def check_extension(stream: Stream, n: int, adapted: bool) -> None:
    """Check that the trees of n rows, extended by another, are the trees of n + 1 rows; the weights are part of it."""
    law: Law = defaultdict(float)
    row, courses = stream.rows[n], stream.courses()
    for p, tree in stream.trees(range(n), n):
        for q, (larger, log_factor) in courses.of(
            lambda rng, tree=tree: extend(tree, row, stream.model, rng, adapted=adapted)
        ):
            check_tree(larger, stream.model)
            law[division(larger)] += p * q * math.exp(log_factor)
    check_law(law, stream.joint(range(n + 1)), stream.oracle(range(n)).z())


@pytest.mark.parametrize("adapted", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_law_of_extended_trees_is_that_of_a_batch(data: StreamData, n: int, adapted: bool) -> None:
    check_extension(stream_of(data), n, adapted)


def test_and_for_numbers_with_five_rows() -> None:
    check_extension(stream_of(ALL_MISSING_FIRST, "numbers of unknown variance"), 4, adapted=True)


def check_later_rows(stream: Stream, n: int) -> None:
    """Check the law of trees to which two rows were added, the second by rules that were drawn for the first."""
    law: Law = defaultdict(float)
    first, second = stream.rows[n : n + 2]
    courses, later = stream.courses(n + 1), stream.courses()
    for p, tree in stream.trees(range(n), n, n + 1):
        for q, (larger, log_factor) in courses.of(lambda rng, tree=tree: extend(tree, first, stream.model, rng)):
            for r, (largest, log_more) in later.of(
                lambda rng, larger=larger: extend(larger, second, stream.model, rng)
            ):
                law[division(largest)] += p * q * r * math.exp(log_factor + log_more)
    check_law(law, stream.joint(range(n + 2)), stream.oracle(range(n)).z())


@pytest.mark.parametrize("data", DATA, ids=str)
@pytest.mark.parametrize("n", [1, 2])
def test_a_rule_decides_about_later_rows_as_well(data: StreamData, n: int) -> None:
    check_later_rows(stream_of(data), n)


def test_the_first_row_makes_a_leaf() -> None:
    stream = stream_of(NUMBERS)
    tree, log_factor = extend(None, stream.rows[0], stream.model, np.random.default_rng(0))
    assert division(tree) == frozenset([0])
    assert log_factor == pytest.approx(math.log(0.5))


@pytest.mark.parametrize("removed", [0, 1, 3])
@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_law_of_trees_without_a_row_is_that_of_a_batch(data: StreamData, removed: int) -> None:
    stream, rest = stream_of(data), [row for row in range(4) if row != removed]
    law: Law = defaultdict(float)
    for p, tree in stream.trees(range(4)):
        smaller, log_factor = remove(tree, stream.rows[removed], stream.model)
        assert smaller is not None
        check_tree(smaller, stream.model)
        law[division(smaller)] += p * math.exp(log_factor)
    check_law(law, stream.joint(rest), stream.oracle(range(4)).z())


@pytest.mark.parametrize("adapted", [True, False])
@pytest.mark.parametrize(("added", "removed"), [(3, 3), (3, 0)])
@pytest.mark.parametrize("data", DATA, ids=str)
def test_a_row_comes_and_a_row_goes(data: StreamData, added: int, removed: int, adapted: bool) -> None:
    stream, rest = stream_of(data), [row for row in range(4) if row != removed]
    law, courses = defaultdict(float), stream.courses()
    for p, tree in stream.trees(range(3), added):
        for q, (larger, log_factor) in courses.of(
            lambda rng, tree=tree: extend(tree, stream.rows[added], stream.model, rng, adapted=adapted)
        ):
            smaller, log_back = remove(larger, stream.rows[removed], stream.model)
            law[division(smaller)] += p * q * math.exp(log_factor + log_back)
    check_law(law, stream.joint(rest), stream.oracle(range(3)).z())


def test_the_last_row_leaves_no_tree() -> None:
    stream = stream_of(NUMBERS)
    tree, log_factor = extend(None, stream.rows[0], stream.model, np.random.default_rng(0))
    assert remove(tree, stream.rows[0], stream.model) == (None, -log_factor)


# Prediction


def check_prediction(stream: Stream, n: int) -> None:
    """Check that predictions are Z(n + 1) / Z(n), for the next row and some others that are not among the data."""
    last = stream.rows[n]
    posterior = stream.trees(range(n), n)
    answer = sum(p * math.exp(log_predictive(tree, last, stream.model)) for p, tree in posterior)
    difference = answer * stream.oracle(range(n)).z() / stream.oracle(range(n + 1)).z() - 1
    assert abs(difference) < 1e-12, f"the prediction is off by {difference:.3g} of it"


@pytest.mark.parametrize("kind", MARGINALS)
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("data", DATA, ids=str)
def test_predictions_are_ratios_of_evidences(data: StreamData, n: int, kind: str) -> None:
    check_prediction(stream_of(data, kind), n)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_predictions_of_a_state_are_those_of_its_trees(data: StreamData) -> None:
    stream = stream_of(data)
    pairs = list(stream.trees(range(4), 4))
    state = State([tree for _, tree in pairs], np.log([p for p, _ in pairs]))
    both = [replace(stream, data=data.take(range(4)).add(data.X[4], label)).oracle(range(5)).z() for label in (0, 1)]
    np.testing.assert_allclose(predictive(state, data.X[4:5], stream.model)[0], np.array(both) / sum(both), rtol=1e-12)


def test_without_rows_the_prior_predicts() -> None:
    model = stream_of(NUMBERS, "numbers").model
    np.testing.assert_allclose(predictive(State.empty(3), NUMBERS.X[:2], model), 0.4, rtol=1e-15)


# Discounting


def weighted_labels(data: StreamData, rows: tuple[int, ...]) -> float:
    """Return the probability of labels of which each counts 0.6 times as often as the next."""
    counts = [math.fsum(0.6 ** (3 - row) for row in rows if data.y[row] == label) for label in (0, 1)]
    log_labels = math.fsum(math.lgamma(count + 0.75) - math.lgamma(0.75) for count in counts)
    return math.exp(log_labels + math.lgamma(1.5) - math.lgamma(math.fsum(counts) + 1.5))


@pytest.mark.parametrize("max_rows", [0, 2])
def test_discounted_trees_have_the_posterior_of_rows_with_weights(max_rows: int) -> None:
    """With the rejuvenation of small blocks at the end, or without it."""
    stream = stream_of(MISSING)
    pairs = list(stream.trees(range(1), 1, 2, 3))
    for n in range(1, 4):
        courses = stream.courses(*range(n + 1, 4))
        aged = [(p, *discounted(tree, 0.6, stream.model)) for p, tree in pairs]
        pairs = [
            (p * q * math.exp(log_age + log_factor), larger)
            for p, tree, log_age in aged
            for q, (larger, log_factor) in courses.of(
                lambda rng, tree=tree, n=n: extend(tree, stream.rows[n], stream.model, rng)
            )
        ]
    law: Law = defaultdict(float)
    newest, posterior, courses = stream.rows[3], BlockPosterior(stream.model), stream.courses()
    for p, tree in pairs:
        for q, moved in courses.of(
            lambda rng, tree=tree: rejuvenated(tree, newest, max_rows, lambda block: posterior.draw(block.rows, rng))
        ):
            law[division(moved)] += 0.5 * p * q  # a half is the probability of the first label
    check_law(law, replace(stream, marginal=weighted_labels).joint(range(4)))


def test_a_single_leaf_that_forgets_has_its_prequential_evidence() -> None:
    stream = stream_of(NUMBERS)
    model = replace(stream.model, rate=1e300)
    state, rng, counts, expected = State.empty(2), np.random.default_rng(0), np.full(2, 0.0), 0.0
    for row in stream.rows:
        state = learn(state, row, model, discount=0.8, rng=rng)
        counts *= 0.8
        expected += math.log(row.statistics @ (counts + 0.75) / (counts.sum() + 1.5))
        counts += row.statistics
    assert state.log_prequential == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(stream.model.statistics(leaves_of(state.trees[0])[0].rows), counts)


# Rejuvenation

Redraw = Callable[[Tree], Tree]


def rejuvenate(tree: Tree, row: Row, redraw: Redraw, rng: Any, max_rows: int) -> Tree:
    return rejuvenated(tree, row, max_rows, redraw)


def redraw_exactly(stream: Stream, block: Tree, rng: Any) -> Tree:
    return stream.posterior.draw(block.rows, rng)


def check_rejuvenation(
    stream: Stream, n: int, move: Callable[..., Tree], redraw: Callable[..., Tree] = redraw_exactly
) -> None:
    """Check that redrawing a block of the newest row keeps the posterior."""
    law: Law = defaultdict(float)
    newest, courses = stream.rows[n - 1], stream.courses()
    for p, tree in stream.trees(range(n)):
        for q, moved in courses.of(
            lambda rng, tree=tree: move(tree, newest, lambda block: redraw(stream, block, rng), rng)
        ):
            law[division(moved)] += p * q
    check_law(law, stream.joint(range(n)), stream.oracle(range(n)).z())


@pytest.mark.parametrize("max_rows", [1, 2, 3])
@pytest.mark.parametrize("data", DATA, ids=str)
def test_rejuvenation_keeps_the_posterior(data: StreamData, max_rows: int) -> None:
    check_rejuvenation(stream_of(data), 4, partial(rejuvenate, max_rows=max_rows))


def test_a_leaf_of_too_many_rows_stays_as_it_is() -> None:
    stream = stream_of(ALL_MISSING_FIRST)
    for _, tree in stream.trees(range(2)):
        assert rejuvenated(tree, stream.rows[1], 1, lambda block: pytest.fail("redrawn")) is tree


def first_feature(data: StreamData, rows: Sequence[int]) -> Stream:
    small = replace(data, X=data.X[:, :1], weights=(1.0,), has_levels=data.has_levels[:1])
    return stream_of(small.take(rows))


def check_particle_gibbs(stream: Stream) -> None:
    """Check that particle Gibbs with two particles keeps the posterior, and moves."""
    law: Law = defaultdict(float)
    rows, stayed = range(len(stream.rows)), 0.0
    for p, tree in stream.trees(rows, *rows):
        for q, moved in stream.courses(*rows).of(lambda rng, tree=tree: regrow(tree, 2, stream.model, rng)):
            law[division(moved)] += p * q
            stayed += p * q * (division(moved) == division(tree))
    check_law(law, stream.joint(rows), stream.oracle(rows).z())
    assert stayed < 0.9


@pytest.mark.parametrize(
    ("data", "rows"),
    [(NUMBERS, (0, 1, 3)), pytest.param(MISSING, (0, 1, 2), marks=pytest.mark.slow), (LEVELS, (0, 1))],
    ids=["numbers", "missing", "levels"],
)
def test_particle_gibbs_keeps_the_posterior(data: StreamData, rows: tuple[int, ...]) -> None:
    check_particle_gibbs(first_feature(data, rows))


# The filter


@pytest.mark.parametrize("data", [NUMBERS, MISSING], ids=str)
def test_drawn_trees_of_five_rows_have_the_law_of_a_batch(data: StreamData, real_draws: None) -> None:
    stream, rng, counts = stream_of(data), np.random.default_rng(5), Counter[Any]()
    for _ in range(2000):
        tree = None
        for row in stream.rows[:5]:
            tree, _ = extend(tree, row, stream.model, rng, adapted=False)
        counts[division(tree)] += 1
    expected = replace(stream, marginal=mondrian_oracle.flat).joint(range(5))
    assert set(counts) <= set(expected)
    assert_frequencies([counts[tree] for tree in expected], list(expected.values()), "trees of five rows")
    common = [tree for tree in expected if 2000 * expected[tree] >= 5]
    chi_square = sum((counts[tree] - 2000 * expected[tree]) ** 2 / (2000 * expected[tree]) for tree in common)
    z = (chi_square - len(common)) / math.sqrt(2 * len(common))
    assert abs(z) < 4, f"chi-square {chi_square:.1f} of {len(common)} trees, z = {z:.2f}"


FILTERS: dict[str, tuple[StreamData, dict[str, Any]]] = {
    "adapted": (NUMBERS, {"max_block_rows": 3}),
    "by the prior": (LEVELS, {"adapted": False, "max_block_rows": 3, "ess_threshold": 0.9}),
    "with particle Gibbs": (MISSING, {"n_gibbs_particles": 2, "max_block_rows": 3, "ess_threshold": 1.0}),
}


@pytest.mark.parametrize("name", FILTERS)
def test_every_order_of_six_rows_has_the_evidence_of_a_batch(name: str, real_draws: None) -> None:
    data, options = FILTERS[name]
    stream, ratios = stream_of(data), []
    log_evidence = math.log(stream.oracle(range(6)).z())
    for seed, order in enumerate(permutations(stream.rows)):
        state, rng = State.empty(2), np.random.default_rng([27, seed])
        for row in order:
            state = learn(state, row, stream.model, rng=rng, **options)
        ratios.append(math.exp(log_mean(state.log_weights) - log_evidence))
        if options.get("adapted", True):
            assert state.log_prequential == pytest.approx(log_mean(state.log_weights), abs=1e-12)
    assert_mean(ratios, 1.0, "evidence / exact evidence, all orders")
    for first in range(6):
        assert_mean(ratios[120 * first : 120 * (first + 1)], 1.0, f"evidence / exact evidence, row {first} first")


def test_a_window_has_the_evidence_of_its_rows(real_draws: None) -> None:
    stream, ratios, differences = stream_of(MISSING), [], []
    oracle, x = stream.oracle(range(2, 5)), MISSING.X[5:6]
    both = [replace(stream, data=MISSING.take(range(2, 5)).add(x[0], y)).oracle(range(4)).z() for y in (0, 1)]
    for seed in range(300):
        state, rng = State.empty(4), np.random.default_rng([28, seed])
        for i, row in enumerate(stream.rows[:5]):
            state = learn(state, row, stream.model, max_block_rows=2, rng=rng)
            if i >= 3:
                state = forget(state, stream.rows[i - 3], stream.model)
        assert all(sorted(row.number for row in tree.rows) == [2, 3, 4] for tree in state.trees)
        ratios.append(math.exp(log_mean(state.log_weights)) / oracle.z())
        differences.append(ratios[-1] * (predictive(state, x, stream.model)[0, 1] - both[1] / sum(both)))
    assert_mean(ratios, 1.0, "evidence / exact evidence")
    assert_mean(differences, 0.0, "predictive - exact predictive")


# Planted errors


def blind_to_leaves(node: Tree, row: Row, model: Model) -> float:
    return 0.0 if isinstance(node, Leaf) else separation_probability(node, row, model)


def blind_to_pairs(node: Tree, row: Row, model: Model) -> float:
    return 0.0 if isinstance(node, Split) and len(node.rows) == 2 else separation_probability(node, row, model)


def draw_from_the_block(node: Tree, row: Row, model: Model, rng: Any) -> Any:
    """Draw the feature by how much it separates the rows of the block and the new one, not the new one from them."""
    candidates = node.box.separating(row, model.measure)
    masses = model.measure.masses(np.array([each.units for each in (*node.rows, row)]))
    totals = defaultdict(float)
    for each in candidates:
        totals[each.feature] += each.probability
    weights = [each.probability / totals[each.feature] * masses[each.feature] for each in candidates]
    return candidates[draw_index(weights, rng)].draw(rng)


def one_source(feature: int, low: float, high: float, measure: Measure) -> list[Any]:
    both = present_or_missing(feature, low, high, measure)
    return [replace(both[0], probability=sum(each.probability for each in both))]


def of_the_node(end: Branch) -> tuple[Row, ...]:
    return () if end.node is None else end.node.rows


def depth_of(tree: Tree, row: Row) -> int:
    return 0 if isinstance(tree, Leaf) else 1 + depth_of(tree.child(side_of(tree.rule, row)), row)


def redraw_at(depth: int, tree: Tree, row: Row, redraw: Redraw) -> Tree:
    if depth == 0 or isinstance(tree, Leaf):
        return redraw(tree)
    side = side_of(tree.rule, row)
    return tree.with_child(side, redraw_at(depth - 1, tree.child(side), row, redraw), tree.box)


def anywhere_on_the_path(tree: Tree, row: Row, redraw: Redraw, rng: Any) -> Tree:
    n = 1 + depth_of(tree, row)
    return redraw_at(int(rng.choice(n, p=np.full(n, 1 / n))), tree, row, redraw)


def last_split_of_the_path(tree: Tree, row: Row, redraw: Redraw, rng: Any) -> Tree:
    return redraw_at(max(0, depth_of(tree, row) - 1), tree, row, redraw)


def redraw_without_the_newest(stream: Stream, block: Tree, rng: Any) -> Tree:
    *others, newest = sorted(block.rows, key=lambda row: row.number)
    blank = replace(newest, statistics=0 * newest.statistics)
    return BlockPosterior(stream.model).draw([*others, blank], rng)


Check = Callable[[StreamData], None]


def extension(n: int, adapted: bool = True) -> Check:
    return lambda data: check_extension(replace(stream_of(data)), n, adapted)


def later_rows(n: int) -> Check:
    return lambda data: check_later_rows(replace(stream_of(data)), n)


def prediction(n: int) -> Check:
    return lambda data: check_prediction(replace(stream_of(data)), n)


def rejuvenation(n: int, move: Callable[..., Tree], redraw: Callable[..., Tree] = redraw_exactly) -> Check:
    return lambda data: check_rejuvenation(replace(stream_of(data)), n, move, redraw)


def particle_gibbs(data: StreamData) -> None:
    check_particle_gibbs(first_feature(data, (0, 1, 3)))


# What is replaced in which module, by what, and the check that finds it, on which data.
ERRORS: dict[str, tuple[Any, str, Any, Check, StreamData]] = {
    "leaves do not separate": (streams, "separation_probability", blind_to_leaves, extension(2), NUMBERS),
    "nor in predictions": (streams, "separation_probability", blind_to_leaves, prediction(2), NUMBERS),
    "one node does not": (streams, "separation_probability", blind_to_pairs, extension(3), MISSING),
    "nor in its predictions": (streams, "separation_probability", blind_to_pairs, prediction(3), LEVELS),
    "the feature drawn from the block": (
        streams,
        "draw_separating",
        draw_from_the_block,
        extension(2),
        MISSING,
    ),
    "no coin for missing rows": (rules, "toss", lambda rng: False, later_rows(2), MISSING),
    "one source of present or missing": (
        questions,
        "present_or_missing",
        one_source,
        later_rows(1),
        ALL_MISSING_FIRST,
    ),
    "the node predicts who leaves it": (Branch, "rows", of_the_node, prediction(2), LEVELS),
    "the node weights who leaves it": (Branch, "rows", of_the_node, extension(2, adapted=False), NUMBERS),
    "a weight forgotten in the replay": (streams, "log_predictive", lambda *_: 0.0, particle_gibbs, NUMBERS),
}
MOVES: dict[str, tuple[Check, StreamData]] = {
    "a block chosen uniformly on the path": (rejuvenation(3, anywhere_on_the_path), NUMBERS),
    "the last split of the path": (rejuvenation(3, last_split_of_the_path), MISSING),
    "the newest row ignored": (
        rejuvenation(4, partial(rejuvenate, max_rows=2), redraw_without_the_newest),
        NUMBERS,
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_a_planted_error_is_found(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong, check, data = ERRORS[error]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError, match="is off by"):
        check(data)


@pytest.mark.parametrize("error", MOVES)
def test_a_wrong_move_is_found(error: str) -> None:
    check, data = MOVES[error]
    with pytest.raises(AssertionError, match="the law is off by"):
        check(data)
