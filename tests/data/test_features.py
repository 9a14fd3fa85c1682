"""Features: what is accepted gives the same data whatever its container, what is not is an error that helps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from inputs import DAYS, WIDE_DTYPE, Model, refuse, restore
from particletree import _kernel
from particletree._data import check_classification_data, check_features, make_table, table

NUMBERS = np.array([[3.0, 1.0], [0.0, 0.0], [2.0, 1.0], [3.0, 1.0]])


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.setflags(write=False)
    return X


def unaligned(X: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"." + X.tobytes(), dtype=np.float64, offset=1).reshape(X.shape)


def nullable(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {"a": pd.array(X[:, 0].astype(int), dtype="Int64"), "b": pd.array(X[:, 1] > 0, dtype="boolean")}
    )


CONTAINERS = {
    "fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "swapped bytes": lambda X: X.astype(">f8"),
    "list of lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "mixed list": lambda X: [[int(a), b] for a, b in X],
    "long double": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "NumPy objects": lambda X: np.array([list(row) for row in X], dtype=object),
    "text": lambda X: X.astype(str),
    "unmasked": np.ma.array,
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "mixed pandas": lambda X: pd.DataFrame({"a": X[:, 0].astype(np.int64), "b": X[:, 1] > 0}),
    "nullable pandas": nullable,
    "polars": lambda X: pl.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(np.int64)}),
    "polars booleans": lambda X: pl.DataFrame({"a": X[:, 0].astype(np.uint8), "b": X[:, 1] > 0}),
    "polars decimals": lambda X: pl.DataFrame({"a": [Decimal(str(x)) for x in X[:, 0]], "b": X[:, 1]}),
    "polars wide": lambda X: pl.DataFrame(
        {"a": pl.Series(X[:, 0].astype(int).tolist(), dtype=WIDE_DTYPE), "b": X[:, 1]}
    ),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_any_container_of_the_same_numbers_gives_the_same_data(container: Any) -> None:
    model = Model()
    data = check_classification_data(model, container(NUMBERS), [0, 0, 1, 1])
    np.testing.assert_array_equal(restore(data.table), NUMBERS)
    features = check_features(model, container(NUMBERS))
    np.testing.assert_array_equal(features, NUMBERS)
    assert features.dtype == np.float64
    assert features.flags.c_contiguous
    assert features.flags.aligned


@pytest.mark.parametrize("dtype", [bool, "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", object])
def test_any_dtype_of_number_is_accepted(dtype: Any) -> None:
    X = np.array([[0, 1], [1, 1]]).astype(dtype)
    np.testing.assert_array_equal(restore(make_table(X)), [[0, 1], [1, 1]])


def test_a_memory_map_is_accepted_and_not_written_to(tmp_path: Any) -> None:
    np.save(tmp_path / "X.npy", NUMBERS)
    data = check_classification_data(Model(), np.load(tmp_path / "X.npy", mmap_mode="r"), [0, 0, 1, 1])
    np.testing.assert_array_equal(restore(data.table), NUMBERS)


@pytest.mark.parametrize("weights", [None, [0.5, 0, 1, 2]])
@pytest.mark.parametrize("container", [np.array, np.asfortranarray, lambda X: np.column_stack([X, X])[:, :2]])
def test_clean_arrays_are_not_copied(container: Any, weights: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, seen = container(NUMBERS), []
    monkeypatch.setattr(table, "rank_columns", lambda X, *rest: seen.append(X) or _kernel.rank_columns(X, *rest))
    check_classification_data(Model(), X, [0, 1, 0, 1], weights)
    assert np.shares_memory(seen[0], X)


def test_large_numbers_whose_sum_overflows_are_finite() -> None:
    X = np.array([[1.7e308], [1.7e308], [-1.7e308]])
    np.testing.assert_array_equal(restore(make_table(X)), X)


# Missing values


MISSING = {
    "array": np.array([[0, 1], [2, np.nan]]),
    "float32": np.array([[0, 1], [2, np.nan]], dtype=np.float32),
    "list": [[0, 1], [2, None]],
    "list of NA": [[0, 1], [2, pd.NA]],
    "objects": np.array([[0, 1], [2, None]], dtype=object),
    "masked": np.ma.array([[0.0, 1.0], [2.0, 3.0]], mask=[[0, 0], [0, 1]]),
    "masked integers": np.ma.array([[0, 1], [2, 3]], mask=[[0, 0], [0, 1]]),
    "text": np.array([["0", "1"], ["2", "nan"]]),
    "pandas": pd.DataFrame({"age": [0, 2], "size": [1, np.nan]}),
    "pandas object": pd.DataFrame({"age": [0, 2], "size": pd.Series([1, pd.NA], dtype=object)}),
    "pandas decimals": pd.DataFrame({"age": [0, 2], "size": pd.Series([Decimal(1), pd.NA], dtype=object)}),
    "pandas nullable": pd.DataFrame({"age": [0, 2], "size": pd.array([1, None], dtype="Int64")}),
    "pandas nullable floats": pd.DataFrame({"age": [0, 2], "size": pd.array([1, None], dtype="Float32")}),
    "polars": pl.DataFrame({"age": [0, 2], "size": [1, None]}),
    "polars floats": pl.DataFrame({"age": [0, 2], "size": [1.0, float("nan")]}),
}


@pytest.mark.parametrize("X", MISSING.values(), ids=MISSING.keys())
def test_missing_values_are_nan(X: Any) -> None:
    model = Model()
    data = check_classification_data(model, X, [0, 1])
    np.testing.assert_array_equal(restore(data.table), [[0, 1], [2, np.nan]])
    assert data.columns.missing == {1}
    assert data.columns.levels == {}
    np.testing.assert_array_equal(check_features(model, X, data.columns), [[0, 1], [2, np.nan]])


@pytest.mark.parametrize("empty", [[np.nan, np.nan], [None, None], pd.array([None, None], dtype="Int64")])
def test_a_column_may_be_missing_altogether(empty: Any) -> None:
    data = check_classification_data(Model(), pd.DataFrame({"a": [1, 2], "b": empty}), [0, 1])
    np.testing.assert_array_equal(restore(data.table), [[1, np.nan], [2, np.nan]])
    assert data.columns.missing == {1}


def test_values_missing_in_rows_of_weight_zero_do_not_count() -> None:
    data = check_classification_data(Model(), [[np.nan, 1.0], [2.0, np.nan]], [0, 1], [0, 1])
    assert data.columns.missing == {1}


# Features that are refused


def test_the_number_of_other_infinite_cells_is_told() -> None:
    refuse([[np.nan, -np.inf], [np.inf, np.inf]], "(-inf)", "in row 0", "column 1", "and in 2 other cells")


def test_columns_may_have_numbers_for_names() -> None:
    refuse(pd.DataFrame({7: [0.5, 1.0], 8: [1.0, np.inf]}), "(inf)", "row 1", "column 8 of X")


with np.errstate(over="ignore"):  # where a long double has 64 bits
    LONG_DOUBLES = np.array([[1.0], [1e300]], dtype=np.longdouble) ** 2
INFINITE = {
    "inf": (np.array([[1.0], [np.inf]]), "(inf)"),
    "-inf": (np.array([[1.0], [-np.inf]], dtype=np.float32), "(-inf)"),
    "long double": (LONG_DOUBLES, "(inf)"),
    "Decimal": (np.array([[1], [Decimal("1e400")]], dtype=object), "(inf)"),
    "Python integer": ([[1], [10**400]], "too large"),
}


@pytest.mark.parametrize(("X", "part"), INFINITE.values(), ids=INFINITE.keys())
def test_infinities_are_refused_with_their_place(X: Any, part: str) -> None:
    refuse(X, part, "row 1", "column 0", "Replace it by a")


def test_an_infinity_beside_missing_values_is_refused_when_predicting() -> None:
    X = np.array([[np.nan, 1.0], [np.inf, 2.0]])
    with pytest.raises(ValueError, match=r"Infinite value \(inf\).* in row 1, column 0 of X"):
        check_features(Model().fit([[0.0, 1.0]], [0]), X)


TEXT = {
    "text array": (np.array([["1", "2"], ["3", "red"]]), "column 1"),
    "objects": (np.array([[1, 2], [3, "red"]], dtype=object), "column 1"),
    "list": ([[1, 2], [3, "red"]], "column 1"),
    "pandas": (pd.DataFrame({"size": [1, 2], "colour": ["1", "red"]}), "column 'colour'"),
    "pandas string": (pd.DataFrame({"size": [1, 2], "colour": pd.array(["1", "red"], dtype="string")}), "'colour'"),
    "polars": (pl.DataFrame({"size": [1, 2], "colour": ["1", "red"]}), "column 'colour'"),
}


@pytest.mark.parametrize(("X", "place"), TEXT.values(), ids=TEXT.keys())
def test_text_that_is_not_categorical_is_refused_with_its_place_and_what_to_do(X: Any, place: str) -> None:
    with pytest.raises(ValueError, match="Text") as caught:
        check_classification_data(Model(), X, [0, 1], categorical_features=None)
    hint = 'drop the column, or make the column categorical: leave categorical_features at "from_dtype", or list'
    for part in ("'red' is not a number", "row 1", place, hint):
        assert part in str(caught.value)


def test_bytes_are_to_be_decoded() -> None:
    refuse(
        np.array([[b"1", b"2"], [b"3", b"red"]]), "row 1, column 1", "b'red' is not a number", "Decode bytes into text"
    )


SPANS = (DAYS - DAYS[0]).astype("m8[ms]")
DTYPES = {
    "dates": (DAYS[:, None], "datetime64[D]", "days since"),
    "time spans": (SPANS[:, None], "timedelta64[ms]", "days since"),
    "dates in objects": (np.array([list(DAYS)], dtype=object), "column 0", "days since"),
    "pandas dates": (pd.DataFrame({"size": [1, 2], "when": DAYS}), "column 'when'", "days since"),
    "pandas time zones": (pd.DataFrame({"when": pd.Series(DAYS).dt.tz_localize("UTC")}), "column 'when'", "days since"),
    "pandas time spans": (pd.DataFrame({"size": [1, 2], "when": SPANS}), "column 'when'", "days since"),
    "pandas periods": (pd.DataFrame({"when": pd.period_range("2020", periods=2)}), "column 'when'", "days since"),
    "polars dates": (pl.DataFrame({"when": DAYS}), "column 'when'", "days since"),
    "polars time spans": (pl.DataFrame({"when": SPANS}), "column 'when'", "days since"),
    "pandas sparse": (
        pd.DataFrame({"s": pd.arrays.SparseArray([0, 1])}),
        "column 's'",
        "instead of a one-hot encoding pass the original column",
    ),
    "complex": (np.array([[1j], [2]]), "Complex data not supported", "two columns"),
    "pandas complex": (pd.DataFrame({"size": [1, 2], "c": [1j, 2]}), "column 'c'", "Complex data not supported"),
}


@pytest.mark.parametrize(("X", "first", "second"), DTYPES.values(), ids=DTYPES.keys())
def test_what_is_no_number_to_cut_is_refused_with_what_to_do(X: Any, first: str, second: str) -> None:
    refuse(X, first, second)


CATEGORIES = {
    "pandas": pd.DataFrame({"size": [1, 2], "c": pd.Categorical(["u", "v"])}),
    "pandas numbers": pd.DataFrame({"size": [1, 2], "c": pd.Categorical([1, 2])}),
    "polars": pl.DataFrame({"size": [1, 2], "c": pl.Series(["u", "v"], dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame({"size": [1, 2], "c": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"]))}),
}


@pytest.mark.parametrize("X", CATEGORIES.values(), ids=CATEGORIES.keys())
def test_categories_where_none_is_allowed_are_refused(X: Any) -> None:
    model: Any = Model()
    with pytest.raises(
        ValueError, match=r"in column 'c' of X\. Encode categories as numbers, or make the column categor"
    ):
        check_classification_data(model, X, [0, 1], categorical_features=None)
    model.fit([[1.0, 2.0]], [0])
    with pytest.raises(ValueError, match=r"The training data held numbers in this column: convert it"):
        check_features(model, X)


@pytest.mark.parametrize("cell", [{"a": 1}, [1, 2], 1j, pd.Interval(0, 1)])
def test_objects_that_are_no_numbers_are_refused_with_their_place(cell: Any) -> None:
    X = np.array([[0, 1], [2, None]], dtype=object)
    X[1, 1] = cell
    refuse(X, "row 1", "column 1", type(cell).__name__, "Replace it by a number", error=TypeError)


@pytest.mark.parametrize("cell", [pd.Timestamp("2020-01-01"), pd.Timedelta(1), DAYS[0].item()])
def test_dates_among_objects_are_refused_with_what_to_do(cell: Any) -> None:
    X = np.array([[0, 1], [2, cell]], dtype=object)
    refuse(X, "row 1, column 1", "Turn dates and times into numbers, e.g. into days since", error=TypeError)


SHAPES = {
    "no rows": (np.empty((0, 3)), "0 sample(s) (shape=(0, 3))", ValueError),
    "no columns": (np.empty((3, 0)), "0 feature(s) (shape=(3, 0)) while a minimum of 1 is required", ValueError),
    "empty pandas": (pd.DataFrame(), "0 sample(s)", ValueError),
    "empty polars": (pl.DataFrame(), "0 sample(s)", ValueError),
    "pandas without columns": (pd.DataFrame(index=[1, 2]), "0 feature(s) (shape=(2, 0))", ValueError),
    "pandas without rows": (pd.DataFrame({"a": []}), "0 sample(s) (shape=(0, 1))", ValueError),
    "polars without rows": (pl.DataFrame({"a": []}), "0 sample(s) (shape=(0, 1))", ValueError),
    "empty list": ([], "Reshape your data", ValueError),
    "one dimension": (np.arange(3.0), "Reshape your data", ValueError),
    "pandas series": (pd.Series([1.0, 2.0]), "Pass a DataFrame", ValueError),
    "text in one dimension": (["a", "b"], "got the shape (2,). Reshape your data", ValueError),
    "text in pandas series": (pd.Series(["a", "b"]), "Pass a DataFrame", ValueError),
    "text in polars series": (pl.Series(["a", "b"]), "Pass a DataFrame", ValueError),
    "three dimensions": (np.zeros((2, 2, 2)), "dim 3", ValueError),
    "ragged": ([[1, 2], [3, 4], [5]], "Other than 2 values, as row 0 of X has, in row 2 (counted from 0)", ValueError),
    "nested": ([[1, 2], [3, [4, 5]]], "A list in the place of a value of X in row 1 (counted from 0)", ValueError),
    "sparse matrix": (
        scipy.sparse.csr_matrix(np.eye(2)),
        "Pass X.toarray(); or, if it is a one-hot encoding, the original column",
        TypeError,
    ),
    "sparse array": (
        scipy.sparse.coo_array(np.eye(2)),
        "Pass X.toarray(); or, if it is a one-hot encoding, the original column",
        TypeError,
    ),
    "lazy frame": (pl.LazyFrame({"a": [1.0]}), "X.collect()", TypeError),
    "matrix": (np.asmatrix(np.eye(2)), "np.asarray", TypeError),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize(("X", "part", "error"), SHAPES.values(), ids=SHAPES.keys())
def test_other_shapes_and_containers_are_refused(X: Any, part: str, error: type[Exception]) -> None:
    refuse(X, part, error=error, y=[0, 1])


# Names


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_features_are_kept_and_compared(frame: Any) -> None:
    model = Model().fit(frame({"a": [1.0, 2.0], "b": [1, 2]}), [0, 1])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame({"b": [1.0], "a": [1]}))
    with pytest.raises(ValueError, match="expecting 2 features"):
        Model().fit(np.zeros((1, 2)), [0]).predict(np.zeros((1, 3)))


NEARLY_NUMBERS = [1.5, 2, 3.5, "?", 4, 5.5, 6, "?"]


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (pd.DataFrame({"n": [1] * 8, "a": NEARLY_NUMBERS}), "Column 'a' of X"),
        (
            pd.DataFrame({"n": [1] * 8, "a": list(map(str, NEARLY_NUMBERS))}),
            "Column 'a' of X",
        ),  # as pandas reads a file
        (pl.DataFrame({"n": [1] * 8, "a": list(map(str, NEARLY_NUMBERS))}), "Column 'a' of X"),
        (np.array([[1, cell] for cell in NEARLY_NUMBERS], dtype=object), r"Column 1 of X \(counted from 0\)"),
    ],
)
def test_texts_among_numbers_are_told(X: Any, where: str) -> None:
    advice = r"If this stands for missing values, make numbers of the column, e\.g\. with pandas\.to_numeric"
    told = rf"{where} has 6 different numbers and '\?', and is taken as categorical\. {advice}"
    with pytest.warns(UserWarning, match=told) as caught:
        data = check_classification_data(Model(), X, [0, 1] * 4)
    assert len(caught) == 1
    assert list(data.columns.levels) == [1]
    check_classification_data(Model(), X, [0, 1] * 4, categorical_features=[1])  # somebody wants it: no warning


def test_few_numbers_among_texts_and_chosen_categories_are_not_told() -> None:
    X = pd.DataFrame(
        {"a": pd.Categorical(map(str, NEARLY_NUMBERS)), "b": ["1", "2", "3", "4+"] * 2, "c": list("abcde123")}
    )
    check_classification_data(Model(), X, [0, 1] * 4)
