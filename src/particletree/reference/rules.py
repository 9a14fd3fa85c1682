r"""Rules and their prior in plain Python: the part of ``filter.py`` on the rules of splits.

The paper's rule is a cut (kappa, tau): the feature, and the threshold up to which a value goes left. Two more kinds are
for missing values and categories: "is there a value?", which is a cut at infinity, and "is it one of these levels?".

A rule defines the side of *every* value, also of one that the block does not have, for which it is a fair coin flip.
Rules that divide the block in the same way are one *division*. The prior, given the feature and its values in a block:

=================================  ===================================  ========================================
values in the block                a rule of the prior                  the divisions, and their probabilities
=================================  ===================================  ========================================
numbers                            a cut, uniform over the range; a     the gaps: gap / range
                                   coin for missing values
numbers that vary, some missing    1/3: "is there a value?"; 2/3: a     "is there a value?": 1/3; the gaps, with
                                   cut, and a coin for missing values   the missing rows on either side:
                                                                        gap / range / 3
one number, some missing           "is there a value?"                  the same: 1
k levels, of which missing is one  coins for all levels, thrown until   the ways to choose a side for each, both
                                   both sides have rows                 not empty: 1 / (2^k - 2)
=================================  ===================================  ========================================

With a measure on questions (``_model/measure.py``) the rules are its questions that separate the block, and the shares
of divisions are their measures.

A *gap* is the interval between two adjacent distinct numbers of the block; every cut in it makes the same children.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from particletree._model.measure import Measure, UnitScale
from particletree._model.prior import log_cut_probability, log_presence_probability, log_set_probability
from particletree._model.rule import n_numbers

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    """A cut (kappa, tau), and the side of missing values; a cut at infinity is the rule "is there a value?"."""

    feature: int
    threshold: float
    missing_left: bool = False

    def goes_left(self, X: Floats) -> NDArray[np.bool_]:
        """Return which rows of `X` go left: those with a value up to the threshold, and perhaps the missing ones."""
        values = X[..., self.feature]
        return np.asarray(np.where(np.isnan(values), self.missing_left, values <= self.threshold))

    def __str__(self) -> str:
        return f"x[{self.feature}] <= {self.threshold:.6g}?"


@dataclass(frozen=True)
class LevelSet:
    """The numbers of the levels that go left."""

    feature: int
    left: frozenset[int]

    def goes_left(self, X: Floats) -> NDArray[np.bool_]:
        """Return which rows of `X` go left: those with one of the levels."""
        return np.asarray(np.isin(X[..., self.feature], list(self.left)))

    def __str__(self) -> str:
        return f"x[{self.feature}] in {sorted(self.left)}?"


Rule = Cut | LevelSet


@dataclass(frozen=True)
class Gap:
    """The cuts between two adjacent numbers of a block; `missing_left` is None where no row has a missing value."""

    feature: int
    low: float
    high: float
    missing_left: bool | None
    probability: float

    def draw(self, rng: Generator) -> Cut:
        """Draw a cut, uniform in the gap."""
        missing_left = toss(rng) if self.missing_left is None else self.missing_left
        return Cut(self.feature, uniform(self.low, self.high, rng), missing_left)


@dataclass(frozen=True)
class GapOnScale(Gap):
    """The cuts of a gap if they are uniform on a unit scale; the gap may be infinite."""

    scale: UnitScale

    def units(self) -> Floats:
        """Return the ends of the gap on the scale."""
        return self.scale.to_unit([self.low, self.high])

    def draw(self, rng: Generator) -> Cut:
        """Draw a cut, uniform on the scale."""
        missing_left = toss(rng) if self.missing_left is None else self.missing_left
        low, high = self.units().tolist()
        threshold = float(self.scale.from_unit(uniform(low, high, rng)))
        return Cut(self.feature, min(max(threshold, self.low), math.nextafter(self.high, self.low)), missing_left)


@dataclass(frozen=True)
class Presence:
    """The rule "is there a value?"."""

    feature: int
    probability: float

    def draw(self, rng: Generator) -> Cut:
        """Return the rule."""
        return Cut(self.feature, math.inf)


@dataclass(frozen=True)
class Sides:
    """The sets with given sides of the levels of a block; the sides of the other levels are coin flips."""

    feature: int
    left: frozenset[int]
    others: tuple[int, ...]
    probability: float

    def draw(self, rng: Generator) -> LevelSet:
        """Draw a set."""
        return LevelSet(self.feature, self.left | {level for level in self.others if toss(rng)})


Division = Gap | Presence | Sides


class NumberRules:
    """The rules of a feature of numbers that varies in a block, from the values that it has there; nan is missing."""

    def __init__(self, feature: int, values: Floats) -> None:
        self.feature = feature
        self.numbers = np.unique(values[~np.isnan(values)]).tolist()
        self.has_missing = bool(np.isnan(values).any())

    def draw(self, rng: Generator) -> Cut:
        """Draw a rule from the prior."""
        if self.has_missing and (len(self.numbers) == 1 or rng.integers(3) == 0):
            return Cut(self.feature, math.inf)
        return Cut(self.feature, uniform(self.numbers[0], self.numbers[-1], rng), missing_left=toss(rng))

    def draw_empirically(self, rng: Generator) -> tuple[Cut, float]:
        """Draw from the prior, but the gap of a cut uniformly; return the rule with log(prior / proposal)."""
        from_prior = self.draw(rng)
        if from_prior.threshold == math.inf:
            return from_prior, 0.0
        gaps = list(pairwise(self.numbers))
        low, high = gaps[rng.integers(len(gaps))]
        log_gap = log_cut_probability((low, high), (self.numbers[0], self.numbers[-1]))
        return Cut(self.feature, uniform(low, high, rng), from_prior.missing_left), log_gap + math.log(len(gaps))

    def divisions(self) -> Iterator[Division]:
        """Yield all divisions of the block, from left to right."""
        extent = self.numbers[0], self.numbers[-1]
        for low, high in pairwise(self.numbers):
            probability = math.exp(log_cut_probability((low, high), extent, self.has_missing))
            for missing_left in (False, True) if self.has_missing else (None,):
                yield Gap(self.feature, low, high, missing_left, probability)
        if self.has_missing:
            yield Presence(self.feature, math.exp(log_presence_probability(len(self.numbers) > 1)))


class LevelRules:
    """The rules of a categorical feature that varies in a block, from the levels that it has there."""

    def __init__(self, feature: int, values: Floats, n_levels: int) -> None:
        self.feature = feature
        self.levels = np.unique(values).astype(int).tolist()
        self.all_levels = range(n_numbers(n_levels))

    def draw(self, rng: Generator) -> LevelSet:
        """Draw a rule from the prior: coin flips for all levels, until both sides have levels of the block."""
        while True:
            left = frozenset(level for level in self.all_levels if toss(rng))
            if 0 < sum(level in left for level in self.levels) < len(self.levels):
                return LevelSet(self.feature, left)

    def draw_empirically(self, rng: Generator) -> tuple[LevelSet, float]:
        """Draw from the prior, because levels have no gaps."""
        return self.draw(rng), 0.0

    def divisions(self) -> Iterator[Division]:
        """Yield all divisions of the block."""
        others = tuple(level for level in self.all_levels if level not in self.levels)
        probability = math.exp(log_set_probability(len(self.levels)))
        for sides in product((False, True), repeat=len(self.levels)):
            if any(sides) and not all(sides):
                left = frozenset(level for level, is_left in zip(self.levels, sides, strict=True) if is_left)
                yield Sides(self.feature, left, others, probability)


class QuestionRules:
    """The questions of a measure on one feature that separate a block, from the values that the block has.

    Questions are drawn as ``_model/measure.py`` tells it, until one of them has rows of the block on both sides. The
    probabilities of the divisions are their measures, which add up to the feature's mass.
    """

    def __init__(self, feature: int, values: Floats, n_levels: int, measure: Measure) -> None:
        self.feature, self.values, self.n_levels = feature, values, n_levels
        self.weight, self.rho, self.scale = float(measure.weights[feature]), measure.rho, measure.scales[feature]

    def draw(self, rng: Generator) -> Rule:
        """Draw a rule from the prior."""
        while True:
            rule = self.ask(rng)
            left = rule.goes_left(self._block())
            if left.any() and not left.all():
                return rule

    def ask(self, rng: Generator) -> Rule:
        """Draw a question from the measure."""
        if self.scale is None:
            levels = range(n_numbers(self.n_levels))
            return LevelSet(self.feature, frozenset(level for level in levels if toss(rng)))
        if rng.random() < self.rho:
            return Cut(self.feature, math.inf)
        return Cut(self.feature, float(self.scale.from_unit(rng.random())), toss(rng))

    def draw_empirically(self, rng: Generator) -> tuple[Rule, float]:
        """Draw from the prior, but the gap of a cut between numbers uniformly; return log(prior / proposal) too."""
        rule, numbers = self.draw(rng), self._numbers()
        if self.scale is None or not isinstance(rule, Cut) or not numbers[0] <= rule.threshold < numbers[-1]:
            return rule, 0.0
        gaps = list(pairwise(numbers))
        gap = GapOnScale(self.feature, *gaps[rng.integers(len(gaps))], rule.missing_left, 0.0, self.scale)
        units = self.scale.to_unit([numbers[0], numbers[-1]])
        return gap.draw(rng), math.log(np.ptp(gap.units()) / np.ptp(units)) + math.log(len(gaps))

    def divisions(self) -> Iterator[Division]:
        """Yield all divisions of the block; "present or not" once for each of the questions that make it."""
        if self.scale is None:
            for sides in LevelRules(self.feature, self.values, self.n_levels).divisions():
                yield replace(sides, probability=self.weight * 2.0 ** -np.unique(self.values).size)
            return
        numbers, has_missing = self._numbers(), bool(np.isnan(self.values).any())
        sides_of_missing = (False, True) if has_missing else (None,)
        gaps = [(low, high, side) for low, high in pairwise(numbers) for side in sides_of_missing]
        if has_missing:
            gaps += [(-math.inf, numbers[0], True), (numbers[-1], math.inf, False)]
            if self.rho > 0:
                yield Presence(self.feature, self.weight * self.rho)
        for low, high, missing_left in gaps:
            gap = GapOnScale(self.feature, low, high, missing_left, 0.0, self.scale)
            of_side = 0.5 if has_missing else 1.0
            yield replace(gap, probability=self.weight * (1 - self.rho) * of_side * float(np.ptp(gap.units())))

    def _numbers(self) -> list[float]:
        return [float(number) for number in np.unique(self.values[~np.isnan(self.values)])]

    def _block(self) -> Floats:
        """Return rows with the values of the block in this feature."""
        rows = np.zeros((self.values.size, self.feature + 1))
        rows[:, self.feature] = self.values
        return rows


FeatureRules = NumberRules | LevelRules | QuestionRules


def toss(rng: Generator) -> bool:
    """Flip a fair coin."""
    return bool(rng.random() < 0.5)


def uniform(low: float, high: float, rng: Generator) -> float:
    """Draw from [low, high); if rounding gives `high`, which must go right, return the next smaller float."""
    return min(low + rng.random() * (high - low), math.nextafter(high, low))
