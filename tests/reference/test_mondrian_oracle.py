"""The oracle of the Mondrian prior: what the theory says of it, seen on the oracle's own sums over questions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import mondrian_oracle
from mondrian_oracle import DATA, LEVELS, MISSING, NUMBERS, Marginal, MondrianOracle, StreamData
from particletree._model.measure import Measure, UnitScale

RATE = 0.7
ANYWHERE = UnitScale(np.array([0.0, 1.0]), np.array([0.1, 0.9]), 1.0)


def evidence(data: StreamData, marginal: Marginal = mondrian_oracle.urn) -> float:
    return MondrianOracle(data, marginal, RATE).z()


@pytest.mark.parametrize("data", DATA, ids=str)
@pytest.mark.parametrize("n", range(1, 6))
def test_the_evidence_does_not_depend_on_a_row_that_is_not_observed(data: StreamData, n: int) -> None:
    rows = data.take(range(n))
    total = math.fsum(evidence(rows.add(data.X[n], label)) for label in (0.0, 1.0))
    assert total == pytest.approx(evidence(rows), rel=1e-13)


def integral(density: Callable[[float], float], middle: float, unit: float) -> float:
    """Return the integral over the line, by the trapezoid rule after y = middle + unit sinh(pi / 2 sinh t)."""
    t, step = np.linspace(-4.5, 4.5, 241, retstep=True)
    places, slopes = np.sinh(np.pi / 2 * np.sinh(t)), np.pi / 2 * np.cosh(t) * np.cosh(np.pi / 2 * np.sinh(t))
    return (
        step
        * unit
        * math.fsum(slope * density(middle + unit * place) for slope, place in zip(slopes, places, strict=True))
    )


@pytest.mark.parametrize("data", DATA, ids=str)
def test_nor_if_numbers_are_observed(data: StreamData) -> None:
    rows = data.take(range(3))
    total = integral(lambda y: evidence(rows.add(data.X[3], y), mondrian_oracle.normal), 0.5, 0.5)
    assert total == pytest.approx(evidence(rows, mondrian_oracle.normal), rel=1e-12)


def test_nor_if_their_variance_is_unknown() -> None:
    rows = MISSING.take([2, 1])
    total = integral(lambda y: evidence(rows.add(MISSING.X[3], y), mondrian_oracle.student), 0.5, 0.5)
    assert total == pytest.approx(evidence(rows, mondrian_oracle.student), rel=1e-12)


@pytest.mark.parametrize("data", DATA, ids=str)
@pytest.mark.parametrize("n", range(1, 6))
def test_the_recursion_is_the_sum_over_all_trees(data: StreamData, n: int) -> None:
    oracle = MondrianOracle(data.take(range(n)), mondrian_oracle.urn, RATE)
    listed = list(oracle.list_trees(oracle.everything))
    assert math.fsum(p for p, _, _ in listed) == pytest.approx(1.0, rel=1e-13)
    assert len(oracle.joint()) == len(listed)
    assert math.fsum(oracle.joint().values()) == pytest.approx(oracle.z(), rel=1e-13)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_masses_are_those_of_the_measure(data: StreamData) -> None:
    scales = tuple(None if has_levels else ANYWHERE for has_levels in data.has_levels)
    measure = Measure(np.array(data.weights), scales, data.rho)
    oracle = MondrianOracle(data, mondrian_oracle.flat, RATE)
    assert math.fsum(share for share, _, _ in oracle.atoms) == pytest.approx(1.0, rel=1e-14)
    for chosen in range(1, 2 ** len(data.X)):
        rows = tuple(row for row in oracle.everything if chosen >> row & 1)
        assert measure.mass(data.X[list(rows)]) == pytest.approx(oracle.mass(rows), abs=1e-15)


@pytest.mark.parametrize("data", DATA, ids=str)
@pytest.mark.parametrize("n", [2, 5])
def test_the_evidence_is_where_the_process_in_time_ends(data: StreamData, n: int) -> None:
    oracle = MondrianOracle(data.take(range(n)), mondrian_oracle.urn, RATE)
    assert oracle.with_horizon(0.0) == mondrian_oracle.urn(oracle.data, oracle.everything)
    assert oracle.with_horizon(50.0, n_steps=40) == pytest.approx(oracle.z(), rel=1e-12)
    assert abs(oracle.with_horizon(1.0) / oracle.z() - 1) > 1e-4 or data.name.startswith("a number that is missing")


@pytest.mark.parametrize("data", [NUMBERS, MISSING, LEVELS], ids=str)
@pytest.mark.parametrize("time", [0.3, 4.0])
def test_the_process_with_a_lifetime_is_coherent_too(data: StreamData, time: float) -> None:
    def lifetime(rows: StreamData) -> float:
        return MondrianOracle(rows, mondrian_oracle.urn, rate=0.0).with_horizon(time, n_steps=4)

    rows = data.take(range(4))
    total = math.fsum(lifetime(rows.add(data.X[4], label)) for label in (0.0, 1.0))
    assert total == pytest.approx(lifetime(rows), rel=1e-12)


def test_two_rows_part_by_the_end_of_their_lifetime_with_the_probability_of_an_arrival() -> None:
    oracle = MondrianOracle(MISSING.take([0, 1]), mondrian_oracle.urn, rate=0.0)
    together = math.exp(-1.7 * oracle.mass((0, 1)))
    apart = mondrian_oracle.urn(oracle.data, (0,)) * mondrian_oracle.urn(oracle.data, (1,))
    expected = together * mondrian_oracle.urn(oracle.data, (0, 1)) + (1 - together) * apart
    assert oracle.with_horizon(1.7) == pytest.approx(expected, rel=1e-13)
