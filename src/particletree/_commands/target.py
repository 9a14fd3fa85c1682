"""The target of a fit, read from a column of a file: class labels or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# As in _data/target.py: more distinct numbers than this, or few rows per class, suggest a regression target.
_MANY_NUMBERS, _MANY_CLASSES, _FEW_ROWS_PER_CLASS = 100, 20, 5


def make_target(values: NDArray[Any], name: str, is_regression: bool) -> NDArray[Any]:
    """Return the labels or numbers of rows that all have one; a target with a single value is refused."""
    y = read_target(values, name, is_regression)
    if len(y) == 0:
        raise ValueError(f"No row has a value of the target {name!r}.")
    if len(set(y.tolist())) == 1:
        raise ValueError(f"The target {name!r} has one value only, {y.tolist()[0]!r}: there is nothing to learn.")
    return y


def read_target(values: NDArray[Any], name: str, is_regression: bool) -> NDArray[Any]:
    """Return the labels or numbers of rows that all have one."""
    return _numbers(values, name) if is_regression else _labels(values, name)


def _numbers(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    if values.dtype != np.float64:
        raise ValueError(f"The target {name!r} holds {values[0]!r}, which is not a number; omit --regression.")
    return values


def _labels(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels as text, booleans or whole numbers."""
    if values.dtype != np.float64:
        return _plain(values)
    if not np.isfinite(values).all() or (values != np.floor(values)).any():
        raise ValueError(
            f"The target {name!r} has {len(np.unique(values))} distinct numbers with fractions, which are not classes; "
            "add --regression to predict a number."
        )
    if np.abs(values).max(initial=0) >= 2**53:
        raise ValueError(
            f"The target {name!r} has whole numbers of 2**53 (9007199254740992) and more, of which neighbours are read "
            "as the same number. Write the labels as text, e.g. with a letter in front."
        )
    return values.astype(np.int64)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return booleans as such; text stays an array of objects."""
    cells = values.tolist()
    return np.array(cells, dtype=bool) if all(isinstance(cell, bool) for cell in cells) else values


def doubt_classes(y: NDArray[Any], name: str) -> list[str]:
    """Return a note if the classes are so many numbers that the target looks like one for regression."""
    n_classes = len(set(y.tolist()))
    are_many = n_classes > _MANY_NUMBERS or (n_classes > _MANY_CLASSES and len(y) < _FEW_ROWS_PER_CLASS * n_classes)
    if y.dtype.kind not in "if" or not are_many:
        return []
    return [f"the target {name!r} has {n_classes} distinct numbers, each a class now; --regression predicts a number"]
