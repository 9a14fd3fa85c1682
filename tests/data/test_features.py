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
from particletree.data import check_classification_data, check_features, make_table

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
    "pandas text": lambda X: pd.DataFrame({"a": X[:, 0].astype(str), "b": X[:, 1]}),
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
    X = container(NUMBERS)
    monkeypatch.setattr("particletree.data.table.rank_columns", lambda X, positions: (X, X, X))
    data = check_classification_data(Model(), X, [0, 1, 0, 1], weights)
    assert np.shares_memory(data.table.values, X)


def test_large_numbers_whose_sum_overflows_are_finite() -> None:
    X = np.array([[1.7e308], [1.7e308], [-1.7e308]])
    np.testing.assert_array_equal(restore(make_table(X)), X)


# Features that are refused


MISSING = {
    "array": (np.array([[0, 1], [2, np.nan]]), "column 1 of X"),
    "float32": (np.array([[0, 1], [2, np.nan]], dtype=np.float32), "column 1 of X"),
    "list": ([[0, 1], [2, None]], "column 1 of X"),
    "list of NA": ([[0, 1], [2, pd.NA]], "column 1 of X"),
    "objects": (np.array([[0, 1], [2, pd.NaT]], dtype=object), "column 1 of X"),
    "pandas": (pd.DataFrame({"age": [0, 2], "size": [1, np.nan]}), "column 'size' of X"),
    "pandas object": (pd.DataFrame({"age": [0, 2], "size": pd.Series([1, pd.NA], dtype=object)}), "column 'size' of X"),
    "pandas nullable": (
        pd.DataFrame({"age": [0, 2], "size": pd.array([1, None], dtype="Int64")}),
        "column 'size' of X",
    ),
    "pandas boolean": (pd.DataFrame({"age": [0, 2], "size": pd.array([True, None], dtype="boolean")}), "column 'size'"),
    "pandas text": (pd.DataFrame({"age": [0, 2], "size": ["1", None]}), "column 'size'"),
    "polars": (pl.DataFrame({"age": [0, 2], "size": [1, None]}), "column 'size' of X"),
    "polars text": (pl.DataFrame({"age": [0, 2], "size": ["1", None]}), "column 'size' of X"),
}


@pytest.mark.parametrize(("X", "place"), MISSING.values(), ids=MISSING.keys())
def test_missing_values_are_refused_with_their_place(X: Any, place: str) -> None:
    refuse(X, "NaN", "row 1", place, "counted from 0", "SimpleImputer")
    with pytest.raises(ValueError, match="NaN"):
        check_features(Model().fit([[0.0, 1.0]], [0]), X.to_numpy() if hasattr(X, "to_numpy") else X)


def test_masked_values_are_missing() -> None:
    X = np.ma.array([[0.0, 1.0], [2.0, 3.0]], mask=[[0, 0], [0, 1]])
    refuse(X, "Missing value (NaN) in X: masked at index [1, 1] (counted from 0)", "SimpleImputer")


def test_the_number_of_other_bad_cells_is_told() -> None:
    refuse([[np.nan, 1.0], [np.inf, np.nan]], "(NaN) in row 0", "column 0", "and in 2 other cells")


def test_columns_may_have_numbers_for_names() -> None:
    refuse(pd.DataFrame({7: [0.5, 1.0], 8: [1.0, np.inf]}), "(inf)", "row 1", "column 8 of X")


INFINITE = {
    "inf": (np.array([[1.0], [np.inf]]), "(inf)"),
    "-inf": (np.array([[1.0], [-np.inf]], dtype=np.float32), "(-inf)"),
    "long double": (np.array([["1"], ["1e400"]]).astype(np.longdouble), "(inf)"),
    "Decimal": (np.array([[1], [Decimal("1e400")]], dtype=object), "(inf)"),
    "Python integer": ([[1], [10**400]], "too large"),
}


@pytest.mark.parametrize(("X", "part"), INFINITE.values(), ids=INFINITE.keys())
def test_infinities_are_refused_with_their_place(X: Any, part: str) -> None:
    refuse(X, part, "row 1", "column 0", "Replace it by a")


TEXT = {
    "text array": (np.array([["1", "2"], ["3", "red"]]), "column 1"),
    "bytes": (np.array([[b"1", b"2"], [b"3", b"red"]]), "column 1"),
    "objects": (np.array([[1, 2], [3, "red"]], dtype=object), "column 1"),
    "list": ([[1, 2], [3, "red"]], "column 1"),
    "pandas": (pd.DataFrame({"size": [1, 2], "colour": ["1", "red"]}), "column 'colour'"),
    "pandas string": (pd.DataFrame({"size": [1, 2], "colour": pd.array(["1", "red"], dtype="string")}), "'colour'"),
    "polars": (pl.DataFrame({"size": [1, 2], "colour": ["1", "red"]}), "column 'colour'"),
}


@pytest.mark.parametrize(("X", "place"), TEXT.values(), ids=TEXT.keys())
def test_text_is_refused_with_its_place_and_the_text(X: Any, place: str) -> None:
    refuse(X, "Text", "'red'", "row 1", place, "OneHotEncoder")


SPANS = (DAYS - DAYS[0]).astype("m8[ms]")
DTYPES = {
    "categories": (pd.DataFrame({"size": [1, 2], "c": pd.Categorical(["u", "v"])}), "column 'c'", "OneHotEncoder"),
    "numeric categories": (pd.DataFrame({"c": pd.Categorical([1, 2])}), "column 'c'", "OneHotEncoder"),
    "polars categories": (pl.DataFrame({"c": pl.Series(["u"], dtype=pl.Categorical)}), "column 'c'", "OneHotEncoder"),
    "polars enum": (pl.DataFrame({"c": pl.Series(["u"], dtype=pl.Enum(["u"]))}), "column 'c'", "OneHotEncoder"),
    "dates": (DAYS[:, None], "datetime64[D]", "days since"),
    "time spans": (SPANS[:, None], "timedelta64[ms]", "days since"),
    "dates in objects": (np.array([list(DAYS)], dtype=object), "column 0", "days since"),
    "pandas dates": (pd.DataFrame({"size": [1, 2], "when": DAYS}), "column 'when'", "days since"),
    "pandas time zones": (pd.DataFrame({"when": pd.Series(DAYS).dt.tz_localize("UTC")}), "column 'when'", "days since"),
    "pandas time spans": (pd.DataFrame({"size": [1, 2], "when": SPANS}), "column 'when'", "days since"),
    "pandas periods": (pd.DataFrame({"when": pd.period_range("2020", periods=2)}), "column 'when'", "days since"),
    "polars dates": (pl.DataFrame({"when": DAYS}), "column 'when'", "days since"),
    "polars time spans": (pl.DataFrame({"when": SPANS}), "column 'when'", "days since"),
    "pandas sparse": (pd.DataFrame({"s": pd.arrays.SparseArray([0, 1])}), "column 's'", "X.sparse.to_dense()"),
    "complex": (np.array([[1j], [2]]), "Complex data not supported", "two columns"),
    "pandas complex": (pd.DataFrame({"size": [1, 2], "c": [1j, 2]}), "column 'c'", "Complex data not supported"),
}


@pytest.mark.parametrize(("X", "first", "second"), DTYPES.values(), ids=DTYPES.keys())
def test_what_is_no_number_to_cut_is_refused_with_what_to_do(X: Any, first: str, second: str) -> None:
    refuse(X, first, second)


@pytest.mark.parametrize("cell", [{"a": 1}, [1, 2], 1j, pd.Timestamp("2020-01-01"), pd.Interval(0, 1)])
def test_objects_that_are_no_numbers_are_refused_with_their_place(cell: Any) -> None:
    X = np.array([[0, 1], [2, None]], dtype=object)
    X[1, 1] = cell
    refuse(X, "row 1", "column 1", type(cell).__name__, "Replace it by a number", error=TypeError)


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
    "three dimensions": (np.zeros((2, 2, 2)), "dim 3", ValueError),
    "ragged": ([[1, 2], [3, 4], [5]], "Other than 2 values, as row 0 of X has, in row 2 (counted from 0)", ValueError),
    "sparse matrix": (scipy.sparse.csr_matrix(np.eye(2)), ".toarray()", TypeError),
    "sparse array": (scipy.sparse.coo_array(np.eye(2)), ".toarray()", TypeError),
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
