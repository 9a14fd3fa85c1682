"""Chain statistics: against known values, against ArviZ, and where nothing can be said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from particletree import MCMC, Categorical, ParticleGibbs, TreePrior
from particletree._data import make_training_data
from particletree._posterior.runs import convergence as convergence_module
from particletree._posterior.runs.convergence import (
    Convergence,
    MoveCount,
    bulk_ess,
    convergence,
    split_rhat,
    tail_ess,
)
from particletree._posterior.runs.traces import CHAIN_RECORD, MOVES, count_moves, iterations_per_second

STATISTICS = [split_rhat, bulk_ess, tail_ess]
TRACE = CHAIN_RECORD


def autoregressive(phi: float, shape: tuple[int, int], seed: int = 0) -> NDArray[np.float64]:
    """Return stationary chains x[t] = phi x[t - 1] + noise of variance 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    x[:, 0] /= np.sqrt(1 - phi**2)
    for t in range(1, shape[1]):
        x[:, t] += phi * x[:, t - 1]
    return x


class TestKnownValues:
    def test_independent_draws(self) -> None:
        found = convergence(np.random.default_rng(0).normal(size=(4, 5000)))
        assert found.rhat == pytest.approx(1, abs=0.002)
        assert found.ess_bulk == pytest.approx(20_000, rel=0.1)
        assert found.ess_tail == pytest.approx(20_000, rel=0.1)

    @pytest.mark.parametrize("phi", [-0.5, 0.3, 0.9])
    def test_autoregressive_chains(self, phi: float) -> None:
        # The autocorrelation time of the sequence is (1 + phi) / (1 - phi).
        expected = 4 * 20_000 * (1 - phi) / (1 + phi)
        assert bulk_ess(autoregressive(phi, (4, 20_000))) == pytest.approx(expected, rel=0.15)

    def test_rhat_by_hand(self) -> None:
        # Ranks 1 to 8 in sequences (1, 2), (5, 6), (3, 4), (7, 8) of two draws.
        from scipy.stats import norm

        draws = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
        z = norm.ppf((np.arange(1, 9) - 3 / 8) / 8.25).reshape(4, 2)
        within, between = z.var(axis=1, ddof=1).mean(), z.mean(axis=1).var(ddof=1)
        assert split_rhat(draws) == pytest.approx(np.sqrt((within / 2 + between) / within))

    def test_other_places_are_seen(self) -> None:
        draws = np.random.default_rng(0).normal(size=(4, 1000)) + 3 * np.arange(4)[:, None]
        found = convergence(draws)
        assert found.rhat > 2
        assert found.ess_bulk < 10

    def test_other_spread_is_seen(self) -> None:
        draws = np.random.default_rng(0).normal(size=(4, 1000)) * np.array([[1], [1], [1], [5]])
        assert split_rhat(draws) > 1.1

    def test_drift_is_seen_in_one_chain(self) -> None:
        draws = np.random.default_rng(0).normal(size=(1, 1000))
        assert split_rhat(draws) < 1.01
        assert split_rhat(draws + np.linspace(0, 4, 1000)) > 1.5

    def test_order_and_monotone_maps_do_not_matter(self) -> None:
        draws = autoregressive(0.7, (3, 400))
        assert split_rhat(draws) == split_rhat(draws[::-1])
        assert bulk_ess(np.exp(draws)) == pytest.approx(bulk_ess(draws))


class TestNothingToSay:
    @pytest.mark.parametrize("statistic", STATISTICS)
    @pytest.mark.parametrize("shape", [(1, 0), (4, 0), (1, 3), (4, 3)])
    def test_too_short(self, statistic: Callable[..., float], shape: tuple[int, int]) -> None:
        assert np.isnan(statistic(np.random.default_rng(0).normal(size=shape)))

    @pytest.mark.parametrize("statistic", STATISTICS)
    @pytest.mark.parametrize("shape", [(1, 4), (1, 5), (2, 4), (7, 6)])
    def test_short_but_defined(self, statistic: Callable[..., float], shape: tuple[int, int]) -> None:
        assert statistic(np.random.default_rng(1).normal(size=shape)) > 0

    @pytest.mark.parametrize("value", [0.0, -0.1, 1e300])
    @pytest.mark.parametrize("n_chains", [1, 4])
    def test_constant(self, value: float, n_chains: int) -> None:
        found = convergence(np.full((n_chains, 50), value))
        assert np.isnan([found.rhat, found.ess_bulk, found.ess_tail]).all()

    def test_each_chain_stuck_at_a_place_of_its_own(self) -> None:
        found = convergence(np.repeat(np.array([[0.1], [0.2], [0.7]]), 50, axis=1))
        assert found.rhat == np.inf
        assert found.ess_bulk < 10

    def test_equal_chains_agree(self) -> None:
        draws = np.repeat(np.random.default_rng(0).normal(size=(1, 1000)), 4, axis=0)
        found = convergence(draws)
        assert found.rhat == pytest.approx(1, abs=0.01)
        assert found.ess_bulk == pytest.approx(4 * bulk_ess(draws[:1]), rel=0.1)  # it cannot know that they are copies

    def test_two_values(self) -> None:
        draws = np.random.default_rng(0).integers(1, 3, size=(4, 500))
        found = convergence(draws)
        assert found.rhat == pytest.approx(1, abs=0.01)
        assert found.ess_bulk == pytest.approx(2000, rel=0.2)
        assert found.ess_tail == pytest.approx(2000, rel=0.2) or np.isnan(found.ess_tail)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, bad: float) -> None:
        draws = np.random.default_rng(0).normal(size=(2, 50))
        draws[1, 7] = bad
        assert np.isnan([split_rhat(draws), bulk_ess(draws)]).all()

    @pytest.mark.parametrize("draws", [np.zeros(5), np.zeros((2, 3, 4)), np.zeros((0, 5))])
    def test_other_shapes_are_refused(self, draws: NDArray[np.float64]) -> None:
        with pytest.raises(ValueError, match=r"shape \(n_chains, n_draws\)"):
            convergence(draws)


@pytest.fixture
def az() -> Any:
    return pytest.importorskip("arviz")


class TestAgainstArviz:
    @pytest.mark.parametrize("phi", [-0.8, 0.0, 0.5, 0.95])
    @pytest.mark.parametrize("shape", [(2, 50), (3, 301), (4, 2000)])
    @pytest.mark.parametrize("transform", [lambda x: x, np.exp, lambda x: x + np.arange(len(x))[:, None]])
    def test_agrees(self, az: Any, phi: float, shape: tuple[int, int], transform: Callable[..., Any]) -> None:
        draws = transform(autoregressive(phi, shape))
        expected = Convergence(
            float(az.rhat(draws, method="rank")),
            float(az.ess(draws, method="bulk")),
            float(az.ess(draws, method="tail", prob=(0.05, 0.95))),
        )
        assert vars(convergence(draws)) == pytest.approx(vars(expected), rel=1e-6)

    def test_agrees_on_counts(self, az: Any) -> None:
        draws = np.round(3 * autoregressive(0.9, (4, 1000)))
        assert split_rhat(draws) == pytest.approx(float(az.rhat(draws, method="rank")))
        assert bulk_ess(draws) == pytest.approx(float(az.ess(draws, method="bulk")))


class TestMoves:
    def test_names_are_those_of_the_kernel_in_its_order(self) -> None:
        # The root allows nothing but growing: the first move of a chain from there is move 0.
        assert MOVES == ("grow", "prune", "change", "swap", "regrow")
        data = make_training_data([[0.0], [1.0], [2.0]], [0, 1, 0], 2)
        growing = MCMC(n_iterations=1, n_chains=3, burn_in=0)
        regrowing = ParticleGibbs(n_iterations=1, n_chains=3, burn_in=0, regrow_share=1.0)
        for sampler, name in ((growing, "grow"), (regrowing, "regrow")):
            posterior = sampler.run(data, TreePrior.paper(), Categorical.paper(), seed=np.random.SeedSequence(0))
            assert [MOVES[trace["move"][0]] for trace in posterior.trace] == [name] * 3

    def test_counts(self) -> None:
        one, two = np.zeros(3, dtype=TRACE), np.zeros(2, dtype=TRACE)
        one["move"], one["accepted"] = [0, 1, 1], [True, False, True]
        two["move"], two["accepted"] = [0, 3], [False, False]
        assert count_moves([one, two]) == (
            MoveCount("grow", 2, 1),
            MoveCount("prune", 2, 1),
            MoveCount("change", 0, 0),
            MoveCount("swap", 1, 0),
        )

    def test_rate(self) -> None:
        assert MoveCount("grow", 4, 1).rate == 0.25
        assert np.isnan(MoveCount("grow", 0, 0).rate)

    def test_speed(self) -> None:
        one, two = np.zeros(3, dtype=TRACE), np.zeros(1, dtype=TRACE)
        assert np.isnan(iterations_per_second([one, two]))
        one["seconds"], two["seconds"] = [0.25, 0.5, 1.0], [1.0]
        one["iteration"], two["iteration"] = [1, 2, 3], [1]
        assert iterations_per_second([one, two]) == 2.0
        assert np.isnan(iterations_per_second([one[:0]]))


def test_autocovariances_against_the_sum() -> None:
    x = np.random.default_rng(0).normal(size=(2, 7))
    centred = x - x.mean(axis=1, keepdims=True)
    expected = [[centred[m, : 7 - t] @ centred[m, t:] / 7 for t in range(7)] for m in range(2)]
    np.testing.assert_allclose(convergence_module._autocovariances(x), expected, atol=1e-14)
