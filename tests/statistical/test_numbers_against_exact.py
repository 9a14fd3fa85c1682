"""Every sampler against the exact recursion, for every leaf model of numbers; ``against_exact.py`` compares.

The evidence of a filter is unbiased for any leaf model and proposal; the means and densities that it predicts, and the
sizes of its trees, are those of the exact posterior. So are those of chains.
"""

import itertools

import numpy as np
import pytest

from number_oracle import LARGER, case_name
from particletree import MCMC, SMC, _kernel
from statistical.against_exact import PRIOR, Exact, check_chains, check_evidence, check_islands

WAYS = list(itertools.product(_kernel.PROPOSALS, ("node", "layer")))
EXACT = {case_name(case): Exact(case[1].training_data(), case[0], case[1].points()[::2]) for case in LARGER}


def filtered(exact, n_islands, seed, **settings):
    smc = SMC.paper(n_islands=n_islands, **settings)
    return smc.run(exact.data, PRIOR, exact.leaf, seed=np.random.SeedSequence(seed))


def chained(exact, n_chains, n_iterations, seed):
    sampler = MCMC(n_iterations=n_iterations, n_chains=n_chains, burn_in=500, thin=20)
    return sampler.run(exact.data, PRIOR, exact.leaf, seed=np.random.SeedSequence(seed), n_jobs=2)


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("case", EXACT)
def test_evidence_is_unbiased(case, way):
    proposal, expansion = way
    for threshold, resampling in ((0.0, "multinomial"), (0.7, "systematic")):
        settings = {"ess_threshold": threshold, "resampling": resampling, "n_particles": 10}
        posterior = filtered(EXACT[case], 300, seed=17, proposal=proposal, expansion=expansion, **settings)
        check_evidence(posterior, EXACT[case], f"threshold {threshold}")


@pytest.mark.parametrize(("proposal", "case"), zip(itertools.cycle(_kernel.PROPOSALS), EXACT, strict=False))
def test_islands_agree_with_the_exact_posterior(case, proposal):
    posterior = filtered(EXACT[case], 600, seed=5, n_particles=20, ess_threshold=0.5, proposal=proposal)
    check_islands(posterior, EXACT[case], proposal)


@pytest.mark.parametrize("case", EXACT)
def test_chains_agree_with_the_exact_posterior(case):
    check_chains(chained(EXACT[case], n_chains=40, n_iterations=10_000, seed=1), EXACT[case], "all moves")


@pytest.mark.parametrize("case", EXACT)
def test_an_answer_of_another_leaf_model_is_found_out(case):
    # The test of the test: a filter with another prior mean must show.
    exact = EXACT[case]
    other = type(exact.leaf)(**exact.leaf.get_params() | {"prior_mean": 2 * exact.leaf.prior_mean})
    posterior = SMC.paper(n_islands=600, n_particles=20, ess_threshold=0.5).run(
        exact.data, PRIOR, other, seed=np.random.SeedSequence(5)
    )
    with pytest.raises(AssertionError, match="evidence"):
        check_evidence(posterior, exact, "another prior mean")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("case", EXACT)
def test_everything_agrees_with_the_exact_posterior(case, way):
    proposal, expansion = way
    for priority, threshold in (("oldest", 0.1), ("likelihood", 1.0)):
        settings = {"priority": priority, "ess_threshold": threshold, "n_particles": 8, "n_candidates": 3}
        posterior = filtered(EXACT[case], 1500, seed=23, proposal=proposal, expansion=expansion, **settings)
        check_islands(posterior, EXACT[case], f"{priority}, threshold {threshold}")


@pytest.mark.slow
@pytest.mark.parametrize("case", EXACT)
def test_long_chains_agree_with_the_exact_posterior(case):
    check_chains(chained(EXACT[case], n_chains=60, n_iterations=60_000, seed=2), EXACT[case], "all moves")
