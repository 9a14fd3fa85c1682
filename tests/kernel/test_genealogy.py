"""The genealogy that the kernel records: particles are counted, parents are there, and nothing else changes."""

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.parallel import Task
from particletree._inference.smc import _run_island

N = 50


def run(proposal, seed=7, **settings):
    data_set = oracle.THREE_CLASSES
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    task = Task.prepare(data, TreePrior.paper(), Categorical(1.5))
    smc = SMC.paper(n_particles=N, proposal=proposal, **settings)
    return _run_island(smc, task, np.random.SeedSequence(seed), _kernel.Monitor(1), 0)


def by_generation(run, field):
    generation = run["genealogy_generation"]
    return [run[f"genealogy_{field}"][generation == g] for g in range(int(generation.max()) + 1)]


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("resampling", ["multinomial", "systematic"])
def test_every_particle_has_a_parent(proposal, expansion, resampling):
    for seed in range(5):
        arrays = run(proposal, seed, expansion=expansion, resampling=resampling, ess_threshold=0.9)
        copies, parents = by_generation(arrays, "copies"), by_generation(arrays, "parent")
        assert len(copies) == arrays["trace_resampled"].sum() + 1
        assert all(part.sum() == N and part.min() > 0 for part in copies)
        assert (parents[0] == 0).all()
        for older, parent in zip(copies, parents[1:], strict=False):
            assert parent.max() < older.size


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_without_resampling_all_come_from_the_root(proposal):
    arrays = run(proposal, ess_threshold=0.0)
    assert set(arrays["genealogy_generation"]) == {0}
    assert arrays["genealogy_copies"].sum() == N


def test_nobody_dies_between_the_last_resampling_and_the_end():
    """The offspring of each lineage that the last resampling left are its own copies."""
    n_checked = 0
    for seed in range(20):
        arrays = run("prior", seed, ess_threshold=0.7)
        copies, parents = by_generation(arrays, "copies"), by_generation(arrays, "parent")
        if len(copies) > 1:
            offspring = np.bincount(parents[-1], copies[-1], minlength=copies[-2].size)
            np.testing.assert_array_equal(offspring, copies[-2])
            n_checked += 1
    assert n_checked > 10


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_of_each_parent_at_most_one_record_has_no_descendants(proposal):
    n_dead = 0
    for seed in range(5):
        arrays = run(proposal, seed, ess_threshold=0.9)
        parents = by_generation(arrays, "parent")
        survives = np.ones(parents[-1].size, dtype=bool)
        for older, younger in zip(parents[-2::-1], parents[:0:-1], strict=True):
            survives = np.isin(np.arange(older.size), younger[survives])
            dead = older[~survives]
            assert np.unique(dead).size == dead.size
            assert survives[: survives.sum()].all()  # those with descendants come first
            n_dead += dead.size
    assert n_dead > 0


def test_data_that_cannot_be_cut_have_one_generation():
    data = make_training_data([[1.0], [1.0]], [0, 1], n_classes=2)
    task = Task.prepare(data, TreePrior.paper(), Categorical(1.5))
    arrays = _run_island(SMC.paper(n_particles=N), task, np.random.SeedSequence(0), _kernel.Monitor(1), 0)
    assert [arrays[f"genealogy_{name}"].tolist() for name in ("generation", "parent", "copies")] == [[0], [0], [N]]
