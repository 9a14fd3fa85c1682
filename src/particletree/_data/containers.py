"""Containers of tables and of rows: arrays, and data frames of pandas or polars, neither of which need be installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from particletree._data.row_errors import refuse_first

# Integers below this in absolute value are exact in float64.
_EXACT_INTEGERS = 2.0**53

_DENSE = (
    "X is a sparse matrix, and the trees read dense tables. Pass X.toarray(); or, if it is a one-hot encoding, the "
    "original column of categories: it needs no encoding."
)


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame of pandas or polars."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def is_table(X: Any) -> bool:
    """Tell whether X has columns: a frame, or an array with two dimensions."""
    return is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2)


def as_array_or_frame(X: Any) -> Any:
    """Turn lists and the like into arrays; leave arrays, frames, and types that scikit-learn will refuse."""
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, whose values are not computed yet. Pass X.collect().")
    if issparse(X):
        raise TypeError(_DENSE)
    _refuse_dicts(X)
    if is_frame(X):
        return X if X.shape[1] else np.empty(X.shape)  # scikit-learn's message for a frame without columns is unclear
    if isinstance(X, np.ma.MaskedArray):
        return _unmasked(X)
    array = X if isinstance(X, np.ndarray) or len(getattr(X, "shape", ())) == 1 else _from_lists(X)
    _refuse_flat(array)
    return array


def _unmasked(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return an array in which masked cells are missing; dtypes without a missing value become objects."""
    if not np.ma.is_masked(X):
        return np.asarray(X)
    array: NDArray[Any] = np.asarray(X).astype(X.dtype if X.dtype.kind == "f" else object)
    array[np.ma.getmaskarray(X)] = np.nan
    return array


def _from_lists(X: Any) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError:
        _refuse_ragged(X)
        raise
    # NumPy converts numbers beside text to text, and integers beside floats to floats: keep the objects where that
    # would hide their type, or could make two integers equal.
    is_changed = array.dtype.kind in "US" or (array.dtype == np.float64 and is_wide(array))
    return np.asarray(X, dtype=object) if is_changed else array


def _refuse_dicts(X: Any) -> None:
    """Refuse columns or rows by name that are not a frame."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    if isinstance(first, Mapping):
        kind = type(X).__name__ if first is X else f"{type(X).__name__} of {type(first).__name__}s"
        raise TypeError(f"X is a {kind}. Pass a data frame, for example pandas.DataFrame(X), or an array.")


def _refuse_flat(X: Any) -> None:
    """Refuse series, and one-dimensional text, which scikit-learn would first try to convert to numbers."""
    if len(X.shape) == 1 and hasattr(X, "to_frame"):
        raise ValueError(
            f"X must have two dimensions, rows and columns, got a series of shape {X.shape}. Pass a DataFrame: of one "
            "row X.iloc[[0]] (polars: X[:1]) instead of X.iloc[0], of one column series.to_frame()."
        )
    if len(X.shape) == 1 and isinstance(next(iter(X), None), str):
        raise ValueError(
            f"X must have two dimensions, rows and columns, got the shape {X.shape}. Reshape your data: one row is "
            "[values], one column is [[value] for value in values]."
        )


def _refuse_ragged(X: Any) -> None:
    if not isinstance(X, list | tuple):
        return
    lengths = np.array([len(row) if hasattr(row, "__len__") else 0 for row in X])
    advice = "Give every row one value for each feature."
    refuse_first(lengths != lengths[0], f"Other than {lengths[0]} values, as row 0 of X has,", advice)
    nested = np.array([any(isinstance(cell, list | tuple | np.ndarray) for cell in row) for row in X])
    refuse_first(nested, "A list in the place of a value of X", advice)


def is_wide(features: NDArray[Any]) -> bool:
    """Tell whether some number is so large that not all integers of its size are exact in float64."""
    return features.size > 0 and bool(largest(features) >= _EXACT_INTEGERS or smallest(features) <= -_EXACT_INTEGERS)


def largest(features: NDArray[Any]) -> Any:
    """Return the largest number; NaN if all are missing."""
    return np.fmax.reduce(features, axis=None)


def smallest(features: NDArray[Any]) -> Any:
    """Return the smallest number; NaN if all are missing."""
    return np.fmin.reduce(features, axis=None)


def dtype_names(X: Any) -> list[str]:
    """Return the names of the dtypes: of each column of a frame, or the one dtype of an array."""
    dtypes = list(X.dtypes) if is_frame(X) else [getattr(X, "dtype", "")]
    return [str(getattr(dtype, "name", dtype)) for dtype in dtypes]


def place(X: Any, column: int, row: int | None = None) -> str:
    """Describe the location of a column or a cell, for error messages."""
    name = f"column {list(X.columns)[column]!r} of X" if is_frame(X) else f"column {column} of X"
    where = name if row is None else f"row {row}, {name}"
    return where if row is None and is_frame(X) else f"{where} (counted from 0)"


def column(X: Any, index: int) -> Any:
    """Return a column: a series of pandas or polars, or an array."""
    if not is_frame(X):
        return X[:, index]
    return X.iloc[:, index] if hasattr(X, "iloc") else X.to_series(index)


def column_dtypes(X: Any) -> list[str]:
    """Return the name of each column's dtype."""
    if not is_table(X):
        return []
    return dtype_names(X) if is_frame(X) else dtype_names(X) * X.shape[1]


def cells(values: Any) -> list[Any]:
    """Return a column as a list."""
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else values.to_list()
    return listed


def with_columns(X: Any, replaced: Mapping[int, NDArray[Any]]) -> Any:
    """Return a copy of X with other values in some columns, in the same kind of container."""
    if not replaced:
        return X
    if not is_frame(X):
        return _array_with_columns(X, replaced)
    frame = X.copy(deep=False) if hasattr(X, "iloc") else X.clone()
    for index, values in replaced.items():
        if hasattr(frame, "iloc"):
            frame.isetitem(index, values)
        else:
            old = frame.to_series(index)
            frame.replace_column(index, type(old)(old.name, values))
    return frame


def _array_with_columns(X: NDArray[Any], replaced: Mapping[int, NDArray[Any]]) -> NDArray[Any]:
    dtype = np.result_type(X.dtype, np.uint32) if X.dtype.kind in "biuf" else np.dtype(object)
    array = X.astype(dtype, subok=False)
    for index, values in replaced.items():
        array[:, index] = values
    return array


# One row of any accepted type: a mapping or a Series with names, a data frame of one row, a list, an array.


def as_one_row_table(x: Any, n_features: int, feature_names: list[str] | None) -> Any:
    """Return one row as a table of one row, which the checks of tables accept.

    Parameters
    ----------
    x : mapping, Series, frame, list or array
        The row. The values of a mapping, and of a Series whose index has names, are taken by name; those of anything
        else in the order of the features.
    n_features : int
        Number of features, which the row must have.
    feature_names : list of str or None
        Their names; if None, a mapping has the keys `x[0]`, `x[1]` and so on.

    Examples
    --------
    >>> from particletree._data.containers import as_one_row_table
    >>> as_one_row_table({"width": 2.5, "colour": "red"}, 2, ["colour", "width"]).tolist()
    [['red', 2.5]]
    """
    if is_frame(x):
        if x.shape[0] != 1:
            raise _not_one_row(x.shape[0])
        return x
    is_named = feature_names is not None and hasattr(x, "iloc") and all(isinstance(name, str) for name in x.index)
    if isinstance(x, Mapping):
        return _from_names({str(name): value for name, value in x.items()}, n_features, feature_names)
    if is_named:
        return _from_names(dict(zip(x.index, x.tolist(), strict=True)), n_features, feature_names)
    return _from_values(x, n_features)


def _from_names(values: dict[str, Any], n_features: int, feature_names: list[str] | None) -> Any:
    names = [f"x[{f}]" for f in range(n_features)] if feature_names is None else feature_names
    missing, unknown = [name for name in names if name not in values], [name for name in values if name not in names]
    if missing or unknown:
        parts = [f"{label} {listed}" for label, listed in (("lacks", missing), ("also has", unknown)) if listed]
        raise ValueError(f"The row {' and '.join(parts)}; it must have exactly the features {names}.")
    return _as_objects([values[name] for name in names])


def _from_values(x: Any, n_features: int) -> Any:
    try:
        values = x if isinstance(x, np.ndarray) else [] if isinstance(x, str | bytes) else list(x)
    except TypeError:
        raise TypeError(f"A row is a list, an array, a mapping, a Series or a frame of one row, got {x!r}.") from None
    is_nested = any(isinstance(value, list | tuple | np.ndarray) for value in values)
    if values.ndim > 1 if isinstance(values, np.ndarray) else is_nested:
        if len(values) != 1:
            raise _not_one_row(len(values))
        values = values[0]
    if len(values) != n_features:
        raise ValueError(f"The row has {len(values)} values, but the posterior was fitted to {n_features} features.")
    return values.reshape(1, -1) if isinstance(values, np.ndarray) else _as_objects(values)


def _as_objects(values: Any) -> Any:
    table = np.empty((1, len(values)), dtype=object)
    table[0] = list(values)
    return table


def _not_one_row(n_rows: int) -> ValueError:
    return ValueError(f"One row is explained at a time, got {n_rows} rows: pass one of them, e.g. X[:1].")
