"""Targets of regression: y becomes a table of float64 with one column per target, or an error names the row.

Numbers are integers, floats or booleans, all of them finite. Text that reads as numbers, dates and missing values are
errors that say what to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.row_errors import is_missing, refuse_first, refuse_masked
from particletree._model.target import Numbers

_OR_CLASSES = ", or use BayesianTreeClassifier for classes."
_LEAVE_OUT = "Leave that row out, or fill the number in."
_LARGEST = 1e300  # differences of two such numbers are finite


def check_numbers_to_predict(
    y: Any, n_rows: int, weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], Numbers]:
    """Return y as float64, shape (n_rows, n_targets), and its `Numbers`; rows of weight 0 may hold anything.

    Examples
    --------
    >>> from particletree._data.numeric_target import check_numbers_to_predict
    >>> check_numbers_to_predict([1, 2.5], 2)
    (array([[1. ],
           [2.5]]), Numbers(n_targets=1, names=None))
    """
    refuse_masked(y, "y")
    given = as_array(y, "y")
    if given.ndim not in (1, 2) or given.shape[1:] == (0,):
        raise ValueError(
            f"y should be a 1d array of one number for each row, or a 2d array of several, got shape {given.shape}."
        )
    if len(given) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(given)}. Give a number to predict for each row.")
    numbers = to_float64(given, "y").reshape(n_rows, -1)
    if weights is not None:
        numbers[weights == 0] = 0.0
    refuse_first(np.isnan(numbers).any(axis=1), "Missing number (NaN) in y", _LEAVE_OUT)
    refuse_first(np.isinf(numbers).any(axis=1), "Infinite number (inf) in y", _LEAVE_OUT)
    too_large = (np.abs(numbers) > _LARGEST).any(axis=1)
    refuse_first(too_large, f"A number beyond {_LARGEST:g} in y", "Divide y by a constant.")
    return numbers, Numbers(numbers.shape[1], _names(y, numbers.shape[1]))


def to_float64(given: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return an array of numbers as float64, missing ones as nan; anything else is an error that names the row."""
    if given.dtype.kind == "O":
        return _objects_to_float64(given, name)
    if given.dtype.kind not in "biuf":
        raise _no_numbers(given.dtype.kind, name, f"dtype {given.dtype}")
    with np.errstate(over="ignore"):  # a long double beyond the range becomes infinite, and is refused as such
        return np.array(given, dtype=np.float64, order="C")


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return values as an array; rows given as lists must all have the same length."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"The rows of {name} differ in length. Give as many numbers for each.") from error


def _objects_to_float64(given: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert cell by cell, so that the error can name the first cell that is not a number."""
    numbers = np.empty(given.size)
    for place, cell in enumerate(given.ravel()):
        if is_missing(cell):
            numbers[place] = np.nan
            continue
        try:
            if isinstance(cell, str | bytes):
                raise TypeError
            numbers[place] = float(cell)
        except (TypeError, ValueError, OverflowError) as error:
            row = place // max(1, given[0].size if given.ndim > 1 else 1)
            kind = "U" if isinstance(cell, str) else type(cell).__name__
            raise _no_numbers(kind, name, f"{cell!r} in row {row}, counted from 0") from error
    return numbers.reshape(given.shape)


def _no_numbers(kind: str, name: str, where: str) -> ValueError:
    what = {"U": "text", "T": "text", "S": "bytes", "M": "dates", "m": "durations", "c": "complex numbers"}
    advice = {
        "text": f"Convert it, e.g. with {name}.astype(float)" + (_OR_CLASSES if name == "y" else "."),
        "dates": f"Subtract a date and divide by a unit, e.g. ({name} - {name}.min()) / np.timedelta64(1, 'D').",
        "durations": f"Divide by a unit, e.g. {name} / np.timedelta64(1, 's').",
    }
    found = what.get(kind, kind)
    to_do = advice.get(found, "Give one finite number for each row.")
    purpose = " to predict" if name == "y" else ""
    return ValueError(f"{name} must hold numbers{purpose}, got {found} ({where}). {to_do}")


def _names(y: Any, n_targets: int) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame, or of a series, if they are distinct strings."""
    columns = getattr(y, "columns", None)
    names = [getattr(y, "name", None)] if columns is None else list(columns)
    are_texts = all(isinstance(name, str) and name for name in names)
    if len(names) != n_targets or not are_texts or len(set(names)) != n_targets:
        return None
    return tuple(str(name) for name in names)
