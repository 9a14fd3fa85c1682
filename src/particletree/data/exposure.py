"""Exposure: how long, or over how many, the counts of each row were observed; positive and finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.data.refusals import refuse_first, refuse_masked


def check_exposure(exposure: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the exposure as float64, one positive number for each row.

    Examples
    --------
    >>> from particletree.data.exposure import check_exposure
    >>> check_exposure([1, 0.5], 2)
    array([1. , 0.5])
    """
    refuse_masked(exposure, "exposure")
    try:
        numbers = np.asarray(exposure, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"exposure must be one number for each row: {error}") from error
    if numbers.shape != (n_rows,):
        raise ValueError(f"exposure must have shape ({n_rows},), one number for each row, got {numbers.shape}.")
    advice = "Exposure says how long, or over how many, a row's count was taken: positive and finite."
    refuse_first(~np.isfinite(numbers), "Exposure that is NaN or inf", advice)
    refuse_first(numbers <= 0, "Exposure that is not positive", advice)
    return np.ascontiguousarray(numbers)
