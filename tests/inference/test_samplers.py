"""What every sampler keeps to: one way to run it, the same bits for a seed, a posterior that says where it is from."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import fields, replace
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from particletree import MCMC, SMC, Categorical, Exact, ParticleGibbs, Posterior, TreePrior
from particletree._data import TrainingData, make_training_data
from particletree._estimators.single_trees import SAMPLERS
from particletree._inference.bart.sampler import BARTChains
from particletree._inference.sampler import Sampler
from particletree._model.bart import SumPrior
from particletree._model.target import ClassLabels, class_labels

DATA = make_training_data(np.random.default_rng(3).normal(size=(12, 2)), [0, 1, 1] * 4, n_classes=3)
EXAMPLES: list[Sampler[Any, Any, Any]] = [
    SMC.paper(n_particles=20, n_islands=3),
    MCMC(n_iterations=60, n_chains=3, initial="smc"),
    ParticleGibbs(n_iterations=60, n_chains=3, regrow_share=0.5),
    Exact(n_draws=20),
]


def run(sampler: Sampler[Any, Any, Any], seed: int = 0, data: TrainingData = DATA, **keywords: Any) -> Posterior:
    return sampler.run(data, TreePrior.paper(), Categorical.paper(), seed=np.random.SeedSequence(seed), **keywords)


def assert_same_bits(ours: Posterior, theirs: Posterior) -> None:
    for field in fields(ours.forest):
        assert getattr(ours.forest, field.name).tobytes() == getattr(theirs.forest, field.name).tobytes()
    np.testing.assert_array_equal(ours.weights, theirs.weights)
    np.testing.assert_array_equal(ours.log_likelihoods, theirs.log_likelihoods)
    np.testing.assert_array_equal(ours.log_priors, theirs.log_priors)


def test_every_sampler_of_the_estimators_is_tested_here() -> None:
    assert {type(sampler) for sampler in EXAMPLES} == set(SAMPLERS)


@pytest.mark.parametrize("sampler", EXAMPLES, ids=lambda sampler: type(sampler).__name__)
class TestEverySampler:
    def test_has_the_same_run(self, sampler: Sampler[Any, Any, Any]) -> None:
        assert inspect.signature(type(sampler).run) == inspect.signature(Sampler.run)

    def test_returns_a_valid_posterior(self, sampler: Sampler[Any, Any, Any]) -> None:
        target = ClassLabels(np.array(["x", "y", "z"]))
        named = replace(DATA, observations=replace(DATA.observations, target=target))
        posterior = run(sampler, data=named, feature_names=["a", "b"])
        posterior.check()
        assert isinstance(posterior, Posterior)
        assert posterior.feature_names == ["a", "b"]
        assert class_labels(posterior.target).tolist() == ["x", "y", "z"]
        assert posterior.predictive([[0.0, 0.0]]).sum() == pytest.approx(1.0)

    def test_says_which_data_it_saw(self, sampler: Sampler[Any, Any, Any]) -> None:
        posterior = run(sampler)
        assert posterior.fingerprint == DATA.fingerprint
        assert posterior.kept_rows is not None
        assert posterior.kept_rows.shape == (12, 2)

    def test_gives_the_same_bits_for_the_same_seed(self, sampler: Sampler[Any, Any, Any]) -> None:
        seed = np.random.SeedSequence(5)
        first, second = (sampler.run(DATA, TreePrior.paper(), Categorical.paper(), seed=seed) for _ in range(2))
        assert_same_bits(first, second)
        assert run(sampler, seed=6).forest.nodes.tobytes() != first.forest.nodes.tobytes()

    def test_gives_the_same_bits_for_any_n_jobs(self, sampler: Sampler[Any, Any, Any]) -> None:
        expected = run(sampler)
        for n_jobs in (1, 2, -1, 100_000):
            assert_same_bits(run(sampler, n_jobs=n_jobs), expected)

    def test_gives_the_same_bits_in_other_processes(self, sampler: Sampler[Any, Any, Any]) -> None:
        with joblib.parallel_config(backend="loky", n_jobs=2):
            elsewhere = run(sampler)
        assert_same_bits(elsewhere, run(sampler))

    @pytest.mark.parametrize("wrong", ["sampler", "prior", "leaf"])
    def test_checks_parameters_that_were_made_wrong_later(self, sampler: Sampler[Any, Any, Any], wrong: str) -> None:
        parts: dict[str, Any] = {"sampler": clone(sampler), "prior": TreePrior.paper(), "leaf": Categorical.paper()}
        name = fields(parts[wrong])[0].name
        setattr(parts[wrong], name, -1)
        with pytest.raises(ValueError, match=rf"{type(parts[wrong]).__name__}\.{name}"):
            parts["sampler"].run(DATA, parts["prior"], parts["leaf"], seed=np.random.SeedSequence(0))

    def test_adds_runs_to_an_earlier_posterior(self, sampler: Sampler[Any, Any, Any]) -> None:
        """With other seeds than those of the earlier runs; the exact posterior has nothing to add."""
        first = run(sampler)
        if first.is_exact:
            with pytest.raises(TypeError, match="Posterior 0 is exact"):
                run(sampler, earlier=first)
            return
        assert run(sampler, earlier=first).n_islands == 2 * first.n_islands

    def test_travels(self, sampler: Sampler[Any, Any, Any]) -> None:
        assert pickle.loads(pickle.dumps(sampler)) == sampler == clone(sampler)


def test_chains_over_sums_are_a_sampler() -> None:
    """What they draw is tested in `test_bart.py`; they are run as any other sampler."""
    chains = BARTChains(n_iterations=20, n_chains=2)
    assert isinstance(chains, Sampler)
    assert inspect.signature(BARTChains.run) == inspect.signature(Sampler.run)
    assert pickle.loads(pickle.dumps(chains)) == chains == clone(chains)
    model, seed = (TreePrior(0.95, 2.0), SumPrior(n_trees=3)), np.random.SeedSequence(0)
    first = chains.run(DATA, *model, seed=seed)
    again = chains.run(DATA, *model, seed=seed, n_jobs=2, earlier=first)
    first.check()
    assert (first.fingerprint, first.n_draws, again.n_draws) == (DATA.fingerprint, 20, 60)


@pytest.mark.parametrize(("wrong", "name"), [(0, "n_iterations"), (1, "alpha"), (2, "n_trees")])
def test_chains_over_sums_check_parameters_that_were_made_wrong_later(wrong: int, name: str) -> None:
    parts: list[Any] = [BARTChains(), TreePrior(0.95, 2.0), SumPrior()]
    setattr(parts[wrong], name, -1)
    chains, prior, sum_prior = parts
    with pytest.raises(ValueError, match=rf"{type(parts[wrong]).__name__}\.{name}"):
        chains.run(DATA, prior, sum_prior, seed=np.random.SeedSequence(0))
