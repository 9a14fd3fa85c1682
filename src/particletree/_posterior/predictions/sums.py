"""Predictions of sums of trees: numbers with noise, or class probabilities, for rows that have been checked.

Predictions are computed from the draws of the sums at each row, one batch of rows at a time, so that memory is bounded.
For means of numbers the kernel adds up the leaf values over draws, without storing the draws at each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from particletree._model.bart import class_probabilities
from particletree._posterior.predictions.batches import by_batches
from particletree._posterior.predictions.normal_mixtures import mixture_log_density, mixture_quantile
from particletree._posterior.predictions.tree_sums import rows_per_batch

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior

Floats = NDArray[np.float64]


class SumPredictions:
    """Base of the predictions for numbers and classes."""

    def __init__(self, posterior: BARTPosterior) -> None:
        self._posterior = posterior

    @property
    def n_outputs(self) -> int:
        """Number of means or class probabilities of a row."""
        return self._posterior.target.n_outputs

    def draws(self, rows: Floats) -> Floats:
        """Return the mean or the class probabilities under each draw, shape (n_rows, n_draws, n_outputs)."""
        raise NotImplementedError

    def means(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the means over draws, shape (n_rows, n_outputs)."""
        return self._by_batches(lambda part: self.draws(rows[part]).mean(axis=1), len(rows), (self.n_outputs,), n_jobs)

    def intervals(self, rows: Floats, level: float, n_jobs: int | None = None) -> Floats:
        """Return credible intervals of the class probabilities or means, shape (n_rows, n_outputs, 2)."""
        return self.function_quantiles(rows, ((1 - level) / 2, (1 + level) / 2), n_jobs)

    def function_quantiles(self, rows: Floats, q: Sequence[float], n_jobs: int | None = None) -> Floats:
        """Return quantiles of the class probabilities or means, shape (n_rows, n_outputs, len(q))."""

        def answer(part: slice) -> Floats:
            return np.moveaxis(np.quantile(self.draws(rows[part]), q, axis=1), 0, -1)

        return self._by_batches(answer, len(rows), (self.n_outputs, len(q)), n_jobs)

    def averages(self, rows: Floats) -> Floats:
        """Return each draw's mean over the rows, shape (n_draws, n_outputs), for partial dependence."""
        total = np.zeros((self._posterior.n_draws, self.n_outputs))
        step = rows_per_batch(self._posterior.n_draws * self.n_outputs)
        for start in range(0, len(rows), step):
            total += self.draws(rows[start : start + step]).sum(axis=0)
        return total / len(rows)

    def _by_batches(
        self, answer: Callable[[slice], Floats], n_rows: int, shape: tuple[int, ...], n_jobs: int | None
    ) -> Floats:
        step = rows_per_batch(self._posterior.n_draws * self.n_outputs)
        return by_batches(answer, n_rows, shape, step, n_jobs)


class NumberPredictions(SumPredictions):
    """Predictions of numbers: a function of the rows, and noise, in the units of the data."""

    def draws(self, rows: Floats) -> Floats:
        """Return the function under each draw, shape (n_rows, n_draws, 1)."""
        return self.functions(rows)[..., None]

    def functions(self, rows: Floats) -> Floats:
        """Return the function under each draw, shape (n_rows, n_draws)."""
        return self._posterior.scaling.from_unit(self._posterior.sums[0].draws(rows))

    def means(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the means of the function, shape (n_rows, 1), without storing all draws."""
        return self._posterior.scaling.from_unit(self._posterior.sums[0].means(rows, n_jobs))[:, None]

    def deviations(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the standard deviation of a new observation, shape (n_rows, 1)."""
        noise = float(np.mean(self._posterior.noise_sd**2))
        spread = self._by_batches(lambda part: self.functions(rows[part]).var(axis=1), len(rows), (), n_jobs)
        return np.sqrt(noise + spread)[:, None]

    def quantiles(self, rows: Floats, q: Sequence[float], n_jobs: int | None = None) -> Floats:
        """Return quantiles of a new observation, shape (n_rows, 1, len(q))."""
        sds = self._posterior.noise_sd

        def answer(part: slice) -> Floats:
            functions = self.functions(rows[part])
            return np.stack([mixture_quantile(functions, sds, each) for each in q], axis=-1)[:, None]

        return self._by_batches(answer, len(rows), (1, len(q)), n_jobs)

    def log_densities(self, rows: Floats, y: Floats, n_jobs: int | None = None) -> Floats:
        """Return the log predictive density of observations y, (n_rows, 1), shape (n_rows,)."""
        sds = self._posterior.noise_sd

        def answer(part: slice) -> Floats:
            return mixture_log_density(y[part, 0], self.functions(rows[part]), sds)

        return self._by_batches(answer, len(rows), (), n_jobs)

    def observations(self, rows: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Draw n observations for each row, shape (n_rows, n, 1): the i-th of all rows share trees and noise."""
        chosen = rng.choice(self._posterior.n_draws, n, replace=n > self._posterior.n_draws)
        sds = self._posterior.noise_sd[chosen]

        def answer(part: slice) -> Floats:
            functions = self.functions(rows[part])[:, chosen]
            return (functions + sds * rng.standard_normal(functions.shape))[..., None]

        return self._by_batches(answer, len(rows), (n, 1), n_jobs=None)


class ClassPredictions(SumPredictions):
    """Class probabilities, from one probit per sum in the order of the classes (``_model/bart.py``)."""

    def draws(self, rows: Floats) -> Floats:
        """Return the class probabilities under each draw, shape (n_rows, n_draws, n_classes)."""
        return self._in_order(class_probabilities(self._is_class(rows)))

    def means(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the class probabilities, shape (n_rows, n_classes).

        The sums are independent given the data, so that the mean of a product is the product of the means.
        """

        def answer(part: slice) -> Floats:
            return self._in_order(class_probabilities(self._is_class(rows[part]).mean(axis=1)))

        return self._by_batches(answer, len(rows), (self.n_outputs,), n_jobs)

    def _is_class(self, rows: Floats) -> Floats:
        """Return the conditional probability of each class given none before, (n_rows, n_draws, n_classes - 1)."""
        pairs = zip(self._posterior.sums, self._posterior.offsets, strict=True)
        parts = [ndtr(offset + sums.draws(rows)) for sums, offset in pairs]
        return np.stack(parts, axis=-1) if parts else np.empty((len(rows), 1, 0))

    def _in_order(self, probabilities: Floats) -> Floats:
        """Return probabilities in the order of the classes' labels."""
        return probabilities[..., np.argsort(self._posterior.class_order)]
