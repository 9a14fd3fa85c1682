"""The columns of a linear fit, which gives a rough guess of the noise."""

import numpy as np
import pandas as pd

from particletree._data import make_regression_data
from particletree._inference.bart import regressions
from particletree._inference.bart.regressions import linear_columns


def test_numbers_and_levels(monkeypatch):
    X = pd.DataFrame({"a": [1.0, np.nan, 4.0, 1.0], "b": pd.Categorical(["u", "w", "v", "u"])})
    data = make_regression_data(X, [1.0, 2.0, 3.0, 4.0], categorical_features="from_dtype")
    np.testing.assert_array_equal(linear_columns(data), [[1, 0, 0], [2, 0, 1], [4, 1, 0], [1, 0, 0]])
    monkeypatch.setattr(regressions, "MOST_COLUMNS", 3)
    assert linear_columns(data) is None  # there may be 4, one for each level and the numbers


def test_missing_is_a_level_and_an_empty_column_is_zero():
    X = np.array([["u", None], ["v", None], [None, None]], dtype=object)
    data = make_regression_data(X, [1.0, 2.0, 3.0], categorical_features=[0])
    np.testing.assert_array_equal(linear_columns(data), [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_rows_of_weight_zero_are_left_out():
    data = make_regression_data([[1.0], [5.0], [2.0]], [1.0, 2.0, 3.0], weights=[1, 0, 2])
    np.testing.assert_array_equal(linear_columns(data), [[1.0], [2.0]])


def test_too_many_columns(monkeypatch):
    assert linear_columns(make_regression_data(np.eye(3, 5), [1.0, 2.0, 3.0])) is None
    monkeypatch.setattr(regressions, "MOST_COLUMNS", 2)
    assert linear_columns(make_regression_data(np.eye(9, 3), np.arange(9.0))) is None
