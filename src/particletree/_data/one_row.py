"""One row of any accepted type: a mapping or a Series with names, a data frame of one row, a list, an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from particletree._data.containers import is_frame


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
    >>> from particletree._data.one_row import as_one_row_table
    >>> as_one_row_table({"width": 2.5, "colour": "red"}, 2, ["colour", "width"]).tolist()
    [['red', 2.5]]
    """
    if not is_frame(x):
        named = _named_values(x, feature_names is not None)
        return _from_values(x, n_features) if named is None else _from_names(named, n_features, feature_names)
    if x.shape[0] != 1:
        raise _not_one_row(x.shape[0])
    return x


def _named_values(x: Any, has_names: bool) -> dict[str, Any] | None:
    """Return values by name, if the row has names: a mapping, or a Series whose index is text."""
    if isinstance(x, Mapping):
        return {str(name): value for name, value in x.items()}
    is_named = has_names and hasattr(x, "iloc") and all(isinstance(name, str) for name in x.index)
    return dict(zip(x.index, x.tolist(), strict=True)) if is_named else None


def _from_names(values: dict[str, Any], n_features: int, feature_names: list[str] | None) -> Any:
    names = [f"x[{f}]" for f in range(n_features)] if feature_names is None else feature_names
    missing, unknown = [name for name in names if name not in values], [name for name in values if name not in names]
    if missing or unknown:
        parts = [f"{label} {listed}" for label, listed in (("lacks", missing), ("also has", unknown)) if listed]
        raise ValueError(f"The row {' and '.join(parts)}; it must have exactly the features {names}.")
    return _as_objects([values[name] for name in names])


def _from_values(x: Any, n_features: int) -> Any:
    values = x if isinstance(x, np.ndarray) else _as_list(x)
    if _has_rows(values):
        if len(values) != 1:
            raise _not_one_row(len(values))
        values = values[0]
    if len(values) != n_features:
        raise ValueError(f"The row has {len(values)} values, but the posterior was fitted to {n_features} features.")
    return values.reshape(1, -1) if isinstance(values, np.ndarray) else _as_objects(values)


def _has_rows(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.ndim > 1
    return any(isinstance(value, list | tuple | np.ndarray) for value in values)


def _as_list(x: Any) -> list[Any]:
    try:
        return [] if isinstance(x, str | bytes) else list(x)
    except TypeError:
        raise TypeError(f"A row is a list, an array, a mapping, a Series or a frame of one row, got {x!r}.") from None


def _as_objects(values: Any) -> Any:
    table = np.empty((1, len(values)), dtype=object)
    table[0] = list(values)
    return table


def _not_one_row(n_rows: int) -> ValueError:
    return ValueError(f"One row is explained at a time, got {n_rows} rows: pass one of them, e.g. X[:1].")
