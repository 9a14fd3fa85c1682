"""The particle filter against the exact recursion, for every proposal, expansion, priority, resampling and threshold.

The filter's evidence estimate is unbiased, and so is every posterior expectation times it: with Z_hat an island's
evidence, f_hat its estimate of a posterior mean and f the exact one, E[Z_hat / Z] = 1 and E[Z_hat (f_hat - f)] = 0,
for any number of particles. Each island is an independent filter with a seed of its own, so one run with many islands
gives many seeds.
"""

import itertools

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, TreePrior, _kernel
from particletree.data import make_training_data
from particletree.inference.recursion import ExactRecursion
from particletree.posterior.sharing import as_bytes

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Categorical(concentration=1.5)
THRESHOLDS = (0.0, 0.1, 0.5, 1.0)
WAYS = list(
    itertools.product(
        _kernel.PROPOSALS,
        ("node", "layer"),
        ("oldest", "likelihood"),
        ("multinomial", "systematic", "stratified", "residual"),
    )
)
N_CANDIDATES = (1, 2, 5, 50)  # of the lookahead proposal; the others ignore it
WAYS_WITH_CANDIDATES = [
    pytest.param(way, n, id="-".join((*way, str(n))))
    for way in WAYS
    for n in (N_CANDIDATES if way[0] == "lookahead" else (1,))
]


class Exact:
    """The exact answers for a data set: evidence, predictive at some points, distribution of the number of leaves."""

    def __init__(self, data_set):
        self.points = data_set.points()
        self.data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
        recursion = ExactRecursion(self.data, PRIOR, LEAF)
        self.log_evidence = recursion.log_evidence
        self.predictive = recursion.predictive(self.points)
        self.n_leaves = recursion.n_leaves_probabilities()


EXACT = {str(data_set): Exact(data_set) for data_set in oracle.TWELVE}


def run(exact, n_islands, seed, **settings):
    smc = SMC(n_islands=n_islands, **settings)
    return smc.run(exact.data, PRIOR, LEAF, seed=np.random.SeedSequence(seed))


def check_evidence(posterior, exact, what):
    ratios = np.exp(posterior.log_evidences - exact.log_evidence)
    oracle.assert_mean(ratios, 1.0, f"evidence, {what}")
    return ratios


def check_predictive(posterior, exact, ratios, what):
    blocks = _kernel.apply(exact.points, as_bytes(posterior.forest), posterior.forest.roots)  # points x trees
    means = posterior.leaf.mean(posterior.forest.statistics)
    for i in range(len(exact.points)):
        by_island = posterior.island_weights @ means[blocks[i]]
        for k in range(means.shape[1] - 1):
            error = ratios * (by_island[:, k] - exact.predictive[i, k])
            oracle.assert_mean(1 + error, 1.0, f"predictive at point {i}, class {k}, {what}")


def check_n_leaves(posterior, exact, ratios, what):
    for m in np.flatnonzero(exact.n_leaves > 0.02):
        share = posterior.island_weights @ (posterior.n_leaves == m).astype(float)
        oracle.assert_mean(1 + ratios * (share - exact.n_leaves[m]), 1.0, f"{m} leaves, {what}")


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("data_set", [oracle.TWO_CLASSES, oracle.THREE_CLASSES], ids=str)
def test_evidence_is_unbiased(data_set, way):
    settings = dict(zip(("proposal", "expansion", "priority", "resampling"), way, strict=True))
    exact = EXACT[str(data_set)]
    for threshold in THRESHOLDS:
        posterior = run(exact, 300, seed=17, n_particles=10, ess_threshold=threshold, **settings)
        check_evidence(posterior, exact, f"threshold {threshold}")


@pytest.mark.parametrize("way", [way for way in WAYS if way[0] == "lookahead"], ids="-".join)
@pytest.mark.parametrize("n_candidates", N_CANDIDATES)
def test_evidence_is_unbiased_for_any_number_of_candidates(n_candidates, way):
    settings = dict(zip(("proposal", "expansion", "priority", "resampling"), way, strict=True))
    exact = EXACT[str(oracle.THREE_CLASSES)]
    posterior = run(exact, 300, seed=31, n_particles=5, ess_threshold=0.7, n_candidates=n_candidates, **settings)
    check_evidence(posterior, exact, f"{n_candidates} candidates")


@pytest.mark.parametrize("n_candidates", N_CANDIDATES)
def test_predictive_agrees_for_any_number_of_candidates(n_candidates):
    exact = EXACT[str(oracle.TWO_CLASSES)]
    settings = {"proposal": "lookahead", "n_candidates": n_candidates, "n_particles": 10, "ess_threshold": 0.5}
    check_everything(run(exact, 1000, seed=37, **settings), exact, 0.5)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_predictive_and_number_of_leaves_agree_with_the_exact_posterior(data_set, expansion, proposal):
    exact = EXACT[str(data_set)]
    posterior = run(exact, 1000, seed=5, n_particles=20, ess_threshold=0.5, expansion=expansion, proposal=proposal)
    ratios = check_evidence(posterior, exact, proposal)
    check_predictive(posterior, exact, ratios, proposal)
    check_n_leaves(posterior, exact, ratios, proposal)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_many_particles_converge_to_the_exact_predictive(proposal):
    exact = EXACT[str(oracle.THREE_CLASSES)]
    posterior = run(exact, 1, seed=3, n_particles=200_000, proposal=proposal)
    assert posterior.log_evidence == pytest.approx(exact.log_evidence, abs=0.02)
    np.testing.assert_allclose(posterior.predictive(exact.points), exact.predictive, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "n_candidates"), WAYS_WITH_CANDIDATES)
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_everything_agrees_with_the_exact_posterior(data_set, way, n_candidates):
    settings = dict(zip(("proposal", "expansion", "priority", "resampling"), way, strict=True))
    exact = EXACT[str(data_set)]
    for threshold in THRESHOLDS:
        options = {"n_particles": 8, "ess_threshold": threshold, "n_candidates": n_candidates, **settings}
        try:
            check_everything(run(exact, 1500, seed=23, **options), exact, threshold)
        except AssertionError as alarm:
            # Of some 25,000 statistics one or two pass 4 by chance. The bound stays: ten times as many islands decide,
            # for which a real bias would show in a z three times as large.
            print(f"checked again with 15,000 islands: {alarm}")
            check_everything(run(exact, 15_000, seed=29, **options), exact, threshold)


def check_everything(posterior, exact, threshold):
    ratios = check_evidence(posterior, exact, f"threshold {threshold}")
    check_predictive(posterior, exact, ratios, f"threshold {threshold}")
    check_n_leaves(posterior, exact, ratios, f"threshold {threshold}")
