"""Exposure of counts: the time, area or number of cases over which each row was counted; positive and finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.numeric_target import as_array, to_float64
from particletree._data.row_errors import refuse_first, refuse_masked


def check_exposure(exposure: Any, n_rows: int, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the exposure as float64, one positive number per row; rows of weight 0 may hold anything.

    Examples
    --------
    >>> from particletree._data.exposure import check_exposure
    >>> check_exposure([1, 0.5], 2)
    array([1. , 0.5])
    """
    refuse_masked(exposure, "exposure")
    given = as_array(exposure, "exposure")
    if given.shape != (n_rows,):
        raise ValueError(f"exposure must have shape ({n_rows},), one number for each row, got {given.shape}.")
    numbers = to_float64(given, "exposure")
    if weights is not None:
        numbers[weights == 0] = 1.0
    advice = "Exposure says how long, or over how many, a row's count was taken: positive and finite."
    refuse_first(~np.isfinite(numbers), "Exposure that is NaN or inf", advice)
    refuse_first(numbers <= 0, "Exposure that is not positive", advice)
    return numbers
