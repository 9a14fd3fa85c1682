"""Exposure is one positive number for each row; what is none is refused with its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyRegressor

from particletree._data import check_regression_data, make_regression_data

X, Y = [[0.0], [1.0]], [3, 0]

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "float32": np.float32,
    "every other": lambda e: np.repeat(e, 2)[::2],
    "objects": lambda e: np.array(e, dtype=object),
    "unmasked": np.ma.array,
    "pandas": pd.Series,
    "pandas nullable": lambda e: pd.Series(e, dtype="Float64"),
    "polars": pl.Series,
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_comes_in_any_container(container: Any) -> None:
    for data in (
        check_regression_data(DummyRegressor(), X, Y, exposure=container([0.25, 3.0])),
        make_regression_data(X, Y, exposure=container([0.25, 3.0])),
    ):
        exposure = data.observations.exposure
        assert exposure is not None
        assert exposure.tolist() == [0.25, 3.0]
        assert exposure.dtype == np.float64
        assert exposure.flags.c_contiguous


def test_integers_and_extremes_are_positive_numbers() -> None:
    for given in ([1, 2], [5e-324, 1.7e308]):
        exposure = make_regression_data(X, Y, exposure=given).observations.exposure
        assert exposure is not None
        assert exposure.tolist() == given


def test_none_is_none() -> None:
    assert make_regression_data(X, Y).observations.exposure is None


def test_rows_of_weight_zero_lose_their_exposure_too() -> None:
    data = make_regression_data([[3.0], [1.0], [2.0]], [5, 6, 7], weights=[2, 0, 1], exposure=[0.5, 9.0, 1.5])
    assert data.observations.exposure is not None
    assert data.observations.exposure.tolist() == [0.5, 1.5]
    assert data.observations.values.tolist() == [[5.0], [7.0]]


def test_what_was_given_is_left_as_it_was() -> None:
    given = np.array([0.5, 2.0])
    data = make_regression_data(X, Y, weights=[0, 1], exposure=given)
    assert given.tolist() == [0.5, 2.0]
    assert data.observations.exposure is not None
    assert not np.shares_memory(data.observations.exposure, given)


ADVICE = "(counted from 0). Exposure says how long, or over how many, a row's count was taken: positive and finite."
BAD = {
    "zero": ([1.0, 0.0], f"Exposure that is not positive in row 1 {ADVICE}"),
    "minus zero": ([-0.0, 1.0], "Exposure that is not positive in row 0"),
    "negative": ([1.0, -2.0], f"Exposure that is not positive in row 1 {ADVICE}"),
    "false": ([True, False], "Exposure that is not positive in row 1"),
    "NaN": ([1.0, np.nan], f"Exposure that is NaN or inf in row 1 {ADVICE}"),
    "None": ([1.0, None], "Exposure that is NaN or inf in row 1"),
    "NA": (pd.Series([1.0, None], dtype="Float64"), "Exposure that is NaN or inf in row 1"),
    "null": (pl.Series([1.0, None]), "Exposure that is NaN or inf in row 1"),
    "inf": ([np.inf, 1.0], f"Exposure that is NaN or inf in row 0 {ADVICE}"),
    "-inf": ([1.0, -np.inf], "Exposure that is NaN or inf in row 1"),
    "masked": (np.ma.array([1.0, 1.0], mask=[0, 1]), "Missing value (NaN) in exposure: masked at index [1]"),
    "text": (["a", "b"], "exposure must hold numbers, got text (dtype <U1). Convert it, e.g. with"),
    "NA in a list": ([1.0, pd.NA], "Exposure that is NaN or inf in row 1"),
    "complex": ([1j, 1.0], "exposure must hold numbers, got complex numbers (dtype complex128)"),
    "ragged": ([1.0, [2.0]], "The rows of exposure differ in length"),
    "dates": (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "exposure must hold numbers, got dates"),
    "numbers as text": (["1", "2"], "exposure must hold numbers, got text"),
    "too few": ([1.0], "exposure must have shape (2,), one number for each row, got (1,)"),
    "too many": ([1.0, 1.0, 1.0], "exposure must have shape (2,), one number for each row, got (3,)"),
    "a column": ([[1.0], [1.0]], "exposure must have shape (2,), one number for each row, got (2, 1)"),
    "one number": (2.0, "exposure must have shape (2,), one number for each row, got ()"),
}


@pytest.mark.parametrize(("exposure", "part"), BAD.values(), ids=BAD.keys())
def test_what_is_no_exposure_is_refused_with_its_row(exposure: Any, part: str) -> None:
    for check in (
        lambda: check_regression_data(DummyRegressor(), X, Y, exposure=exposure),
        lambda: make_regression_data(X, Y, exposure=exposure),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared below)
            check()
        assert part in str(caught.value)
