"""Streams in plain Python: every law exactly, by enumeration against the oracle, and planted errors that are found."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

import mondrian_oracle
from every_course import Courses
from mondrian_oracle import ALL_MISSING_FIRST, DATA, LEVELS, MISSING, NUMBERS, Marginal, MondrianOracle, StreamData
from particletree import Categorical, reference_rules, reference_streams
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Gaussian, GaussianKnownVariance
from particletree._model.measure import Measure, UnitScale
from particletree._model.target import Numbers, Observations
from particletree.reference_streams import (
    BlockPosterior,
    Model,
    Row,
    Split,
    State,
    Tree,
    discounted,
    extend,
    learn,
    leaves_of,
    level_of,
    log_predictive,
    predictive,
    regrow,
    rejuvenated,
    remove,
)

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
            assert {reference_streams.side_of(tree.rule, row) for row in child.rows} == {side}
            check_tree(child, model)


def check_law(law: Law, expected: Law, total: float = 1.0, limit: float = 1e-12) -> None:
    """Check that a law gives every tree the probability that is expected, up to a common factor."""
    assert set(law) == set(expected), "the trees are not those of the oracle"
    difference = sum(abs(law[tree] - expected[tree] / total) for tree in expected) / 2
    assert difference < limit, f"the law is off by {difference:.3g} in total variation"


def law_of(pairs: Iterator[tuple[float, Tree]]) -> Law:
    law: Law = defaultdict(float)
    for p, tree in pairs:
        law[division(tree)] += p
    return law


@pytest.fixture(autouse=True)
def by_courses(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the plain-Python modules draw a cut and survivors in a way that has few outcomes; not for the filter's tests."""
    if "monte_carlo" in request.keywords:
        return
    monkeypatch.setattr(reference_rules, "uniform", lambda low, high, rng: rng.uniform(low, high))
    monkeypatch.setattr(reference_streams, "multinomial", lambda p, rng: np.array([rng.choice(len(p), p=p) for _ in p]))


# The recursion


@pytest.mark.parametrize("kind", MARGINALS)
@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_evidence_is_the_oracles(data: StreamData, kind: str) -> None:
    stream = stream_of(data, kind)
    for n in range(1, 6):
        expected = math.log(stream.oracle(range(n)).z())
        assert stream.posterior.log_evidence(stream.rows[:n]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_blocks_are_drawn_from_their_posterior(data: StreamData) -> None:
    stream, rows = stream_of(data), range(5)
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
    check_extension(stream_of(NUMBERS, "numbers"), 4, adapted=True)
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
    assert answer == pytest.approx(stream.oracle(range(n + 1)).z() / stream.oracle(range(n)).z(), rel=1e-12)


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


def test_discounted_trees_have_the_posterior_of_rows_with_weights() -> None:
    def weighted(data: StreamData, rows: tuple[int, ...]) -> float:
        counts = [math.fsum(0.6 ** (4 - row) for row in rows if data.y[row] == label) for label in (0, 1)]
        log_labels = math.fsum(math.lgamma(count + 0.75) - math.lgamma(0.75) for count in counts)
        return math.exp(log_labels + math.lgamma(1.5) - math.lgamma(math.fsum(counts) + 1.5))

    stream = stream_of(MISSING)
    expected = replace(stream, marginal=weighted)
    law: Law = defaultdict(float)
    for p, tree in list(stream.trees(range(1), 1, 2, 3)):
        pairs = [(p, tree)]
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
        for p, tree in pairs:
            last, log_age = discounted(tree, 0.6, stream.model)
            law[division(last)] += 0.5 * p * math.exp(log_age)
    check_law(law, expected.joint(range(4)), 1.0)


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


def check_rejuvenation(stream: Stream, n: int, max_rows: int) -> None:
    """Check that redrawing the block of the newest row keeps the posterior."""
    law: Law = defaultdict(float)
    newest = stream.rows[n - 1]
    courses = stream.courses()
    for p, tree in stream.trees(range(n)):
        for q, moved in courses.of(
            lambda rng, tree=tree: rejuvenated(
                tree, newest, max_rows, lambda block: redraw_exactly(stream.posterior, block, rng)
            )
        ):
            law[division(moved)] += p * q
    check_law(law, stream.joint(range(n)), stream.oracle(range(n)).z())


def redraw_exactly(posterior: BlockPosterior, block: Tree, rng: Any) -> Tree:
    return posterior.draw(block.rows, rng)


@pytest.mark.parametrize("max_rows", [1, 2, 3])
@pytest.mark.parametrize("data", DATA, ids=str)
def test_rejuvenation_keeps_the_posterior(data: StreamData, max_rows: int) -> None:
    check_rejuvenation(stream_of(data), 4, max_rows)


def check_particle_gibbs(stream: Stream, n: int) -> None:
    """Check that particle Gibbs with two particles keeps the posterior, and moves."""
    law: Law = defaultdict(float)
    stayed = 0.0
    for p, tree in stream.trees(range(n), *range(n)):
        for q, moved in stream.courses(*range(n)).of(lambda rng, tree=tree: regrow(tree, 2, stream.model, rng)):
            law[division(moved)] += p * q
            stayed += p * q * (division(moved) == division(tree))
    check_law(law, stream.joint(range(n)), stream.oracle(range(n)).z())
    assert stayed < 0.99


@pytest.mark.parametrize("data", [NUMBERS, MISSING, LEVELS], ids=str)
def test_particle_gibbs_keeps_the_posterior(data: StreamData) -> None:
    one_feature = replace(data, X=data.X[:, :1], weights=(1.0,), has_levels=data.has_levels[:1])
    check_particle_gibbs(stream_of(one_feature), 3)
