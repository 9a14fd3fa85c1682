"""Rows are called by the numbers that they have in the caller's table, whatever order they are kept in."""

from __future__ import annotations

import numpy as np
import pytest

from particletree import (
    SMC,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exponential,
    GaussianKnownVariance,
    Poisson,
    Posterior,
)
from particletree._data import make_regression_data, make_training_data

X = np.arange(8.0)[:, None]
WEIGHTS = np.array([0.0, 1.0, 0.0, 1.0, 2.0, 1.0, 1.0, 0.0])  # rows 1, 3, 4, 5 and 6 are left


def test_the_data_know_them():
    labels = np.array([1, 1, 0, 0, 1, 0, 1, 0])
    sorted_by_label = make_training_data(X, labels, 2, WEIGHTS)
    for data, expected in (
        (sorted_by_label, [3, 5, 1, 4, 6]),
        (make_regression_data(X, labels, WEIGHTS), [1, 3, 4, 5, 6]),
        (make_regression_data(X, labels), list(range(8))),
    ):
        rows, numbers = data.some_rows(100)
        assert numbers.tolist() == expected
        np.testing.assert_array_equal(rows, X[numbers])
        assert [data.observations.number_of_row(place) for place in range(len(expected))] == expected
    rows, numbers = sorted_by_label.some_rows(2)
    assert numbers.tolist() == [3, 6]
    np.testing.assert_array_equal(rows, X[numbers])


@pytest.mark.parametrize(
    ("leaf", "bad", "exposure"),
    [
        (Poisson(), 0.5, None),
        (Poisson(), 2.0**54, None),
        (Exponential(), -1.0, None),
        (GaussianKnownVariance(prior_mean=0.0, noise_sd=1e-6), 1e250, None),
        (Poisson(prior_mean=1.0), 1.0, 1e300),
    ],
)
def test_errors_of_leaf_models_name_them(leaf, bad, exposure):
    y, exposures = np.ones(8), None if exposure is None else np.ones(8)
    y[5] = bad
    if exposures is not None:
        exposures[5] = exposure
    with pytest.raises(ValueError, match=r"in row 5 \(counted from 0\)"):
        BayesianTreeRegressor(leaf=leaf).fit(X, y, sample_weight=WEIGHTS, exposure=exposures)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_neighbours_have_them(weights, tmp_path):
    labels = ["b", "b", "a", "a", "b", "a", "b", "a"]
    model = BayesianTreeClassifier(sampler=SMC.paper(n_islands=2), random_state=0)
    posterior = model.fit(X, labels, sample_weight=weights).posterior_
    posterior.save(tmp_path / "p")
    merged = Posterior.merge([posterior, model.set_params(random_state=1).fit(X, labels, weights).posterior_])
    for each in (posterior, Posterior.load(tmp_path / "p"), merged):
        neighbours = each.explain([3.2], n_neighbours=8).neighbours
        assert neighbours
        assert all(neighbour.values == (X[neighbour.row, 0],) for neighbour in neighbours)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sums_keep_them():
    model = BARTRegressor(n_trees=3, n_iterations=10, n_chains=2, random_state=0).fit(X, X[:, 0], WEIGHTS)
    assert model.posterior_.kept_row_numbers.tolist() == [1, 3, 4, 5, 6]
    np.testing.assert_array_equal(model.posterior_.kept_rows, X[[1, 3, 4, 5, 6]])


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_neighbours_have_them_beside_missing_values_and_row_columns(weights, tmp_path):
    rows = np.column_stack([X[:, 0], np.where(np.arange(8) % 3 == 1, np.nan, 7.0)])
    exposure = np.arange(1.0, 9.0)
    if weights is not None:
        exposure[weights == 0] = np.nan
    model = BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(rows, np.arange(8), weights, exposure=exposure)
    model.posterior_.save(tmp_path / "p")
    for each in (model.posterior_, Posterior.load(tmp_path / "p")):
        neighbours = each.explain([3.2, None], n_neighbours=8).neighbours
        assert {neighbour.row for neighbour in neighbours} <= set(np.flatnonzero(np.isfinite(exposure)).tolist())
        for neighbour in neighbours:
            shown = [np.nan if value is None else value for value in neighbour.values]
            np.testing.assert_array_equal(shown, rows[neighbour.row])
