"""The Markov chain against the exact recursion: predictive and number of leaves, for all moves and for subsets of them.

Chains are independent, so the spread of their averages gives the standard error, whatever the autocorrelation within.
Grow and prune together reach every tree; change and swap may join them or not.
"""

import numpy as np
import pytest

import oracle
from particletree import MCMC, Categorical, TreePrior, _kernel
from particletree.data import make_training_data
from particletree.inference.recursion import ExactRecursion
from particletree.posterior.sharing import as_bytes

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Categorical(concentration=1.5)
SUBSETS = {
    "all moves": (0.25, 0.25, 0.25, 0.25),
    "grow and prune": (0.5, 0.5, 0.0, 0.0),
    "with change": (0.2, 0.2, 0.6, 0.0),
    "with swap": (0.2, 0.2, 0.0, 0.6),
    "uneven": (0.1, 0.4, 0.2, 0.3),
}


def check(data_set, moves, n_chains, n_iterations, seed):
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    exact = ExactRecursion(data, PRIOR, LEAF)
    sampler = MCMC(n_iterations=n_iterations, n_chains=n_chains, burn_in=500, thin=20, move_weights=SUBSETS[moves])
    posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(seed), n_jobs=2)
    for what, values, probabilities in (
        ("leaves", posterior.n_leaves, exact.n_leaves_probabilities()),
        ("depth", posterior.depths, exact.depth_probabilities()),
    ):
        for m in np.flatnonzero(probabilities > 0.02):
            share = posterior.island_weights @ (values == m).astype(float)
            oracle.assert_mean(share, probabilities[m], f"{what} = {m}, {moves}")
    points = data_set.points()
    expected = exact.predictive(points)
    means = LEAF.mean(posterior.forest.statistics)
    blocks = _kernel.apply(points, as_bytes(posterior.forest), posterior.forest.roots)
    for i in range(len(points)):
        by_chain = posterior.island_weights @ means[blocks[i]]
        for k in range(means.shape[1] - 1):
            oracle.assert_mean(by_chain[:, k], expected[i, k], f"predictive at point {i}, class {k}, {moves}")


@pytest.mark.parametrize("moves", SUBSETS)
@pytest.mark.parametrize("data_set", [oracle.TWO_CLASSES, oracle.THREE_CLASSES], ids=str)
def test_chains_agree_with_the_exact_posterior(data_set, moves):
    check(data_set, moves, n_chains=40, n_iterations=40_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("moves", SUBSETS)
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_long_chains_agree_with_the_exact_posterior(data_set, moves):
    check(data_set, moves, n_chains=60, n_iterations=100_000, seed=2)
