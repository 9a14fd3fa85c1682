"""The rows for the page: the given ones, those kept by the posterior, or, without either, a typical row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.rule import has_gap
from particletree._posterior import Posterior

Floats = NDArray[np.float64]


def table_of(posterior: Posterior, X: Any) -> Any:
    """Return X, or else the training rows that the posterior has kept; None if there are neither."""
    if X is not None or posterior.kept_rows is None:
        return X
    return spelled_out(posterior, posterior.kept_rows)


def spelled_out(posterior: Posterior, rows: Floats) -> NDArray[Any]:
    """Return rows with levels instead of their numbers, None for missing."""
    if not posterior.columns.levels:
        return rows
    table = rows.astype(object)
    for feature, levels in posterior.columns.levels.items():
        table[:, feature] = [(*levels, None)[int(number)] for number in rows[:, feature]]
    return table


def typical_row(posterior: Posterior, rows: Floats | None) -> Floats:
    """Return the median of each feature of numbers, and the most frequent level of the others.

    Without rows: the median of the values between which trees cut, and the first level. A feature without any value, or
    that no tree cuts, is missing.
    """
    return np.array([_typical(posterior, feature, rows) for feature in range(posterior.n_features)])


def _typical(posterior: Posterior, feature: int, rows: Floats | None) -> float:
    levels = posterior.columns.levels.get(feature)
    if levels is not None:
        return 0.0 if rows is None else float(np.bincount(_known(rows[:, feature], len(levels)), minlength=1).argmax())
    values = cut_values(posterior, feature) if rows is None else rows[:, feature][~np.isnan(rows[:, feature])]
    return float(np.quantile(values, 0.5, method="lower")) if values.size else np.nan


def _known(numbers: Floats, n_levels: int) -> NDArray[np.int64]:
    return numbers[(numbers >= 0) & (numbers < n_levels)].astype(np.int64)


def cut_values(posterior: Posterior, feature: int) -> Floats:
    """Return the values of the training data between which trees cut a feature of numbers."""
    nodes = posterior.forest.nodes
    cuts = nodes[(nodes["feature"] == feature) & has_gap(nodes)]
    return np.unique(np.concatenate((cuts["gap_low"], cuts["gap_high"])))


def rows_along(posterior: Posterior, feature: int, typical: Floats) -> NDArray[Any] | None:
    """Return typical rows that differ in one feature, at the values between which trees cut it; None if none does."""
    values = np.zeros(1) if posterior.columns.is_categorical(feature) else cut_values(posterior, feature)
    if values.size == 0:
        return None
    rows = np.tile(typical, (values.size, 1))
    rows[:, feature] = values
    return spelled_out(posterior, rows)
