r"""Predictions averaged over the trees: means, intervals, quantiles, densities, draws, and the parts of the variance.

Under one tree a row falls into one leaf, and the leaf model gives its prediction; under the posterior the prediction is
a mixture over the leaves of the row in all trees, weighted by the trees. Means are computed with the trees compiled
into one structure (``kernel/compiled_forest.h``); results that need the whole mixture use the leaves of each row
(``leaf_mixtures.py``).

The variance of a new observation y has three parts, by the law of total variance over trees T and leaf parameters
:math:`\theta`:

.. math::
    \mathrm{Var}(y) = \underbrace{E[\mathrm{Var}(y \mid \theta)]}_{\text{noise}}
                    + \underbrace{E_T[\mathrm{Var}(E[y \mid \theta] \mid T)]}_{\text{leaf parameters}}
                    + \underbrace{\mathrm{Var}_T(E[y \mid T])}_{\text{trees}}.

The last two would vanish with more data.

Rows are float64 and already checked (``data.check_features`` or ``data.check_rows``); they are not checked here.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree._model.forest import Forest
from particletree._model.leaf import LeafModel
from particletree._model.row_columns import NO_COLUMNS, RowColumns, select_rows
from particletree._posterior.predictions import leaf_mixtures
from particletree._posterior.predictions.batches import (
    LEAVES,
    by_batches,
    rows_per_batch_of_intervals,
    rows_per_batch_of_means,
)
from particletree._posterior.predictions.leaf_mixtures import LeafMixtures

Floats = NDArray[np.float64]
Columns = Callable[[Floats], Floats]  # statistics of blocks -> numbers to average


class Variances(NamedTuple):
    """The variance of a new observation in its parts, each of shape (n_rows, n_outputs).

    Attributes
    ----------
    noise : ndarray
        The variance that remains however many data there are.
    parameters : ndarray
        The uncertainty of the parameters of leaves with few rows.
    trees : ndarray
        The disagreement of the trees.
    """

    noise: Floats
    parameters: Floats
    trees: Floats

    @property
    def total(self) -> Floats:
        """The whole variance."""
        return self.noise + self.parameters + self.trees


class Predictions:
    """The predictions of weighted trees, with this leaf model, for rows that have been checked."""

    def __init__(self, forest: Forest, weights: Floats, leaf: LeafModel, n_features: int, n_outputs: int) -> None:
        self._forest, self._weights, self._leaf = forest, weights, leaf
        self._n_features, self._n_outputs = n_features, n_outputs

    def means(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the predictive means (class probabilities), shape (n_rows, n_outputs)."""
        return self._average(self._predictor, rows, n_jobs)

    def variances(self, rows: Floats, n_jobs: int | None = None) -> Variances:
        """Return the variance of a new observation in its parts."""
        unit = self._unit_of_spread()
        parts = self._variances_in_units(unit, rows, n_jobs)
        with np.errstate(over="ignore"):
            return Variances(*(part * unit * unit for part in parts))  # unit**2 may be infinite where a part is 0

    def deviations(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the standard deviation of a new observation, shape (n_rows, n_outputs)."""
        unit = self._unit_of_spread()
        return np.asarray(unit * np.sqrt(self._variances_in_units(unit, rows, n_jobs).total))

    def _unit_of_spread(self) -> Floats:
        """Return a unit for each output, a power of two, in which variances neither underflow nor overflow."""
        deviation = np.hypot(*self._leaf.deviations(self._forest.root_statistics))
        return np.where(np.isfinite(deviation), np.ldexp(1.0, np.frexp(deviation)[1]), 1.0)

    def _variances_in_units(self, unit: Floats, rows: Floats, n_jobs: int | None) -> Variances:
        leaf = self._leaf
        centre = leaf.mean(self._forest.root_statistics)

        def moments(statistics: Floats) -> Floats:
            mean = (leaf.mean(statistics) - centre) / unit
            noise, parameter = leaf.deviations(statistics)
            return np.concatenate((mean, mean**2, (noise / unit) ** 2, (parameter / unit) ** 2), axis=1)

        mean, square, noise, parameters = np.split(self.average(moments, rows, n_jobs), 4, axis=1)
        return Variances(noise, parameters, np.maximum(square - mean**2, 0.0))

    def average(self, columns: Columns, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the averages over trees of `columns(statistics)` for the leaf of each row."""
        return self._average(self._compile(columns(self._forest.statistics)), rows, n_jobs)

    def intervals(self, rows: Floats, level: float, n_jobs: int | None = None) -> Floats:
        """Return credible intervals of the class probabilities or means, shape (n_rows, n_outputs, 2)."""

        def answer(part: slice) -> Floats:
            return leaf_mixtures.parameter_interval(self.mixtures(rows[part]), self._leaf, level)

        return self._by_batches(answer, len(rows), (self._n_outputs, 2), n_jobs)

    def quantiles(
        self, rows: Floats, q: Sequence[float], row_columns: RowColumns = NO_COLUMNS, n_jobs: int | None = None
    ) -> Floats:
        """Return quantiles of a new observation, shape (n_rows, n_outputs, len(q))."""

        def answer(part: slice) -> Floats:
            return leaf_mixtures.predictive_quantiles(
                self.mixtures(rows[part]), self._leaf, q, select_rows(row_columns, part)
            )

        return self._by_batches(answer, len(rows), (self._n_outputs, len(q)), n_jobs)

    def log_densities(
        self, rows: Floats, y: Floats, row_columns: RowColumns = NO_COLUMNS, n_jobs: int | None = None
    ) -> Floats:
        """Return the log predictive density of observations y, shape (n_rows, n_outputs), joint over outputs."""

        def answer(part: slice) -> Floats:
            columns = select_rows(row_columns, part)
            return leaf_mixtures.predictive_log_density(self.mixtures(rows[part]), self._leaf, y[part], columns)

        return self._by_batches(answer, len(rows), (), n_jobs)

    def observations(
        self, rows: Floats, n: int, rng: np.random.Generator, row_columns: RowColumns = NO_COLUMNS
    ) -> Floats:
        """Draw n observations for each row, shape (n_rows, n, n_outputs), from their joint distribution.

        The i-th draws of all rows have the same tree, and rows in the same leaf of it the same leaf parameters.
        """
        forest, tree_of_draw = self._draw_trees(n, rng)
        n_blocks = len(forest.statistics)
        drawn = np.empty((len(rows), n, self._n_outputs))
        step = max(1, LEAVES // max(1, len(rows)))
        for start in range(0, n, step):
            trees, tree = np.unique(tree_of_draw[start : start + step], return_inverse=True)
            blocks = _kernel.apply(np.ascontiguousarray(rows), forest.as_bytes(), forest.roots[trees])[:, tree]
            leaf, leaf_of = np.unique(np.arange(tree.size) * n_blocks + blocks, return_inverse=True)
            statistics = forest.statistics[leaf % n_blocks]
            of_draws = select_rows(row_columns, np.repeat(np.arange(len(rows)), tree.size))
            for output in range(self._n_outputs):
                values = self._leaf.draw_observations(statistics, leaf_of.ravel(), output, rng, of_draws)
                drawn[:, start : start + tree.size, output] = values.reshape(blocks.shape)
        return drawn

    def _draw_trees(self, n: int, rng: np.random.Generator) -> tuple[Forest, NDArray[np.int64]]:
        """Draw n trees from the posterior; return a forest and their numbers in it."""
        return self._forest, rng.choice(self._weights.size, n, p=self._weights / self._weights.sum())

    def mixtures(self, rows: Floats) -> LeafMixtures:
        """Return the leaves that each row may fall into, by posterior probability."""
        kind, weights, blocks = self._predictor.mixtures(rows)
        return LeafMixtures(weights, blocks, self._forest.statistics, kind)

    @cached_property
    def _predictor(self) -> _kernel.Predictor:
        """The compiled trees, made at the first use: a row's path through all trees costs little more than one tree."""
        return self._compile(self._leaf.mean(self._forest.statistics))

    def _compile(self, columns: Floats) -> _kernel.Predictor:
        nodes, values = self._forest.as_bytes(), np.ascontiguousarray(columns)
        return _kernel.Predictor(self._n_features, nodes, self._forest.roots, values, self._weights)

    def _average(self, predictor: _kernel.Predictor, rows: Floats, n_jobs: int | None) -> Floats:
        step = rows_per_batch_of_means(predictor.n_cuts)
        width = predictor.means(rows[:0]).shape[1]
        return by_batches(lambda part: predictor.means(rows[part]), len(rows), (width,), step, n_jobs)

    def _by_batches(
        self, answer: Callable[[slice], Floats], n_rows: int, shape: tuple[int, ...], n_jobs: int | None
    ) -> Floats:
        step = rows_per_batch_of_intervals(n_rows, self._forest.n_trees, n_jobs)
        return by_batches(answer, n_rows, shape, step, n_jobs)


def check_level(level: float) -> None:
    """Raise an error unless the level of an interval lies strictly between 0 and 1."""
    if not isinstance(level, numbers.Real) or isinstance(level, bool):
        raise TypeError(f"level must be a number strictly between 0 and 1, got {level!r}.")
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level!r}.")
