"""Simulation-based calibration of chains over sums of trees (Talts et al. 2018).

Trees, leaf values, noise and numbers are drawn from the model; the rank of the truth among draws of the posterior is
then uniform, for the noise and for the function at rows. Trees come from the oracle's draws of the prior, not from the
kernel.
"""

import numpy as np
import pytest
from scipy.stats import chisquare

import oracle
from particletree import TreePrior, _kernel
from statistical.sum_chains import MOVES, make_problem, run
from sum_oracle import SumData, SumModel

MODEL = SumModel(TreePrior(0.9, 1.0), 4, leaf_sd=0.4, noise_sd=0.4, noise_df=5.0, noise_scale=0.15)
ROWS = np.column_stack([np.linspace(0, 1, 24) ** 2, np.tile([0.0, 1.0, 2.0, np.nan], 6), np.repeat([0.0, 1.0], 12)])
N_DRAWS, THIN = 19, 20


def draw_from_the_model(rng):
    """Return the function at the rows, and the noise."""
    function = np.zeros(len(ROWS))
    for _ in range(MODEL.n_trees):
        tree = oracle.draw_tree_from_prior(ROWS, MODEL.prior, rng, n_levels=(0, 0, 0))
        for leaf, _ in oracle.leaves(tree):
            function[list(leaf.rows)] += MODEL.leaf_sd * rng.standard_normal()
    variance = MODEL.noise_df * MODEL.noise_scale / rng.chisquare(MODEL.noise_df)
    return function, np.sqrt(variance)


def ranks_of_the_truth(moves, seed):
    """Return the ranks of the noise and of the function at three rows."""
    rng = np.random.default_rng(seed)
    function, noise_sd = draw_from_the_model(rng)
    y = function + noise_sd * rng.standard_normal(len(ROWS))
    problem = make_problem(SumData("drawn", ROWS, y), MODEL.prior)
    result = run(problem, y, MODEL, MOVES[moves], np.random.PCG64(seed), THIN * (N_DRAWS + 5), THIN * 5)
    arrays = [result[name] for name in ("nodes", "starts", "structure_of", "values")]
    kept = slice(THIN - 1, None, THIN)
    trees = _kernel.SumDraws(*arrays)
    draws = trees.predict(ROWS[[0, 11, 23]], 0, THIN * N_DRAWS)[:, kept]
    of_rows = (draws < function[[0, 11, 23], None]).sum(axis=1)
    return [(result["trace_noise_sd"][kept] < noise_sd).sum(), *of_rows]


def check(moves, n_data_sets, seed):
    ranks = np.array([ranks_of_the_truth(moves, [seed, i]) for i in range(n_data_sets)])
    for column, what in enumerate(["noise", "first row", "middle row", "last row"]):
        counts = np.bincount(ranks[:, column], minlength=N_DRAWS + 1).reshape(-1, 4).sum(axis=1)
        p_value = chisquare(counts).pvalue
        assert p_value > 6e-5, f"{what}: ranks {counts.tolist()}, p = {p_value:.2g}"  # |z| < 4


@pytest.mark.parametrize("moves", ["grow, prune and change", "mixed, optimal"])
def test_ranks_are_uniform(moves):
    check(moves, n_data_sets=200, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
def test_ranks_of_many_data_sets_are_uniform(moves):
    check(moves, n_data_sets=400, seed=2)
