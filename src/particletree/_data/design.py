"""The design matrix of a linear fit: numbers unchanged, levels one-hot, missing numbers replaced by the mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from particletree._data.training import TrainingData

MOST_COLUMNS = 1000  # with more, the fit would take too long for a rough guess of the noise


def linear_columns(data: TrainingData) -> NDArray[np.float64] | None:
    """Return the design matrix of a linear fit, shape (n_rows, n_columns); None if it would have too many columns.

    One level of each categorical feature is left out, because the intercept accounts for it.

    Examples
    --------
    >>> from particletree._data import make_regression_data
    >>> data = make_regression_data([["a", 1.0], ["b", None], ["b", 4.0]], [1.0, 2.0, 3.0], categorical_features=[0])
    >>> linear_columns(data).tolist()
    [[0.0, 1.0], [1.0, 2.5], [1.0, 4.0]]
    """
    if n_linear_columns(data) > min(MOST_COLUMNS, data.table.n_rows):
        return None
    columns = [_columns_of(data, feature) for feature in range(data.table.n_features)]
    return np.concatenate(columns, axis=1)


def n_linear_columns(data: TrainingData) -> int:
    """Return the number of columns that a linear fit would have."""
    n_levels = {feature: len(levels) for feature, levels in data.columns.levels.items()}
    return sum(n_levels.get(feature, 1) for feature in range(data.table.n_features))


def _columns_of(data: TrainingData, feature: int) -> NDArray[np.float64]:
    values: NDArray[np.float64] = data.table.feature_values(feature)[data.table.ranks[feature]]
    if feature in data.columns.levels:  # missing is the number after the last level
        n_numbers = len(data.columns.levels[feature]) + (feature in data.columns.missing)
        return np.asarray(values[:, None] == np.arange(1, n_numbers), dtype=np.float64)
    is_missing = np.isnan(values)
    if is_missing.any():
        values[is_missing] = (
            0.0 if is_missing.all() else (values[~is_missing] / 2.0**40).mean() * 2.0**40
        )  # a sum must not overflow
    return values[:, None]
