"""Values that float64 would merge are refused in training, and rounded in prediction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inputs import LARGE, WIDE_DTYPE, Model, refuse, restore
from particletree._data import make_table


def merged(a: Any, b: Any) -> dict[str, tuple[Any, str]]:
    """Return the two numbers, which are one in float64, in containers that hold both, and the column's name there."""
    return {
        "list": ([[0.5, a], [0.5, b]], "column 1"),
        "objects": (np.array([[0, a], [0, b]], dtype=object), "column 1"),
        "text": (np.array([["0", str(a)], ["0", str(b)]]), "column 1"),
        "decimals": (np.array([[0, Decimal(a)], [0, Decimal(b)]], dtype=object), "column 1"),
        "pandas": (pd.DataFrame({"x": [0.5, 0.5], "id": [a, b]}), "column 'id'"),
        "pandas objects": (pd.DataFrame({"x": [0.5, 0.5], "id": pd.Series([a, b], dtype=object)}), "column 'id'"),
        "polars": (pl.DataFrame({"x": [0.5, 0.5], "id": pl.Series([a, b], dtype=WIDE_DTYPE)}), "column 'id'"),
    }


NULLABLE = pd.array([LARGE, LARGE + 1], dtype="Int64")
MERGED = {
    **{f"{name}, int64": case for name, case in merged(LARGE, LARGE + 1).items()},
    **{f"{name}, negative": case for name, case in merged(-LARGE, -LARGE - 1).items()},
    **{f"{name}, uint64": case for name, case in merged(2**64 - 1, 2**64 - 2).items()},
    **{f"{name}, beyond": case for name, case in merged(2**100, 2**100 + 1).items()},
    "int64": (np.array([[0, LARGE], [0, LARGE + 1]]), "column 1"),
    "negative": (np.array([[0, -LARGE], [0, -LARGE - 1]]), "column 1"),
    "uint64": (np.array([[0, 2**64 - 1], [0, 2**64 - 2]], dtype=np.uint64), "column 1"),
    "nullable": (pd.DataFrame({"x": [0.5, 0.5], "id": NULLABLE}), "column 'id'"),
    "nullable with NA": (pd.DataFrame({"id": pd.array([LARGE, None, LARGE + 1], dtype="Int64")}), "column 'id'"),
    "polars with null": (pl.DataFrame({"id": [LARGE, None, LARGE + 1]}), "column 'id'"),
    "objects with NA": (np.array([[LARGE], [pd.NA], [np.nan], [None], [LARGE + 1]], dtype=object), "column 0"),
    "polars int64": (pl.DataFrame({"x": [0.5, 0.5], "id": [LARGE, LARGE + 1]}), "column 'id'"),
    "int64 objects": (np.array([[np.int64(LARGE)], [np.int64(LARGE + 1)]], dtype=object), "column 0"),
    "int64 beside float": (np.array([[np.int64(LARGE + 1)], [float(LARGE)]], dtype=object), "column 0"),
    "uint64 beside int64": ([[2**63], [2**63 + 1], [-1]], "column 0"),
    "fortran": (np.asfortranarray([[0, LARGE], [1, LARGE + 1], [2, 5]]), "column 1"),
}


@pytest.mark.parametrize(("X", "place"), MERGED.values(), ids=MERGED.keys())
def test_two_values_that_would_become_one_are_refused(X: Any, place: str) -> None:
    refuse(X, place, "differ, but not in float64", "Subtract an offset", "fit and predict")


def test_the_two_values_that_would_become_one_are_named() -> None:
    refuse(np.array([[5], [LARGE + 1], [7], [LARGE]]), str(LARGE), str(LARGE + 1), "column 0")
    refuse(np.array([["5"], [str(LARGE + 1)], [str(LARGE)]]), str(LARGE), str(LARGE + 1), "column 0")


@settings(deadline=None)
@given(st.lists(st.integers(2**53 - 4, 2**53 + 12), min_size=1, max_size=5))
def test_exactly_the_columns_that_lose_a_value_are_refused(column: list[int]) -> None:
    lost = len(set(column)) > len(set(map(float, column)))
    for X in (np.array(column)[:, None], [[value, 0.5] for value in column], np.array(column, dtype=object)[:, None]):
        if lost:
            refuse(X, "differ, but not in float64", "column 0")
        else:
            assert make_table(X).feature_values(0).tolist() == sorted(set(map(float, column)))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is float64 here")
def test_long_doubles_that_would_become_one_are_refused() -> None:
    one = np.longdouble(1)
    refuse(np.array([[one], [np.nextafter(one, 2 * one)]]), "column 0", "differ, but not in float64")


def test_an_offset_is_what_helps() -> None:
    X = np.array([[LARGE], [LARGE + 1], [LARGE + 2]])
    np.testing.assert_array_equal(restore(make_table(X - X.min())), [[0], [1], [2]])


DISTINCT = {
    "far apart": np.array([[2**60], [2**60 + 4096], [2**60]]),
    "rounded alone": np.array([[LARGE + 1], [5], [LARGE + 1]]),
    "unsigned": np.array([[2**64 - 1], [2**63], [0]], dtype=np.uint64),
    "objects": np.array([[2**100], [5.5], [2**100]], dtype=object),
    "missing": np.array([[2**100], [None], [np.nan]], dtype=object),
    "true is one": np.array([[True], [1], [1.0]], dtype=object),
    "spelled twice": np.array([["1.50"], ["1.5"], ["1e3"]], dtype=object),
    "decimals": np.array([[Decimal("0.1")], [Decimal("0.10")], [Decimal("0.2")]], dtype=object),
    "large floats": [[1e300], [1e300], [0.5]],
}


@pytest.mark.parametrize("X", DISTINCT.values(), ids=DISTINCT.keys())
def test_large_or_inexact_values_that_stay_apart_are_accepted(X: Any) -> None:
    np.testing.assert_array_equal(restore(make_table(X)), np.asarray(X).astype(np.float64))


def test_prediction_rounds_whatever_rows_it_is_asked_for() -> None:
    model = Model().fit(np.array([[0], [LARGE]]), [0, 1])
    assert model.predict(np.array([[LARGE], [LARGE + 1]])).tolist() == [1, 1]
