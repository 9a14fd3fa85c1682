"""Data sets with missing values and levels, for the oracle and the samplers.

They are asymmetric (uneven gaps, ties, unbalanced classes, levels of different sizes), so that a missing value on the
wrong side or two levels that change places show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from number_oracle import NumberData
from oracle import THREE_CLASSES, DataSet
from particletree._data import TrainingData
from particletree._data.table import Table, rank_features
from particletree._model.columns import Columns
from particletree._model.target import ClassLabels, Numbers, Observations

NAN = math.nan


def ranked(X: NDArray[np.float64], n_levels: Sequence[int], order: NDArray[np.intp]) -> Table:
    positions = np.empty(len(X), dtype=np.uint32)
    positions[order] = np.arange(len(X), dtype=np.uint32)
    return rank_features(X, positions, np.array(n_levels if any(n_levels) else [], dtype=np.uint32))


def columns_of(X: NDArray[np.float64], n_levels: Sequence[int]) -> Columns:
    """Return what the columns hold; the levels are called by their numbers."""
    levels = {feature: tuple(range(n)) for feature, n in enumerate(n_levels) if n > 0}
    marks = np.array([len(levels[f]) if f in levels else math.nan for f in range(X.shape[1])])
    is_missing = (marks == X) | (np.isnan(X) & np.isnan(marks))
    return Columns(X.shape[1], levels, frozenset(np.flatnonzero(is_missing.any(axis=0)).tolist()))


@dataclass(frozen=True, eq=False)
class MixedData(DataSet):
    """Rows with missing values and levels; the points to predict stand beside them."""

    new: NDArray[np.float64] | None = None

    def points(self) -> NDArray[np.float64]:
        """Return some rows of the data, and new ones: numbers first missing, levels never seen."""
        return self.X[:3] if self.new is None else np.vstack([self.X[:3], self.new])

    def training_data(self) -> TrainingData:
        """Return the data as a sampler takes them: rows in the order of their labels."""
        labels = np.array(self.y, dtype=np.int32)
        order = labels.argsort(kind="stable")
        weights = None if self.weights is None else np.array(self.weights)[order]
        observations = Observations(ClassLabels(np.arange(self.n_classes)), labels[order], weights)
        return TrainingData(ranked(self.X, self.n_levels, order), observations, columns_of(self.X, self.n_levels))

    def with_numbers(self, name: str, y: Sequence[float], weights: Sequence[float] | None = None) -> MixedNumbers:
        """Return the first rows with numbers to predict."""
        target, X = np.array(y, dtype=float)[:, None], self.X[: len(y)]
        counts = None if weights is None else np.array(weights, dtype=float)
        return MixedNumbers(name, X, target, counts, n_levels=self.n_levels, new=self.points())


@dataclass(frozen=True, eq=False)
class MixedNumbers(NumberData):
    """The rows of a mixed data set, with numbers to predict."""

    new: NDArray[np.float64] | None = None

    def points(self) -> NDArray[np.float64]:
        return self.X if self.new is None else self.new

    def training_data(self) -> TrainingData:
        observations = Observations(Numbers(1), np.ascontiguousarray(self.y), self.weights)
        table = ranked(self.X, self.n_levels, np.arange(len(self.X)))
        return TrainingData(table, observations, columns_of(self.X, self.n_levels))


def mixed(
    name: str,
    n_levels: tuple[int, ...],
    rows: list[tuple[float, ...]],
    new: list[tuple[float, ...]],
    weights: list[float] | None = None,
) -> MixedData:
    """Return a data set of rows that end with their label."""
    y = [int(label) for *_, label in rows]
    X = np.array([values for *values, _ in rows], dtype=float)
    return MixedData(name, X, y, max(y) + 1, weights, n_levels, np.array(new, dtype=float))


# Small enough to list all trees.
MISSING_NUMBERS = mixed(
    "numbers with missing values",
    (),
    [(NAN, 2.0, 0), (1.0, NAN, 0), (1.0, 3.5, 1), (NAN, 9.0, 1), (7.5, 1.0, 0)],
    [(NAN, NAN), (0.5, NAN), (4.0, 2.5), (NAN, 4.0), (9.0, -1.0)],
)
FIRST_MISSING_LATER = mixed(
    "one number or none, and numbers of which none is missing",
    (),
    [(4.0, 0.0, 0), (NAN, 1.0, 1), (4.0, 2.5, 1), (NAN, 2.5, 0), (4.0, 9.0, 1)],
    [(NAN, NAN), (4.0, NAN), (3.0, 2.0), (NAN, 0.5)],
)
THREE_LEVELS = mixed(
    "three levels, some missing, and numbers",
    (3, 0),
    [(0, 2.0, 0), (1, 0.5, 1), (1, 3.5, 1), (3, 3.5, 0), (2, 9.0, 1)],
    [(3, 1.0), (4, 1.0), (0, NAN), (2, 0.0)],
)
FIVE_LEVELS = mixed(
    "five levels of seven, with weights",
    (7,),
    [(0, 0), (1, 1), (1, 1), (3, 0), (4, 2), (6, 1), (6, 2)],
    [(2,), (5,), (7,), (8,), (3,), (4,)],
    weights=[0.5, 2.0, 1.0, 3.25, 0.1, 1.7, 0.4],
)
MIXED_ROWS = mixed(
    "two levels and missing values, rows given twice",
    (2, 0),
    [(0, 1.0, 0), (0, 1.0, 1), (1, NAN, 1), (1, 2.0, 0), (1, 2.0, 1), (0, 6.0, 1), (2, NAN, 0)],
    [(1, NAN), (2, 3.0), (3, 3.0), (0, NAN), (0, 0.5), (2, NAN)],
)
WEIGHTED_MIXED = mixed(
    "two columns of levels and weights",
    (2, 3),
    [(0, 0, 0), (0, 2, 2), (1, 1, 1), (1, 3, 1), (0, 1, 1)],
    [(2, 0), (0, 3), (1, 4), (3, 2)],
    weights=[0.5, 2.0, 1.0, 3.25, 0.7],
)
NOTHING_PRESENT = mixed(
    "a column without a value, one with a single level, and one that varies",
    (0, 2, 0),
    [(NAN, 1, 2.0, 0), (NAN, 1, NAN, 1), (NAN, 1, 5.0, 1), (NAN, 1, 5.0, 0)],
    [(3.0, 0, 1.0), (NAN, 2, NAN), (NAN, 1, 3.0)],
)
SMALL = [MISSING_NUMBERS, FIRST_MISSING_LATER, THREE_LEVELS, FIVE_LEVELS, MIXED_ROWS, WEIGHTED_MIXED]

# For the recursion and the samplers.
TWELVE_MISSING = mixed(
    "twelve rows with missing numbers",
    (),
    [
        (0.1, NAN, 0),
        (0.4, 1.0, 0),
        (NAN, 8.0, 1),
        (1.7, 2.5, 0),
        (2.0, NAN, 1),
        (2.0, 0.3, 0),
        (NAN, 6.0, 1),
        (5.5, NAN, 1),
        (6.0, 1.0, 1),
        (NAN, 4.4, 0),
        (9.0, 3.0, 1),
        (NAN, NAN, 1),
    ],
    [(NAN, NAN), (NAN, 1.5), (4.0, NAN), (3.0, 5.0), (10.0, -1.0)],
)
TWELVE_MIXED = mixed(
    "twelve rows of levels and numbers, some missing",
    (4, 0),
    [
        (0, 10.0, 2),
        (0, 11.0, 2),
        (1, NAN, 0),
        (0, 12.0, 2),
        (1, 31.0, 0),
        (2, 10.5, 1),
        (1, 45.0, 0),
        (2, NAN, 1),
        (4, 33.0, 1),
        (2, 14.0, 1),
        (4, NAN, 0),
        (0, 46.0, 2),
    ],
    [(0, NAN), (1, 20.0), (3, 20.0), (4, 40.0), (5, 11.5), (2, 30.0)],
)
TWELVE_WEIGHTED = mixed(
    "twelve rows of levels and numbers, with weights",
    (3, 0),
    [
        (f, x, y)
        for f, (x, _), y in zip([0, 0, 1, 2, 1, 0, 1, 3, 2, 0, 1, 2], THREE_CLASSES.X, THREE_CLASSES.y, strict=True)
    ],
    [(0, NAN), (1, 0.2), (4, 0.2), (3, 4.0)],
    weights=[1.0, 0.25, 2.0, 1.0, 1.5, 3.0, 0.5, 1.0, 0.75, 2.0, 1.0, 0.6],
)
TWELVE = [TWELVE_MISSING, TWELVE_MIXED, TWELVE_WEIGHTED]

MANY_LEVELS = mixed(
    "nine levels of seventy and numbers: scattered sets",
    (70, 0),
    [
        (0, 2.0, 0),
        (7, 1.0, 0),
        (69, 3.5, 1),
        (7, 8.0, 1),
        (70, 9.0, 1),
        (63, 2.0, 1),
        (64, 1.5, 0),
        (33, 7.0, 0),
        (0, 4.0, 0),
        (12, 4.0, 1),
    ],
    [(0, NAN), (5, 2.5), (70, 2.0), (71, 6.0), (64, 2.5)],
)
ELEVEN_LEVELS = mixed(
    "eleven levels, missing among them: more than are listed",
    (14,),
    [(i, int(i in (1, 2, 5, 9) or i > 11)) for i in (0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 14)] + [(3, 1), (5, 1), (8, 0)],
    [(6,), (15,), (14,), (5,)],
)
LEVELS_TWICE = mixed(
    "two columns of levels, in which each block soon lacks some",
    (5, 3),
    [(0, 0, 0), (0, 1, 1), (1, 0, 1), (2, 2, 0), (2, 3, 2), (3, 1, 2), (3, 2, 1), (5, 0, 2), (5, 3, 0), (1, 1, 0)],
    [(4, 0), (0, 4), (5, 1), (6, 2)],
)
