"""Geweke's joint test (2004) of chains over sums of trees, and two classes against a quadrature.

Numbers are drawn given the trees and the noise, then one sweep moves trees, leaf values and noise given the numbers, in
turn. If a sweep leaves the posterior as it is, this joint chain leaves the prior as it is: numbers of leaves as listed,
values of the function with variance m t^2, the noise variance nu lambda / chi^2.
"""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import chi2

import oracle
import sum_oracle
from particletree import _kernel
from statistical.sum_chains import MOVES, make_problem, run
from sum_oracle import MIXED, SEVEN, SumEnumeration, SumModel

MODEL = SumModel(sum_oracle.PRIOR, 2, leaf_sd=0.5, noise_sd=0.7, noise_df=6.0, noise_scale=0.5)
JOINT_MOVES = ["grow, prune and change", "mixed, optimal", "regrow, lookahead, 3 particles"]


def function_at(data, result):
    arrays = [result[name] for name in ("nodes", "starts", "structure_of", "values")]
    return _kernel.SumDraws(*arrays).predict(data.X, 0, 1)[:, 0]


def joint_chain(data, moves, n_steps, n_first, seed):
    """Return leaves, the function at the rows and the noise variance, at every step after the first ones."""
    rng, generator, problem = np.random.default_rng(seed), np.random.PCG64(seed), make_problem(data, MODEL.prior)
    state, function, noise_sd = None, np.zeros(len(data.y)), MODEL.noise_sd
    visited = []
    for _ in range(n_first + n_steps):
        y = function + noise_sd * rng.standard_normal(len(data.y))
        result = run(problem, y, MODEL, moves, generator, n_iterations=1, burn_in=0, initial=state)
        state, function, noise_sd = result["state"], function_at(data, result), float(result["trace_noise_sd"][0])
        visited.append((int(result["trace_n_leaves"][0]), function, noise_sd**2))
    return visited[n_first:]


def check_joint(data, moves, n_chains, n_steps, seed):
    leaves, functions, variances = [], [], []
    for i in range(n_chains):
        visited = joint_chain(data, MOVES[moves], n_steps, n_first=100, seed=[seed, i])
        leaves.append(np.bincount([step[0] for step in visited], minlength=3 * len(data.y)) / n_steps)
        functions.append(np.mean([step[1] ** 2 for step in visited], axis=0))
        variances.append([step[2] for step in visited])
    prior = SumEnumeration(data, MODEL).prior_leaves
    for n in np.flatnonzero(prior > 0.03):
        oracle.assert_mean([chain[n] for chain in leaves], prior[n], f"{n} leaves")
    for row in range(len(data.y)):
        oracle.assert_mean([chain[row] for chain in functions], 2 * MODEL.leaf_sd**2, f"square at row {row}")
    for share in (0.1, 0.5, 0.9):
        bound = MODEL.noise_df * MODEL.noise_scale / chi2.ppf(1 - share, MODEL.noise_df)
        oracle.assert_mean([np.mean(np.array(chain) < bound) for chain in variances], share, f"noise {share}")


@pytest.mark.parametrize("moves", JOINT_MOVES)
def test_the_joint_chain_leaves_the_prior_as_it_is(moves):
    check_joint(SEVEN, moves, n_chains=30, n_steps=600, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
def test_long_joint_chains(moves):
    check_joint(MIXED, moves, n_chains=40, n_steps=1200, seed=2)


# Two classes: of one tree, leaves are independent, and each is one integral.

LABELS = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
OFFSET, LEAF_SD = 0.3, 1.2


def exact_probit(data):
    """Return the mean of the function, offset left out, and the probability of each number of leaves."""
    partitions, prior = sum_oracle.partitions(data, MODEL)
    g = np.linspace(-8 * LEAF_SD, 8 * LEAF_SD, 2001)
    log_prior = -0.5 * (g / LEAF_SD) ** 2 - math.log(LEAF_SD * math.sqrt(2 * math.pi)) + math.log(g[1] - g[0])
    signs = 2 * LABELS - 1
    log_marginals, means = np.log(prior), np.zeros((len(prior), len(LABELS)))
    for number, partition in enumerate(partitions):
        for leaf in partition:
            rows = list(leaf)
            joint = np.exp(log_prior + sum(log_ndtr(signs[row] * (OFFSET + g)) for row in rows))
            log_marginals[number] += math.log(joint.sum())
            means[number, rows] = joint @ g / joint.sum()
    weights = np.exp(log_marginals - log_marginals.max())
    weights /= weights.sum()
    return weights @ means, np.bincount([len(p) for p in partitions], weights=weights)


def probit_chain(problem, moves, seed):
    return _kernel.run_sum_of_trees(
        problem=problem,
        target=LABELS,
        is_probit=True,
        offset=OFFSET,
        n_trees=1,
        leaf_sd=LEAF_SD,
        noise_df=0.0,
        noise_scale=0.0,
        noise_sd=1.0,
        n_iterations=3000,
        burn_in=300,
        thin=1,
        initial=None,
        generator=np.random.PCG64(seed),
        monitor=_kernel.Monitor(1),
        chain=0,
        **moves.kernel_settings() | {"n_start": 0, "n_before": 0},
    )


@pytest.mark.parametrize("moves", JOINT_MOVES)
@pytest.mark.parametrize("data", [SEVEN, MIXED], ids=str)
def test_two_classes_agree_with_a_quadrature(data, moves):
    mean, leaves = exact_probit(data)
    results = [probit_chain(make_problem(data, sum_oracle.PRIOR), MOVES[moves], [3, i]) for i in range(40)]
    arrays = [[result[name] for name in ("nodes", "starts", "structure_of", "values")] for result in results]
    means = np.array([_kernel.SumDraws(*each).mean(data.X) for each in arrays])
    shares = np.array([np.bincount(r["trace_n_leaves"], minlength=8) / len(r["trace_n_leaves"]) for r in results])
    for row, expected in enumerate(mean):
        oracle.assert_mean(means[:, row], expected, f"function at row {row}")
    for n in np.flatnonzero(leaves > 0.02):
        oracle.assert_mean(shares[:, n], leaves[n], f"{n} leaves")
