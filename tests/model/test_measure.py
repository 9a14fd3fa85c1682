"""The measure on questions: unit scales and masses, against the questions themselves."""

import numpy as np
import pytest

from particletree._model.measure import Measure, UnitScale, mass_of_levels, mass_of_numbers


@pytest.mark.parametrize(
    "values", [[3.0], [0.0, 0.0, 0.0, 1.0], [-5.0, 2.0, 2.0, 7.5, np.nan], [-1e300, 1e300], np.arange(5000.0)]
)
def test_scale_is_increasing_with_an_inverse(values):
    scale = UnitScale.of_values(values)
    present = np.unique(np.asarray(values)[~np.isnan(values)])
    wide = np.concatenate([present[0] - np.array([1e3, 1.0, 0.1]), present, present[-1] + np.array([0.1, 1.0, 1e3])])
    units = scale.to_unit(wide)
    assert ((units > 0) & (units < 1)).all()
    assert (np.diff(units) >= 0).all()
    assert (np.diff(scale.to_unit(present)) > 0).all()
    np.testing.assert_allclose(scale.from_unit(scale.to_unit(present)), present, rtol=1e-12)
    np.testing.assert_allclose(scale.to_unit(scale.from_unit([0.01, 0.5, 0.99])), [0.01, 0.5, 0.99], rtol=1e-9)


def test_a_range_given_by_the_user_is_uniform():
    scale = UnitScale.of_range(10.0, 20.0)
    np.testing.assert_allclose(np.diff(scale.to_unit([10.0, 12.5, 15.0, 17.5, 20.0])), 0.225)


def ask(rng: np.random.Generator, units: np.ndarray, rho: float) -> bool:
    """Return whether a question about a number, drawn as the module's text says, separates the rows."""
    missing = np.isnan(units)
    if rng.random() < rho:
        left = ~missing
    else:
        left = np.where(missing, rng.random() < 0.5, np.nan_to_num(units) <= rng.random())
    return bool(left.any() and not left.all())


@pytest.mark.parametrize("units", [[0.2, 0.7], [0.2, 0.7, np.nan], [0.4, np.nan], [0.4, 0.4], [np.nan, np.nan]])
def test_mass_of_numbers_is_the_share_of_separating_questions(units):
    rng, n, rho = np.random.default_rng(3), 20_000, 0.3
    share = np.mean([ask(rng, np.array(units), rho) for _ in range(n)])
    mass = mass_of_numbers(np.array(units), rho)
    assert abs(share - mass) <= 4 * np.sqrt(max(mass * (1 - mass), 1e-12) / n)


@pytest.mark.parametrize("n_levels", [1, 2, 5])
def test_mass_of_levels_is_the_share_of_separating_coins(n_levels):
    rng, n = np.random.default_rng(4), 20_000
    coins = rng.random((n, n_levels)) < 0.5
    share, mass = np.mean(coins.any(axis=1) & ~coins.all(axis=1)), mass_of_levels(n_levels)
    assert abs(share - mass) <= 4 * np.sqrt(mass * (1 - mass) / n)


def test_masses_have_the_weights_of_their_features():
    measure = Measure.of_columns([np.array([0.0, 1.0, 2.0]), None], feature_weights=[3.0, 1.0], rho=0.25)
    units = measure.to_unit(np.array([[0.0, 2.0], [2.0, np.nan]]))
    np.testing.assert_allclose(measure.masses(units), [0.75 * 0.75 * 2 / 3, 0.25 * 0.5])
    assert measure.mass(units) == pytest.approx(measure.masses(units).sum())
