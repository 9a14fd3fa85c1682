"""Input: what is accepted gives the same table whatever its container, what is not is an error that helps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from particletree.data import Table, check_features, check_training_data, make_table, make_training_data

LARGE = 2**53  # LARGE + 1 is the first integer that is not a float64
WIDE_DTYPE = getattr(pl, "Int128", pl.Object)  # Int128 is younger than the oldest polars that we test with


class Model(ClassifierMixin, BaseEstimator):
    """Somebody's classifier: all of its checks are ours, its predictions are those of one tree."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Model:
        data, self.classes_ = check_training_data(self, X, y, sample_weight)
        tree = DecisionTreeClassifier(random_state=0)
        self.tree_ = tree.fit(restore(data.table), data.labels, data.weights)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = check_features(self, X)
        probabilities = np.zeros((len(X), len(self.classes_)))
        probabilities[:, self.tree_.classes_] = self.tree_.predict_proba(X)
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([Model()])
def test_a_classifier_that_uses_it_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def restore(table: Table) -> np.ndarray:
    """Return the values that a table was made of."""
    return np.column_stack([table.feature_values(f)[table.ranks[f]] for f in range(table.n_features)])


def labels_for(X: Any) -> np.ndarray:
    return np.arange(len(X)) % 2


def refuse(X: Any, *parts: str, error: type[Exception] = ValueError, y: Any = None, weights: Any = None) -> None:
    """Check that `fit` refuses X with a message that contains all the parts."""
    with pytest.raises(error) as caught:
        check_training_data(Model(), X, labels_for(X) if y is None else y, weights)
    for part in parts:
        assert part in str(caught.value)


# The table


@settings(deadline=None)
@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-3, 3).map(np.round)))
def test_the_table_holds_the_values_and_their_order(X: np.ndarray) -> None:
    table = make_table(X)
    np.testing.assert_array_equal(restore(table), X)
    assert (table.n_rows, table.n_features) == X.shape
    for feature in range(table.n_features):
        np.testing.assert_array_equal(table.feature_values(feature), np.unique(X[:, feature]))


WIDTHS = [(256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)]


@pytest.mark.parametrize(("n_distinct", "dtype"), WIDTHS)
def test_ranks_have_as_few_bits_as_hold_them(n_distinct: int, dtype: type) -> None:
    table = make_table(np.arange(n_distinct, dtype=np.float64)[::-1, None])
    assert table.ranks.dtype == dtype
    assert table.ranks.flags.c_contiguous
    assert table.ranks[0, 0] == n_distinct - 1


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
    data, _ = check_training_data(model, container(NUMBERS), [0, 0, 1, 1])
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
    data, _ = check_training_data(Model(), np.load(tmp_path / "X.npy", mmap_mode="r"), [0, 0, 1, 1])
    np.testing.assert_array_equal(restore(data.table), NUMBERS)


@pytest.mark.parametrize("weights", [None, [0.5, 0, 1, 2]])
@pytest.mark.parametrize("container", [np.array, np.asfortranarray, lambda X: np.column_stack([X, X])[:, :2]])
def test_clean_arrays_are_not_copied(container: Any, weights: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = container(NUMBERS)
    monkeypatch.setattr("particletree.data.rank_columns", lambda X, positions: (X, X, X))
    data, _ = check_training_data(Model(), X, [0, 1, 0, 1], weights)
    assert np.shares_memory(data.table.values, X)


def test_large_numbers_whose_sum_overflows_are_finite() -> None:
    X = np.array([[1.7e308], [1.7e308], [-1.7e308]])
    np.testing.assert_array_equal(restore(make_table(X)), X)


def test_one_row_and_one_class_are_allowed() -> None:
    data, classes = check_training_data(Model(), [[1.0, 2.0]], ["only"])
    assert (data.table.n_rows, data.n_classes, classes.tolist(), data.labels.tolist()) == (1, 1, ["only"], [0])
    assert Model().fit([[1.0], [2.0]], ["only", "only"]).predict_proba([[5.0]]).tolist() == [[1.0]]


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


DAYS = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")
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


# Values that float64 would merge


def merged(a: Any, b: Any) -> dict[str, tuple[Any, str]]:
    """Return the two numbers, which are one in float64, in containers that hold both, and the column's name there."""
    return {
        "list": ([[0.5, a], [0.5, b]], "column 1"),
        "objects": (np.array([[0, a], [0, b]], dtype=object), "column 1"),
        "text": (np.array([["0", str(a)], ["0", str(b)]]), "column 1"),
        "decimals": (np.array([[0, Decimal(a)], [0, Decimal(b)]], dtype=object), "column 1"),
        "pandas": (pd.DataFrame({"x": [0.5, 0.5], "id": [a, b]}), "column 'id'"),
        "pandas objects": (pd.DataFrame({"x": [0.5, 0.5], "id": pd.Series([a, b], dtype=object)}), "column 'id'"),
        "pandas text": (pd.DataFrame({"x": [0.5, 0.5], "id": [str(a), str(b)]}), "column 'id'"),
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
    refuse([["5"], [str(LARGE + 1)], [LARGE]], str(LARGE), str(LARGE + 1), "column 0")


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


# Labels


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=1))
def test_rows_stand_in_the_order_of_their_labels(rows: list[tuple[int, float]]) -> None:
    numbers = np.arange(len(rows), dtype=np.float64)
    expected = sorted(((label, number, weight) for number, (label, weight) in enumerate(rows) if weight > 0))
    weights = [weight for _, weight in rows]
    labels = [label for label, _ in rows]
    if not expected:
        refuse(numbers[:, None], "Every weight in sample_weight is zero", y=labels, weights=weights)
        return
    data = make_training_data(numbers[:, None], labels, 5, weights)
    assert data.labels.tolist() == [label for label, _, _ in expected]
    assert restore(data.table).ravel().tolist() == [number for _, number, _ in expected]
    kept = np.ones(len(expected)) if data.weights is None else data.weights
    assert kept.tolist() == [weight for _, _, weight in expected]


@pytest.mark.parametrize("n_classes", [200, 300, 70_000])
def test_rows_of_a_class_keep_their_order_however_many_classes_there_are(n_classes: int) -> None:
    labels = np.random.default_rng(1).choice([0, 1, n_classes // 2, n_classes - 1], size=500)
    data = make_training_data(np.arange(500.0)[:, None], labels, n_classes)
    np.testing.assert_array_equal(restore(data.table).ravel(), np.argsort(labels, kind="stable"))
    np.testing.assert_array_equal(data.labels, np.sort(labels))


LABELS = {
    "integers": (np.array([7, -1, 7]), [-1, 7]),
    "unsigned": (np.array([2**64 - 1, 1, 2**64 - 1], dtype=np.uint64), [1, 2**64 - 1]),
    "far apart": (np.array([2**62, -(2**62), 2**62]), [-(2**62), 2**62]),
    "bytes": (np.array([127, -128, 127], dtype=np.int8), [-128, 127]),
    "swapped bytes": (np.array([7, -1, 7], dtype=">i4"), [-1, 7]),
    "booleans": ([True, False, True], [False, True]),
    "whole floats": ([2.0, 1.0, 2.0], [1.0, 2.0]),
    "text": (np.array(["yes", "no", "yes"]), ["no", "yes"]),
    "list of text": (["yes", "no", "yes"], ["no", "yes"]),
    "text objects": (np.array(["yes", "no", "yes"], dtype=object), ["no", "yes"]),
    "integer objects": (np.array([7, -1, 7], dtype=object), [-1, 7]),
    "boolean objects": (np.array([True, False, True], dtype=object), [False, True]),
    "dates": (DAYS[[1, 0, 1]], DAYS.tolist()),
    "pandas text": (pd.Series(["yes", "no", "yes"]), ["no", "yes"]),
    "pandas string": (pd.Series(["yes", "no", "yes"], dtype="string"), ["no", "yes"]),
    "pandas categories": (pd.Series(["yes", "no", "yes"], dtype="category"), ["no", "yes"]),
    "pandas nullable": (pd.Series([LARGE + 1, LARGE, LARGE + 1], dtype="Int64"), [LARGE, LARGE + 1]),
    "pandas boolean": (pd.Series([True, False, True], dtype="boolean"), [False, True]),
    "polars text": (pl.Series(["yes", "no", "yes"]), ["no", "yes"]),
    "polars integers": (pl.Series([7, -1, 7]), [-1, 7]),
}


@pytest.mark.parametrize(("y", "expected"), LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_type_are_numbered_in_order(y: Any, expected: list[Any]) -> None:
    data, classes = check_training_data(Model(), [[0.0], [1.0], [2.0]], y)
    assert classes.tolist() == expected
    assert [type(label) for label in classes.tolist()] == [type(label) for label in expected]
    assert data.labels.tolist() == [0, 1, 1]
    assert restore(data.table).ravel().tolist() == [1.0, 0.0, 2.0]
    assert data.labels.dtype == np.int32
    assert data.n_classes == 2
    assert data.weights is None


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        data, _ = check_training_data(Model(), [[0.0], [1.0]], [["b"], ["a"]])
    assert restore(data.table).tolist() == [[1.0], [0.0]]


BAD_LABELS = {
    "none": (None, "requires y to be passed, but the target y is None"),
    "NaN": ([0, 1, np.nan], "(NaN) in y in row 2 (counted from 0). Leave that row out"),
    "None": (["a", None, "b"], "Missing label (NaN) in y in row 1"),
    "pandas NA": (pd.Series([1, None, 2], dtype="Int64"), "Missing label (NaN) in y in row 1"),
    "pandas text": (pd.Series(["a", None, "b"]), "Missing label (NaN) in y in row 1"),
    "polars null": (pl.Series([1, None, 2]), "Missing label (NaN) in y in row 1"),
    "polars text null": (pl.Series(["a", None, "b"]), "Missing label (NaN) in y in row 1"),
    "NaT": (np.array(["2020", "NaT", "2021"], dtype="M8[D]"), "Missing label (NaN) in y in row 1"),
    "masked": (np.ma.array([0, 1, 1], mask=[0, 1, 0]), "Missing value (NaN) in y: masked at index [1]"),
    "infinite": ([0, 1, np.inf], "Infinite label (inf) in y in row 2"),
    "continuous": ([1.0, 0.5, 2.0], "Unknown label type: continuous, a fraction in y in row 1 (counted from 0)"),
    "mixed": ([1, "1", 2], "Unknown label type: y holds int, str; a label that is no str in row 0"),
    "mixed objects": (np.array(["1", 1, "2"], dtype=object), "no str in row 1 (counted from 0). Try y.astype(str)"),
    "other objects": (np.array([{}, {}, {}]), "Unknown label type: y holds dict"),
    "complex": ([1j, 1, 2], "Complex data not supported"),
    "several targets": ([[0, 1], [1, 0], [1, 1]], "got shape (3, 2). For several targets fit one classifier to each"),
    "a number": (3, "y should be a 1d array"),
    "too few": ([0, 1], "X has 3 rows, but y has 2 labels. Give one label for each row"),
    "too many": ([0, 1, 0, 1], "X has 3 rows, but y has 4 labels"),
}


@pytest.mark.parametrize(("y", "part"), BAD_LABELS.values(), ids=BAD_LABELS.keys())
def test_labels_that_are_no_classes_are_refused(y: Any, part: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared below)
        check_training_data(Model(), [[0.0], [1.0], [2.0]], y)
    assert part in str(caught.value)


def test_labels_of_bytes_are_refused() -> None:
    refuse([[0.0], [1.0]], "bytes", "np.char.decode", error=TypeError, y=[b"a", b"b"])


@pytest.mark.parametrize(("n_classes", "n_rows"), [(21, 21), (214, 442), (500, 500), (40, 199)])
def test_many_classes_with_few_rows_each_are_doubted(n_classes: int, n_rows: int) -> None:
    with pytest.warns(UserWarning, match=rf"{n_classes} classes in {n_rows} rows.*a regressor"):
        check_training_data(Model(), np.arange(n_rows)[:, None], np.arange(n_rows) % n_classes)
    names = np.array([f"name {i % n_classes}" for i in range(n_rows)])
    with pytest.warns(UserWarning, match=rf"{n_classes} classes in {n_rows} rows.*join some of them"):
        check_training_data(Model(), np.arange(n_rows)[:, None], names)


@pytest.mark.parametrize(("n_classes", "n_rows"), [(20, 20), (40, 200), (26, 130), (2, 2)])
def test_few_classes_or_many_rows_are_not_doubted(n_classes: int, n_rows: int) -> None:
    _, classes = check_training_data(Model(), np.arange(n_rows)[:, None], np.arange(n_rows) % n_classes)
    assert len(classes) == n_classes


# Weights


@pytest.mark.parametrize("labels", [["a", "b", "c"], [5, 7, 9], [0.0, 1.0, 2.0], [-3, 10**9, 4]])
def test_rows_of_weight_zero_are_ignored_with_their_labels(labels: Any) -> None:
    data, classes = check_training_data(Model(), [[3.0], [1.0], [2.0]], labels, [0.5, 0.0, 2.0])
    assert classes.tolist() == [labels[0], labels[2]]
    assert data.n_classes == 2
    assert data.labels.tolist() == [0, 1]
    assert data.table.ranks.tolist() == [[1, 0]]
    assert data.weights is not None
    assert data.weights.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("total", [1.0, 0.3])
def test_weights_that_were_scaled_to_sum_to_one_are_doubted(total: float) -> None:
    X, y = [[3.0], [1.0], [2.0]], [0, 1, 0]
    with pytest.warns(UserWarning, match=f"sums to {total:g} for 3 rows.*multiply the weights by the number of rows"):
        check_training_data(Model(), X, y, np.full(3, total / 3))
    check_training_data(Model(), X, y, np.full(3, 1.2 / 3))
    check_training_data(Model(), X[:2], y[:2], [0.5, 0.5])


@pytest.mark.parametrize("weights", [np.ones(3), [1, 1, 1], [True, True, True], [1.0, 0.0, 1.0], pd.Series([1, 1, 1])])
def test_weights_of_one_are_no_weights(weights: Any) -> None:
    data, _ = check_training_data(Model(), [[3.0], [1.0], [2.0]], [0, 1, 0], weights)
    assert data.weights is None
    assert data.table.n_rows == np.count_nonzero(weights)


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series, lambda w: pd.Series(w, dtype="Float64")])
def test_weights_come_in_any_container(container: Any) -> None:
    data, _ = check_training_data(Model(), [[3.0], [1.0]], [0, 1], container([0.25, 3.0]))
    assert data.weights is not None
    assert data.weights.tolist() == [0.25, 3.0]


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


# Without an estimator


def test_training_data_without_an_estimator() -> None:
    data = make_training_data([[3.0], [1.0], [2.0]], [2, 0, 2], n_classes=4, weights=[2, 0, 1])
    assert data.n_classes == 4
    assert data.labels.tolist() == [2, 2]
    assert restore(data.table).tolist() == [[3.0], [2.0]]
    assert data.weights is not None
    assert data.weights.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("labels", "part"),
    [
        ([0, 2], "Label out of range in row 1 (counted from 0). Labels go from 0 to n_classes - 1 = 1"),
        ([-1, 0], "Label out of range in row 0"),
        ([0], "labels must be 2 integers"),
        ([0.0, 1.0], "np.unique(labels, return_inverse=True)"),
        (["a", "b"], "np.unique(labels, return_inverse=True)"),
    ],
)
def test_labels_without_an_estimator_must_be_numbered(labels: Any, part: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared below)
        make_training_data([[0.0], [1.0]], labels, n_classes=2)
    assert part in str(caught.value)
