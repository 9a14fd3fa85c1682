"""Who descends from whom: small genealogies by hand, and what must hold of those that the filter records."""

import pickle

import numpy as np
import pytest

from forests import make_data
from particletree import MCMC, SMC, Categorical, Posterior, TreePrior
from particletree._data import make_training_data
from particletree._posterior.runs.genealogy import (
    DESCENDANT,
    check_genealogies,
    generations,
    has_descendants,
    n_ancestors,
    thinned,
)
from particletree._posterior.runs.traces import FILTER_RECORD

# Three generations of six particles. Of the first, 0 and 2 have descendants in the second; only 2 has at the end.
BY_HAND = np.array(
    [(0, 0, 1), (0, 0, 2), (0, 0, 2), (0, 0, 1), (1, 0, 2), (1, 2, 3), (1, 2, 1), (2, 1, 4), (2, 1, 1), (2, 2, 1)],
    dtype=DESCENDANT,
)


def trace_of(n_resamplings):
    trace = np.zeros(n_resamplings + 2, dtype=FILTER_RECORD)
    trace["resampled"][:n_resamplings] = True
    return trace


def run(seed=1, n_jobs=None, sampler=None):
    X, y = make_data(np.random.default_rng(3), n_rows=60, n_features=3)
    smc = sampler or SMC.paper(n_particles=40, n_islands=3, ess_threshold=0.6)
    seeds = np.random.SeedSequence(seed)
    return smc.run(make_training_data(X, y, 3), TreePrior.paper(), Categorical(3.0), seed=seeds, n_jobs=n_jobs)


def test_descendants_by_hand():
    assert [part.size for part in generations(BY_HAND)] == [4, 3, 3]
    survives = [part.tolist() for part in has_descendants(BY_HAND)]
    assert survives == [[False, False, True, False], [False, True, True], [True, True, True]]
    assert n_ancestors(BY_HAND).tolist() == [1, 2, 3]


def test_thinned_by_hand():
    assert thinned(BY_HAND, [0, 2]).tolist()[4:] == [(1, 2, 4), (1, 2, 1), (1, 2, 1)]
    assert thinned(BY_HAND, [1, 2]).tolist()[:3] == [(0, 0, 2), (0, 0, 3), (0, 0, 1)]
    np.testing.assert_array_equal(thinned(BY_HAND, [0, 1, 2]), BY_HAND)


def with_entry(place, field, value):
    changed = BY_HAND.copy()
    changed[field][place] = value
    return changed


def test_a_genealogy_that_holds():
    check_genealogies([BY_HAND], [trace_of(2)])


@pytest.mark.parametrize(
    ("genealogies", "traces", "message"),
    [
        ([BY_HAND], [trace_of(2)] * 2, "a genealogy for each island"),
        ([np.zeros(3)], [trace_of(2)], "records of generation, parent and copies"),
        ([BY_HAND], [np.zeros(0)], "only islands of particles"),
        ([BY_HAND], [trace_of(1)], "one generation per resampling"),
        ([BY_HAND[:0]], [trace_of(0)], "one generation per resampling"),
        ([BY_HAND[4:]], [trace_of(2)], "one generation per resampling"),
        ([BY_HAND[::-1]], [trace_of(2)], "one generation per resampling"),
        ([with_entry(4, "copies", 0)], [trace_of(2)], "at least one copy"),
        ([with_entry(4, "copies", 9)], [trace_of(2)], "the same number of particles"),
        ([with_entry(4, "parent", 4)], [trace_of(2)], "a parent that is not there"),
        ([with_entry(0, "parent", 1)], [trace_of(2)], "a parent that is not there"),
        ([with_entry(9, "parent", 2**32 - 1)], [trace_of(2)], "a parent that is not there"),
    ],
)
def test_genealogies_that_do_not_hold(genealogies, traces, message):
    with pytest.raises(ValueError, match=message):
        check_genealogies(genealogies, traces)


def test_a_posterior_has_one_for_each_island():
    posterior = run()
    posterior.check()
    assert len(posterior.genealogy) == 3
    for genealogy, trace in zip(posterior.genealogy, posterior.trace, strict=True):
        assert trace["resampled"].sum() > 2
        assert n_ancestors(genealogy).size == trace["resampled"].sum() + 1
        assert (np.diff(n_ancestors(genealogy)) >= 0).all()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_same_seed_gives_the_same_genealogy_for_any_n_jobs(n_jobs):
    for one, other in zip(run().genealogy, run(n_jobs=n_jobs).genealogy, strict=True):
        np.testing.assert_array_equal(one, other)


def test_it_is_merged_and_pickled():
    first, second = run(1), run(2)
    merged = Posterior.merge([first, second])
    merged.check()
    again = pickle.loads(pickle.dumps(merged))
    for one, other in zip([*first.genealogy, *second.genealogy], again.genealogy, strict=True):
        np.testing.assert_array_equal(one, other)


def test_chains_have_none():
    assert run(sampler=MCMC(n_iterations=20, n_chains=2)).genealogy is None
