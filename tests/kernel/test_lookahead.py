"""The lookahead proposal where a fit is one decision: its weights can be foretold, and tend to the optimal ones."""

import math
from itertools import pairwise

import numpy as np
import pytest

import oracle
from particletree import SMC, BayesianTreeClassifier, Categorical, Posterior, TreePrior
from particletree._data import make_training_data

STUMPS = TreePrior(alpha=0.8, beta=100.0)  # children never split
LEAF = Categorical(concentration=1.5)
DATA = oracle.SEVEN_ROWS
SPLIT = 0.8


def run(n_islands=1, proposal="lookahead", prior=STUMPS, **settings):
    data = make_training_data(DATA.X, DATA.y, DATA.n_classes)
    sampler = SMC.paper(proposal=proposal, n_islands=n_islands, **settings)
    return sampler.run(data, prior, LEAF, seed=np.random.SeedSequence(41))


def ratios_of_gaps():
    """Return the prior probability of each gap and what a cut there does to the likelihood."""
    rows = range(len(DATA.X))
    for feature in (0, 1):
        values = np.unique(DATA.X[:, feature])
        for low, high in pairwise(values):
            left = [row for row in rows if DATA.X[row, feature] <= low]
            right = [row for row in rows if DATA.X[row, feature] > low]
            sides = [oracle.marginal(DATA, side, 1.5) for side in (left, right)]
            yield 0.5 * (high - low) / np.ptp(values), math.prod(sides) / oracle.marginal(DATA, rows, 1.5)


def test_one_particle_with_one_candidate_weighs_stop_and_split_of_it():
    """The factor is (1 - s) + s * r for the gap that the candidate falls into, whatever the particle does then."""
    whole = oracle.marginal(DATA, range(len(DATA.X)), 1.5)
    expected: dict[float, float] = {}
    for share, ratio in ratios_of_gaps():
        value = round(math.log(whole * (1 - SPLIT + SPLIT * ratio)), 9)
        expected[value] = expected.get(value, 0.0) + share
    found = run(3000, n_particles=1, n_candidates=1).log_evidences.round(9)
    assert set(found) <= set(expected)
    counts = [np.count_nonzero(found == value) for value in expected]
    oracle.assert_frequencies(counts, list(expected.values()), "factors")


def test_many_candidates_come_close_to_the_optimal_proposal():
    exact = run(proposal="optimal", n_particles=1).log_evidence
    spreads = []
    for n_candidates in (1, 10, 100, 1000):
        estimates = np.exp(run(200, n_particles=1, n_candidates=n_candidates).log_evidences - exact)
        oracle.assert_mean(estimates, 1.0, f"{n_candidates} candidates")
        spreads.append(estimates.std())
    assert spreads[3] < spreads[0] / 50  # independent candidates would give the square root of 1000


def test_particles_of_a_group_share_their_candidates():
    """Five particles with 20 candidates know as much of the one decision as one particle with 100."""
    five, one = run(20, n_particles=5, n_candidates=20), run(20, n_particles=1, n_candidates=100)
    np.testing.assert_allclose(five.log_evidences, one.log_evidences, rtol=1e-12)


def test_particles_that_take_the_same_candidate_stay_one_tree():
    X = np.arange(100.0)[:, None]
    data = make_training_data(X, (X[:, 0] > 40).astype(int), 2)
    sampler = SMC.paper(proposal="lookahead", n_particles=200, n_islands=1, n_candidates=1)
    posterior = sampler.run(data, STUMPS, LEAF, seed=np.random.SeedSequence(43))
    assert posterior.forest.n_trees < 20
    np.testing.assert_allclose(200 * posterior.weights, np.rint(200 * posterior.weights))


@pytest.mark.parametrize("expansion", ["node", "layer"])
def test_other_proposals_ignore_the_number_of_candidates(expansion):
    for proposal in ("prior", "empirical", "optimal"):
        one, many = (
            run(2, proposal, TreePrior.paper(), expansion=expansion, n_particles=20, n_candidates=n) for n in (1, 50)
        )
        np.testing.assert_array_equal(one.log_evidences, many.log_evidences)


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_wrong_number_of_candidates_is_refused(value, error):
    with pytest.raises(error, match="n_candidates must be"):
        SMC.paper(proposal="lookahead", n_candidates=value)


def test_a_posterior_remembers_the_number_of_candidates(tmp_path):
    sampler = SMC.paper(n_particles=10, n_islands=2, proposal="lookahead", n_candidates=7)
    model = BayesianTreeClassifier(sampler=sampler).fit(DATA.X, DATA.y)
    path = tmp_path / "posterior"
    model.posterior_.save(path)
    loaded = Posterior.load(path)
    assert loaded.provenance == model.posterior_.provenance
    assert loaded.provenance.settings["n_candidates"] == 7
