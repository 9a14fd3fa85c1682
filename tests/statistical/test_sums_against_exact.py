"""Chains over sums of trees against every pair of trees: all moves, all proposals of the conditional filter, mixtures.

Chains are independent, so the spread of their averages gives the standard error, whatever the autocorrelation within.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import oracle
import sum_oracle
from particletree import TreePrior, _kernel
from statistical.sum_chains import MOVES, make_problem, run
from sum_oracle import MIXED, SEVEN, WEIGHTED, SumData, SumEnumeration, SumModel

KNOWN_NOISE = SumModel(sum_oracle.PRIOR, 2, leaf_sd=0.3, noise_sd=0.25)
DRAWN_NOISE = SumModel(sum_oracle.PRIOR, 2, leaf_sd=0.3, noise_sd=0.3, noise_df=5.0, noise_scale=0.05)
ONE_TREE = SumModel(sum_oracle.PRIOR, 1, leaf_sd=0.4, noise_sd=0.25)
ONE_TREE_DRAWN_NOISE = SumModel(sum_oracle.PRIOR, 1, leaf_sd=0.4, noise_sd=0.3, noise_df=5.0, noise_scale=0.05)

LIMITS = {
    "max_depth": TreePrior(alpha=0.9, beta=0.2, max_depth=2),
    "min_samples_split": TreePrior(alpha=0.9, beta=0.2, min_samples_split=4),
    "small trees": TreePrior(alpha=0.9, beta=1.5, min_samples_split=3),
}


@cache
def exact(data: SumData, model: SumModel) -> SumEnumeration:
    return SumEnumeration(data, model)


def averages(data, result):
    """Return the chain's averages: of the function at the rows, of each number of leaves, and of the noise variance."""
    arrays = [result[name] for name in ("nodes", "starts", "structure_of", "values")]
    leaves = np.bincount(result["trace_n_leaves"], minlength=3 * len(data.y)) / len(result["trace_n_leaves"])
    return _kernel.SumDraws(*arrays).mean(data.X), leaves, float((result["trace_noise_sd"] ** 2).mean())


def check(data, model, moves, n_chains=40, n_iterations=3000, seed=1):
    truth, problem = exact(data, model), make_problem(data, model.prior)
    found = [
        averages(data, run(problem, data.y, model, moves, np.random.PCG64([seed, i]), n_iterations, 300))
        for i in range(n_chains)
    ]
    means, leaves, variances = (np.array(part) for part in zip(*found, strict=True))
    for row, expected in enumerate(truth.mean):
        oracle.assert_mean(means[:, row], expected, f"function at row {row}")
    for n in np.flatnonzero(truth.leaves > 0.02):
        oracle.assert_mean(leaves[:, n], truth.leaves[n], f"{n} leaves")
    oracle.assert_mean(variances, truth.noise_variance, "noise variance")


@pytest.mark.parametrize("moves", MOVES)
def test_moves_on_two_trees_and_noise_that_is_drawn(moves):
    check(SEVEN, DRAWN_NOISE, MOVES[moves])


@pytest.mark.parametrize("moves", ["grow, prune and change", "regrow, optimal, 2 particles", "mixed, lookahead"])
@pytest.mark.parametrize("model", [ONE_TREE, ONE_TREE_DRAWN_NOISE, KNOWN_NOISE], ids=["one", "one, noise", "two"])
def test_one_tree_and_known_noise(model, moves):
    check(SEVEN, model, MOVES[moves], seed=2)


@pytest.mark.parametrize(
    "moves", ["grow, prune and change", "regrow, optimal, 2 particles", "regrow, prior, 4 particles"]
)
@pytest.mark.parametrize("model", [KNOWN_NOISE, DRAWN_NOISE], ids=["known noise", "noise is drawn"])
def test_weights(model, moves):
    check(WEIGHTED, model, MOVES[moves], seed=3)


@pytest.mark.parametrize("moves", ["grow, prune and change", "regrow, optimal, 2 particles", "mixed, lookahead"])
def test_missing_values_and_levels(moves):
    check(MIXED, DRAWN_NOISE, MOVES[moves], seed=4)


@pytest.mark.parametrize(
    "moves",
    ["grow, prune and change", "regrow, prior, 4 particles", "regrow, optimal, 4 particles", "mixed, lookahead"],
)
@pytest.mark.parametrize("model", [ONE_TREE, DRAWN_NOISE], ids=["one", "two, noise is drawn"])
def test_trees_that_cannot_have_more_than_three_leaves(model, moves):
    check(SEVEN, replace(model, most_nodes=5), MOVES[moves], seed=7)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("moves", ["mostly grow, with change", "mostly change", "mixed, lookahead"])
def test_trees_within_limits(moves, limit):
    """A change alters which leaves can split: their prior, and the probability of the move if none is left."""
    model = SumModel(LIMITS[limit], 2, leaf_sd=0.3, noise_sd=0.25)
    check(SEVEN, model, MOVES[moves], n_iterations=10_000, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
def test_long_chains(moves):
    check(MIXED, DRAWN_NOISE, MOVES[moves], n_chains=60, n_iterations=8_000, seed=5)


def test_a_wrong_posterior_would_show():
    """The same chains do not agree with the posterior of a noise that is a fifth larger."""
    problem, moves = make_problem(SEVEN, KNOWN_NOISE.prior), MOVES["mixed, optimal"]
    results = [run(problem, SEVEN.y, KNOWN_NOISE, moves, np.random.PCG64([6, i]), 3000, 300) for i in range(40)]
    means = np.array([averages(SEVEN, result)[0] for result in results])
    wrong = exact(SEVEN, SumModel(sum_oracle.PRIOR, 2, leaf_sd=0.3, noise_sd=0.3)).mean
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert np.abs((means.mean(axis=0) - wrong) / error).max() > 4
