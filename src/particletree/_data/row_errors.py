"""Errors that name the row, shared by the checks of features, labels and weights.

Rows are named by their position, counted from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

IMPUTE = "Fill missing values in, e.g. with sklearn.impute.SimpleImputer, or leave those rows out."


def refuse_first(bad: Any, problem: str, advice: str) -> None:
    """Raise a `ValueError` that names the first row where `bad` is true, if there is one."""
    if bad.any():
        raise ValueError(f"{problem} in row {int(bad.argmax())} (counted from 0). {advice}")


def refuse_masked(values: Any, name: str) -> None:
    """Raise a `ValueError` that names the first masked cell, which counts as missing, if there is one."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        cell = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise ValueError(f"Missing value (NaN) in {name}: masked at index {cell} (counted from 0). {IMPUTE}")


def is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN, or pandas' NA or NaT (by name, because pandas need not be installed)."""
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
