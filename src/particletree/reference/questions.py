r"""The questions of the measure behind the Mondrian prior, in plain Python: the part of ``streams.py`` on rules.

A rule is a question: "is it at most t?", with a coin for missing values, "is there a value?", or a coin for every
level. What the measure knows of some rows S is their *box*: the extent of each feature, and the mass |S| of the
questions that separate them. It is not computed by the formulas of ``_model/measure.py``: as :math:`|S + x| = |S| + e`,
it is the sum of what each row adds, the mass e of the questions that separate x from S and leave S whole:

=====================================  ===========================================  ================================
what S has, and what x has             the questions                                mass, times the feature's weight
=====================================  ===========================================  ================================
numbers in [a, b], and u > b           cuts in [b, u)                               (1 - rho) (u - b)
the same, some missing in S            those whose coin sends missing rows with S   (1 - rho) (u - b) / 2
numbers in [a, b], and none            "is there a value?"; cuts below a or above   rho + (1 - rho) (1 - b + a) / 2
                                       b whose coin sends missing rows away from S
no number, and u                       the same with a = b = u                      rho + (1 - rho) / 2
k levels, and another                  equal coins of the k, another of the new     2^-k
=====================================  ===========================================  ================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from particletree._model.measure import Measure
from particletree._model.rule import are_scattered_left
from particletree.reference.rules import Cut, Gap, Presence

Floats = NDArray[np.float64]
MISSING_LEVEL = 2**32 - 1  # the number of "missing" among levels


@dataclass(frozen=True, eq=False)
class Row:
    """A row of the stream, with its numbers on the unit scale."""

    number: int
    units: Floats
    statistics: Floats


@dataclass(frozen=True)
class LevelCoins:
    """Is it one of the levels that a coin sent left? Coins of levels that nobody has seen yet come from the seed."""

    feature: int
    left: frozenset[int]
    right: frozenset[int]
    seed: int

    def goes_left(self, X: Floats) -> bool:
        """Tell whether a row goes left."""
        level = level_of(float(X[self.feature]))
        if level in self.left or level in self.right:
            return level in self.left
        return bool(are_scattered_left(np.uint64(self.seed), level))

    def __str__(self) -> str:
        return f"x[{self.feature}] in {sorted(self.left)}?"


Rule = Cut | LevelCoins


@dataclass(frozen=True)
class LevelSides:
    """The questions that send some levels left and others right."""

    feature: int
    left: frozenset[int]
    right: frozenset[int]
    probability: float

    def draw(self, rng: Generator) -> LevelCoins:
        """Draw the coins of all other levels, as a seed."""
        return LevelCoins(self.feature, self.left, self.right, int(rng.integers(2**63)))


# Questions that divide some rows in one way; `probability` is their mass. Here a gap is any interval of the unit scale.
Questions = Gap | Presence | LevelSides


def level_of(value: float) -> int:
    """Return the number of a level."""
    return MISSING_LEVEL if math.isnan(value) else int(value)


def present_or_missing(feature: int, low: float, high: float, measure: Measure) -> list[Questions]:
    """Return the questions that divide rows with numbers between `low` and `high` from rows without.

    They are of two kinds: "is there a value?", and cuts below or above all numbers whose coin sends the missing values
    to the other side. They part ways when a number beyond the range arrives.
    """
    weight = float(measure.weights[feature])
    cuts = weight * (1 - measure.rho)
    return [
        Presence(feature, weight * measure.rho),
        Gap(feature, 0.0, low, True, cuts * low / 2),
        Gap(feature, high, 1.0, False, cuts * (1 - high) / 2),
    ]


@dataclass(frozen=True)
class NumberExtent:
    """What is known of the numbers of some rows: their range, and whether some are missing."""

    feature: int
    low: float = math.inf
    high: float = -math.inf
    has_missing: bool = False

    def joined(self, u: float) -> NumberExtent:
        """Return the extent with one more row."""
        if math.isnan(u):
            return replace(self, has_missing=True)
        return replace(self, low=min(self.low, u), high=max(self.high, u))

    def separating(self, u: float, measure: Measure) -> list[Questions]:
        """Return the questions that separate a row from these rows and leave them whole."""
        has_numbers = self.low <= self.high
        if math.isnan(u):
            is_new = has_numbers and not self.has_missing
            return present_or_missing(self.feature, self.low, self.high, measure) if is_new else []
        if not has_numbers:
            return present_or_missing(self.feature, u, u, measure) if self.has_missing else []
        # A cut between the row and the range; where rows are missing, its coin must keep them with the range.
        mass = float(measure.weights[self.feature]) * (1 - measure.rho) * (0.5 if self.has_missing else 1.0)
        if u < self.low:
            return [Gap(self.feature, u, self.low, False if self.has_missing else None, mass * (self.low - u))]
        if u > self.high:
            return [Gap(self.feature, self.high, u, True if self.has_missing else None, mass * (u - self.high))]
        return []


@dataclass(frozen=True)
class LevelExtent:
    """What is known of the levels of some rows: which there are."""

    feature: int
    levels: frozenset[int] = frozenset()

    def joined(self, u: float) -> LevelExtent:
        """Return the extent with one more row."""
        return replace(self, levels=self.levels | {level_of(u)})

    def separating(self, u: float, measure: Measure) -> list[Questions]:
        """Return the questions that separate a row from these rows and leave them whole: equal coins of all levels."""
        new = frozenset([level_of(u)])
        if not self.levels or new <= self.levels:
            return []
        mass = float(measure.weights[self.feature]) / 2 ** (len(self.levels) + 1)
        return [LevelSides(self.feature, new, self.levels, mass), LevelSides(self.feature, self.levels, new, mass)]


@dataclass(frozen=True)
class Box:
    """All that the prior knows of some rows: the extent of each feature, and the mass |S|."""

    extents: tuple[NumberExtent | LevelExtent, ...]
    mass: float = 0.0

    @classmethod
    def of_rows(cls, rows: Sequence[Row], measure: Measure) -> Box:
        """Return the box of some rows. As |S + x| = |S| + e, their mass is the sum of what each of them adds."""
        kinds = (LevelExtent if scale is None else NumberExtent for scale in measure.scales)
        box = cls(tuple(kind(feature) for feature, kind in enumerate(kinds)))
        for row in rows:
            box = box.joined(row, measure)
        return box

    def separating(self, row: Row, measure: Measure) -> list[Questions]:
        """Return the questions that separate a row from the rows of the box and leave them whole; their mass is e."""
        pairs = zip(self.extents, row.units.tolist(), strict=True)
        return [each for extent, u in pairs for each in extent.separating(u, measure) if each.probability > 0]

    def joined(self, row: Row, measure: Measure) -> Box:
        """Return the box with one more row."""
        e = sum(questions.probability for questions in self.separating(row, measure))
        pairs = zip(self.extents, row.units.tolist(), strict=True)
        return Box(tuple(extent.joined(u) for extent, u in pairs), self.mass + e)


def side_of(rule: Rule, row: Row) -> str:
    """Return the side of a row, "0" for left or "1" for right."""
    return "0" if rule.goes_left(row.units) else "1"


def divisions_of(rows: Sequence[Row], measure: Measure) -> Iterator[Questions]:
    """Yield the questions that separate some rows, divided by how they do it."""
    for feature, scale in enumerate(measure.scales):
        values, weight = [float(row.units[feature]) for row in rows], float(measure.weights[feature])
        if scale is None:
            levels = sorted({level_of(value) for value in values})
            for sides in product((True, False), repeat=len(levels)):
                if any(sides) and not all(sides):
                    left = frozenset(level for level, is_left in zip(levels, sides, strict=True) if is_left)
                    yield LevelSides(feature, left, frozenset(levels) - left, weight / 2 ** len(levels))
            continue
        numbers = sorted({value for value in values if not math.isnan(value)})
        has_missing = any(math.isnan(value) for value in values)
        sides_of_missing = (True, False) if has_missing else (None,)
        for low, high in pairwise(numbers):
            mass = weight * (1 - measure.rho) * (high - low) / len(sides_of_missing)
            yield from (Gap(feature, low, high, is_left, mass) for is_left in sides_of_missing)
        if numbers and has_missing:
            yield from (
                each for each in present_or_missing(feature, numbers[0], numbers[-1], measure) if each.probability > 0
            )


def some_rule(division: Questions) -> Rule:
    """Return one of the questions that divide rows in this way."""
    if isinstance(division, LevelSides):
        return LevelCoins(division.feature, division.left, division.right, seed=0)
    if isinstance(division, Gap):
        return Cut(division.feature, division.low, bool(division.missing_left))
    return Cut(division.feature, math.inf)


def divide(rows: Sequence[Row], rule: Rule) -> tuple[list[Row], list[Row]]:
    """Return the rows on the left and on the right of a rule."""
    left = [row for row in rows if side_of(rule, row) == "0"]
    return left, [row for row in rows if side_of(rule, row) == "1"]
