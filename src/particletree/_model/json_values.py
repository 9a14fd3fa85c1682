"""Values for JSON: dictionaries, lists, texts, and numbers without nan and infinity, which JSON does not have."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def to_json(value: Any) -> Any:
    """Return dataclasses as dictionaries, tuples and arrays as lists, and None for numbers that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> to_json((1.5, np.array([2.0, np.nan]), "text"))
    [1.5, [2.0, None], 'text']
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, tuple | list):
        return [to_json(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


DIGITS = 12  # significant digits of numbers that are shown or averaged; thresholds keep all digits


def json_numbers(values: ArrayLike, digits: int = DIGITS) -> Any:
    """Return numbers, or nested lists of numbers, rounded to significant digits; None if not finite.

    Examples
    --------
    >>> from particletree._model.json_values import json_numbers
    >>> json_numbers([1 / 3, float("nan"), 2.0], digits=3)
    [0.333, None, 2]
    """
    return _rounded(np.asarray(values, dtype=np.float64).tolist(), digits)


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_rounded(each, digits) for each in value]
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.{digits}g}")


def exact_json_numbers(values: ArrayLike) -> list[float | None]:
    """Return numbers with all digits, so that JSON gives the same floats; None if not finite."""
    return [value if math.isfinite(value) else None for value in np.asarray(values, dtype=np.float64).tolist()]
