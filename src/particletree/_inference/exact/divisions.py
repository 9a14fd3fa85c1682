"""The divisions of a block by the rules of one feature, each with its prior probability.

A block is an integer with one bit per distinct row, so that one side of a division is one `&` with a mask of rows, and
the other one `^`. Rules that divide the block in the same way (cuts in the same gap, sets that differ only in levels
which the block does not have) are one division.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import or_
from typing import NamedTuple, Protocol

import numpy as np

from particletree._data.table import Table
from particletree._model.measure import Measure, UnitScale
from particletree._model.prior import log_cut_probability, log_presence_probability, log_set_probability
from particletree._model.rule import (
    CUT_MISSING_LEFT,
    CUT_MISSING_RIGHT,
    LEVELS,
    MOST_LISTED,
    SCATTERED_LEVELS,
    n_numbers,
)

COIN = -1
"""The kind of a cut in a block without missing values, whose side is then drawn at random."""


class Division(NamedTuple):
    """The rows on the left, and the rules that put them there.

    `low` and `high` are the ends of the gap of a cut, otherwise nan; `log_share` is the log prior probability of these
    rules, given the feature. If the prior has a measure, it is the log of their measure instead, and cuts beyond the
    numbers of the block have an infinite end.
    """

    left: int
    kind: int
    low: float
    high: float
    log_share: float


@dataclass(frozen=True)
class Questions:
    """What the measure of a prior says about one feature."""

    weight: float
    rho: float
    scale: UnitScale | None

    @classmethod
    def about(cls, measure: Measure, feature: int) -> Questions:
        """Return the questions about a feature."""
        return cls(float(measure.weights[feature]), measure.rho, measure.scales[feature])

    def units(self, values: Sequence[float]) -> list[float]:
        """Return the places of increasing numbers on the unit scale."""
        return [] if self.scale is None else self.scale.increasing_units(np.array(values)).tolist()


class Column(Protocol):
    """A feature, in the form that exact inference uses."""

    def divisions(self, block: int) -> list[Division]:
        """Return all divisions of a block; none if the feature does not vary in it."""

    def fewest_divisions(self, block: int) -> int:
        """Return a lower bound on the number of divisions, without listing them."""

    def n_beyond(self, block: int) -> tuple[int, int]:
        """Return how many numbers of the feature lie below, and above, those of a block."""


class NumberColumn:
    """A feature of numbers, some perhaps missing: the rules are cuts, and "present or not"."""

    def __init__(self, values: Sequence[float], ranks: Sequence[int], questions: Questions | None = None) -> None:
        rows = rows_by_rank(ranks, len(values))
        first = 1 if math.isnan(values[0]) else 0
        self._missing = rows[0] if first else 0
        self._values = values[first:]
        self._up_to = list(accumulate(rows[first:], or_))
        self._questions = questions
        if questions:
            self._units = dict(zip(self._values, questions.units(self._values), strict=True))

    def divisions(self, block: int) -> list[Division]:
        """Return the cuts with the missing rows on either side, and "present or not"."""
        missing = block & self._missing
        if self._questions:
            return list(self._by_questions(self._questions, block ^ missing, missing))
        cuts = list(self._cuts(block ^ missing, has_missing=missing > 0))
        if not missing:
            return cuts
        on_the_left = [cut._replace(left=cut.left | missing, kind=CUT_MISSING_LEFT) for cut in cuts]
        on_the_right = [cut._replace(kind=CUT_MISSING_RIGHT) for cut in cuts]
        return [*on_the_left, *on_the_right, *self._presence(block ^ missing, numbers_vary=len(cuts) > 0)]

    def fewest_divisions(self, block: int) -> int:
        """Return 0: there are at most twice as many divisions as rows, so no bound is needed."""
        return 0

    def n_beyond(self, block: int) -> tuple[int, int]:
        """Return how many numbers of the feature lie below, and above, those of a block."""
        below = bisect_left(self._up_to, True, key=lambda rows: block & rows != 0)
        up_to_last = bisect_left(self._up_to, True, key=lambda rows: block & rows == block)
        return below, len(self._up_to) - 1 - up_to_last

    def _cuts(self, block: int, has_missing: bool) -> Iterator[Division]:
        present = list(self._present(block))
        extent = (present[0][0], present[-1][0]) if present else (0.0, 0.0)
        for (low, rows), (high, _) in pairwise(present):
            yield Division(rows, COIN, low, high, log_cut_probability((low, high), extent, has_missing))

    def _by_questions(self, questions: Questions, present: int, missing: int) -> Iterator[Division]:
        """Yield the divisions with their measures: the length on the unit scale, times the chance of a side."""
        values = list(self._present(present))
        gaps = [(low, high, rows) for (low, rows), (high, _) in pairwise(values)]
        of_cuts = questions.weight * (1 - questions.rho)
        if not missing:
            for low, high, rows in gaps:
                yield Division(rows, COIN, low, high, math.log(of_cuts * (self._units[high] - self._units[low])))
        elif present:
            lowest, highest = values[0][0], values[-1][0]
            below, above = self._units[lowest], 1 - self._units[highest]
            yield Division(missing, CUT_MISSING_LEFT, -math.inf, lowest, math.log(of_cuts * below / 2))
            for low, high, rows in gaps:
                log_measure = math.log(of_cuts * (self._units[high] - self._units[low]) / 2)
                yield Division(rows | missing, CUT_MISSING_LEFT, low, high, log_measure)
                yield Division(rows, CUT_MISSING_RIGHT, low, high, log_measure)
            yield Division(present, CUT_MISSING_RIGHT, highest, math.inf, math.log(of_cuts * above / 2))
            if questions.rho > 0:
                log_measure = math.log(questions.weight * questions.rho)
                yield Division(present, CUT_MISSING_RIGHT, math.nan, math.nan, log_measure)

    def _present(self, block: int) -> Iterator[tuple[float, int]]:
        """Yield the numbers that occur in a block, each with the mask of the rows up to it."""
        below = 0
        for value, up_to in zip(self._values, self._up_to, strict=True):
            rows = block & up_to
            if rows != below:
                yield value, rows
                below = rows
                if rows == block:
                    return

    @staticmethod
    def _presence(present: int, numbers_vary: bool) -> Iterator[Division]:
        if present:
            yield Division(present, CUT_MISSING_RIGHT, math.nan, math.nan, log_presence_probability(numbers_vary))


class LevelColumn:
    """A categorical feature, with missing as one of the levels: the rules are proper, nonempty sets of levels."""

    def __init__(self, n_levels: int, ranks: Sequence[int], questions: Questions | None = None) -> None:
        self._questions = questions
        self._rows = [rows for rows in rows_by_rank(ranks, n_levels + 1) if rows]
        self._kind = LEVELS if n_numbers(n_levels) <= MOST_LISTED else SCATTERED_LEVELS

    def divisions(self, block: int) -> list[Division]:
        """Return the 2^k - 2 divisions of the k levels of a block."""
        levels = self._levels(block)
        share = log_set_probability(len(levels)) if len(levels) > 1 else 0.0
        if self._questions:  # every level takes its side by a coin
            share = math.log(self._questions.weight) - len(levels) * math.log(2)
        return [Division(left, self._kind, math.nan, math.nan, share) for left in unions(levels)[1:-1]]

    def fewest_divisions(self, block: int) -> int:
        """Return 2^k - 2."""
        return int(2 ** len(self._levels(block)) - 2)

    def n_beyond(self, block: int) -> tuple[int, int]:
        """Return zeros: levels are not ordered."""
        return 0, 0

    def _levels(self, block: int) -> list[int]:
        return [block & rows for rows in self._rows if block & rows]


def make_column(table: Table, feature: int, ranks: Sequence[int], measure: Measure | None = None) -> Column:
    """Return a feature of a table, for rows with these ranks."""
    questions = None if measure is None else Questions.about(measure, feature)
    if is_categorical(table, feature):
        return LevelColumn(int(table.n_levels[feature]), ranks, questions)
    return NumberColumn(table.feature_values(feature).tolist(), ranks, questions)


def is_categorical(table: Table, feature: int) -> bool:
    """Tell whether a feature is categorical."""
    return bool(table.n_levels.size and table.n_levels[feature] > 0)


def has_missing_numbers(table: Table, feature: int) -> bool:
    """Tell whether some numbers of a feature are missing."""
    return not is_categorical(table, feature) and bool(np.isnan(table.feature_values(feature)[0]))


def rows_by_rank(ranks: Sequence[int], n_ranks: int) -> list[int]:
    """Return, for each rank, the mask of its rows."""
    rows = [0] * n_ranks
    for row, rank in enumerate(ranks):
        rows[rank] |= 1 << row
    return rows


def unions(masks: Sequence[int]) -> list[int]:
    """Return the union of every subset of masks; entry s is that of the subset whose bits are s."""
    found = [0]
    for mask in masks:
        found += [union | mask for union in found]
    return found
