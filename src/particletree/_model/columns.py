"""The columns of the training table: numbers or levels, and whether values are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Level: TypeAlias = str | bool | int | float


@dataclass(frozen=True)
class Columns:
    """The kinds of the features.

    Attributes
    ----------
    n_features : int
        Number of features.
    levels : mapping of int to tuple
        The levels of each categorical feature, in the order of their numbers, by the index of the feature. The number
        after the last level encodes missing values, and the next one levels that are not listed.
    missing : frozenset of int
        The features with missing values in the training data.

    Examples
    --------
    >>> from particletree._model.columns import Columns
    >>> columns = Columns(3, levels={1: ("blue", "red")}, missing=frozenset({0}))
    >>> columns.is_categorical(1), columns.n_levels.tolist()
    (True, [0, 2, 0])
    """

    n_features: int
    levels: Mapping[int, tuple[Level, ...]] = field(default_factory=dict)
    missing: frozenset[int] = frozenset()

    def is_categorical(self, feature: int) -> bool:
        """Tell whether a feature is categorical."""
        return feature in self.levels

    @property
    def n_levels(self) -> NDArray[np.uint32]:
        """The number of levels of each feature, 0 for numbers, for the kernel; empty if all are numbers."""
        if not self.levels:
            return np.empty(0, dtype=np.uint32)
        return np.array([len(self.levels.get(f, ())) for f in range(self.n_features)], dtype=np.uint32)
