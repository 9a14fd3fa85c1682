r"""All blocks of small data, and all cuts between them: the table that exact inference is computed on.

**The table.** Each distinct row is a bit and a block is an integer, so the left child for a gap is one `&` with the
mask of the rows up to a rank. `Blocks` finds all blocks breadth first.

**How large it gets.** The blocks are the sets of rows that a box can cut out. There are at most
:math:`\prod_f U_f (U_f + 1) / 2` of them (boxes of ranks) and at most :math:`2^n - 1` (sets of n distinct rows), each
at up to n depths. This bound is cheap but far too high: it says 2.6 million for 25 rows x 2 features, which have about
4,000 blocks and 56,000 states. So `Exact` counts, and refuses as soon as a lower bound passes `max_blocks`: at once
where one feature of U values alone makes too many, :math:`1 + U (U - 1) + (U - 1) (U - 2) (2 U - 3) / 6`, and otherwise
while it finds the blocks. A box that leaves v values of some feature beyond its sides can be cut out value by value or
side by side, and by everything in between, so it counts for v - (number of its sides) + 1 depths. Many features make
few more blocks of few rows, but many cuts, so those are limited too. Within the limits the table takes seconds.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from particletree.data import TrainingData
from particletree.model.levels import coins
from particletree.model.prior import log_length, log_rule_probability

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

MAX_BLOCKS = 200_000
CUTS_PER_STATE = 25
"""The table may hold this many cuts, on average, for each state that `max_blocks` allows."""


@dataclass(frozen=True)
class Cuts:
    """The cuts of all blocks in flat arrays: those of block b are `first[b]:first[b + 1]`, none if it cannot split.

    A cut is a gap [low, high) of a feature, with the numbers of the two child blocks; `log_share` is the log of its
    prior probability given that the block splits (``model/prior.py``).
    """

    first: NDArray[np.int64]
    feature: Numbers
    low: Floats
    high: Floats
    left: Numbers
    right: Numbers
    log_share: Floats

    def left_probability(self, x: Floats) -> Floats:
        """Return, for each cut, the probability that the threshold in its gap is at least x, which sends x left."""
        with np.errstate(over="ignore"):
            length, rest = self.high - self.low, self.high - x[self.feature]
        too_long = np.isinf(length)
        length[too_long] = self.high[too_long] / 2 - self.low[too_long] / 2
        rest[too_long] = self.high[too_long] / 2 - x[self.feature[too_long]] / 2
        return np.asarray(np.clip(rest / length, 0.0, 1.0))

    def draw_rule(self, cut: int, rng: np.random.Generator) -> tuple[float, int, float, float, int]:
        """Draw one of the rules that a cut stands for: the columns of `RULE`."""
        low, high = float(self.low[cut]), float(self.high[cut])
        threshold = uniform(low, high, rng)
        return threshold, int(coins(threshold)), low, high, int(self.feature[cut])

    def log_volume(self, cut: int) -> float:
        """Return the log of how many rules a cut stands for: the density of each is the cut's share over this."""
        return log_length(float(self.low[cut]), float(self.high[cut]))


class Blocks:
    """All blocks that trees can make of the data, found breadth first from the root, which is block 0.

    Parameters
    ----------
    data : TrainingData
        The ranked rows.
    row_statistics : array of shape (n_rows, n_statistics)
        What each row contributes to the statistics of a block.
    max_states : int
        Raise a `ValueError` when there must be more (block, depth) states than this.
    """

    def __init__(self, data: TrainingData, row_statistics: Floats, *, max_states: int) -> None:
        self._features = [data.table.feature_values(f).tolist() for f in range(data.table.n_features)]
        self._max_states, self._n_given_rows = max_states, data.table.n_rows
        self.check_states(max(one_feature_states(len(values)) for values in self._features))
        ranks, statistics = distinct_rows(data, row_statistics)
        self.n_rows = len(statistics)
        self._rows_up_to = [masks_up_to(ranks[f], len(values)) for f, values in enumerate(self._features)]
        self._masks = [(1 << self.n_rows) - 1]
        self._number_of = {self._masks[0]: 0}
        self.cuts = self._find()
        self.statistics = self._sum_over_rows(statistics)

    def __len__(self) -> int:
        return len(self._masks)

    def _find(self) -> Cuts:
        first, feature, left, right = array("q", [0]), array("i"), array("i"), array("i")
        low, high, log_share = array("d"), array("d"), array("d")
        n_states, n_cuts = 0, 0
        for n_done, block in enumerate(self._masks, start=1):  # which grows as we walk along it: breadth first
            ranks = [self._ranks_in(block, f) for f in range(len(self._features))]
            varying = [f for f, present in enumerate(ranks) if len(present) > 1]
            for f in varying:
                values, present = self._features[f], ranks[f]
                extent = values[present[0][0]], values[present[-1][0]]
                for (a, rows), (b, _) in pairwise(present):
                    feature.append(f)
                    low.append(values[a])
                    high.append(values[b])
                    left.append(self._number(rows))
                    right.append(self._number(block ^ rows))
                    log_share.append(log_rule_probability((values[a], values[b]), extent, len(varying)))
            first.append(len(feature))
            n_depths = self._fewest_depths(ranks)
            n_states += n_depths
            n_cuts += n_depths * (first[-1] - first[-2])
            self.check_states(n_states + len(self) - n_done)
            self._check_cuts(n_cuts)
        return Cuts(*(np.array(column) for column in (first, feature, low, high, left, right, log_share)))

    def _ranks_in(self, block: int, feature: int) -> list[tuple[int, int]]:
        """Return the ranks of a feature that are present in a block, each with the mask of its rows up to there."""
        found, below = [], 0
        for rank, up_to in enumerate(self._rows_up_to[feature]):
            rows = block & up_to
            if rows != below:
                found.append((rank, rows))
                below = rows
                if rows == block:
                    break
        return found

    def _number(self, rows: int) -> int:
        number = self._number_of.setdefault(rows, len(self._masks))
        if number == len(self._masks):
            self._masks.append(rows)
        return number

    def _fewest_depths(self, ranks: list[list[tuple[int, int]]]) -> int:
        """Return a lower bound on the number of depths of a block, see the top of this module."""
        most_values, n_sides = 0, 0
        for values, present in zip(self._features, ranks, strict=True):
            below, above = present[0][0], len(values) - 1 - present[-1][0]
            most_values = max(most_values, below + above)
            n_sides += (below > 0) + (above > 0)
        return max(1, most_values - n_sides + 1)

    def _sum_over_rows(self, statistics: Floats) -> Floats:
        """Return the statistics of every block, the sums over its distinct rows."""
        n_bytes = (self.n_rows + 7) // 8
        sums = np.empty((len(self), statistics.shape[1]))
        for start in range(0, len(self), 4096):  # so that the unpacked bits of a large table stay small
            chunk = b"".join(mask.to_bytes(n_bytes, "little") for mask in self._masks[start : start + 4096])
            octets = np.frombuffer(chunk, dtype=np.uint8).reshape(-1, n_bytes)
            sums[start : start + 4096] = (
                np.unpackbits(octets, axis=1, count=self.n_rows, bitorder="little") @ statistics
            )
        return sums

    def check_states(self, at_least: int) -> None:
        """Refuse the data if they make more states than allowed."""
        if at_least > self._max_states:
            self._refuse(f"{at_least:,} (block, depth) states")

    def _check_cuts(self, at_least: int) -> None:
        if at_least > CUTS_PER_STATE * self._max_states:
            self._refuse(f"{at_least:,} cuts, {CUTS_PER_STATE} times max_blocks")

    def _refuse(self, size: str) -> NoReturn:
        bound = math.ceil(log10_most_states([len(values) for values in self._features], self._n_given_rows))
        raise ValueError(
            f"Exact inference on {self._n_given_rows:,} rows and {len(self._features):,} features needs a table of at "
            f"least {size} (and at most 10^{bound} states), but max_blocks={self._max_states:,}. Use SMC or MCMC, "
            "which are made for data of this size, or raise max_blocks if you can wait for a larger table."
        )


def distinct_rows(data: TrainingData, row_statistics: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the distinct rows as ranks (n_features, n_distinct), and their statistics (n_distinct, n_statistics)."""
    ranks, row = np.unique(data.table.ranks, axis=1, return_inverse=True)
    statistics = np.zeros((ranks.shape[1], row_statistics.shape[1]))
    np.add.at(statistics, row.reshape(-1), row_statistics)
    return ranks.astype(np.int64), statistics


def masks_up_to(ranks: NDArray[np.int64], n_values: int) -> list[int]:
    """Return, for each rank, the mask of the rows with that rank or a lower one."""
    masks = [0] * n_values
    for row, rank in enumerate(ranks.tolist()):
        masks[rank] |= 1 << row
    for rank in range(1, n_values):
        masks[rank] |= masks[rank - 1]
    return masks


def one_feature_states(n_values: int) -> int:
    """Return the number of states of a single feature: intervals of its values, at each depth they can be cut out."""
    u = n_values
    return 1 + u * (u - 1) + (u - 1) * (u - 2) * (2 * u - 3) // 6


def log10_most_states(n_values: list[int], n_rows: int) -> float:
    """Return log10 of an upper bound on the number of states: boxes of ranks, or sets of rows, times depths."""
    log_boxes = sum(math.log10(u * (u + 1) / 2) for u in n_values)
    return min(log_boxes, n_rows * math.log10(2)) + math.log10(n_rows)


def uniform(low: float, high: float, rng: np.random.Generator) -> float:
    """Draw from [low, high); where rounding would reach `high`, which must stay on the right, step back below it."""
    u = rng.random()
    threshold = low + u * (high - low) if math.isfinite(high - low) else (1 - u) * low + u * high
    return min(max(threshold, low), math.nextafter(high, low))
