"""An independent oracle of the Mondrian prior: every question of the measure, one by one.

The places of all rows on a feature's unit scale divide it into intervals, in each of which all cuts ask the same; with
the coin of missing rows, "is it missing?" and the coins of all levels, that is a finite list of questions with their
measures. A block is separated by those that have some of its rows on either side. Nothing else is used: no masses, no
gaps, no formula for a kind of column. The places on the scale are those of the measure, which has tests of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from oracle import DataSet, Leaf, Split, Tree, is_categorical, marginal
from particletree import MondrianPrior
from particletree._model.measure import Measure

Rows = tuple[int, ...]
Question = tuple[float, frozenset[int]]  # its measure, and the rows on its left


def questions(X: NDArray[np.float64], n_levels: Sequence[int], measure: Measure) -> Iterator[Question]:
    for f, (weight, scale) in enumerate(zip(measure.weights.tolist(), measure.scales, strict=True)):
        x = X[:, f].tolist()
        if is_categorical(n_levels, f):
            levels = sorted(set(x))
            for coins in product((False, True), repeat=len(levels)):
                left = {level for level, coin in zip(levels, coins, strict=True) if coin}
                yield weight / 2 ** len(levels), frozenset(row for row, value in enumerate(x) if value in left)
            continue
        assert scale is not None
        units = scale.to_unit(X[:, f]).tolist()
        missing = {row for row, value in enumerate(x) if math.isnan(value)}
        yield weight * measure.rho, frozenset(range(len(x))) - missing
        places = sorted({0.0, 1.0, *(u for u in units if not math.isnan(u))})
        for low, high in pairwise(places):
            left = {row for row, u in enumerate(units) if u <= low}
            for side in (set(), missing):
                yield weight * (1 - measure.rho) * (high - low) / 2, frozenset(left | side)


def divisions(all_questions: Sequence[Question], rows: Rows) -> dict[tuple[Rows, Rows], float]:
    """Return the divisions of a block, left and right, each with the measure of the questions that make it."""
    found: dict[tuple[Rows, Rows], float] = {}
    for share, left in all_questions:
        sides = tuple(row for row in rows if row in left), tuple(row for row in rows if row not in left)
        if all(sides):
            found[sides] = found.get(sides, 0.0) + share
    return found


def list_trees(X: NDArray[np.float64], prior: MondrianPrior, n_levels: Sequence[int]) -> list[tuple[float, Tree]]:
    """Return every tree, up to what no row depends on, with its prior probability; rules are not told."""
    assert prior.measure is not None
    asked = list(questions(X, n_levels, prior.measure))

    def below(rows: Rows) -> Iterator[tuple[float, Tree]]:
        ways = divisions(asked, rows)
        total = prior.number + math.fsum(ways.values())
        yield prior.number / total, Leaf(rows)
        for (left, right), share in ways.items():
            for p_left, left_tree in below(left):
                for p_right, right_tree in below(right):
                    yield share / total * p_left * p_right, Split(0, 0.0, 0.0, left_tree, right_tree)

    return list(below(tuple(range(len(X)))))


class Recursion:
    """Z(S) = (gamma m(S) + sum over questions of measure times Z(left) Z(right)) / (gamma + |S|), row set by row set.

    Each Z is a polynomial: the coefficient of z^k belongs to the trees of k leaves.
    """

    def __init__(self, data: DataSet, prior: MondrianPrior, concentration: float) -> None:
        assert prior.measure is not None
        self._data, self._prior, self._concentration = data, prior, concentration
        self._questions = list(questions(data.X, data.n_levels, prior.measure))
        self._known: dict[Rows, NDArray[np.float64]] = {}
        by_leaves = self._z(tuple(range(len(data.X))))
        self.evidence = math.fsum(by_leaves.tolist())
        self.n_leaves = by_leaves / self.evidence

    def _z(self, rows: Rows) -> NDArray[np.float64]:
        if rows not in self._known:
            ways = divisions(self._questions, rows)
            stop = self._prior.number * marginal(self._data, rows, self._concentration)
            total = np.array([0.0, stop])
            for (left, right), share in ways.items():
                total = polynomial.polyadd(total, share * polynomial.polymul(self._z(left), self._z(right)))
            self._known[rows] = total / (self._prior.number + math.fsum(ways.values()))
        return self._known[rows]
