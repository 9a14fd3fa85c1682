"""Results as plain dictionaries, lists, texts and numbers for JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def as_plain(value: Any) -> Any:
    """Return dataclasses as dictionaries, tuples and arrays as lists, and None for numbers that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> as_plain((1.5, np.array([2.0, np.nan]), "text"))
    [1.5, [2.0, None], 'text']
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return as_plain(value.tolist())
    if isinstance(value, tuple | list):
        return [as_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
