"""The table: each value is replaced by its rank among the distinct values of its feature.

(2.5, 0.1, 2.5, 7.0) becomes the ranks (1, 0, 1, 2) with the values (0.1, 2.5, 7.0). A cut separates rows by their order
alone, so nothing is lost: comparisons run on small integers, and thresholds are drawn in the original units. An array
of float64 is ranked without a copy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.features import check_features_alone
from particletree._kernel import rank_columns


@dataclass(frozen=True, eq=False)
class Table:
    """Features as ranks, the form that the samplers use.

    Parameters
    ----------
    ranks : ndarray of uint8, uint16 or uint32, shape (n_features, n_rows)
        Rank of each value among the distinct values of its feature, 0 for the smallest; the smallest dtype that fits.
    values : ndarray of float64
        The sorted distinct values of all features, one feature after the other.
    offsets : ndarray of int64, shape (n_features + 1,)
        The values of feature `f` are `values[offsets[f]:offsets[f + 1]]`.
    n_levels : ndarray of uint32, shape (n_features,) or (0,)
        Number of levels of each categorical feature, 0 for numbers; empty if there are numbers only. The values of a
        categorical feature are the numbers of its levels and one more, for missing values. If a feature of numbers has
        missing values, the first of its values is nan.

    Examples
    --------
    >>> from particletree._data import make_table
    >>> table = make_table([[2.5, 1], [0.1, 1], [2.5, 0]])
    >>> table.ranks.tolist(), table.feature_values(0).tolist()
    ([[1, 0, 1], [1, 1, 0]], [0.1, 2.5])
    """

    ranks: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
    values: NDArray[np.float64]
    offsets: NDArray[np.int64]
    n_levels: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, dtype=np.uint32))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.ranks.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.ranks.shape[1])

    def feature_values(self, feature: int) -> NDArray[np.float64]:
        """Return the sorted distinct values of a feature."""
        return self.values[self.offsets[feature] : self.offsets[feature + 1]]

    def counted_values(self) -> list[tuple[NDArray[np.float64], NDArray[np.int64]] | None]:
        """Return, for each feature, its distinct values and how often each occurs; None for a categorical one."""
        is_categorical = self.n_levels if self.n_levels.size else np.zeros(self.n_features)
        return [
            None
            if is_categorical[feature]
            else (values := self.feature_values(feature), np.bincount(self.ranks[feature], minlength=values.size))
            for feature in range(self.n_features)
        ]

    def has_missing(self, feature: int) -> bool:
        """Tell whether a feature has missing values."""
        if self.n_levels.size and self.n_levels[feature]:
            return bool((self.ranks[feature] == self.n_levels[feature]).any())
        return bool(np.isnan(self.values[self.offsets[feature]]))

    def values_of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows as values rather than ranks, shape (len(rows), n_features)."""
        places = self.ranks[:, rows].astype(np.int64) + self.offsets[:-1, None]
        return np.ascontiguousarray(self.values[places].T)


def make_table(X: Any) -> Table:
    """Replace each value by its rank; `X` is as for the estimators, ideally float64 in C or Fortran order."""
    return rank_features(check_features_alone(X).values)


def rank_features(
    features: NDArray[np.float64],
    positions: NDArray[np.uint32] | None = None,
    n_levels: NDArray[np.uint32] | None = None,
) -> Table:
    """Rank the features; row `i` moves to place `positions[i]`, or stays if `positions` is None."""
    none = np.empty(0, dtype=np.uint32)
    places, levels = (none if array is None else array for array in (positions, n_levels))
    return Table(*rank_columns(np.require(features, requirements=["A"]), places, levels), levels)
