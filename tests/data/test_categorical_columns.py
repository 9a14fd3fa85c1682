"""Which columns are categorical, by their dtypes or as they are listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from particletree._data.categories import categorical_columns

PANDAS = pd.DataFrame(
    {
        "category": pd.Categorical(["u", "v"]),
        "numbers as category": pd.Categorical([1, 2]),
        "text": ["u", "v"],
        "string": pd.array(["u", None], dtype="string"),
        "object": pd.Series(["u", None], dtype=object),
        "bool": [True, False],
        "boolean": pd.array([True, None], dtype="boolean"),
        "object of booleans": pd.Series([True, None], dtype=object),
        "mixed": pd.Series(["u", 1.5], dtype=object),
        "float": [1.5, np.nan],
        "integer": pd.array([1, None], dtype="Int64"),
        "object of numbers": pd.Series([1, None], dtype=object),
        "numbers and booleans": pd.Series([1, True], dtype=object),
        "nothing": pd.Series([None, None], dtype=object),
    }
)
N_CATEGORICAL = 9  # they come first


def test_from_the_dtypes_of_pandas() -> None:
    assert categorical_columns(PANDAS, "from_dtype") == list(range(N_CATEGORICAL))


def test_from_the_dtypes_of_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["u"], dtype=pl.Enum(["u"])),
            "categorical": pl.Series(["u"], dtype=pl.Categorical),
            "string": ["u"],
            "boolean": [True],
            "float": [1.5],
            "integer": [1],
            "null": [None],
        }
    )
    assert categorical_columns(frame, "from_dtype") == [0, 1, 2, 3]


ARRAYS = {
    "numbers": (np.array([[1.0, 2.0]]), []),
    "booleans": (np.array([[True, False]]), []),
    "objects": (np.array([["u", 1.0, None, True], [None, 2.0, None, None]], dtype=object), [0, 3]),
    "text beside numbers": (np.array([["u", 1.0], ["v", 2.0]]), [0]),
    "text that is numbers": (np.array([["1", "nan"]]), []),
    "one dimension": (np.array(["u", "v"], dtype=object), []),
}


@pytest.mark.parametrize(("X", "expected"), ARRAYS.values(), ids=ARRAYS.keys())
def test_from_what_arrays_hold(X: Any, expected: list[int]) -> None:
    assert categorical_columns(X, "from_dtype") == expected


FRAME = pd.DataFrame({"a": ["u"], "b": [1], "c": [2]})
LISTED: dict[str, tuple[Any, list[int]]] = {
    "none": (None, []),
    "empty": ([], []),
    "mask": ([False, True, True], [1, 2]),
    "mask of none": (np.zeros(3, dtype=bool), []),
    "indices": ([2, 0, 2], [0, 2]),
    "indices in an array": (np.array([1], dtype=np.uint8), [1]),
    "names": (["c", "a"], [0, 2]),
    "names in an index": (pd.Index(["b"]), [1]),
}


@pytest.mark.parametrize(("listed", "expected"), LISTED.values(), ids=LISTED.keys())
def test_as_they_are_listed(listed: Any, expected: list[int]) -> None:
    assert categorical_columns(FRAME, listed) == expected


WRONG: dict[str, tuple[Any, Any, str, type[Exception]]] = {
    "one name": (FRAME, "a", 'must be "from_dtype", None, or a list of names, indices or booleans', ValueError),
    "one index": (FRAME, 0, "must be .*, got 0", TypeError),
    "floats": (FRAME, [0.0], r"must be .*, got \[0.0\]", TypeError),
    "names and indices": (FRAME, np.array(["a", 1], dtype=object), "must be .* names, indices", TypeError),
    "short mask": (FRAME, [True], "a mask of 1 booleans, but X has 3 features", ValueError),
    "index beyond": (FRAME, [0, 3], "the index 3, but the features go from 0 to 2", ValueError),
    "negative index": (FRAME, [-1], "the index -1, but", ValueError),
    "unknown name": (FRAME, ["a", "d"], r"holds 'd', but the columns of X are \['a', 'b', 'c'\]", ValueError),
    "names of an array": (np.ones((1, 3)), ["a"], "X has none. Pass a data frame, or give the indices", ValueError),
}


@pytest.mark.parametrize(("X", "listed", "message", "error"), WRONG.values(), ids=WRONG.keys())
def test_what_lists_no_columns_is_refused(X: Any, listed: Any, message: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=message):
        categorical_columns(X, listed)
