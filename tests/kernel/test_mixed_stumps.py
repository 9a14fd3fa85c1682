"""Missing values and levels on hundreds of rows, where trees of depth 1 can be listed: all ways to count a block.

With `max_depth=1` the exact recursion has few states, however many rows there are, and the optimal proposal knows the
evidence from its one decision: no island has an error.
"""

import numpy as np
import pytest

import oracle
from mixed_data import MixedData
from particletree import MCMC, SMC, Categorical, Exponential, Gaussian, Poisson, TreePrior, _kernel
from particletree._inference.exact.recursion import ExactRecursion
from statistical.against_exact import Exact, check_chains, check_predictive

STUMPS = TreePrior(alpha=0.8771, beta=0.5, max_depth=1)
LEAVES = {
    "gaussian": Gaussian(0.3, mean_strength=1.0, noise_sd=5.0, noise_df=5.0),
    "poisson": Poisson(3.0, shape=20.0),
    "exponential": Exponential(3.0, shape=20.0),
}


def large(n_rows, n_levels, n_values=None, weights=False):
    """Return rows whose labels depend a little on what is missing and on the levels."""
    rng = np.random.default_rng([n_rows, n_levels])
    levels = rng.integers(6, size=n_rows) * (n_levels // 6)
    with_holes = rng.normal(size=n_rows) if n_values is None else rng.integers(n_values, size=n_rows).astype(float)
    with_holes[rng.random(n_rows) < 0.3] = np.nan
    levels[rng.random(n_rows) < 0.1] = n_levels
    X = np.column_stack([levels, with_holes, rng.exponential(size=n_rows).round(1)])
    y = (rng.random(n_rows) < 0.4 + 0.15 * np.isnan(with_holes) + 0.02 * (levels % 5)).astype(int)
    counts = (0.5 + rng.integers(1, 4, size=n_rows) / 10).tolist() if weights else None
    return MixedData(f"{n_rows} rows, {n_levels} levels", X, y.tolist(), 2, counts, (n_levels, 0, 0), X[5:12])


DATA = [large(60, 6), large(150, 300, n_values=12), large(700, 40, n_values=300), large(300, 80, weights=True)]
EXACT = {str(data): Exact(data.training_data(), Categorical(300.0), data.points(), STUMPS) for data in DATA}


def run(exact, leaf, proposal, data=None, **settings):
    sampler = SMC.paper(proposal=proposal, **settings)
    return sampler.run(exact.data if data is None else data, STUMPS, leaf, seed=np.random.SeedSequence(3))


@pytest.mark.parametrize("name", EXACT)
def test_one_decision_of_the_optimal_proposal_is_exact(name):
    posterior = run(EXACT[name], EXACT[name].leaf, "optimal", n_islands=2, n_particles=5)
    np.testing.assert_allclose(posterior.log_evidences, EXACT[name].log_evidence, rtol=1e-11)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("n_particles", [3, 300])
@pytest.mark.parametrize("name", EXACT)
def test_islands_agree_with_the_exact_posterior(name, n_particles, proposal):
    exact = EXACT[name]
    posterior = run(exact, exact.leaf, proposal, n_islands=40 if n_particles > 3 else 400, n_particles=n_particles)
    ratios = np.exp(posterior.log_evidences - exact.log_evidence)
    if proposal != "optimal":
        oracle.assert_mean(ratios, 1.0, "evidence")
    check_predictive(posterior, exact, ratios, proposal)


@pytest.mark.parametrize("name", EXACT)
def test_chains_agree_with_the_exact_posterior(name):
    sampler = MCMC(n_iterations=2000, n_chains=30, burn_in=100, thin=5)
    posterior = sampler.run(EXACT[name].data, STUMPS, EXACT[name].leaf, seed=np.random.SeedSequence(5))
    check_chains(posterior, EXACT[name], name)


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("data", DATA[:3], ids=str)
def test_numbers_are_counted_the_same_way(data, leaf):
    y = np.random.default_rng(7).poisson(3.0, size=len(data.X)).astype(float)
    given = data.with_numbers("numbers", y).training_data()
    expected = ExactRecursion(given, STUMPS, LEAVES[leaf]).log_evidence
    for proposal in _kernel.PROPOSALS:
        posterior = run(None, LEAVES[leaf], proposal, given, n_islands=100, n_particles=50)
        if proposal == "optimal":
            np.testing.assert_allclose(posterior.log_evidences, expected, rtol=1e-9)
        else:
            oracle.assert_mean(np.exp(posterior.log_evidences - expected), 1.0, proposal)
