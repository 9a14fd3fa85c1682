"""What every proposal of the kernel promises; one that is added to the kernel's list is tested here at once."""

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, TreePrior, _kernel, reference
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Categorical(concentration=1.5)

pytestmark = pytest.mark.parametrize("proposal", _kernel.PROPOSALS)


def training_data(data_set):
    return make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)


def run(data, proposal, **settings):
    return SMC.paper(proposal=proposal, **settings).run(data, PRIOR, LEAF, seed=np.random.SeedSequence(11))


@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_the_evidence_is_unbiased(data_set, proposal):
    data = training_data(data_set)
    exact = ExactRecursion(data, PRIOR, LEAF).log_evidence
    posterior = run(data, proposal, n_islands=400, n_particles=10, ess_threshold=0.5)
    oracle.assert_mean(np.exp(posterior.log_evidences - exact), 1.0, f"evidence, {proposal}")


@pytest.mark.parametrize("expansion", ["node", "layer"])
def test_trees_are_valid(expansion, proposal):
    for data_set in oracle.TWELVE:
        run(training_data(data_set), proposal, n_islands=3, n_particles=20, expansion=expansion).check()


def test_the_same_seed_gives_the_same_bits(proposal):
    data = training_data(oracle.THREE_CLASSES)
    first, second = (run(data, proposal, n_islands=2, n_particles=50) for _ in range(2))
    np.testing.assert_array_equal(first.log_evidences, second.log_evidences)
    np.testing.assert_array_equal(first.forest.nodes["threshold"], second.forest.nodes["threshold"])


def test_the_reference_has_it_too(proposal):
    assert proposal in reference.filter.PROPOSALS


def test_its_name_is_accepted(proposal):
    assert SMC.paper(proposal=proposal).proposal == proposal
