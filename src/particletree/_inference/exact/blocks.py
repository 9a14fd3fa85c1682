r"""All blocks of small data, and all rules between them: the table that exact inference is computed on.

**The table.** Each distinct row is a bit and a block is an integer (``divisions.py``). `Blocks` finds all blocks
breadth first.

**Its size.** A *state* is a block at a depth. `Exact` counts the states and refuses the data as soon as a lower bound
exceeds `max_blocks`: at once if one feature alone makes too many, otherwise while the blocks are found. A box needs at
least one cut per side; if it excludes v numbers of some feature, it can also be made by v cuts, and by any number in
between, so it counts for v - (number of its sides) + 1 depths. With missing values, levels or limits of the prior, a
block counts for one depth until all are found. If there are few rows, more features hardly add blocks, but they add
rules, so the number of rules is limited too. Within the limits, computing the table takes seconds.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from particletree._data import TrainingData
from particletree._data.table import Table
from particletree._inference.exact.divisions import (
    Division,
    has_missing_numbers,
    is_categorical,
    make_column,
    rows_by_rank,
)
from particletree._inference.exact.rule_table import Contents, Flags, Floats, RuleTable
from particletree._model.prior import Prior

MAX_BLOCKS = 200_000
RULES_PER_STATE = 25
"""The table may hold this many rules, on average, for each state that `max_blocks` allows."""


class Records:
    """The columns of a `RuleTable` while they grow."""

    def __init__(self) -> None:
        self._first = array("q", [0])
        self._feature, self._kind, self._left, self._right = array("i"), array("i"), array("i"), array("i")
        self._low, self._high, self._log_share = array("d"), array("d"), array("d")

    def add(self, feature: int, way: Division, sides: tuple[int, int], log_feature: float) -> None:
        """Append the rules of a division of the present block, whose feature has this log prior probability."""
        self._feature.append(feature)
        self._kind.append(way.kind)
        self._low.append(way.low)
        self._high.append(way.high)
        self._left.append(sides[0])
        self._right.append(sides[1])
        self._log_share.append(way.log_share + log_feature)

    def end_block(self) -> int:
        """Start the next block; return the number of records of the last one."""
        self._first.append(len(self._feature))
        return self._first[-1] - self._first[-2]

    def columns(self) -> list[NDArray[Any]]:
        """Return the columns in the order of `RuleTable`."""
        of_records = self._feature, self._kind, self._low, self._high, self._left, self._right, self._log_share
        return [np.array(column) for column in (self._first, *of_records)]


class Blocks:
    """All blocks that trees can make of the data, found breadth first from the root, which is block 0.

    Parameters
    ----------
    data : TrainingData
        The ranked rows.
    row_statistics : array of shape (n_rows, n_statistics)
        The contribution of each row to the statistics of a block.
    prior : Prior
        Its limits on depth and rows determine which blocks can split.
    max_states : int
        Raise a `ValueError` if there are more (block, depth) states than this.
    """

    def __init__(self, data: TrainingData, row_statistics: Floats, prior: Prior, *, max_states: int) -> None:
        self._table, self._prior, self._max_states = data.table, prior, max_states
        self._sizes = feature_sizes(data.table)
        self._is_plain = prior.is_unlimited and not any(size.is_categorical or size.has_missing for size in self._sizes)
        if prior.is_unlimited:
            self.check_states(max(size.fewest_states for size in self._sizes))
        ranks, statistics, n_copies = distinct_rows(data, row_statistics)
        self.n_rows = len(statistics)
        self._columns = [
            make_column(data.table, f, ranks[f].tolist(), prior.measure) for f in range(data.table.n_features)
        ]
        self._mass_of_each = array("d")
        self._rows_by_copies = list(enumerate(rows_by_rank(n_copies, max(n_copies) + 1)))
        self._masks = [(1 << self.n_rows) - 1]
        self._depths = [0]  # the smallest depth of each block
        self._number_of = {self._masks[0]: 0}
        found = self._find()
        self.statistics = self._sum_over_rows(statistics)
        self.n_given_rows = np.rint(self._sum_over_rows(np.array(n_copies)[:, None])[:, 0]).astype(np.int64)
        self.masses = np.array(self._mass_of_each)
        self.rules = RuleTable(self._contents(ranks), prior.measure, *found)

    def __len__(self) -> int:
        return len(self._masks)

    def _find(self) -> list[NDArray[Any]]:
        """Return the columns of the table of rules."""
        records, n_states, n_rules = Records(), 0, 0
        for n_done, block in enumerate(self._masks, start=1):  # the list grows during the loop: breadth-first search
            depth, n_depths = self._depths[n_done - 1], self._fewest_depths(block)
            divisions = self._divisions(block, depth, n_rules)
            varying = [feature for feature, ways in enumerate(divisions) if ways]
            mass = 0.0  # of all questions that separate the block, if the prior has a measure
            if self._prior.measure is not None:
                mass = math.fsum(math.exp(way.log_share) for ways in divisions for way in ways)
            self._mass_of_each.append(mass)
            for feature in varying:
                log_feature = -math.log(mass) if mass else self._prior.log_feature(feature, varying)
                for way in divisions[feature]:
                    sides = self._number(way.left, depth + 1), self._number(block ^ way.left, depth + 1)
                    records.add(feature, way, sides, log_feature)
            n_states += n_depths
            n_rules += n_depths * records.end_block()
            self.check_states(n_states + len(self) - n_done)
            self._check_rules(n_rules)
        return records.columns()

    def _divisions(self, block: int, depth: int, n_rules: int) -> list[list[Division]]:
        """Return all divisions of a block, feature by feature; refuse if there are too many."""
        if not self._prior.allows_split(depth, self._n_given_rows(block)):
            return []
        self._check_rules(n_rules + sum(column.fewest_divisions(block) for column in self._columns))
        return [
            column.divisions(block) if self._prior.weight(feature) > 0 else []
            for feature, column in enumerate(self._columns)
        ]

    def _number(self, rows: int, depth: int) -> int:
        number = self._number_of.setdefault(rows, len(self._masks))
        if number == len(self._masks):
            self._masks.append(rows)
            self._depths.append(depth)
        return number

    def _n_given_rows(self, block: int) -> int:
        """Return the number of training rows of a block, duplicates included."""
        return sum(copies * (block & rows).bit_count() for copies, rows in self._rows_by_copies)

    def _fewest_depths(self, block: int) -> int:
        """Return a lower bound on the number of depths of a block (see the module's docstring)."""
        if not self._is_plain:
            return 1
        beyond = [column.n_beyond(block) for column in self._columns]
        n_sides = sum((below > 0) + (above > 0) for below, above in beyond)
        return max(1, max(map(sum, beyond)) - n_sides + 1)

    def _contents(self, ranks: NDArray[np.int64]) -> Contents:
        """Return which blocks have which levels, and which have missing values."""
        table, levels, missing = self._table, {}, {}
        for f in range(table.n_features):
            if is_categorical(table, f):
                levels[f] = self._have_ranks(ranks[f], int(table.n_levels[f]) + 1)
            else:
                is_missing = ranks[f] == 0 if has_missing_numbers(table, f) else np.zeros(self.n_rows, dtype=np.bool_)
                missing[f] = self._have_ranks(np.where(is_missing, 0, 1), 1)[:, 0]
        return Contents(levels, missing)

    def _have_ranks(self, ranks: NDArray[np.int64], n_ranks: int) -> Flags:
        """Return which blocks have a row of each rank."""
        return np.asarray(self._sum_over_rows(ranks[:, None] == np.arange(n_ranks)) > 0)

    def _sum_over_rows(self, statistics: NDArray[Any]) -> Floats:
        """Return the statistics of every block: sums over its distinct rows."""
        n_bytes = (self.n_rows + 7) // 8
        sums = np.empty((len(self), statistics.shape[1]))
        for start in range(0, len(self), 4096):  # in parts, to limit the memory of the unpacked bits
            chunk = b"".join(mask.to_bytes(n_bytes, "little") for mask in self._masks[start : start + 4096])
            octets = np.frombuffer(chunk, dtype=np.uint8).reshape(-1, n_bytes)
            sums[start : start + 4096] = (
                np.unpackbits(octets, axis=1, count=self.n_rows, bitorder="little") @ statistics
            )
        return sums

    def check_states(self, at_least: int) -> None:
        """Refuse the data if they have more states than allowed."""
        if at_least > self._max_states:
            self._refuse(f"{at_least:,} (block, depth) states")

    def _check_rules(self, at_least: int) -> None:
        if at_least > RULES_PER_STATE * self._max_states:
            self._refuse(f"{at_least:,} rules, {RULES_PER_STATE} times max_blocks")

    def _refuse(self, size: str) -> NoReturn:
        bound = math.ceil(log10_most_states(self._sizes, self._table.n_rows))
        raise ValueError(
            f"Exact inference on {self._table.n_rows:,} rows and {self._table.n_features:,} features needs a table of "
            f"at least {size} (and at most 10^{bound} states), but max_blocks={self._max_states:,}. Use SMC or MCMC, "
            "which are made for data of this size, or raise max_blocks if you can wait for a larger table."
        )


def distinct_rows(data: TrainingData, row_statistics: Floats) -> tuple[NDArray[np.int64], Floats, list[int]]:
    """Return the distinct rows as ranks (n_features, n_distinct), their statistics, and how often each was given."""
    ranks, row, n_copies = np.unique(data.table.ranks, axis=1, return_inverse=True, return_counts=True)
    statistics = np.zeros((ranks.shape[1], row_statistics.shape[1]))
    np.add.at(statistics, row.reshape(-1), row_statistics)
    return ranks.astype(np.int64), statistics, n_copies.tolist()


# Bounds on the size of the table of exact inference, from the features alone.
#
# The blocks are the sets of rows that rules can cut out. For a feature of U numbers these are intervals, :math:`U (U +
# 1) / 2` of them, with or without the missing rows; for k levels they are subsets, :math:`2^k - 1`. So the number of
# blocks is at most the product over features, and at most :math:`2^n - 1` (sets of n rows), each at up to n depths.
# This upper bound is cheap but far too high: it is 2.6 million for 25 rows x 2 features, which have about 4,000 blocks
# and 56,000 states. A lower bound is the number of states of one feature alone, if the prior has no limits:
#
# - U numbers have :math:`1 + U (U - 1) + (U - 1) (U - 2) (2 U - 3) / 6` states: an interval that excludes v numbers on
# one side can be cut out in 1 to v steps, one that excludes v on two sides in 2 to v;
# - k levels have :math:`1 + k (2^{k - 1} - 1)`: a set that excludes v levels can be made in 1 to v steps.


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
