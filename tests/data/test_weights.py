"""Weights say how often a row counts; what says nothing of the kind is refused with its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from inputs import Model, refuse
from particletree._data import check_classification_data


@pytest.mark.parametrize("labels", [["a", "b", "c"], [5, 7, 9], [0.0, 1.0, 2.0], [-3, 10**9, 4]])
def test_rows_of_weight_zero_are_ignored_with_their_labels(labels: Any) -> None:
    data = check_classification_data(Model(), [[3.0], [1.0], [2.0]], labels, [0.5, 0.0, 2.0])
    assert data.observations.target.classes.tolist() == [labels[0], labels[2]]
    assert data.observations.target.n_outputs == 2
    assert data.observations.values.tolist() == [0, 1]
    assert data.table.ranks.tolist() == [[1, 0]]
    assert data.observations.weights is not None
    assert data.observations.weights.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("total", [1.0, 0.3])
def test_weights_that_were_scaled_to_sum_to_one_are_doubted(total: float) -> None:
    X, y = [[3.0], [1.0], [2.0]], [0, 1, 0]
    with pytest.warns(UserWarning, match=f"sums to {total:g} for 3 rows.*multiply the weights by the number of rows"):
        check_classification_data(Model(), X, y, np.full(3, total / 3))
    check_classification_data(Model(), X, y, np.full(3, 1.2 / 3))
    check_classification_data(Model(), X[:2], y[:2], [0.5, 0.5])


@pytest.mark.parametrize("weights", [np.ones(3), [1, 1, 1], [True, True, True], [1.0, 0.0, 1.0], pd.Series([1, 1, 1])])
def test_weights_of_one_are_no_weights(weights: Any) -> None:
    data = check_classification_data(Model(), [[3.0], [1.0], [2.0]], [0, 1, 0], weights)
    assert data.observations.weights is None
    assert data.table.n_rows == np.count_nonzero(weights)


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series, lambda w: pd.Series(w, dtype="Float64")])
def test_weights_come_in_any_container(container: Any) -> None:
    data = check_classification_data(Model(), [[3.0], [1.0]], [0, 1], container([0.25, 3.0]))
    assert data.observations.weights is not None
    assert data.observations.weights.tolist() == [0.25, 3.0]


BAD_WEIGHTS = {
    "negative": ([1.0, -1.0], "Negative weight in sample_weight in row 1 (counted from 0)"),
    "NaN": ([1.0, np.nan], "NaN or inf in sample_weight in row 1"),
    "NA": (pd.Series([1.0, None], dtype="Float64"), "NaN or inf in sample_weight in row 1"),
    "inf": ([1.0, np.inf], "NaN or inf in sample_weight in row 1"),
    "opposite infinities": ([np.inf, -np.inf], "NaN or inf in sample_weight in row 0"),
    "masked": (np.ma.array([1.0, 1.0], mask=[0, 1]), "Missing value (NaN) in sample_weight: masked at index [1]"),
    "too few": ([1.0], "must have shape (2,), one weight for each row, got (1,)"),
    "two dimensions": ([[1.0], [1.0]], "must have shape (2,), one weight for each row, got (2, 1)"),
    "one number": (2.0, "must have shape (2,), one weight for each row, got ()"),
    "all zero": ([0.0, 0.0], "Every weight in sample_weight is zero"),
    "beyond float64": ([1, 10**400], "sample_weight must be one number for each row"),
    "text": (["a", "b"], "sample_weight must be one number for each row"),
    "too large together": ([1.7e308, 1.7e308], "Divide the weights by a constant"),
}


@pytest.mark.parametrize(("weights", "part"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS.keys())
def test_weights_that_count_nothing_are_refused(weights: Any, part: str) -> None:
    refuse([[0.0], [1.0]], part, weights=weights)
