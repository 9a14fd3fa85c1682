"""Numbers for JSON, which has neither nan nor infinity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

DIGITS = 12  # significant digits of numbers that are shown or averaged; thresholds keep all digits


def plain(values: ArrayLike, digits: int = DIGITS) -> Any:
    """Return numbers, or nested lists of numbers, rounded to significant digits; None if not finite.

    Examples
    --------
    >>> from particletree.report.plain import plain
    >>> plain([1 / 3, float("nan"), 2.0], digits=3)
    [0.333, None, 2]
    """
    return _plain(np.asarray(values, dtype=np.float64).tolist(), digits)


def _plain(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_plain(each, digits) for each in value]
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.{digits}g}")


def exact(values: ArrayLike) -> list[float | None]:
    """Return numbers with all digits, so that JSON gives the same floats; None if not finite."""
    return [value if math.isfinite(value) else None for value in np.asarray(values, dtype=np.float64).tolist()]
