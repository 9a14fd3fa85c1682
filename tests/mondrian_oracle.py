"""The oracle of the Mondrian prior: every question on a few rows, and every tree, listed one by one.

Nothing here is shared with `particletree`: no extents, no formulas of masses, no conjugate marginals. The questions are
listed as *atoms*: sets of questions that all rows of the data answer in the same way, each with its share of the
measure. What a block, a division or a new row needs of the measure is a sum over atoms.

A number's value is its place on the unit scale, nan where it is missing; a level is a whole number, nan where it is
missing. A tree is what it does to the rows: a leaf is the frozenset of its rows, a split the tuple (feature, left,
right). So it stands for all trees whose questions divide the rows in the same way.

The data sets are asymmetric (uneven gaps, ties, unbalanced classes), so that a wrong side or a wrong length shows.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

NAN = math.nan
Rows = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class StreamData:
    """Rows on the unit scale, what is observed at each, and the measure: a name says what is special about them."""

    name: str
    X: NDArray[np.float64]
    y: tuple[float, ...]
    weights: tuple[float, ...]  # of the features
    has_levels: tuple[bool, ...]  # for each feature
    rho: float = 0.3

    def __str__(self) -> str:
        return self.name

    def take(self, rows: Sequence[int]) -> StreamData:
        """Return some of the rows, in this order."""
        return replace(self, X=self.X[list(rows)], y=tuple(self.y[row] for row in rows))

    def add(self, x: Sequence[float], y: float) -> StreamData:
        """Return the data with a row at the end."""
        return replace(self, X=np.vstack([self.X, x]), y=(*self.y, y))


def stream_data(
    name: str, rows: list[tuple[float, ...]], weights: tuple[float, ...], has_levels: tuple[bool, ...] = ()
) -> StreamData:
    """Return a data set of rows that end with what is observed."""
    X = np.array([values for *values, _ in rows], dtype=float)
    y = tuple(float(label) for *_, label in rows)
    return StreamData(name, X, y, weights, has_levels or (False,) * len(weights))


NUMBERS = stream_data(
    "two numbers, a tie in each",
    [(0.1, 0.6, 0), (0.35, 0.2, 1), (0.35, 0.9, 0), (0.8, 0.2, 1), (0.93, 0.45, 1), (0.05, 0.71, 1)],
    (0.7, 0.3),
)
MISSING = stream_data(
    "numbers with missing values",
    [(0.2, NAN, 0), (NAN, 0.15, 1), (0.7, 0.5, 1), (NAN, NAN, 0), (0.9, 0.85, 1), (0.4, NAN, 1)],
    (0.4, 0.6),
)
LEVELS = stream_data(
    "levels, some missing, and a number",
    [(0, 0.3, 0), (2, 0.55, 1), (NAN, 0.9, 1), (2, NAN, 0), (1, 0.1, 1), (3, 0.4, 0)],
    (0.55, 0.45),
    (True, False),
)
ALL_MISSING_FIRST = stream_data(
    "a number that is missing at first, equal rows, and a column without a value",
    [(NAN, NAN, 1), (NAN, NAN, 0), (0.6, NAN, 1), (0.6, NAN, 1), (0.25, NAN, 0), (NAN, NAN, 1)],
    (0.8, 0.2),
)
DATA = [NUMBERS, MISSING, LEVELS, ALL_MISSING_FIRST]


def list_atoms(data: StreamData) -> Iterator[tuple[float, int, tuple[bool, ...]]]:
    """Yield sets of questions with the same answers: their share, the feature, and which rows go left."""
    for feature, (weight, column) in enumerate(zip(data.weights, data.X.T, strict=True)):
        values = column.tolist()
        if data.has_levels[feature]:
            levels = sorted({str(value) for value in values})
            for coins in product((True, False), repeat=len(levels)):
                side = dict(zip(levels, coins, strict=True))
                yield weight / 2 ** len(levels), feature, tuple(side[str(value)] for value in values)
            continue
        yield weight * data.rho, feature, tuple(not math.isnan(value) for value in values)
        ends = [0.0, *sorted({value for value in values if not math.isnan(value)}), 1.0]
        for (low, high), coin in product(pairwise(ends), (True, False)):
            share = weight * (1 - data.rho) * (high - low) / 2
            yield share, feature, tuple(coin if math.isnan(value) else value <= low for value in values)


Marginal = Callable[[StreamData, Rows], float]


def urn(data: StreamData, rows: Rows, n_classes: int = 2, concentration: float = 1.5) -> float:
    """Return the probability of the labels of these rows in one leaf, drawn from an urn one after the other."""
    probability, seen = 1.0, Counter[float]()
    for row in rows:
        probability *= (seen[data.y[row]] + concentration / n_classes) / (seen.total() + concentration)
        seen[data.y[row]] += 1
    return probability


def normal(data: StreamData, rows: Rows, mean: float = 0.4, mean_sd: float = 0.9, noise_sd: float = 0.5) -> float:
    """Return the density of the numbers of these rows in one leaf with noise of a known variance."""
    covariance = noise_sd**2 * np.eye(len(rows)) + mean_sd**2
    return float(stats.multivariate_normal(np.full(len(rows), mean), covariance).pdf([data.y[row] for row in rows]))


def student(data: StreamData, rows: Rows, mean: float = 0.4, k: float = 0.5, sd: float = 0.6, df: float = 3.0) -> float:
    """Return the density of the numbers of these rows in one leaf with noise of an unknown variance."""
    shape = sd**2 * (np.eye(len(rows)) + 1 / k)
    return float(stats.multivariate_t(np.full(len(rows), mean), shape, df).pdf([data.y[row] for row in rows]))


def flat(data: StreamData, rows: Rows) -> float:
    """Return 1: the posterior is the prior."""
    return 1.0


@dataclass(eq=False)
class MondrianOracle:
    """The killed Mondrian on all rows of a data set, by the recursion and by listing."""

    data: StreamData
    marginal: Marginal
    rate: float
    atoms: list[tuple[float, int, tuple[bool, ...]]] = field(init=False)
    remembered: dict[Rows, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.atoms = list(list_atoms(self.data))
        self.everything = tuple(range(len(self.data.X)))

    def mass(self, rows: Rows) -> float:
        """Return the measure of the questions that separate the rows."""
        return math.fsum(share for share, _, left in self.atoms if len({left[row] for row in rows}) == 2)

    def divisions(self, rows: Rows) -> dict[tuple[int, Rows], float]:
        """Return the measure of each way to divide the rows: the feature, and the rows on the left."""
        shares: dict[tuple[int, Rows], float] = defaultdict(float)
        for share, feature, left in self.atoms:
            ours = tuple(row for row in rows if left[row])
            if 0 < len(ours) < len(rows):
                shares[feature, ours] += share
        return shares

    def z(self, rows: Rows | None = None) -> float:
        """Return the probability of what is observed at the rows, by the recursion."""
        rows = self.everything if rows is None else rows
        if rows not in self.remembered:
            total = self.rate * self.marginal(self.data, rows)
            for (_, left), share in self.divisions(rows).items():
                total += share * self.z(left) * self.z(tuple(row for row in rows if row not in left))
            self.remembered[rows] = total / (self.rate + self.mass(rows))
        return self.remembered[rows]

    def list_trees(self, rows: Rows) -> Iterator[tuple[float, float, Any]]:
        """Yield every tree on the rows, with its prior probability and its likelihood."""
        total = self.rate + self.mass(rows)
        yield self.rate / total, self.marginal(self.data, rows), frozenset(rows)
        for (feature, left), share in self.divisions(rows).items():
            right_trees = list(self.list_trees(tuple(row for row in rows if row not in left)))
            for (p, m, tree), (q, n, other) in product(self.list_trees(left), right_trees):
                yield share / total * p * q, m * n, (feature, tree, other)

    def joint(self) -> dict[Any, float]:
        """Return prior times likelihood of each tree."""
        return {tree: p * m for p, m, tree in self.list_trees(self.everything)}

    def with_horizon(self, time: float, n_steps: int = 1, n_terms: int = 40) -> float:
        """Return the probability of the data if the process also stops at a time, by its Taylor series.

        A block splits at the rate |S| and is killed at `rate`, until the time is over:

            dZ/dr = rate m - (rate + |S|) Z + sum over divisions c of g_c Z(L_c) Z(R_c),    Z(S, 0) = m(S).

        With the rate 0 that is the Mondrian process with a lifetime. The series is started anew after each step.
        """
        blocks, todo = dict[Rows, dict[tuple[int, Rows], float]](), [self.everything]
        while todo:
            rows = todo.pop()
            if rows not in blocks:
                blocks[rows] = self.divisions(rows)
                todo += [left for _, left in blocks[rows]]
                todo += [tuple(row for row in rows if row not in left) for _, left in blocks[rows]]
        order = sorted(blocks, key=len)
        marginals = {rows: self.marginal(self.data, rows) for rows in order}
        masses = {rows: self.mass(rows) for rows in order}
        values, step = dict(marginals), time / n_steps
        for _ in range(n_steps):
            series = {rows: np.array([value]) for rows, value in values.items()}
            for n in range(n_terms):
                terms = {}
                for rows in order:
                    slope = -(self.rate + masses[rows]) * series[rows][n] + self.rate * marginals[rows] * (n == 0)
                    for (_, left), share in blocks[rows].items():
                        right = tuple(row for row in rows if row not in left)
                        slope += share * float(series[left] @ series[right][::-1])
                    terms[rows] = slope / (n + 1)
                series = {rows: np.append(series[rows], terms[rows]) for rows in order}
            values = {rows: float(np.polynomial.polynomial.polyval(step, series[rows])) for rows in order}
        return values[self.everything]
