"""Labels of any type become numbers in order; what is not a class is refused with its row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from inputs import DAYS, LARGE, Model, refuse, restore
from particletree._data import check_classification_data
from particletree._posterior.files.description import decode_labels, encode_labels

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
    "objects of NumPy's text": (np.array([np.str_("yes"), "no", np.str_("yes")], dtype=object), ["no", "yes"]),
    "list of NumPy's text": ([np.str_("yes"), np.str_("no"), np.str_("yes")], ["no", "yes"]),
    "long doubles": (np.array([2, 1, 2], dtype=np.longdouble), [1.0, 2.0]),
    "long double objects": (np.array([np.longdouble(2), np.longdouble(1), np.longdouble(2)], dtype=object), [1.0, 2.0]),
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

if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    LABELS["texts of any length"] = (np.array(["yes", "no", "yes"], dtype=np.dtypes.StringDType()), ["no", "yes"])


@pytest.mark.parametrize(("y", "expected"), LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_type_are_numbered_in_order(y: Any, expected: list[Any]) -> None:
    data = check_classification_data(Model(), [[0.0], [1.0], [2.0]], y)
    classes = data.observations.target.classes
    assert classes.tolist() == expected
    assert [type(label) for label in classes.tolist()] == [type(label) for label in expected]
    if classes.dtype.kind == "M":
        with pytest.raises(ValueError, match=r"labels of dtype datetime64\[D\] cannot be saved .* fitting to y.astype"):
            encode_labels(classes)
    else:
        assert decode_labels(json.loads(json.dumps(encode_labels(classes)))).tolist() == expected
    assert data.observations.values.tolist() == [0, 1, 1]
    assert restore(data.table).ravel().tolist() == [1.0, 0.0, 2.0]
    assert data.observations.values.dtype == np.int32
    assert data.observations.target.n_outputs == 2
    assert data.observations.weights is None


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        data = check_classification_data(Model(), [[0.0], [1.0]], [["b"], ["a"]])
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
    "mixed": ([1, "1", 2], "Unknown label type: y holds int, str; a label that is not a str in row 0"),
    "mixed objects": (np.array(["1", 1, "2"], dtype=object), "not a str in row 1 (counted from 0). Try y.astype(str)"),
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
        check_classification_data(Model(), [[0.0], [1.0], [2.0]], y)
    assert part in str(caught.value)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="a long double is a float64 here")
def test_long_doubles_that_are_no_float64_are_refused() -> None:
    labels = np.array([0, 2**53, 1], dtype=np.longdouble)
    labels[1] += 1
    with pytest.raises(ValueError, match=r"A long double that is not a float64 in y in row 1 .* Use integers or text"):
        check_classification_data(Model(), [[0.0], [1.0], [2.0]], labels)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1 has no texts of any length")
def test_missing_texts_of_any_length_are_refused() -> None:
    labels = np.array(["a", np.nan, "b"], dtype=np.dtypes.StringDType(na_object=np.nan))
    with pytest.raises(ValueError, match=r"Missing label \(NaN\) in y in row 1"):
        check_classification_data(Model(), [[0.0], [1.0], [2.0]], labels)


def test_labels_of_bytes_are_refused() -> None:
    refuse([[0.0], [1.0]], "bytes", "np.char.decode", error=TypeError, y=[b"a", b"b"])


@pytest.mark.parametrize(("n_classes", "n_rows"), [(21, 21), (214, 442), (500, 500), (40, 199)])
def test_many_classes_with_few_rows_each_are_doubted(n_classes: int, n_rows: int) -> None:
    with pytest.warns(UserWarning, match=rf"{n_classes} classes in {n_rows} rows.*use BayesianTreeRegressor"):
        check_classification_data(Model(), np.arange(n_rows)[:, None], np.arange(n_rows) % n_classes)
    names = np.array([f"name {i % n_classes}" for i in range(n_rows)])
    with pytest.warns(UserWarning, match=rf"{n_classes} classes in {n_rows} rows.*join some of them"):
        check_classification_data(Model(), np.arange(n_rows)[:, None], names)


def test_more_than_a_hundred_distinct_numbers_are_doubted_however_many_rows_there_are() -> None:
    X, labels = np.arange(10_100)[:, None], np.arange(10_100) % 101
    for numbers in (labels, labels.astype(float)):
        with pytest.warns(UserWarning, match=r"101 classes in 10100 rows\. .*use BayesianTreeRegressor"):
            check_classification_data(Model(), X, numbers)
    check_classification_data(Model(), X, np.array([f"name {label}" for label in labels]))


@pytest.mark.parametrize(("n_classes", "n_rows"), [(20, 20), (40, 200), (26, 130), (2, 2), (100, 500)])
def test_few_classes_or_many_rows_are_not_doubted(n_classes: int, n_rows: int) -> None:
    data = check_classification_data(Model(), np.arange(n_rows)[:, None], np.arange(n_rows) % n_classes)
    assert len(data.observations.target.classes) == n_classes
