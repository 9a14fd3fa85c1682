"""Numbers to predict: y becomes a table of float64 with one column per target, or an error names the row.

Numbers are integers, floats or booleans, all of them finite. Text that reads as numbers, dates and missing values are
errors that say what to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.data.refusals import is_missing, refuse_first, refuse_masked
from particletree.model.target import Numbers

_LEAVE_OUT = "Leave that row out, or fill the number in."
_LARGEST = 1e300  # differences of two such numbers are finite


def check_numbers_to_predict(
    y: Any, n_rows: int, weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], Numbers]:
    """Return y as float64, shape (n_rows, n_targets), and what it is a table of; rows of weight 0 may hold anything.

    Examples
    --------
    >>> from particletree.data.numbers import check_numbers_to_predict
    >>> check_numbers_to_predict([1, 2.5], 2)
    (array([[1. ],
           [2.5]]), Numbers(n_targets=1, names=None))
    """
    refuse_masked(y, "y")
    given = np.asarray(y)
    if given.ndim not in (1, 2) or given.shape[1:] == (0,):
        raise ValueError(
            f"y should be a 1d array of one number for each row, or a 2d array of several, got shape {given.shape}."
        )
    if len(given) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(given)}. Give a number to predict for each row.")
    numbers = _to_float64(given).reshape(n_rows, -1)
    if weights is not None:
        numbers[weights == 0] = 0.0
    refuse_first(np.isnan(numbers).any(axis=1), "Missing number (NaN) in y", _LEAVE_OUT)
    refuse_first(np.isinf(numbers).any(axis=1), "Infinite number (inf) in y", _LEAVE_OUT)
    too_large = (np.abs(numbers) > _LARGEST).any(axis=1)
    refuse_first(too_large, f"A number beyond {_LARGEST:g} in y", "Divide y by a constant.")
    return numbers, Numbers(numbers.shape[1], _names(y, numbers.shape[1]))


def _to_float64(given: NDArray[Any]) -> NDArray[np.float64]:
    if given.dtype.kind == "O":
        given = np.array([np.nan if is_missing(cell) else cell for cell in given.ravel()]).reshape(given.shape)
    if given.dtype.kind not in "biuf":
        raise _no_numbers(given)
    return np.array(given, dtype=np.float64, order="C")


def _no_numbers(given: NDArray[Any]) -> ValueError:
    kind = {"U": "text", "T": "text", "S": "bytes", "M": "dates", "m": "durations", "c": "complex numbers"}
    what = kind.get(given.dtype.kind, "something else")
    advice = {
        "text": "Convert it, e.g. with y.astype(float), or use BayesianTreeClassifier for classes.",
        "dates": "Subtract a date and divide by a unit, e.g. (y - y.min()) / np.timedelta64(1, 'D').",
        "durations": "Divide by a unit, e.g. y / np.timedelta64(1, 's').",
    }.get(what, "Give one finite number for each row.")
    return ValueError(f"y must hold numbers to predict, got {what} (dtype {given.dtype}). {advice}")


def _names(y: Any, n_targets: int) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame, or of a series, if they are text."""
    columns = getattr(y, "columns", None)
    names = [getattr(y, "name", None)] if columns is None else list(columns)
    if len(names) != n_targets or not all(isinstance(name, str) and name for name in names):
        return None
    return tuple(str(name) for name in names)
