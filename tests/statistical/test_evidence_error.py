"""Does the estimate of the log evidence, plus or minus two standard errors, hold the exact value?"""

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, TreePrior
from particletree.data import make_training_data
from particletree.inference.recursion import ExactRecursion

PRIOR, LEAF, N_RUNS = TreePrior(), Categorical(1.0), 200


def coverage(data_set, sampler):
    """Return the share of runs whose interval holds the log evidence, and that of the old error, sd / sqrt(n)."""
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    exact = ExactRecursion(data, PRIOR, LEAF).log_evidence
    hits = np.zeros((N_RUNS, 2))
    for seed in range(N_RUNS):
        posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(seed))
        old = np.std(posterior.log_evidences, ddof=1) / np.sqrt(sampler.n_islands)
        hits[seed] = np.abs(posterior.log_evidence - exact) <= 2 * np.array([posterior.log_evidence_se, old])
    return hits.mean(axis=0)


def report(data_set, sampler, found, old):
    print(f"{data_set}, {sampler.proposal}, {sampler.n_islands} islands: {found:.3f}, by sd / sqrt(n) {old:.3f}")


@pytest.mark.parametrize("n_islands", [5, 20])
@pytest.mark.parametrize(("proposal", "n_particles"), [("prior", 100), ("optimal", 10)])
@pytest.mark.parametrize("data_set", [oracle.TWO_CLASSES, oracle.THREE_CLASSES, oracle.TWELVE_DUPLICATED], ids=str)
def test_two_errors_cover_the_exact_evidence(data_set, proposal, n_particles, n_islands):
    """95% is meant; with 200 runs an interval of that coverage has 0.95 +- 4 x 0.0154."""
    sampler = SMC(proposal=proposal, n_particles=n_particles, n_islands=n_islands)
    found, old = coverage(data_set, sampler)
    report(data_set, sampler, found, old)
    assert found >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / N_RUNS)


@pytest.mark.parametrize("n_islands", [5, 20])
def test_rows_with_large_weights_are_covered_less_often(n_islands):
    """Where a rare tree carries much of the evidence, islands that have not met it cannot know: 80% instead of 95%.

    Two standard errors of a mean of logs hold it in 64 to 69% of the runs.
    """
    sampler = SMC(proposal="optimal", n_particles=10, n_islands=n_islands)
    found, old = coverage(oracle.TWELVE_WEIGHTED, sampler)
    report(oracle.TWELVE_WEIGHTED, sampler, found, old)
    assert old + 0.05 < found < 0.9
