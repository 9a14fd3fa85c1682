"""Features: X becomes finite float64, whatever it comes in, or an error names the column and the row.

*Nothing is guessed.* A missing value, an infinity, a text, a category or a date in X is an error that says what to do.
Text that reads as a number is converted, as scikit-learn does.

*Nothing is merged.* The table holds float64, in which integers beyond 2**53 do not all fit. Where two different values
of a column would become equal, be it of 64-bit integers, Python integers, decimals or long doubles, training refuses it
and names the two. For prediction each value is rounded to the nearest float64, as in training, and that is all: the
answer for a row must not depend on the rows that it is asked together with.

*Clean data pay little.* The cheapest test that can clear the data comes first, and only when it fails do we look for
the cell to name. An array of float64 is returned as it is, without a copy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from particletree.data.refusals import IMPUTE, is_missing, refuse_first, refuse_masked

# Integers below this in size are exact in float64.
_EXACT_INTEGERS = 2.0**53

# Names of the dtypes, of NumPy, pandas and polars, of which every value is a float64.
_EXACT_DTYPES = re.compile(r"(?i)(u?int(8|16|32)|float(16|32|64)?|halffloat|double|bool(ean)?)(\[pyarrow\])?")

_DATES = "Turn dates and times into numbers, e.g. into days since a fixed date"

# Beginnings of the names of dtypes that are not numbers to cut, each with what to do about it.
_REFUSED_DTYPES = {
    "categor|enum|dictionary": "Encode categories as numbers, e.g. with sklearn.preprocessing.OneHotEncoder",
    "date|time|duration|period": _DATES,
    "sparse": "Sparse data are not supported: make them dense, e.g. with X.sparse.to_dense()",
    "complex": "Complex data not supported: give the real and the imaginary part as two columns",
}

# How scikit-learn shall convert. Missing and infinite values we look for ourselves, to say where they are.
_TO_FLOAT: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}


def check_features_to_fit(estimator: object, X: Any) -> NDArray[np.float64]:
    """Check the features that an estimator is fitted to, and set what it knows of them: their number and names."""
    return _to_float64(X, partial(validate_data, estimator, reset=True, **_TO_FLOAT))


def check_numbers(X: Any) -> NDArray[np.float64]:
    """Check features to train with where there is no estimator."""
    return _to_float64(X, partial(check_array, input_name="X", **_TO_FLOAT))


def check_features(estimator: object, X: Any) -> NDArray[np.float64]:
    """Check what a fitted estimator's `predict` was given, and return it as float64 in C order.

    The number of features and their names must be those that the estimator was fitted with.
    """
    has_names = hasattr(estimator, "feature_names_in_")  # then scikit-learn shall say what it has to say of X's names
    n_features = None if has_names else getattr(estimator, "n_features_in_", None)
    return _to_predict(X, n_features, partial(validate_data, estimator, reset=False, order="C", **_TO_FLOAT))


def check_rows(X: Any, n_features: int, feature_names: list[str] | None) -> NDArray[np.float64]:
    """Check rows that a posterior is asked about, and return them as float64 in C order.

    A frame must have the columns that the posterior was fitted to, in their order.
    """
    if _is_frame(X) and feature_names is not None and (names := [str(name) for name in X.columns]) != feature_names:
        raise ValueError(
            f"X has the columns {names}, but the posterior was fitted to {feature_names}. Select those, in that order."
        )
    rows = _to_predict(X, n_features, partial(check_array, input_name="X", order="C", **_TO_FLOAT))
    if rows.shape[1] != n_features:
        raise ValueError(f"X must have the shape (rows, {n_features}), got {rows.shape}.")
    return rows


def _to_predict(X: Any, n_features: int | None, convert: Callable[[Any], Any]) -> NDArray[np.float64]:
    """Return X as finite float64 in C order, without scikit-learn's part of the work where nothing is to be done."""
    X = _as_array_or_frame(X)
    if _is_plain(X, n_features):
        return _refuse_nonfinite(X, X)
    return np.require(_to_float64(X, convert, may_merge=True), requirements=["C", "A"])


def _is_plain(X: Any, n_features: int | None) -> bool:
    """Tell whether X is an array of which all but the values is as it should be: scikit-learn would return it as it is.

    It would take 50 microseconds for that, and the kernel answers for a row in 2.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == n_features
        and X.flags.c_contiguous
        and X.flags.aligned
    )


def _to_float64(X: Any, convert: Callable[[Any], Any], may_merge: bool = False) -> NDArray[np.float64]:
    """Return X as finite float64; `convert` is scikit-learn's part of the work."""
    X = _as_array_or_frame(X)
    _refuse_dtypes(X)
    refuse_masked(X, "X")
    try:
        with np.errstate(over="ignore"):  # what overflows becomes an infinity, which is reported below
            features: NDArray[np.float64] = convert(X)
    except (TypeError, ValueError, OverflowError) as error:
        _refuse_unreadable(X, error)
        raise
    _refuse_nonfinite(X, features)
    if not may_merge:
        _refuse_merged(X, features)
    return features


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def _as_array_or_frame(X: Any) -> Any:
    """Turn lists and the like into arrays; leave arrays, frames, and what scikit-learn refuses by its type."""
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, whose values are not computed yet. Pass X.collect().")
    if _is_frame(X):
        return X if X.shape[1] else np.empty(X.shape)  # scikit-learn has no clear message for a frame without columns
    if isinstance(X, np.ndarray) or issparse(X) or len(getattr(X, "shape", ())) == 1:
        return X
    try:
        array = np.asarray(X)
    except ValueError:
        if isinstance(X, list | tuple):
            lengths = np.array([len(row) if hasattr(row, "__len__") else 0 for row in X])
            advice = "Give every row one value for each feature."
            refuse_first(lengths != lengths[0], f"Other than {lengths[0]} values, as row 0 of X has,", advice)
        raise
    # NumPy turns integers that stand beside a float into floats: keep them as they are where that could merge some.
    return np.asarray(X, dtype=object) if array.dtype == np.float64 and _is_wide(array) else array


def _is_wide(features: NDArray[Any]) -> bool:
    """Tell whether some number is so large that integers of its size are not all exact in float64."""
    return features.size > 0 and bool(features.max() >= _EXACT_INTEGERS or features.min() <= -_EXACT_INTEGERS)


def _dtype_names(X: Any) -> list[str]:
    """Return the name of each column's dtype in a frame, of the one dtype of an array."""
    dtypes = list(X.dtypes) if _is_frame(X) else [getattr(X, "dtype", "")]
    return [str(getattr(dtype, "name", dtype)) for dtype in dtypes]


def _place(X: Any, column: int, row: int | None = None) -> str:
    name = f"column {list(X.columns)[column]!r} of X" if _is_frame(X) else f"column {column} of X"
    place = name if row is None else f"row {row}, {name}"
    return place if row is None and _is_frame(X) else f"{place} (counted from 0)"


def _refuse_dtypes(X: Any) -> None:
    for column, name in enumerate(_dtype_names(X)):
        for pattern, advice in _REFUSED_DTYPES.items():
            if re.match(pattern, name, re.IGNORECASE):
                raise ValueError(f"Cannot cut values of dtype {name}, in {_place(X, column)}. {advice}.")


def _refuse_nonfinite(X: Any, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the features that X was converted to, if all are finite; otherwise name the first cell that is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(features.sum()):
            return features
    cells = np.argwhere(~np.isfinite(features))
    if len(cells) == 0:  # all are finite, only their sum is not
        return features
    row, column = cells[0].tolist()
    place = _place(X, column, row) + (f", and in {len(cells) - 1} other cells" if len(cells) > 1 else "")
    if np.isnan(features[row, column]):
        raise ValueError(f"Missing value (NaN) in {place}. {IMPUTE}")
    problem = f"Infinite value ({features[row, column]}), or one too large for float64,"
    raise ValueError(f"{problem} in {place}. Replace it by a finite number, or leave that row out.")


def _columns_to_read(X: Any) -> Iterator[tuple[int, str, Any]]:
    """Yield the index, the dtype's name and the values of the columns whose dtype does not vouch for them."""
    names = _dtype_names(X)
    if _is_frame(X):
        for column, name in enumerate(names):
            if not _EXACT_DTYPES.fullmatch(name):
                yield column, name, X.iloc[:, column] if hasattr(X, "iloc") else X.to_series(column)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and not _EXACT_DTYPES.fullmatch(names[0]):
        for column in range(X.shape[1]):
            yield column, names[0], X[:, column]


def _cells(values: Any) -> list[Any]:
    cells: list[Any] = values.tolist() if isinstance(values, np.ndarray) else values.to_list()
    return cells


def _refuse_unreadable(X: Any, error: Exception) -> None:
    """Name the first cell that is no number, if there is one: then this is why the conversion failed."""
    for column, _, values in _columns_to_read(X):
        for row, cell in enumerate(_cells(values)):
            try:
                float(0 if cell is None else cell)
            except (TypeError, ValueError, OverflowError) as reason:
                kind = TypeError if isinstance(reason, TypeError) and not is_missing(cell) else ValueError
                raise kind(_describe_unreadable(cell, reason, _place(X, column, row))) from error


def _describe_unreadable(cell: Any, reason: Exception, place: str) -> str:
    if is_missing(cell):
        return f"Missing value (NaN) in {place}. {IMPUTE}"
    if isinstance(cell, str | bytes):
        advice = "Encode text as numbers, e.g. with sklearn.preprocessing.OneHotEncoder, or drop the column."
        return f"Text in {place}: {cell!r} is no number. {advice}"
    return f"Cannot use what is in {place}: {reason}. Replace it by a number, or drop the column."


def _refuse_merged(X: Any, features: NDArray[np.float64]) -> None:
    """Refuse a column in which two different values became one."""
    wide: bool | None = None
    for column, name, values in _columns_to_read(X):
        if re.match("u?int64", name, re.IGNORECASE):
            wide = _is_wide(features) if wide is None else wide
            pair = _merged_integers(values, features[:, column]) if wide else None
        else:
            pair = _merged_cells(_cells(values), features[:, column], _place(X, column))
        if pair is not None:
            raise ValueError(
                f"{pair[0]!r} and {pair[1]!r} in {_place(X, column)} differ, but not in float64, which the trees work "
                "with. Subtract an offset from the column, e.g. its smallest value, the same one for fit and predict; "
                "or drop the column if it only identifies the rows."
            )


def _merged_integers(values: Any, rounded: NDArray[np.float64]) -> tuple[Any, Any] | None:
    if not _is_wide(rounded):
        return None
    distinct = np.unique(np.asarray(values))
    twins = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
    return (int(distinct[twins[0]]), int(distinct[twins[0] + 1])) if len(twins) else None


def _merged_cells(cells: list[Any], rounded: NDArray[np.float64], place: str) -> tuple[Any, Any] | None:
    kinds = set(map(type, cells))
    if any(issubclass(kind, np.datetime64 | np.timedelta64) for kind in kinds):
        raise ValueError(f"Dates or times in {place}. {_DATES}.")
    if kinds <= {float, bool}:
        return None
    first: dict[float, Any] = {}
    for cell, number in zip(cells, rounded.tolist(), strict=True):
        exact = _exact(cell, number)
        if first.setdefault(number, exact) != exact:
            return first[number], exact
    return None


def _exact(cell: Any, number: float) -> Any:
    """Return what a cell says before it is rounded; text counts as an integer where it is one."""
    if isinstance(cell, str | bytes):
        try:
            return int(cell)
        except ValueError:
            return number
    return cell.item() if isinstance(cell, np.generic) else cell
