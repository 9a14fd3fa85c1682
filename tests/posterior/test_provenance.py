"""A posterior says how it was made, in values that a file can keep and that make it again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forests import make_posterior
from particletree import MCMC, SMC, BayesianTreeClassifier, Categorical, Exact, Posterior, TreePrior, __version__
from particletree._data import make_training_data
from particletree._posterior.runs.provenance import (
    CHAIN,
    EXACT_DRAWS,
    FILTER,
    Provenance,
    Seed,
    decode_provenance,
    describe_run,
    encode_provenance,
    infer_provenance,
)
from particletree._posterior.runs.traces import CHAIN_RECORD, FILTER_RECORD, NO_RECORD

DATA = make_training_data(np.random.default_rng(3).normal(size=(12, 2)), [0, 1, 1] * 4, n_classes=3)
SAMPLERS = {FILTER: SMC.paper(n_particles=9), CHAIN: MCMC(n_iterations=30, n_chains=2), EXACT_DRAWS: Exact(n_draws=9)}
MADE = Provenance(FILTER, "SMC", {"n_particles": 9, "move_weights": [0.5, 0.5]}, Seed((3, 4), (1,)), "0.1.0")


def run(sampler: Any, seed: Any = 7) -> Posterior:
    posterior: Posterior = sampler.run(DATA, TreePrior.paper(), Categorical.paper(), seed=np.random.SeedSequence(seed))
    return posterior


class TestOfSamplers:
    @pytest.mark.parametrize(("kind", "sampler"), SAMPLERS.items(), ids=SAMPLERS.keys())
    def test_says_everything(self, kind: str, sampler: Any) -> None:
        made = run(sampler).provenance
        assert (made.kind, made.sampler, made.version) == (kind, type(sampler).__name__, __version__)
        assert made.seed == Seed(7)
        assert json.loads(json.dumps(made.settings)) == made.settings
        assert type(sampler)(**made.settings).get_params().keys() == made.settings.keys()

    @pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS.keys())
    def test_makes_the_posterior_again(self, sampler: Any, tmp_path: Path) -> None:
        posterior = run(sampler, seed=[5, 6])
        (posterior.draws() if isinstance(sampler, Exact) else posterior).save(tmp_path / "p")  # type: ignore[attr-defined]
        made = Posterior.load(tmp_path / "p").provenance
        assert made == posterior.provenance
        assert made.seed is not None
        again = type(sampler)(**made.settings).run(
            DATA, TreePrior.paper(), Categorical.paper(), seed=made.seed.sequence()
        )
        np.testing.assert_array_equal(again.forest.nodes["threshold"], posterior.forest.nodes["threshold"])
        np.testing.assert_array_equal(again.weights, posterior.weights)

    def test_of_an_estimator(self) -> None:
        X, y = np.arange(8.0)[:, None], [0, 1] * 4
        fit = BayesianTreeClassifier(sampler=SMC.paper(n_particles=np.int64(3)), random_state=11).fit(X, y)
        assert fit.posterior_.provenance.seed == Seed(11)
        assert type(fit.posterior_.provenance.settings["n_particles"]) is int
        unknown = BayesianTreeClassifier(sampler=SMC.paper(n_particles=3)).fit(X, y).posterior_.provenance.seed
        assert unknown is not None

    def test_arrays_become_lists(self) -> None:
        weights: Any = np.array([0.25, 0.25, 0.5, 0])
        made = run(MCMC(n_iterations=30, move_weights=weights)).provenance
        assert made.settings["move_weights"] == [0.25, 0.25, 0.5, 0.0]

    def test_what_is_cut_short_stays_a_chain(self) -> None:
        posterior = run(MCMC(n_iterations=30, burn_in=0))
        assert posterior.until(10).is_chain
        assert posterior.until(10).provenance == posterior.provenance


class TestSeeds:
    @pytest.mark.parametrize("entropy", [0, 7, 2**128, [1, 2], np.array([1, 2], dtype=np.uint32), np.int64(4)])
    def test_plain_numbers_give_the_same_stream(self, entropy: Any) -> None:
        (_, sequence) = np.random.SeedSequence(entropy, spawn_key=(3,)).spawn(2)
        seed = Seed.of(sequence)
        assert seed is not None
        np.testing.assert_array_equal(seed.sequence().generate_state(4), sequence.generate_state(4))

    @pytest.mark.parametrize(
        "sequence", [np.random.SeedSequence(10**5000), np.random.SeedSequence(7, pool_size=8)], ids=["huge", "pool"]
    )
    def test_what_a_file_cannot_keep_is_unknown(self, sequence: np.random.SeedSequence, tmp_path: Path) -> None:
        posterior = SMC.paper(n_particles=3).run(DATA, TreePrior.paper(), Categorical.paper(), seed=sequence)
        assert posterior.provenance.seed is None
        posterior.save(tmp_path / "p")


class TestInference:
    @pytest.mark.parametrize(
        ("record", "kind"), [(FILTER_RECORD, FILTER), (CHAIN_RECORD, CHAIN), (NO_RECORD, EXACT_DRAWS)]
    )
    def test_the_kind_follows_from_the_records(self, record: Any, kind: str) -> None:
        assert infer_provenance([np.zeros(2, dtype=record)] * 2) == Provenance(kind)

    def test_of_a_posterior_made_by_hand(self) -> None:
        posterior, _ = make_posterior()
        assert posterior.provenance == Provenance(FILTER)
        assert posterior.provenance.sampler_name == "SMC"
        assert not posterior.is_chain

    def test_the_records_must_fit_what_is_said(self) -> None:
        posterior, _ = make_posterior()
        with pytest.raises(ValueError, match="traces must hold what runs of the kind 'chain' record"):
            replace(posterior, provenance=Provenance(CHAIN)).check()


class TestMerging:
    def test_what_is_common_is_kept(self) -> None:
        fits = [run(SMC.paper(n_particles=9, n_islands=n), seed=n) for n in (1, 2)]
        made = Posterior.merge(fits).provenance
        assert (made.kind, made.sampler, made.version, made.seed) == (FILTER, "SMC", __version__, None)
        assert made.settings["n_particles"] == 9
        assert "n_islands" not in made.settings

    def test_of_one_posterior_is_its_own(self) -> None:
        posterior = run(SAMPLERS[FILTER])
        assert Posterior.merge([posterior]).provenance == posterior.provenance

    def test_other_kinds_are_refused(self) -> None:
        with pytest.raises(ValueError, match="they differ in the kind of runs: 'islands of particles' and 'Markov"):
            Posterior.merge([run(SAMPLERS[FILTER]), run(SAMPLERS[CHAIN])])


class TestJson:
    @pytest.mark.parametrize("made", [MADE, Provenance(CHAIN), replace(MADE, seed=Seed(2**4095))])
    def test_there_and_back(self, made: Provenance) -> None:
        assert decode_provenance(json.loads(json.dumps(encode_provenance(made)))) == made

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "gibbs"}, "the kind of runs must be one of filter, chain, exact draws"),
            ({"kind": None}, "the kind of runs"),
            ({"kind": ["chain"]}, "the kind of runs"),
            ({"sampler": ""}, "the sampler must be a name"),
            ({"sampler": "a\n"}, "the sampler must be a name"),
            ({"sampler": "x" * 65}, "the sampler must be a name"),
            ({"sampler": 1}, "the sampler must be a name"),
            ({"version": "\x1b[2J"}, "the version must be a short text"),
            ({"version": "1" * 65}, "the version must be a short text"),
            ({"settings": []}, "the settings must be a table"),
            ({"settings": None}, "the settings must be a table"),
            ({"settings": {"a b": 1}}, "the settings must have names"),
            ({"settings": {f"n{i}": i for i in range(1001)}}, "the settings must be a table"),
            ({"settings": {"n": float("nan")}}, "the setting n must be a finite number, a text"),
            ({"settings": {"n": 2**63}}, "the setting n must be"),
            ({"settings": {"n": "x" * 1001}}, "the setting n must be"),
            ({"settings": {"n": {}}}, "the setting n must be"),
            ({"settings": {"n": [[1]]}}, "the setting n must be"),
            ({"settings": {"n": [0] * 1001}}, "the setting n must be"),
            ({"settings": {"max_stages": [5]}}, "the setting max_stages must be a number or null"),
            ({"settings": {"n_particles": "many"}}, "the setting n_particles must be a number or null"),
            ({"settings": {"time_budget": True}}, "the setting time_budget must be a number or null"),
            ({"seed": 7}, "the seed must be null, or have exactly the parts"),
            ({"seed": {"entropy": 7}}, "the seed must be null, or have exactly the parts"),
            ({"seed": {"entropy": 7, "spawn_key": 1}}, "the seed must be null, or have exactly the parts"),
            ({"seed": {"entropy": -1, "spawn_key": []}}, "the entropy and spawn_key of a seed must be integers"),
            ({"seed": {"entropy": 2**4096, "spawn_key": []}}, "the entropy and spawn_key"),
            ({"seed": {"entropy": 1.0, "spawn_key": []}}, "the entropy and spawn_key"),
            ({"seed": {"entropy": None, "spawn_key": []}}, "the entropy and spawn_key"),
            ({"seed": {"entropy": True, "spawn_key": []}}, "the entropy and spawn_key"),
            ({"seed": {"entropy": [[1]], "spawn_key": []}}, "the entropy and spawn_key"),
            ({"seed": {"entropy": [1] * 1001, "spawn_key": []}}, "the entropy and spawn_key"),
            ({"seed": {"entropy": 7, "spawn_key": [2**32]}}, "the entropy and spawn_key"),
            ({"more": 1}, "provenance must have exactly the parts kind, sampler, settings, seed, version"),
        ],
    )
    def test_hostile_values_are_refused(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            decode_provenance(json.loads(json.dumps(encode_provenance(MADE))) | change)

    @pytest.mark.parametrize("parts", [None, [], "filter", 7])
    def test_other_things_are_refused(self, parts: Any) -> None:
        with pytest.raises(ValueError, match="provenance must have exactly the parts"):
            decode_provenance(parts)

    def test_what_cannot_be_written_is_refused_before(self) -> None:
        strange = describe_run(FILTER, "SMC", {"names": ["x" * 2000]}, np.random.SeedSequence(0))
        with pytest.raises(ValueError, match="the setting names must be"):
            encode_provenance(strange)
