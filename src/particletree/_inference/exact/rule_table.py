"""All rules of all blocks in flat arrays: the side of a new row, and random draws of rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._inference.exact.divisions import COIN
from particletree._model.measure import Measure
from particletree._model.prior import log_length
from particletree._model.rule import CUT_MISSING_RIGHT, LEVELS, SCATTERED_LEVELS, coins, draw_word

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Contents:
    """Which levels and missing values occur in each block.

    `levels` has for each categorical feature which of its levels occur in each block, missing last, shape (n_blocks,
    n_levels + 1). `missing` has for each feature of numbers which blocks have missing values, shape (n_blocks,).
    """

    levels: Mapping[int, Flags]
    missing: Mapping[int, Flags]

    def having(self, feature: int, value: float) -> Flags | None:
        """Return which blocks have rows with this level or missing value; None if the value is a number."""
        if feature in self.levels:
            levels = self.levels[feature]
            is_known = 0 <= value < levels.shape[1]  # False for nan
            return levels[:, int(value)] if is_known else np.zeros(len(levels), dtype=np.bool_)
        return self.missing[feature] if math.isnan(value) else None


@dataclass(frozen=True)
class RuleTable:
    """The rules of all blocks: those of block b are `first[b]:first[b + 1]`, none if it cannot split.

    A record represents all rules of a division (``divisions.py``), with the numbers of the two child blocks;
    `log_share` is its log prior probability given that the block splits (``_model/prior.py``).
    """

    contents: Contents
    measure: Measure | None  # on whose scales cuts are uniform; None: on that of the values
    first: NDArray[np.int64]
    feature: Indices
    kind: Indices
    low: Floats
    high: Floats
    left: Indices
    right: Indices
    log_share: Floats

    def left_probability(self, x: Floats) -> Floats:
        """Return, for each record, the probability that a row goes left under a rule of the record.

        It is 1/2 for a level or a missing value that the block does not have.
        """
        p_left = self._left_probability_of_numbers(x)
        for feature, value in enumerate(x.tolist()):
            having = self.contents.having(feature, value)
            if having is not None:
                mine = self.feature == feature
                left, right = (having[side[mine]].astype(np.float64) for side in (self.left, self.right))
                p_left[mine] = (1.0 + left - right) / 2
        return p_left

    def _on_scale(self, values: Floats) -> Floats:
        """Return one value for each record on the scale on which its cuts are uniform."""
        if self.measure is None:
            return values
        units = values.copy()
        for feature, scale in enumerate(self.measure.scales):
            if scale is not None:
                units[self.feature == feature] = scale.to_unit(values[self.feature == feature])
        return units

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """The ends of the gaps on that scale."""
        return self._on_scale(self.low), self._on_scale(self.high)

    def _left_probability_of_numbers(self, x: Floats) -> Floats:
        """Return the probability that the threshold in a gap is at least x; 1 where there is no gap."""
        value, (low, high) = self._on_scale(x[self.feature]), self._ends
        with np.errstate(over="ignore"):
            length, rest = high - low, high - value
        too_long = np.isinf(length)
        length[too_long] = high[too_long] / 2 - low[too_long] / 2
        rest[too_long] = high[too_long] / 2 - value[too_long] / 2
        return np.where(np.isnan(length), 1.0, np.clip(rest / length, 0.0, 1.0))

    def draw_rule(self, number: int, rng: np.random.Generator) -> tuple[Any, ...]:
        """Draw one of the rules of a record: the columns of `RULE`."""
        kind, feature = int(self.kind[number]), int(self.feature[number])
        low, high = float(self.low[number]), float(self.high[number])
        if kind in (LEVELS, SCATTERED_LEVELS):
            return self._draw_word(number, feature, rng).view(np.float64), kind, math.nan, math.nan, feature
        if math.isnan(low):
            return math.inf, CUT_MISSING_RIGHT, math.nan, math.nan, feature
        scale = None if self.measure is None else self.measure.scales[feature]
        if scale is None:
            threshold = uniform(low, high, rng)
        else:  # a gap without a number on one side begins or ends with the threshold
            unit = uniform(float(self._ends[0][number]), float(self._ends[1][number]), rng)
            threshold = min(max(float(scale.from_unit(unit)), low), math.nextafter(high, low))
            low = threshold if math.isinf(low) else low
            high = math.nextafter(threshold, math.inf) if math.isinf(high) else high
        return threshold, int(coins([threshold])[0]) if kind == COIN else kind, low, high, feature

    def _draw_word(self, number: int, feature: int, rng: np.random.Generator) -> np.uint64:
        levels = self.contents.levels[feature]
        left, right = (np.flatnonzero(levels[side[number]]) for side in (self.left, self.right))
        return draw_word(left, right, n_levels=levels.shape[1] - 1, rng=rng)

    def log_volume(self, number: int) -> float:
        """Return the log of the number (or length) of the rules of a record: the density of each is share / this."""
        low, high = (float(each[number]) for each in self._ends)
        return 0.0 if math.isnan(low) else log_length(low, high)


def uniform(low: float, high: float, rng: np.random.Generator) -> float:
    """Draw from [low, high); if rounding gives `high`, which must go right, return the next smaller float."""
    u = rng.random()
    threshold = low + u * (high - low) if math.isfinite(high - low) else (1 - u) * low + u * high
    return min(max(threshold, low), math.nextafter(high, low))
