r"""Bounds on the size of the table of exact inference, from the features alone.

The blocks are the sets of rows that rules can cut out. For a feature of U numbers these are intervals,
:math:`U (U + 1) / 2` of them, with or without the missing rows; for k levels they are subsets, :math:`2^k - 1`. So the
number of blocks is at most the product over features, and at most :math:`2^n - 1` (sets of n rows), each at up to n
depths. This upper bound is cheap but far too high: it is 2.6 million for 25 rows x 2 features, which have about 4,000
blocks and 56,000 states. A lower bound is the number of states of one feature alone, if the prior has no limits:

- U numbers have :math:`1 + U (U - 1) + (U - 1) (U - 2) (2 U - 3) / 6` states: an interval that excludes v numbers on
  one side can be cut out in 1 to v steps, one that excludes v on two sides in 2 to v;
- k levels have :math:`1 + k (2^{k - 1} - 1)`: a set that excludes v levels can be made in 1 to v steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from particletree.data.table import Table
from particletree.inference.divisions import has_missing_numbers, is_categorical


@dataclass(frozen=True)
class FeatureSize:
    """The size of one feature: its number of distinct numbers, or of levels including missing."""

    n_values: int
    is_categorical: bool
    has_missing: bool = False

    @property
    def fewest_states(self) -> int:
        """A lower bound on the states of the feature alone: their number, or a little less with missing values."""
        return level_states(self.n_values) if self.is_categorical else number_states(self.n_values)

    @property
    def log10_blocks(self) -> float:
        """The log10 of the number of blocks of the feature alone."""
        if self.is_categorical:
            return self.n_values * math.log10(2)
        n_intervals = self.n_values * (self.n_values + 1) // 2
        return math.log10(2 * n_intervals + 1 if self.has_missing else n_intervals)


def feature_sizes(table: Table) -> list[FeatureSize]:
    """Return the size of each feature."""
    return [_feature_size(table, f) for f in range(table.n_features)]


def _feature_size(table: Table, feature: int) -> FeatureSize:
    if is_categorical(table, feature):
        return FeatureSize(np.unique(table.ranks[feature]).size, is_categorical=True)
    has_missing = has_missing_numbers(table, feature)
    return FeatureSize(table.feature_values(feature).size - has_missing, is_categorical=False, has_missing=has_missing)


def number_states(n_values: int) -> int:
    """Return the number of states of a feature of numbers: its intervals, at each possible depth."""
    u = n_values
    return 1 + u * (u - 1) + (u - 1) * (u - 2) * (2 * u - 3) // 6


def level_states(n_levels: int) -> int:
    """Return the number of states of a categorical feature: its subsets of levels, at each possible depth."""
    return int(1 + n_levels * (2 ** (n_levels - 1) - 1))


def log10_most_states(sizes: list[FeatureSize], n_rows: int) -> float:
    """Return log10 of an upper bound on the number of states."""
    return min(sum(size.log10_blocks for size in sizes), n_rows * math.log10(2)) + math.log10(n_rows)
