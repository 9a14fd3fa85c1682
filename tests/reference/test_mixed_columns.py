"""The plain-Python filter on missing values and levels: its rules against the oracle's, and unbiased as a whole."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import mixed_data
import oracle
from mixed_data import MixedData
from oracle import Leaf, SetSplit, Split, Tree, assert_frequencies, assert_mean
from particletree import Categorical, TreePrior
from particletree._inference.exact.recursion import ExactRecursion
from particletree.reference import Particle, Problem, Result, particle_filter, predictive
from particletree.reference import filter as reference
from particletree.reference.rules import Cut, LevelSet, Rule
from read_trees import up_to_coins

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LIMITED = TreePrior(alpha=0.9, beta=0.3, max_depth=3, min_samples_split=3)
LEAF = Categorical(1.5)
PROPOSALS = ["prior", "empirical", "optimal", "lookahead"]


@cache
def problem_of(data: MixedData, prior: int = 0) -> Problem:
    weights = np.ones(len(data.y)) if data.weights is None else np.array(data.weights)
    statistics = np.eye(data.n_classes)[data.y] * weights[:, None]
    return Problem(data.X, statistics, (PRIOR, LIMITED)[prior], LEAF, data.n_levels)


def in_words(rule: Rule, data: MixedData) -> Split | SetSplit:
    if isinstance(rule, Cut):
        return Split(rule.feature, rule.threshold, rule.threshold, missing_left=float(rule.missing_left))
    assert isinstance(rule, LevelSet)
    return SetSplit(rule.feature, rule.left, frozenset(range(data.n_levels[rule.feature] + 2)) - rule.left)


def stump(rule: Rule, data: MixedData) -> Tree:
    """Return the rule as the listed one that it belongs to, between two leaves."""
    split = in_words(rule, data)
    left, right = (Leaf(side) for side in oracle.divide(data.X, split, range(len(data.X))))
    return up_to_coins(replace(split, left=left, right=right), data.X)


def listed_stumps(data: MixedData) -> dict[Tree, float]:
    """Return every rule of all rows with its prior probability, given that they split."""
    rows, found = range(len(data.X)), {}
    varying = oracle.varying_features(data.X, rows)
    for f in varying:
        for p, rule in oracle.list_rules(data.X, data.n_levels, rows, f):
            left, right = (Leaf(side) for side in oracle.divide(data.X, rule, rows))
            found[replace(rule, left=left, right=right)] = p / len(varying)
    return found


@pytest.mark.parametrize("data", mixed_data.SMALL, ids=str)
def test_rules_from_the_prior_have_the_listed_probabilities(data: MixedData) -> None:
    listed, problem, rng = listed_stumps(data), problem_of(data), np.random.default_rng(3)
    number = {tree: i for i, tree in enumerate(listed)}
    rules = [reference.draw_rule(problem, np.arange(len(data.X)), rng) for _ in range(1000)]
    counts = np.bincount([number[stump(rule, data)] for rule in rules], minlength=len(number))
    assert_frequencies(counts, list(listed.values()), "rule")


@pytest.mark.parametrize("data", mixed_data.SMALL, ids=str)
def test_divisions_have_the_listed_probabilities(data: MixedData) -> None:
    listed, problem, rng = listed_stumps(data), problem_of(data), np.random.default_rng(4)
    rows, found = np.arange(len(data.X)), {}
    varying = problem.varying_features(rows)
    for f in varying:
        for division in problem.rules(rows, f).divisions():
            found[stump(division.draw(rng), data)] = division.probability / len(varying)
    assert found == pytest.approx(listed, rel=1e-12)


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("data", mixed_data.SMALL, ids=str)
def test_decisions_are_properly_weighted(data: MixedData, proposal: str) -> None:
    """The mean of the factor over the draws that decide in one way is that decision's prior times its likelihood."""
    s, listed, rows, rng = 0.7, listed_stumps(data), np.arange(len(data.X)), np.random.default_rng(5)
    whole = oracle.marginal(data, rows.tolist(), 1.5)
    expected = {tree: s * p * oracle.likelihood(data, tree, 1.5) / whole for tree, p in listed.items()}
    number = {tree: i for i, tree in enumerate(expected, start=1)}
    factors = np.zeros((400, 1 + len(expected)))
    for i in range(len(factors)):
        rule, log_factor = reference.PROPOSALS[proposal](problem_of(data), rows, s, rng)
        factors[i, 0 if rule is None else number[stump(rule, data)]] = math.exp(log_factor)
    wanted = np.array([1 - s, *expected.values()])
    drawn_rarely = np.array([1 - s, *(s * p for p in listed.values())]) < 0.05
    rare = drawn_rarely | (wanted < 0.03)  # taken together: the mean of a few draws is not normal
    for choice in np.flatnonzero(~rare):
        assert_mean(factors[:, choice], wanted[choice], f"decision {choice} by {proposal}")
    assert_mean(factors[:, rare].sum(axis=1), wanted[rare].sum(), f"rare decisions by {proposal}")


@cache
def exact(data: MixedData, prior: int) -> ExactRecursion:
    return ExactRecursion(data.training_data(), (PRIOR, LIMITED)[prior], LEAF)


def run(data: MixedData, prior: int, seed: int, **options: Any) -> Result:
    return particle_filter(problem_of(data, prior), rng=np.random.default_rng([2014, seed]), **options)


WAYS = [("node", "oldest", "multinomial"), ("node", "likelihood", "systematic"), ("layer", "oldest", "residual")]


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("number", range(len(mixed_data.SMALL)))
def test_evidence_and_predictive_are_unbiased(number: int, proposal: str) -> None:
    data, prior = mixed_data.SMALL[number], number % 2
    expansion, priority, resampling = WAYS[(number + PROPOSALS.index(proposal)) % 3]
    points, recursion, ratios, differences = data.points()[2:6], exact(data, prior), [], []
    expected = recursion.predictive(points)
    for seed in range(60):
        result = run(
            data,
            prior,
            seed,
            proposal=proposal,
            expansion=expansion,
            priority=priority,
            resampling=resampling,
            n_particles=4,
            ess_threshold=0.7,
            n_candidates=2,
        )
        ratios.append(math.exp(result.log_evidence - recursion.log_evidence))
        differences.append(ratios[-1] * (predictive(result, points) - expected))
    assert_mean(ratios, 1.0, "evidence / exact evidence")
    for i, k in np.ndindex(expected.shape):
        assert_mean([difference[i, k] for difference in differences], 0.0, f"point {i}, class {k}")


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_the_limits_hold(proposal: str) -> None:
    for particle in run(mixed_data.TWELVE_MIXED, 1, 0, n_particles=20, proposal=proposal).particles:
        assert all(len(node) < 3 and len(particle.rows[node]) >= 3 for node in particle.rules)


def test_a_particle_prints_its_rules() -> None:
    data = mixed_data.THREE_LEVELS
    particle = Particle({"": np.arange(5)}, {}, [""]).split("", LevelSet(0, frozenset({1, 3, 4})), data.X)
    assert str(particle).splitlines() == [
        "x[0] in [1, 3, 4]?",
        "  yes: leaf of rows 1, 2, 3",
        "  no: leaf of rows 0, 4",
    ]
