"""The plain-Python filter: unbiased against the exact recursion, and right where a single step can be foretold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import oracle
from oracle import DataSet, Leaf, Split, Tree, assert_frequencies, assert_mean
from particletree import Categorical, TreePrior
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree.reference import Particle, Problem, Result, particle_filter, predictive
from particletree.reference import filter as reference
from particletree.reference import weights as reference_weights
from particletree.reference.rules import Cut, FeatureRules, uniform

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Categorical(1.5)
PROPOSALS = ["prior", "empirical", "optimal", "lookahead"]
INFORMED = ["optimal", "lookahead"]
RULES = [("node", "oldest"), ("node", "likelihood"), ("layer", "oldest")]
RESAMPLING = ["multinomial", "systematic", "stratified", "residual"]

# Every proposal, rule and resampling meets every other at least once.
PAIRS = [
    (proposal, RULES[(i + j) % 3], resampling)
    for (i, proposal), (j, resampling) in product(enumerate(PROPOSALS), enumerate(RESAMPLING))
]


@cache
def exact(data: DataSet) -> ExactRecursion:
    return ExactRecursion(make_training_data(data.X, data.y, data.n_classes), PRIOR, LEAF)


@dataclass(frozen=True)
class RememberingProblem(Problem):
    """The same answers, each computed once: hundreds of filters on a few rows meet the same blocks again and again."""

    log_marginals: dict[bytes, float] = field(default_factory=dict)
    features: dict[bytes, list[int]] = field(default_factory=dict)
    rules_of: dict[tuple[bytes, int], FeatureRules] = field(default_factory=dict)

    def log_marginal(self, rows: NDArray[np.intp]) -> float:
        key = rows.tobytes()
        if key not in self.log_marginals:
            self.log_marginals[key] = super().log_marginal(rows)
        return self.log_marginals[key]

    def varying_features(self, rows: NDArray[np.intp]) -> list[int]:
        key = rows.tobytes()
        if key not in self.features:
            self.features[key] = super().varying_features(rows)
        return self.features[key]

    def rules(self, rows: NDArray[np.intp], feature: int) -> FeatureRules:
        key = rows.tobytes(), feature
        if key not in self.rules_of:
            self.rules_of[key] = super().rules(rows, feature)
        return self.rules_of[key]


@cache
def problem_of(data: DataSet, kind: type[Problem] = RememberingProblem) -> Problem:
    return kind(data.X, np.eye(data.n_classes)[data.y], PRIOR, LEAF)


def run(data: DataSet, seed: int, n_particles: int = 8, **options: Any) -> Result:
    rng = np.random.default_rng([2013, seed])
    return particle_filter(problem_of(data), n_particles=n_particles, rng=rng, **options)


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_remembered_answers_are_those_of_the_reference(proposal: str) -> None:
    for seed in range(5):
        plain = particle_filter(
            problem_of(oracle.SIX_ROWS, Problem),
            n_particles=8,
            rng=np.random.default_rng([2013, seed]),
            proposal=proposal,
        )
        again = run(oracle.SIX_ROWS, seed, proposal=proposal)
        assert again.log_evidence == plain.log_evidence
        points = oracle.SIX_ROWS.points()
        np.testing.assert_array_equal(predictive(again, points), predictive(plain, points))


def check_unbiased(data: DataSet, n_seeds: int, **options: Any) -> None:
    """Check that E[Z_hat] = Z and E[Z_hat * (predictive_hat - predictive)] = 0.

    The second holds for any number of particles, where the mean of predictive_hat itself does not.
    """
    points = data.points()[2:8:2]
    expected = exact(data).predictive(points)
    ratios, differences = [], []
    for seed in range(n_seeds):
        result = run(data, seed, **options)
        assert not any(particle.eligible for particle in result.particles)
        ratios.append(math.exp(result.log_evidence - exact(data).log_evidence))
        differences.append(ratios[-1] * (predictive(result, points) - expected))
    assert_mean(ratios, 1.0, f"evidence / exact evidence, {options}")
    for i, k in np.ndindex(expected.shape):
        assert_mean([difference[i, k] for difference in differences], 0.0, f"point {i}, class {k}, {options}")


# The whole filter


@pytest.mark.parametrize(("proposal", "rule", "resampling"), PAIRS)
def test_evidence_and_predictive_are_unbiased(proposal: str, rule: tuple[str, str], resampling: str) -> None:
    # Proposals that look at the labels are slow in plain Python, but need few particles.
    data, n_particles = (oracle.SIX_ROWS, 4) if proposal in INFORMED else (oracle.THREE_CLASSES, 8)
    options = {"proposal": proposal, "expansion": rule[0], "priority": rule[1], "resampling": resampling}
    check_unbiased(data, 200, n_particles=n_particles, ess_threshold=0.5, n_candidates=3, **options)


@pytest.mark.parametrize("resampling", RESAMPLING)
def test_the_optimal_proposal_is_unbiased_when_it_resamples_at_every_stage(resampling: str) -> None:
    """At a threshold of 0.5 its weights are too even to resample, which would leave that untested."""
    options = {"proposal": "optimal", "resampling": resampling, "ess_threshold": 1.0}
    check_unbiased(oracle.SIX_ROWS, 200, n_particles=4, **options)


@pytest.mark.parametrize("n_candidates", [1, 2, 5])
def test_the_lookahead_proposal_is_unbiased_for_any_number_of_candidates(n_candidates: int) -> None:
    options = {"proposal": "lookahead", "n_candidates": n_candidates, "ess_threshold": 1.0}
    check_unbiased(oracle.SIX_ROWS, 200, n_particles=4, **options)


@pytest.mark.parametrize("proposal", ["prior", "empirical"])
def test_identical_rows_with_different_labels_keep_it_unbiased(proposal: str) -> None:
    check_unbiased(oracle.TWELVE_DUPLICATED, 200, proposal=proposal, resampling="systematic", ess_threshold=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("resampling", RESAMPLING)
@pytest.mark.parametrize(("expansion", "priority"), RULES)
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_every_combination_is_unbiased(proposal: str, expansion: str, priority: str, resampling: str) -> None:
    options = {"proposal": proposal, "expansion": expansion, "priority": priority, "resampling": resampling}
    data = oracle.SIX_ROWS if proposal in INFORMED else oracle.TWO_CLASSES
    for ess_threshold in (0.5, 1.0):
        check_unbiased(data, 200, ess_threshold=ess_threshold, **options)


@pytest.mark.parametrize(
    ("proposal", "data", "ess_threshold"),
    [("prior", oracle.THREE_CLASSES, 0.5), ("empirical", oracle.THREE_CLASSES, 0.5), ("optimal", oracle.SIX_ROWS, 1.0)],
    ids=str,
)
def test_the_chosen_data_make_the_filter_resample(
    proposal: str, data: DataSet, ess_threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def count_calls(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
        calls.append(weights)
        return reference_weights.multinomial(weights, rng)

    monkeypatch.setitem(reference_weights.RESAMPLING, "multinomial", count_calls)  # type: ignore[arg-type]
    for seed in range(10):
        run(data, seed, proposal=proposal, ess_threshold=ess_threshold)
    assert len(calls) >= 10
    assert all(1 / (weights**2).sum() < ess_threshold * 8 for weights in calls)


def as_tree(particle: Particle, node: str = "") -> Tree:
    if node not in particle.rules:
        return Leaf(tuple(particle.rows[node].tolist()))
    cut = particle.rules[node]
    return Split(
        cut.feature, cut.threshold, cut.threshold, as_tree(particle, node + "0"), as_tree(particle, node + "1")
    )


@pytest.mark.parametrize("rule", RULES)
def test_without_resampling_a_prior_particle_weighs_its_likelihood(rule: tuple[str, str]) -> None:
    data = oracle.THREE_CLASSES
    result = run(data, 1, n_particles=20, expansion=rule[0], priority=rule[1], ess_threshold=0.0)
    for log_weight, particle in zip(result.log_weights, result.particles, strict=True):
        expected = oracle.likelihood(data, as_tree(particle), LEAF.concentration)
        assert math.exp(log_weight) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("proposal", PROPOSALS)
def test_particles_are_trees_on_the_raw_rows(proposal: str, rule: tuple[str, str]) -> None:
    data = oracle.TWO_CLASSES
    for particle in run(data, 2, proposal=proposal, expansion=rule[0], priority=rule[1]).particles:
        assert sorted(row for node in particle.leaves() for row in particle.rows[node]) == list(range(12))
        for node in particle.rows:
            assert len(particle.rows[node]) > 0
        for row, x in enumerate(data.X):
            assert row in particle.rows[particle.leaf_of(x)]


def test_resampling_leaves_every_weight_at_the_mean() -> None:
    result = run(oracle.THREE_CLASSES, 3, ess_threshold=1.0, max_stages=1)
    np.testing.assert_allclose(result.log_weights, result.log_evidence, rtol=1e-14)


def test_one_stage_of_the_optimal_proposal_is_deterministic() -> None:
    """The factor is the whole sum over stopping and cutting once, so one stage knows the truncated evidence exactly."""
    data = oracle.SIX_ROWS
    one_cut = 0.0
    for p, tree in oracle.list_trees(data.X, PRIOR, tuple(range(6))):
        if isinstance(tree, Leaf):
            one_cut += p * oracle.likelihood(data, tree, 1.5)
        elif oracle.n_leaves(tree) == 2:
            for leaf in (tree.left, tree.right):  # the children are not decided on yet: take their factor back out
                assert isinstance(leaf, Leaf)
                p /= (
                    1 - oracle.split_probability(PRIOR, 1, leaf.rows)
                    if oracle.varying_features(data.X, leaf.rows)
                    else 1.0
                )
            one_cut += p * oracle.likelihood(data, tree, 1.5)
    result = run(data, 4, proposal="optimal", max_stages=1)
    assert math.exp(result.log_evidence) == pytest.approx(one_cut, rel=1e-12)
    np.testing.assert_allclose(result.log_weights, result.log_evidence)


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("y", [[1], [0, 1, 1, 1]], ids=["one row", "identical rows"])
def test_where_nothing_varies_the_root_stops(y: list[int], proposal: str) -> None:
    result = run(DataSet("identical", np.zeros((len(y), 2)), y, 2), 5, proposal=proposal)
    assert result.log_evidence == pytest.approx(float(LEAF.log_marginal(np.bincount(y, minlength=2))), rel=1e-12)
    assert all(particle.leaves() == [""] for particle in result.particles)


def test_the_same_generator_gives_the_same_particles() -> None:
    first, second, other = (run(oracle.TWO_CLASSES, seed) for seed in (6, 6, 7))
    assert [particle.rules for particle in first.particles] == [particle.rules for particle in second.particles]
    assert first.log_evidence == second.log_evidence != other.log_evidence


@pytest.mark.parametrize("option", ["proposal", "expansion", "priority", "resampling"])
def test_an_unknown_option_is_named_with_the_choices(option: str) -> None:
    with pytest.raises(ValueError, match=rf"{option} must be one of \w+, .*got 'best'"):
        run(oracle.SIX_ROWS, 0, **{option: "best"})


# Proposals

SEVEN = Problem(oracle.SEVEN_ROWS.X, np.eye(3)[oracle.SEVEN_ROWS.y], PRIOR, LEAF)
ROWS = np.arange(7)


def ratio(cut: Cut) -> float:
    """Return r by the oracle's marginal."""
    left = [row for row in range(7) if SEVEN.X[row, cut.feature] <= cut.threshold]
    right = [row for row in range(7) if SEVEN.X[row, cut.feature] > cut.threshold]
    whole, *sides = (oracle.marginal(oracle.SEVEN_ROWS, rows, 1.5) for rows in (range(7), left, right))
    return math.prod(sides) / whole


def draw_cuts(proposal: str, s: float, n_draws: int) -> list[tuple[Cut | None, float]]:
    rng = np.random.default_rng([8, n_draws])
    return [reference.PROPOSALS[proposal](SEVEN, ROWS, s, rng) for _ in range(n_draws)]


@pytest.mark.parametrize("proposal", ["prior", "empirical"])
def test_weights_of_blind_proposals(proposal: str) -> None:
    for cut, log_factor in draw_cuts(proposal, 0.8, 100):
        if cut is None:
            assert log_factor == 0.0
            continue
        values = np.unique(SEVEN.X[:, cut.feature])
        gap = values[values > cut.threshold].min() - values[values <= cut.threshold].max()
        correction = {"prior": 1.0, "empirical": gap * (len(values) - 1) / np.ptp(values)}[proposal]
        assert math.exp(log_factor) == pytest.approx(ratio(cut) * correction, rel=1e-10)


def gaps_with_prior() -> list[tuple[Cut, float, float]]:
    """Return every gap as the cut at its low end, with its share of the prior and the reciprocal of its number."""
    found = []
    for feature in (0, 1):
        values = np.unique(SEVEN.X[:, feature])
        for low, high in pairwise(values):
            found.append((Cut(feature, float(low)), (high - low) / np.ptp(values) / 2, 0.5 / (len(values) - 1)))
    return found


def gap_of(cut: Cut | None, gaps: list[tuple[Cut, float, float]]) -> int:
    """Return the number of the gap that a cut falls into, from 1; 0 for a stop."""
    if cut is None:
        return 0
    return max(
        i for i, (gap, *_) in enumerate(gaps, start=1) if gap.feature == cut.feature and gap.threshold <= cut.threshold
    )


@pytest.mark.parametrize("proposal", ["prior", "empirical", "optimal"])
def test_choices_have_the_probabilities_of_their_proposal(proposal: str) -> None:
    s, gaps = 0.7, gaps_with_prior()
    chances = {
        "prior": [1 - s] + [s * share for _, share, _ in gaps],
        "empirical": [1 - s] + [s * even for _, _, even in gaps],
        "optimal": [1 - s] + [s * share * ratio(cut) for cut, share, _ in gaps],
    }[proposal]
    counts = np.zeros(len(chances))
    for cut, log_factor in draw_cuts(proposal, s, 1500):
        counts[gap_of(cut, gaps)] += 1
        if proposal == "optimal":
            assert math.exp(log_factor) == pytest.approx(sum(chances), rel=1e-10)
    assert_frequencies(counts, np.array(chances) / sum(chances), f"choices of {proposal}")


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_decisions_are_properly_weighted(proposal: str) -> None:
    """The mean of the factor over the draws that decide in one way is that decision's prior times its likelihood."""
    s, gaps = 0.7, gaps_with_prior()
    expected = [1 - s] + [s * share * ratio(cut) for cut, share, _ in gaps]
    factors = np.zeros((1500, len(expected)))
    for i, (cut, log_factor) in enumerate(draw_cuts(proposal, s, len(factors))):
        factors[i, gap_of(cut, gaps)] = math.exp(log_factor)
    rare = np.array(expected) < 0.03  # taken together: the mean of a few draws is not normal
    for choice in np.flatnonzero(~rare):
        assert_mean(factors[:, choice], expected[choice], f"decision {choice} by {proposal}")
    assert_mean(factors[:, rare].sum(axis=1), np.array(expected)[rare].sum(), f"rare decisions by {proposal}")


@pytest.mark.parametrize("n_candidates", [1, 3])
def test_a_lookahead_weighs_by_the_mean_over_its_candidates(n_candidates: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Cut] = []

    def remember(problem: Problem, rows: reference.Rows, rng: np.random.Generator) -> Cut:
        drawn.append(Cut(0, float(rng.uniform(-3.0, 6.25))))
        return drawn[-1]

    monkeypatch.setattr(reference, "draw_rule", remember)
    rng = np.random.default_rng(14)
    for _ in range(20):
        drawn.clear()
        cut, log_factor = reference.propose_with_lookahead(SEVEN, ROWS, 0.7, rng, n_candidates)
        assert len(drawn) == n_candidates
        assert cut is None or cut in drawn
        assert math.exp(log_factor) == pytest.approx(0.3 + 0.7 * np.mean([ratio(cut) for cut in drawn]), rel=1e-10)


def test_a_cut_separates_neighbouring_floats() -> None:
    low, high = 1.0, math.nextafter(1.0, 2.0)
    rng = np.random.default_rng(9)
    assert {uniform(low, high, rng) for _ in range(50)} == {low}


# Candidates


def waiting(rows: dict[str, list[int]]) -> Particle:
    """Return a particle in which these nodes wait, in this order."""
    return Particle({node: np.array(members) for node, members in rows.items()}, {}, list(rows))


def test_the_oldest_leaf_comes_first_and_children_come_last() -> None:
    particle = waiting({"": list(range(7))}).split("", Cut(0, -2.0), SEVEN.X)
    assert particle.eligible == ["0", "1"]
    assert reference.oldest(SEVEN, particle) == ["0"]
    particle = particle.split("0", Cut(1, 1.0), SEVEN.X)
    assert particle.eligible == ["1", "00", "01"]
    assert reference.oldest(SEVEN, particle) == ["1"]
    assert reference.oldest(SEVEN, particle.stop("1")) == ["00"]
    assert reference.whole_layer(SEVEN, particle) == ["1", "00", "01"]


def test_the_least_likely_leaf_comes_first_and_ties_go_to_the_oldest() -> None:
    labels = replace(SEVEN, row_statistics=np.eye(3)[[0, 0, 0, 1, 0, 1, 1]])
    particle = waiting({"00": [0, 1], "01": [2, 3], "10": [4, 5], "11": [6]})  # class counts: 2+0, 1+1, 1+1, 0+1
    assert reference.least_likely(labels, particle) == ["01"]
    assert reference.least_likely(labels, particle.stop("01")) == ["10"]
    assert reference.least_likely(labels, particle.stop("01").stop("10")) == ["00"]
    assert reference.least_likely(labels, waiting({})) == []


def test_a_layer_is_expanded_in_one_stage() -> None:
    layers = run(oracle.THREE_CLASSES, 10, expansion="layer", max_stages=2).particles
    assert max(len(node) for particle in layers for node in particle.rows) == 2
    assert all(len(node) == 2 for particle in layers for node in particle.eligible)


# Resampling

WEIGHTS = np.array([0.02, 0.4, 0.0, 0.13, 0.25, 0.2])


@pytest.mark.parametrize("resampling", RESAMPLING)
def test_the_expected_number_of_copies_is_proportional_to_the_weight(resampling: str) -> None:
    rng = np.random.default_rng(12)
    resample = reference.RESAMPLING[resampling]
    copies = np.array([np.bincount(resample(WEIGHTS, rng), minlength=6) for _ in range(3000)])
    np.testing.assert_array_equal(copies.sum(axis=1), 6)
    for i, weight in enumerate(WEIGHTS):
        assert_mean(copies[:, i], 6 * weight, f"copies of {i} by {resampling}")
    if resampling == "systematic":
        assert np.abs(copies - 6 * WEIGHTS).max() < 1
    if resampling == "stratified":
        assert np.abs(copies - 6 * WEIGHTS).max() < 2
    if resampling == "residual":
        assert (copies >= np.floor(6 * WEIGHTS)).all()


@pytest.mark.parametrize("resampling", ["systematic", "stratified", "residual"])
def test_equal_weights_are_kept(resampling: str) -> None:
    survivors = reference.RESAMPLING[resampling](np.full(4, 0.25), np.random.default_rng(13))
    np.testing.assert_array_equal(survivors, [0, 1, 2, 3])


def test_effective_sample_size() -> None:
    assert reference.effective_sample_size(np.log([1.0, 1.0, 1.0, 1.0]) - 5000.0) == pytest.approx(4.0)
    assert reference.effective_sample_size(np.array([0.0, -np.inf])) == 1.0


# Answers


def test_a_particle_prints_as_a_tree() -> None:
    particle = waiting({"": list(range(7))}).split("", Cut(1, 0.15), SEVEN.X).split("1", Cut(0, 0.75), SEVEN.X)
    assert str(particle).splitlines() == [
        "x[1] <= 0.15?",
        "  yes: leaf of rows 0, 5",
        "  no: x[0] <= 0.75?",
        "    yes: leaf of rows 1, 2, 3",
        "    no: leaf of rows 4, 6",
    ]


def test_predictive_weighs_the_leaves_of_the_trees() -> None:
    root = waiting({"": list(range(7))})
    trees = [root, root.split("", Cut(0, 0.75), SEVEN.X)]
    result = Result(0.0, np.log([0.25, 0.75]), trees, SEVEN)
    everything, right = LEAF.mean([2, 3, 2]), LEAF.mean([1, 2, 0])
    np.testing.assert_allclose(predictive(result, [[0.76, 0.0]]), [0.25 * everything + 0.75 * right])
