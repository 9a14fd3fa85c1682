"""The particle filter against the exact recursion, for every proposal, expansion, priority, resampling and threshold.

How islands are compared with exact answers stands in ``against_exact.py``.
"""

import itertools

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, _kernel
from particletree._data import make_training_data
from statistical.against_exact import PRIOR, Exact, check_evidence, check_islands

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
# Each number of candidates meets every combination on one data set in a quick test. The slow tests, on all data sets,
# take the numbers in turn, each with every scheme of resampling.
CANDIDATES_IN_TURN = [N_CANDIDATES[(i + i // 4) % 4] for i in range(len(WAYS))]
WAYS_WITH_CANDIDATES = [
    pytest.param(way, n, id="-".join((*way, str(n)))) for way, n in zip(WAYS, CANDIDATES_IN_TURN, strict=True)
]


def thresholds_in_turn(number, way):
    """Return two of the thresholds: every combination meets all of them on six of the data sets."""
    return THRESHOLDS[(number + WAYS.index(way)) % 2 :: 2]


def exact_answers(data_set):
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    return Exact(data, LEAF, data_set.points())


EXACT = {str(data_set): exact_answers(data_set) for data_set in oracle.TWELVE}


def run(exact, n_islands, seed, **settings):
    smc = SMC.paper(n_islands=n_islands, **settings)
    return smc.run(exact.data, PRIOR, LEAF, seed=np.random.SeedSequence(seed))


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
    check_islands(run(exact, 1000, seed=37, **settings), exact, f"{n_candidates} candidates")


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_predictive_and_number_of_leaves_agree_with_the_exact_posterior(data_set, expansion, proposal):
    exact = EXACT[str(data_set)]
    posterior = run(exact, 1000, seed=5, n_particles=20, ess_threshold=0.5, expansion=expansion, proposal=proposal)
    check_islands(posterior, exact, proposal)


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
    for threshold in thresholds_in_turn(oracle.TWELVE.index(data_set), way):
        options = {"n_particles": 8, "ess_threshold": threshold, "n_candidates": n_candidates, **settings}
        try:
            check_islands(run(exact, 1500, seed=23, **options), exact, f"threshold {threshold}")
        except AssertionError as alarm:
            # Of some 25,000 statistics one or two pass 4 by chance. The bound stays: ten times as many islands decide,
            # for which a real bias would show in a z three times as large.
            print(f"checked again with 15,000 islands: {alarm}")
            check_islands(run(exact, 15_000, seed=29, **options), exact, f"threshold {threshold}")
