"""Which columns are categorical, by the parameter `categorical_features`.

"from_dtype"    columns of frames that are categories, text or booleans; columns of arrays of objects with text in them,
                or with booleans alone; columns of arrays of text in which some text is not a number
a mask, indices or names, as in scikit-learn
None            no column
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.containers import cells, column, column_dtypes, is_frame, is_table
from particletree._data.row_errors import is_missing

FROM_DTYPE = "from_dtype"
_CATEGORICAL = re.compile(r"(?i)(categor|enum|dictionary|str(?!uct)|large_string|utf8|bool)")
_WAYS = '"from_dtype", None, or a list of names, indices or booleans (a mask)'


def categorical_columns(X: Any, categorical_features: Any) -> list[int]:
    """Return the indices of the categorical columns, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data.categorical_columns import categorical_columns
    >>> X = np.array([["red", 1.5], [None, 2.5]], dtype=object)
    >>> categorical_columns(X, "from_dtype"), categorical_columns(X, [False, True])
    ([0], [1])
    """
    if categorical_features is None or not is_table(X):
        return []
    if not isinstance(categorical_features, str):
        return _listed(X, categorical_features)
    if categorical_features != FROM_DTYPE:
        raise ValueError(f"categorical_features must be {_WAYS}, got {categorical_features!r}.")
    return _by_dtype(X)


def _by_dtype(X: Any) -> list[int]:
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OUT":
        return []
    return [index for index, dtype in enumerate(column_dtypes(X)) if _is_categorical(X, index, dtype)]


def _is_categorical(X: Any, index: int, dtype: str) -> bool:
    if dtype.lower() == "object":
        return _are_levels(cells(column(X, index)))
    if isinstance(X, np.ndarray):
        return not _read_as_numbers(X[:, index])
    return _CATEGORICAL.match(dtype) is not None


def _are_levels(objects: list[Any]) -> bool:
    """Tell whether objects contain text, or only booleans."""
    kinds = set(map(type, objects))
    if any(issubclass(kind, str) for kind in kinds):
        return True
    if not kinds & {bool, np.bool_}:
        return False
    return all(isinstance(cell, bool | np.bool_) or is_missing(cell) for cell in objects)


def _read_as_numbers(texts: NDArray[Any]) -> bool:
    """Tell whether each text is a number: NumPy may have converted a mixture of numbers and text to text."""
    try:
        texts.astype(np.float64)
    except ValueError:
        return False
    return True


def _listed(X: Any, categorical_features: Any) -> list[int]:
    given = np.asarray(categorical_features)
    if given.size == 0:
        return []
    if given.ndim == 1 and given.dtype.kind == "b":
        return _by_mask(given, X.shape[1])
    if given.ndim == 1 and given.dtype.kind in "iu":
        return _by_index(given, X.shape[1])
    if given.ndim == 1 and all(isinstance(name, str) for name in given.tolist()):
        return _by_name(given.tolist(), X)
    raise TypeError(f"categorical_features must be {_WAYS}, got {categorical_features!r}.")


def _by_mask(mask: NDArray[np.bool_], n_features: int) -> list[int]:
    if len(mask) != n_features:
        raise ValueError(
            f"categorical_features is a mask of {len(mask)} booleans, but X has {n_features} features. Give one each."
        )
    return [int(index) for index in np.flatnonzero(mask)]


def _by_index(indices: NDArray[Any], n_features: int) -> list[int]:
    outside = indices[(indices < 0) | (indices >= n_features)]
    if outside.size:
        raise ValueError(
            f"categorical_features holds the index {outside[0]}, but the features go from 0 to {n_features - 1}."
        )
    return sorted({int(index) for index in indices})


def _by_name(names: list[str], X: Any) -> list[int]:
    if not is_frame(X):
        raise ValueError(
            "categorical_features holds names, but X has none. Pass a data frame, or give the indices of the columns."
        )
    known = list(X.columns)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"categorical_features holds {unknown[0]!r}, but the columns of X are {known}.")
    return [index for index, name in enumerate(known) if name in names]
