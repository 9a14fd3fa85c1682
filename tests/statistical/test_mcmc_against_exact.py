"""The Markov chain against the exact recursion: predictive and number of leaves, for all moves and for subsets of them.

Chains are independent, so the spread of their averages gives the standard error, whatever the autocorrelation within.
Grow and prune together reach every tree; change and swap may join them or not.
"""

import numpy as np
import pytest

import oracle
from particletree import MCMC, Categorical, TreePrior
from particletree._data import make_training_data
from statistical.against_exact import PRIOR, Exact, check_chains

LEAF = Categorical(concentration=1.5)
SUBSETS = {
    "all moves": (0.25, 0.25, 0.25, 0.25),
    "grow and prune": (0.5, 0.5, 0.0, 0.0),
    "with change": (0.2, 0.2, 0.6, 0.0),
    "with swap": (0.2, 0.2, 0.0, 0.6),
    "uneven": (0.1, 0.4, 0.2, 0.3),
    "mostly grow, with change": (0.7, 0.1, 0.2, 0.0),
    "mostly grow, with swap": (0.7, 0.1, 0.0, 0.2),
}
LIMITS = {
    "max_depth": TreePrior(alpha=0.9, beta=0.2, max_depth=2),
    "min_samples_split": TreePrior(alpha=0.9, beta=0.2, min_samples_split=5),
}


def check(data_set, moves, n_chains, n_iterations, seed, prior=PRIOR):
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    exact = Exact(data, LEAF, data_set.points(), prior)
    sampler = MCMC(n_iterations=n_iterations, n_chains=n_chains, burn_in=500, thin=20, move_weights=SUBSETS[moves])
    check_chains(sampler.run(data, prior, LEAF, seed=np.random.SeedSequence(seed), n_jobs=2), exact, moves)


@pytest.mark.parametrize("moves", SUBSETS)
@pytest.mark.parametrize("data_set", [oracle.TWO_CLASSES, oracle.THREE_CLASSES], ids=str)
def test_chains_agree_with_the_exact_posterior(data_set, moves):
    check(data_set, moves, n_chains=40, n_iterations=40_000, seed=1)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("moves", ["mostly grow, with change", "mostly grow, with swap"])
def test_chains_within_limits_agree_with_the_exact_posterior(moves, limit):
    """Within limits a change or swap often leaves no leaf that can split, so the probability of the move differs."""
    check(oracle.THREE_CLASSES, moves, n_chains=40, n_iterations=40_000, seed=3, prior=LIMITS[limit])


@pytest.mark.slow
@pytest.mark.parametrize("moves", SUBSETS)
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_long_chains_agree_with_the_exact_posterior(data_set, moves):
    check(data_set, moves, n_chains=60, n_iterations=100_000, seed=2)
