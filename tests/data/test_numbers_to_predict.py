"""Numbers to predict: the same table of float64 from any container; what is not a number is refused with what to do."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor

from inputs import DAYS, LARGE, restore
from particletree._data import TrainingData, check_regression_data, make_regression_data
from particletree._model import Numbers

X = [[3.0], [1.0], [2.0]]
ONE = np.array([2.5, -1.0, 0.0])
TWO = np.array([[2.5, 1.0], [-1.0, 0.0], [0.0, 1.0]])


def prepared(y: Any, weights: Any = None, exposure: Any = None) -> TrainingData:
    """Return the data, which are the same with and without an estimator."""
    data = check_regression_data(DummyRegressor(), X, y, weights, exposure=exposure)
    alone = make_regression_data(X, y, weights, exposure=exposure)
    assert data.fingerprint == alone.fingerprint
    assert data.observations.target == alone.observations.target
    np.testing.assert_array_equal(data.observations.values, alone.observations.values)
    return data


def assert_numbers(data: TrainingData, expected: Any, names: tuple[str, ...] | None = None) -> None:
    values = data.observations.values
    np.testing.assert_array_equal(values, expected)
    assert values.shape == np.shape(expected)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    assert data.observations.target == Numbers(np.shape(expected)[1], names)


# What is accepted

COLUMNS = {
    "list": np.ndarray.tolist,
    "tuple": tuple,
    "array": np.array,
    "float32": np.float32,
    "float16": np.float16,
    "long double": np.longdouble,
    "swapped bytes": lambda y: y.astype(">f8"),
    "read-only": lambda y: np.frombuffer(y.tobytes()),
    "every other": lambda y: np.repeat(y, 2)[::2],
    "backwards": lambda y: y[::-1].copy()[::-1],
    "objects": lambda y: y.astype(object),
    "mixed objects": lambda y: np.array([2.5, -1, False], dtype=object),
    "unmasked": np.ma.array,
    "a column": lambda y: y[:, None],
    "a list of lists": lambda y: [[number] for number in y],
    "pandas": pd.Series,
    "pandas with another index": lambda y: pd.Series(y, index=[7, 5, 9]),
    "pandas objects": lambda y: pd.Series(y, dtype=object),
    "pandas nullable": lambda y: pd.Series(y, dtype="Float64"),
    "pandas categories": lambda y: pd.Series(y, dtype="category"),
    "pandas index": pd.Index,
    "polars": pl.Series,
}


@pytest.mark.parametrize("container", COLUMNS.values(), ids=COLUMNS.keys())
def test_one_number_for_each_row_in_any_container(container: Any) -> None:
    assert_numbers(prepared(container(ONE)), ONE[:, None])


TABLES = {
    "list": np.ndarray.tolist,
    "tuple of arrays": tuple,
    "array": np.array,
    "fortran": np.asfortranarray,
    "part of a larger one": lambda y: np.column_stack([y, y])[:, 2:],
    "objects": lambda y: y.astype(object),
    "pandas without names": pd.DataFrame,
    "pandas with numbers for names": lambda y: pd.DataFrame(y, columns=[3, 5]),
    "pandas with some names": lambda y: pd.DataFrame(y, columns=["a", 5]),
    "pandas with an empty name": lambda y: pd.DataFrame(y, columns=["a", ""]),
}


@pytest.mark.parametrize("container", TABLES.values(), ids=TABLES.keys())
def test_several_numbers_for_each_row_in_any_container(container: Any) -> None:
    assert_numbers(prepared(container(TWO)), TWO)


NAMED = {
    "pandas": lambda y: pd.DataFrame(y, columns=["a", "b"]),
    "mixed pandas": lambda y: pd.DataFrame({"a": y[:, 0], "b": y[:, 1] > 0}),
    "nullable pandas": lambda y: pd.DataFrame(
        {"a": pd.array(y[:, 0], "Float64"), "b": pd.array(y[:, 1] > 0, "boolean")}
    ),
    "polars": lambda y: pl.DataFrame({"a": y[:, 0], "b": y[:, 1].astype(np.int64)}),
    "polars booleans": lambda y: pl.DataFrame({"a": y[:, 0], "b": y[:, 1] > 0}),
}


@pytest.mark.parametrize("container", NAMED.values(), ids=NAMED.keys())
def test_the_names_of_the_columns_are_kept(container: Any) -> None:
    assert_numbers(prepared(container(TWO)), TWO, ("a", "b"))


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (pd.Series(ONE, name="height"), ("height",)),
        (pd.Series(ONE, name=7), None),
        (pd.Series(ONE, name=""), None),
        (pd.DataFrame({"height": ONE}), ("height",)),
        (pl.Series("height", ONE), ("height",)),
        (pl.Series(ONE), None),
        (pl.DataFrame({"height": ONE}), ("height",)),
        (pd.Series(ONE, name=np.str_("height")), ("height",)),
    ],
)
def test_the_name_of_one_column(y: Any, names: tuple[str, ...] | None) -> None:
    data = prepared(y)
    assert_numbers(data, ONE[:, None], names)
    assert all(type(name) is str for name in data.observations.target.names or ())


@pytest.mark.parametrize("dtype", [bool, "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", object])
def test_any_dtype_of_number_is_accepted(dtype: Any) -> None:
    assert_numbers(prepared(np.array([0, 1, 1]).astype(dtype)), [[0.0], [1.0], [1.0]])


@pytest.mark.parametrize("y", [[LARGE, 0, -LARGE], [2**63, 2**64 - 1, 0], [1e300, -1e300, 5e-324], [-0.0, 0.0, 0.0]])
def test_large_and_small_numbers_are_taken_as_they_are(y: list[Any]) -> None:
    assert_numbers(prepared(y), np.array(y, dtype=np.float64)[:, None])


def test_one_row() -> None:
    assert_numbers(make_regression_data([[1.0]], [5]), [[5.0]])


def test_what_was_given_is_left_as_it_was() -> None:
    y = ONE.copy()
    data = prepared(y, weights=[1, 0, 1])
    data.observations.values[:] = 9.0
    np.testing.assert_array_equal(y, ONE)
    column = ONE[:, None].copy()
    prepared(column, weights=[1, 0, 1])
    np.testing.assert_array_equal(column, ONE[:, None])


# Rows and weights


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e300, 1e300), st.floats(-9, 9), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30
    )
)
def test_rows_stand_as_they_were_given_without_those_of_weight_zero(rows: list[tuple[float, float, float]]) -> None:
    places = np.arange(len(rows), dtype=np.float64)
    y, weights = np.array([row[:2] for row in rows]), np.array([weight for *_, weight in rows])
    if not weights.any():
        with pytest.raises(ValueError, match="Every weight in sample_weight is zero"):
            make_regression_data(places[:, None], y, weights)
        return
    data = make_regression_data(-places[:, None], y, weights * len(rows), exposure=places + 1)
    kept = np.flatnonzero(weights)
    np.testing.assert_array_equal(restore(data.table).ravel(), -places[kept])
    np.testing.assert_array_equal(data.observations.values, y[kept])
    np.testing.assert_array_equal(data.observations.row_weights, weights[kept] * len(rows))
    np.testing.assert_array_equal(data.observations.row_columns["exposure"], kept + 1.0)
    assert data.table.n_rows == data.observations.n_rows == kept.size


@pytest.mark.parametrize("weights", [None, [1, 1, 1], [1.0, 0.0, 1.0], [True, True, False]])
def test_weights_of_one_are_no_weights(weights: Any) -> None:
    data = prepared(ONE, weights)
    assert data.observations.weights is None
    assert data.table.n_rows == (3 if weights is None else np.count_nonzero(weights))


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -np.inf, None, pd.NA, 1e308], ids=str)
@pytest.mark.parametrize("shape", [1, 2])
def test_rows_of_weight_zero_may_hold_no_number(nothing: Any, shape: int) -> None:
    y = np.array([4.0, nothing, 6.0] if shape == 1 else [[4.0, 1.0], [2.0, nothing], [6.0, 3.0]], dtype=object)
    expected = [[4.0], [6.0]] if shape == 1 else [[4.0, 1.0], [6.0, 3.0]]
    data = prepared(y, [1.0, 0.0, 2.0])
    assert_numbers(data, expected)
    assert data.observations.weights is not None
    assert data.observations.weights.tolist() == [1.0, 2.0]
    assert restore(data.table).ravel().tolist() == [3.0, 2.0]
    with pytest.raises(ValueError, match="in y in row 1"):
        prepared(y, [1.0, 0.5, 2.0])


# The fingerprint


def test_the_fingerprint_tells_other_numbers_apart() -> None:
    one = prepared(ONE).fingerprint
    assert one == prepared(pd.Series(ONE, name="height")).fingerprint == prepared(ONE.tolist()).fingerprint
    one.check(1)
    assert one.difference(prepared([2.5, -1.0, 5e-324]).fingerprint) == "the target"
    assert one.difference(prepared(ONE[[1, 0, 2]]).fingerprint) == "the target"
    assert one.difference(prepared(ONE, weights=[1, 2, 1]).fingerprint) == "the weights of the rows"


def test_the_fingerprint_tells_other_exposure_apart() -> None:
    plain, long, longer = (prepared(ONE, exposure=e).fingerprint for e in (None, [1, 2, 3], [1, 2, 4]))
    assert plain.row_columns == {}
    for one in (plain, long, longer):
        one.check(1)
    assert plain.difference(long) == long.difference(longer) == "the exposure of the rows"
    assert long.difference(long) is None


# What is refused

FILL = "(counted from 0). Leave that row out, or fill the number in."
MISSING = {
    "NaN": ([1.0, np.nan, 2.0], FILL),
    "float32": (np.array([1.0, np.nan, np.inf], dtype=np.float32), FILL),
    "None": ([1, None, 2.5], FILL),
    "NA": ([1, pd.NA, 2], FILL),
    "NaT": ([1, pd.NaT, 2], FILL),
    "NumPy NaN among objects": (np.array([1, np.float32("nan"), 2], dtype=object), FILL),
    "pandas": (pd.Series([1.0, np.nan, 2.0]), FILL),
    "pandas objects": (pd.Series([1, None, 2], dtype=object), FILL),
    "pandas nullable integers": (pd.Series([1, None, 2], dtype="Int64"), FILL),
    "pandas nullable floats": (pd.Series([1.5, None, 2], dtype="Float64"), FILL),
    "pandas nullable booleans": (pd.Series([True, None, False], dtype="boolean"), FILL),
    "polars": (pl.Series([1, None, 2]), FILL),
    "polars booleans": (pl.Series([True, None, False]), FILL),
    "second of two": ([[1, 2], [3, None], [4, 5]], FILL),
    "pandas table": (pd.DataFrame({"a": [1, 2, 3], "b": [1, np.nan, 3]}), FILL),
    "mixed pandas table": (pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True]}), FILL),
    "polars table": (pl.DataFrame({"a": [1, None, 3], "b": [1.5, 2, 3]}), FILL),
}
OTHERS = {
    "inf": ([1.0, 2.0, np.inf], f"Infinite number (inf) in y in row 2 {FILL}"),
    "-inf": ([[1.0, 2.0], [-np.inf, 2.0], [3.0, 4.0]], f"Infinite number (inf) in y in row 1 {FILL}"),
    "inf among objects": (np.array([np.inf, 1, True], dtype=object), "Infinite number (inf) in y in row 0"),
    "beyond": ([1.0, -1.1e300, 2.0], "A number beyond 1e+300 in y in row 1 (counted from 0). Divide y by a constant."),
    "masked": (np.ma.array(ONE, mask=[0, 1, 0]), "Missing value (NaN) in y: masked at index [1] (counted from 0)"),
    "masked in a table": (np.ma.array(TWO, mask=[[0, 0], [0, 1], [0, 0]]), "in y: masked at index [1, 1]"),
    "none": (None, "requires y to be passed, but the target y is None"),
    "one number": (3.0, "y should be a 1d array of one number for each row, or a 2d array of several, got shape ()"),
    "no columns": (np.zeros((3, 0)), "or a 2d array of several, got shape (3, 0)"),
    "three dimensions": (np.zeros((3, 1, 1)), "or a 2d array of several, got shape (3, 1, 1)"),
    "too few": ([1.0, 2.0], "X has 3 rows, but y has 2. Give a number to predict for each row."),
    "too many": (np.zeros((4, 2)), "X has 3 rows, but y has 4. Give a number to predict for each row."),
    "a row": ([[1.0, 2.0, 3.0]], "X has 3 rows, but y has 1."),
}
CONVERT = "Convert it, e.g. with y.astype(float), or use BayesianTreeClassifier for classes."
SUBTRACT = "Subtract a date and divide by a unit, e.g. (y - y.min()) / np.timedelta64(1, 'D')."
THREE_DAYS = np.append(DAYS, np.datetime64("NaT", "D"))
NO_NUMBERS = {
    "text": (["1", "2", "3"], "text", CONVERT),
    "text array": (np.array(["low", "high", "low"]), "text", CONVERT),
    "text among objects": (np.array([1, "2", 3], dtype=object), "text", CONVERT),
    "text in a table": ([["1", "2"]] * 3, "text", CONVERT),
    "pandas text": (pd.Series(["1", "2", "3"]), "text", CONVERT),
    "pandas string": (pd.Series(["1", None, "3"], dtype="string"), "text", CONVERT),
    "pandas categories": (pd.Series(["u", "v", "u"], dtype="category"), "text", CONVERT),
    "polars text": (pl.Series(["1", "2", "3"]), "text", CONVERT),
    "bytes": ([b"1", b"2", b"3"], "bytes", "Give one finite number for each row."),
    "dates": (THREE_DAYS, "dates (dtype datetime64[D])", SUBTRACT),
    "pandas dates": (pd.Series(THREE_DAYS), "dates (dtype datetime64[", SUBTRACT),
    "polars dates": (pl.Series([date(2020, 1, 1)] * 3), "dates (dtype datetime64[D])", SUBTRACT),
    "durations": (
        THREE_DAYS - DAYS[0],
        "durations (dtype timedelta64[D])",
        "Divide by a unit, e.g. y / np.timedelta64(1",
    ),
    "pandas durations": (pd.Series(THREE_DAYS - DAYS[0]), "durations (dtype timedelta64[", "Divide by a unit"),
    "complex": ([1j, 1.0, 2.0], "complex numbers (dtype complex128)", "Give one finite number for each row."),
    "dictionaries": (np.array([{}, {}, {}]), "dict ({} in row 0, counted from 0)", "Give one finite number"),
}


def assert_refused(y: Any, *parts: str) -> None:
    checks = [lambda: check_regression_data(DummyRegressor(), X, y), lambda: make_regression_data(X, y)]
    for check in checks[: 1 if y is None else 2]:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared below)
            check()
        for part in parts:
            assert part in str(caught.value)


@pytest.mark.parametrize(("y", "advice"), MISSING.values(), ids=MISSING.keys())
def test_missing_numbers_are_refused_with_their_row(y: Any, advice: str) -> None:
    assert_refused(y, f"Missing number (NaN) in y in row 1 {advice}")


@pytest.mark.parametrize(("y", "part"), OTHERS.values(), ids=OTHERS.keys())
def test_other_numbers_and_shapes_are_refused(y: Any, part: str) -> None:
    assert_refused(y, part)


@pytest.mark.parametrize(("y", "what", "advice"), NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_what_is_no_number_is_refused_with_what_to_do(y: Any, what: str, advice: str) -> None:
    assert_refused(y, f"y must hold numbers to predict, got {what}", advice)


@pytest.mark.parametrize("y", [[[1], [2, 3], [4]], [1, 2, 10**400], [date(2020, 1, 1)] * 3])
def test_other_objects_are_refused(y: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make_regression_data(X, y)


def test_decimals_and_large_integers_are_numbers() -> None:
    data = make_regression_data(X, [1, 10**30, Decimal("1.5")])
    assert data.observations.values.tolist() == [[1.0], [1e30], [1.5]]


def test_weights_and_features_are_checked_as_for_labels() -> None:
    with pytest.raises(ValueError, match="Negative weight in sample_weight in row 1"):
        prepared(ONE, weights=[1, -1, 1])
    with pytest.raises(ValueError, match=r"Infinite value \(inf\).* in row 0, column 0 of X"):
        make_regression_data([[np.inf], [1.0], [2.0]], ONE)


def test_the_estimator_learns_the_names_of_its_features() -> None:
    model: Any = DummyRegressor()
    check_regression_data(model, pd.DataFrame(X, columns=["size"]), ONE)
    assert model.n_features_in_ == 1
    assert model.feature_names_in_.tolist() == ["size"]
