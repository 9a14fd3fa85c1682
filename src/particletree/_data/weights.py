"""Weights: how often each row counts, finite and at least 0, or an error names the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from particletree._data.row_errors import refuse_first, refuse_masked
from particletree._user_warnings import warn_caller

# The log marginal likelihood of n rows is a difference of terms of order n log n: beyond this, cancellation ruins it.
_LARGEST_WEIGHT = 1e12

# Options of scikit-learn's conversion: we check the shape and missing and infinite values ourselves.
_ACCEPTED: dict[str, Any] = {
    "dtype": np.float64,
    "order": "C",
    "ensure_all_finite": False,
    "ensure_2d": False,
    "allow_nd": True,
    "ensure_min_samples": 0,
    "input_name": "sample_weight",
}


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights as float64: finite, at least 0, not all 0, one per row."""
    refuse_masked(weights, "sample_weight")
    counts = _to_float64(weights)
    if counts.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight for each row, got {counts.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        total = counts.sum()
    advice = "Weights say how often a row counts: finite, at least 0."
    if not np.isfinite(total):
        refuse_first(~np.isfinite(counts), "Weight that is NaN or inf in sample_weight", advice)
    refuse_first(counts < 0, "Negative weight in sample_weight", advice)
    _check_total(total)
    _doubt_small_total(total, int(np.count_nonzero(counts)))
    return counts


def _to_float64(weights: Any) -> NDArray[np.float64]:
    try:
        counts: NDArray[np.float64] = check_array(weights, **_ACCEPTED)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sample_weight must be one number for each row: {error}") from error
    return counts


def _check_total(total: float) -> None:
    if not total <= _LARGEST_WEIGHT:
        raise ValueError(
            f"The sum of sample_weight is {total:g}, more rows than the likelihood can be computed for (at most "
            f"{_LARGEST_WEIGHT:g}). Divide the weights by a constant: they say how often a row counts."
        )
    if total == 0:
        raise ValueError("Every weight in sample_weight is zero: no row is left to learn from. Give some row a weight.")


def _doubt_small_total(total: float, n_rows: int) -> None:
    """Warn about weights that sum to 1 or less: with these the posterior would hardly differ from the prior."""
    if n_rows > 2 and total < 1 + 1e-6:
        warn_caller(
            f"sample_weight sums to {total:.4g} for {n_rows} rows, so that all of them together count as {total:.4g} "
            "rows and the posterior stays close to the prior. A weight says how often its row counts: multiply the "
            "weights by the number of rows if they were scaled to sum to 1."
        )
