"""Categorical columns: levels and their numbers, from any container, in training and for prediction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from inputs import Model, refuse, restore
from particletree._data import TrainingData, check_classification_data, check_features, check_rows, make_training_data

pl = pytest.importorskip("polars")


def read(X: Any, weights: Any = None, **settings: Any) -> TrainingData:
    labels = np.zeros(len(X), dtype=int)  # rows stay in their order
    return check_classification_data(DummyClassifier(), X, labels, weights, **settings)


TEXT = ["red", None, "blue", "red"]
COLUMNS = {
    "text": pd.DataFrame({"c": TEXT}),
    "string": pd.DataFrame({"c": pd.array(TEXT, dtype="string")}),
    "object": pd.DataFrame({"c": pd.Series(TEXT, dtype=object)}),
    "object with NA": pd.DataFrame({"c": pd.Series(["red", pd.NA, "blue", "red"], dtype=object)}),
    "object with NaN": pd.DataFrame({"c": pd.Series(["red", np.nan, "blue", "red"], dtype=object)}),
    "category": pd.DataFrame({"c": pd.Categorical(TEXT)}),
    "polars text": pl.DataFrame({"c": TEXT}),
    "polars category": pl.DataFrame({"c": pl.Series(TEXT, dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame({"c": pl.Series(TEXT, dtype=pl.Enum(["blue", "green", "red"]))}),
    "objects": np.array(TEXT, dtype=object)[:, None],
    "objects of NumPy": np.array([np.str_("red"), np.nan, np.str_("blue"), "red"], dtype=object)[:, None],
    "masked": np.ma.array(["red", "red", "blue", "red"], mask=[0, 1, 0, 0])[:, None],
    "list": [[text] for text in TEXT],
}


@pytest.mark.parametrize("X", COLUMNS.values(), ids=COLUMNS.keys())
def test_any_container_of_the_same_text_gives_the_same_data(X: Any) -> None:
    data = read(X)
    assert data.columns.levels == {0: ("blue", "red")}
    assert {type(level) for level in data.columns.levels[0]} == {str}
    assert data.columns.missing == {0}
    assert data.table.n_levels.tolist() == [2]
    np.testing.assert_array_equal(restore(data.table).ravel(), [1, 2, 0, 1])
    assert data.fingerprint == read(COLUMNS["text"]).fingerprint
    np.testing.assert_array_equal(check_rows(X, 1, None, data.columns).ravel(), [1, 2, 0, 1])


LEVELS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "booleans": (pd.DataFrame({"c": [True, False, True]}), (False, True)),
    "nullable booleans": (pd.DataFrame({"c": pd.array([True, None, False], dtype="boolean")}), (False, True)),
    "polars booleans": (pl.DataFrame({"c": [True, None, False]}), (False, True)),
    "ordered": (pd.DataFrame({"c": pd.Categorical(["low", "high"], ["low", "mid", "high"])}), ("low", "high")),
    "enum": (pl.DataFrame({"c": pl.Series(["low", "high"], dtype=pl.Enum(["low", "mid", "high"]))}), ("low", "high")),
    "numbers": (pd.DataFrame({"c": pd.Categorical([3, 1, 3])}), (1, 3)),
    "mixed": (np.array([["b"], [True], [2.5], ["a"], [None]], dtype=object), (True, 2.5, "a", "b")),
    "mixed pandas": (pd.DataFrame({"c": pd.Series(["b", True, 2.5, None, "a"], dtype=object)}), (True, 2.5, "a", "b")),
    "equal numbers": (np.array([["b"], [1], [1.0], [True]], dtype=object), (1, "b")),
    "intervals": (pd.DataFrame({"c": pd.cut(pd.Series([1, 5, 9]), [0, 4, 10])}), ("(0, 4]", "(4, 10]")),
    "all missing": (pd.DataFrame({"c": pd.Categorical([None, None])}), ()),
    "missing text": (pd.DataFrame({"c": pd.array([None, None], dtype="string")}), ()),
}


@pytest.mark.parametrize(("X", "levels"), LEVELS.values(), ids=LEVELS.keys())
def test_levels_are_plain_values_in_their_order(X: Any, levels: tuple[Any, ...]) -> None:
    data = read(X)
    assert data.columns.levels == {0: levels}
    assert [type(level) for level in data.columns.levels[0]] == [type(level) for level in levels]


LISTED: dict[str, tuple[Any, tuple[Any, ...], list[float]]] = {
    "integers": (np.array([[7], [-3], [7]]), (-3, 7), [1, 0, 1]),
    "small integers": (np.array([[7], [-3], [7]], dtype=np.int8), (-3, 7), [1, 0, 1]),
    "wide integers": (np.array([[2**60], [2**60 + 1], [5]]), (5, 2**60, 2**60 + 1), [1, 2, 0]),
    "floats": (np.array([[0.5], [np.nan], [-0.0]]), (0.0, 0.5), [1, 2, 0]),
    "booleans": (np.array([[True], [False], [True]]), (False, True), [1, 0, 1]),
    "text": (np.array([["u"], ["1"], ["u"]]), ("1", "u"), [1, 0, 1]),
    "nullable": (pd.DataFrame({"c": pd.array([4, None, 3], dtype="Int64")}), (3, 4), [1, 2, 0]),
    "polars": (pl.DataFrame({"c": [4, None, 3]}), (3, 4), [1, 2, 0]),
    "decimals": (np.array([[Decimal("0.5")], [Decimal("0.50")], [None]], dtype=object), (0.5,), [0, 0, 1]),
    "dates": (pd.DataFrame({"c": pd.to_datetime(["2020-01-02", "2020-01-01"])}), ("2020-01-01 00:00:00",), [1, 0]),
}


@pytest.mark.parametrize(("X", "levels", "numbers"), LISTED.values(), ids=LISTED.keys())
def test_a_column_that_is_listed_may_hold_numbers(X: Any, levels: tuple[Any, ...], numbers: list[float]) -> None:
    data = read(X, categorical_features=[0])
    assert data.columns.levels[0][: len(levels)] == levels
    np.testing.assert_array_equal(restore(data.table).ravel(), numbers)


def test_numbers_beside_levels_stay_as_they_are() -> None:
    X = np.array([[2**60, 7], [2**60 + 4096, 3]])
    np.testing.assert_array_equal(restore(read(X, categorical_features=[1]).table), [[2**60, 1], [2**60 + 4096, 0]])
    refuse(np.array([["u", 2**53], ["v", 2**53 + 1]], dtype=object), "column 1", "differ, but not in float64")
    refuse(np.array([["u", 1.0], ["v", np.inf]], dtype=object), "Infinite value (inf)", "row 1, column 1 of X")


def test_what_was_given_is_left_as_it_was() -> None:
    frame = pd.DataFrame({"c": ["u", "v"], "d": [1.0, 2.0]})
    array = np.array([[5.0, 1.0], [6.0, 2.0]])
    before = frame.copy(), array.copy()
    read(frame, [1, 0])
    read(array, [0, 1], categorical_features=[0])
    pd.testing.assert_frame_equal(frame, before[0])
    np.testing.assert_array_equal(array, before[1])


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame])
def test_levels_of_rows_of_weight_zero_are_not_there(container: Any) -> None:
    data = read(container({"c": ["a", "b", None, "c"]}), [1, 0, 0, 2])
    assert data.columns.levels == {0: ("a", "c")}
    assert data.columns.missing == frozenset()
    np.testing.assert_array_equal(restore(data.table).ravel(), [0, 1])
    rows = check_rows(container({"c": ["b", "c", None]}), 1, None, data.columns)
    np.testing.assert_array_equal(rows.ravel(), [3, 1, 2])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.one_of(st.none(), st.sampled_from("abc"), st.integers(-2, 2), st.booleans()), min_size=1))
def test_levels_and_numbers_give_the_values_back(values: list[Any]) -> None:
    X = np.empty((len(values), 1), dtype=object)
    X[:, 0] = values
    data = read(X, categorical_features=[0])
    levels = data.columns.levels[0]
    assert [(*levels, None)[int(number)] for number in restore(data.table).ravel()] == values
    assert len(set(levels)) == len(levels)
    assert read(pd.DataFrame(X), categorical_features=[0]).columns == data.columns


def test_thousands_of_levels() -> None:
    names = np.array([f"level {number:04d}" for number in range(3000)])
    drawn = np.random.default_rng(0).permutation(np.arange(9000) % 3000)
    for X in (pd.DataFrame({"c": names[drawn]}), pl.DataFrame({"c": names[drawn]}), names[drawn][:, None]):
        data = read(X)
        assert data.columns.levels == {0: tuple(names.tolist())}
        np.testing.assert_array_equal(restore(data.table).ravel(), drawn)


def test_without_an_estimator() -> None:
    data = make_training_data([[4.0, 1.0], [2.0, np.nan], [4.0, 2.0]], [0, 0, 1], 2, categorical_features=[0])
    assert data.columns.levels == {0: (2.0, 4.0)}
    assert data.columns.missing == {1}
    np.testing.assert_array_equal(restore(data.table), [[1, 1], [0, np.nan], [1, 2]])


# Prediction


TRAINED = pd.DataFrame({"c": ["red", "blue"], "x": [1.0, 2.0]})
ROWS: dict[str, Any] = {
    "text": pd.DataFrame({"c": ["green", None, "red"], "x": [1.0, 2.0, None]}),
    "other categories": pd.DataFrame(
        {"c": pd.Categorical(["green", None, "red"], ["red", "green", "blue"]), "x": [1, 2, np.nan]}
    ),
    "polars": pl.DataFrame({"c": ["green", None, "red"], "x": [1, 2, None]}),
    "polars enum": pl.DataFrame(
        {"c": pl.Series(["green", None, "red"], dtype=pl.Enum(["red", "green"])), "x": [1, 2, None]}
    ),
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_levels_are_matched_by_value(rows: Any) -> None:
    model = Model().fit(TRAINED, [0, 1])
    expected = [[3, 1], [2, 2], [1, np.nan]]
    features = check_features(model, rows, model._columns)
    np.testing.assert_array_equal(features, expected)
    assert features.dtype == np.float64
    assert features.flags.c_contiguous
    np.testing.assert_array_equal(check_rows(rows, 2, ["c", "x"], model._columns), expected)


def test_arrays_and_lists_are_matched_too() -> None:
    model = Model().fit(np.array([["red", 1.0], ["blue", 2.0]], dtype=object), [0, 1])
    for rows in ([["blue", 1], ["green", None]], np.array([["blue", 1.0], ["green", np.nan]], dtype=object)):
        np.testing.assert_array_equal(check_features(model, rows, model._columns), [[0, 1], [3, np.nan]])
    assert model.predict([["red", 1.0]]).tolist() == [0]


def test_numbers_are_matched_by_value() -> None:
    columns = read(pd.DataFrame({"c": [True, False]})).columns
    np.testing.assert_array_equal(check_rows(np.array([[0.0], [1.0], [7.0]]), 1, None, columns).ravel(), [0, 1, 3])
    empty = pd.DataFrame({"c": [np.nan, np.nan]})
    np.testing.assert_array_equal(check_rows(empty, 1, None, columns).ravel(), [2, 2])


def test_a_column_without_levels_takes_anything() -> None:
    columns = read(pd.DataFrame({"c": pd.Categorical([None, None])})).columns
    rows = np.array([["u"], [None], [3]], dtype=object)
    np.testing.assert_array_equal(check_rows(rows, 1, None, columns).ravel(), [1, 0, 1])


def test_names_and_number_of_columns_are_checked_before_anything_is_encoded() -> None:
    model = Model().fit(TRAINED, [0, 1])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(TRAINED[["x", "c"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(TRAINED[["c"]])
    with pytest.raises(ValueError, match=r"X has the columns \['x', 'c'\], but the posterior was fitted to"):
        check_rows(TRAINED[["x", "c"]], 2, ["c", "x"], model._columns)
    with pytest.raises(ValueError, match=r"must have the shape \(rows, 2\), got \(2, 1\)"):
        check_rows(TRAINED[["c"]], 2, None, model._columns)
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names") as caught,
        pytest.raises(ValueError, match="X has 1 features, but Model is expecting 2 features"),
    ):
        model.predict(np.array([["red"]], dtype=object))
    assert len(caught) == 1
    with pytest.raises(ValueError, match="Reshape your data"):
        Model().fit(TRAINED.to_numpy(dtype=object), [0, 1]).predict(["red", 1.0])


OTHER_KINDS: dict[str, tuple[Any, str]] = {
    "text for numbers": (
        pd.DataFrame({"c": ["red", "red"], "x": ["1", "two"], "n": [1, 2]}),
        r"Text in row 1, column 'x' of X \(counted from 0\): 'two' is not a number. The training data held numbers in "
        r"this column: convert it, e.g. with .astype\(float\).",
    ),
    "numbers for text": (
        pd.DataFrame({"c": pd.Series(["red", 7], dtype=object), "x": [1, 2], "n": [1, 2]}),
        r"A number in row 1, column 'c' of X \(counted from 0\): 7, where the training data held text, such as 'blue'. "
        r"Convert the column as it was for fit, e.g. with astype\(str\).",
    ),
    "text for levels that are numbers": (
        pd.DataFrame({"c": ["red", "red"], "x": [1, 2], "n": ["1", None]}),
        r"Text in row 0, column 'n' of X \(counted from 0\): '1', where the training data held numbers, such as 1.",
    ),
}


@pytest.mark.parametrize(("rows", "message"), OTHER_KINDS.values(), ids=OTHER_KINDS.keys())
def test_a_column_of_another_kind_is_refused(rows: Any, message: str) -> None:
    trained = pd.DataFrame({"c": ["red", "blue"], "x": [1, 2], "n": [1, 2]})
    columns = read(trained, categorical_features=["c", "n"]).columns
    with pytest.raises(ValueError, match=message):
        check_rows(rows, 3, None, columns)


# What cannot be a level


@pytest.mark.parametrize("cell", [{"a": 1}, [1, 2], 1j, (1, 2), pd.Timedelta(1)])
def test_cells_that_are_no_levels_are_refused_with_their_place(cell: Any) -> None:
    X = np.array([["u", 1], ["v", 2]], dtype=object)
    X[1, 0] = cell
    refuse(
        X,
        f"A value of type {type(cell).__name__}",
        "that is not a level in row 1, column 0 of X (counted from 0)",
        "Levels of a categorical column are text, numbers or booleans",
        error=TypeError,
    )
    with pytest.raises(TypeError, match="that is not a level in row 1, column 'c' of X"):
        read(pd.DataFrame({"c": pd.Series([*X[:, 0]], dtype=object)}), categorical_features=["c"])


def test_bytes_beside_text_are_to_be_decoded() -> None:
    refuse(np.array([["u"], [b"v"]], dtype=object), "Bytes (b'v') in row 1, column 0", "Decode them", error=TypeError)


@pytest.mark.parametrize("X", [np.array([[1.0], [np.inf]]), pd.DataFrame({0: [1.0, np.inf]})])
def test_an_infinite_level_is_refused(X: Any) -> None:
    with pytest.raises(ValueError, match=r"Infinite value \(inf\) in row 1, column 0 of X"):
        read(X, categorical_features=[0])


def test_a_category_that_no_row_has_may_be_anything() -> None:
    unused = pd.Categorical.from_codes([0, 0], [("a", 1), ("b", 2)][::-1])
    with pytest.raises(TypeError, match="that is not a level in row 0"):
        read(pd.DataFrame({"c": unused}))
    names = pd.Categorical.from_codes([0, 0], pd.Index(["u", 1j], dtype=object))
    assert read(pd.DataFrame({"c": names})).columns.levels == {0: ("u",)}
