"""Values of a row for display: numbers, names of levels, and None for missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.columns import Columns
from particletree.model.text import one_line

UNSEEN = "a level not in the training data"


def plain_values(row: NDArray[np.float64], columns: Columns) -> tuple[Any, ...]:
    """Return the original values of a row, before levels were encoded as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.model.columns import Columns
    >>> plain_values(np.array([1.5, 1.0, np.nan]), Columns(3, levels={1: ("blue", "red")}))
    (1.5, 'red', None)
    """
    return tuple(_plain_value(float(value), columns.levels.get(f)) for f, value in enumerate(row))


def _plain_value(value: float, levels: tuple[Any, ...] | None) -> Any:
    if levels is None:
        return None if np.isnan(value) else value
    if value < len(levels):
        return levels[int(value)]
    return None if value == len(levels) else UNSEEN


def describe_value(value: Any) -> str:
    """Return a value in a few characters."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}"
    return one_line(value)
