r"""Predictions of sums of trees: numbers with noise, or class probabilities, for rows that have been checked.

Predictions are computed from the draws of the sums at each row, one batch of rows at a time, so that memory is bounded.
For means of numbers the kernel adds up the leaf values over draws, without storing the draws at each row.

A new observation has a mixture of normals with equal weights:

.. math:: p(y \mid x) = \frac1D \sum_d N(y; f_d(x), \sigma_d^2)

Quantiles are exact: roots of the distribution function, bracketed by those of the components and found by Newton's
method, safeguarded by bisection. :class:`~particletree._model.distributions.mixtures.Mixtures` does the same for any
family and any weights, in flat arrays; here all rows have the same number of components, and arrays of shape (rows,
draws) are ten times faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

from particletree._model.bart import Scaling, class_probabilities
from particletree._posterior.predictions.batches import by_batches
from particletree._posterior.predictions.tree_sums import TreeSums

Floats = NDArray[np.float64]
NUMBERS = 2**22  # rows x draws x outputs that are held in memory at a time
LEAST_ROWS = 2**6  # per batch
MAX_STEPS = 100
ACCURACY = 1e-12  # of the probability below a quantile
LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)


class SumPredictions:
    """Base of the predictions for numbers and classes.

    Attributes
    ----------
    n_draws : int
        Number of draws.
    n_outputs : int
        Number of means or class probabilities of a row.
    """

    def __init__(self, n_draws: int, n_outputs: int) -> None:
        self.n_draws, self.n_outputs = n_draws, n_outputs

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
        total = np.zeros((self.n_draws, self.n_outputs))
        for start in range(0, len(rows), self._step):
            total += self.draws(rows[start : start + self._step]).sum(axis=0)
        return total / len(rows)

    @property
    def _step(self) -> int:
        """Number of rows per batch."""
        return max(LEAST_ROWS, NUMBERS // (self.n_draws * self.n_outputs))

    def _by_batches(
        self, answer: Callable[[slice], Floats], n_rows: int, shape: tuple[int, ...], n_jobs: int | None
    ) -> Floats:
        return by_batches(answer, n_rows, shape, self._step, n_jobs)


class NumberPredictions(SumPredictions):
    """Predictions of numbers: a function of the rows, and noise, in the units of the data."""

    def __init__(self, sums: TreeSums, scaling: Scaling, noise_sd: Floats) -> None:
        super().__init__(sums.n_draws, n_outputs=1)
        self._sums, self._scaling, self._noise_sd = sums, scaling, noise_sd

    def draws(self, rows: Floats) -> Floats:
        """Return the function under each draw, shape (n_rows, n_draws, 1)."""
        return self.functions(rows)[..., None]

    def functions(self, rows: Floats) -> Floats:
        """Return the function under each draw, shape (n_rows, n_draws)."""
        return self._scaling.from_unit(self._sums.draws(rows))

    def means(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the means of the function, shape (n_rows, 1), without storing all draws."""
        return self._scaling.from_unit(self._sums.means(rows, n_jobs))[:, None]

    def deviations(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the standard deviation of a new observation, shape (n_rows, 1)."""
        noise = float(np.mean(self._noise_sd**2))
        spread = self._by_batches(lambda part: self.functions(rows[part]).var(axis=1), len(rows), (), n_jobs)
        return np.sqrt(noise + spread)[:, None]

    def quantiles(self, rows: Floats, q: Sequence[float], n_jobs: int | None = None) -> Floats:
        """Return quantiles of a new observation, shape (n_rows, 1, len(q))."""
        sds = self._noise_sd

        def answer(part: slice) -> Floats:
            functions = self.functions(rows[part])
            return np.stack([mixture_quantile(functions, sds, each) for each in q], axis=-1)[:, None]

        return self._by_batches(answer, len(rows), (1, len(q)), n_jobs)

    def log_densities(self, rows: Floats, y: Floats, n_jobs: int | None = None) -> Floats:
        """Return the log predictive density of observations y, (n_rows, 1), shape (n_rows,)."""
        sds = self._noise_sd

        def answer(part: slice) -> Floats:
            return mixture_log_density(y[part, 0], self.functions(rows[part]), sds)

        return self._by_batches(answer, len(rows), (), n_jobs)

    def observations(self, rows: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Draw n observations for each row, shape (n_rows, n, 1): the i-th of all rows share trees and noise."""
        chosen = rng.choice(self.n_draws, n, replace=n > self.n_draws)
        sds = self._noise_sd[chosen]

        def answer(part: slice) -> Floats:
            functions = self.functions(rows[part])[:, chosen]
            return (functions + sds * rng.standard_normal(functions.shape))[..., None]

        return self._by_batches(answer, len(rows), (n, 1), n_jobs=None)


class ClassPredictions(SumPredictions):
    """Class probabilities, from one probit per sum in the order of the classes (``_model/bart.py``)."""

    def __init__(self, sums: Sequence[TreeSums], offsets: Sequence[float], class_order: NDArray[np.int64]) -> None:
        super().__init__(sums[0].n_draws if sums else 1, class_order.size)
        self._sums, self._offsets, self._class_order = sums, offsets, class_order

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
        pairs = zip(self._sums, self._offsets, strict=True)
        parts = [ndtr(offset + sums.draws(rows)) for sums, offset in pairs]
        return np.stack(parts, axis=-1) if parts else np.empty((len(rows), 1, 0))

    def _in_order(self, probabilities: Floats) -> Floats:
        """Return probabilities in the order of the classes' labels."""
        return probabilities[..., np.argsort(self._class_order)]


def mixture_quantile(means: Floats, sds: Floats, q: float) -> Floats:
    """Return the q-quantile of the mixture of each row, shape (n_rows,).

    Parameters
    ----------
    means : ndarray, shape (n_rows, n_draws)
        Means of the components.
    sds : ndarray, shape (n_draws,)
        Their standard deviations, the same for all rows.
    q : float
        Probability, strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> mixture_quantile(np.array([[-1.0, 1.0], [0.0, 0.0]]), np.array([0.1, 0.1]), 0.25).round(4).tolist()
    [-1.0, -0.0674]
    """
    ends = means + ndtri(q) * sds
    low, high = ends.min(axis=1), ends.max(axis=1)
    x = np.clip(means.mean(axis=1) + ndtri(q) * np.sqrt(means.var(axis=1) + np.mean(sds**2)), low, high)
    is_open = np.arange(len(x))
    for _ in range(MAX_STEPS):
        z = (x[is_open, None] - means[is_open]) / sds
        excess = ndtr(z).mean(axis=1) - q
        slope = (np.exp(-0.5 * z * z) / sds).mean(axis=1) / math.sqrt(2 * math.pi)
        low[is_open] = np.where(excess < 0, x[is_open], low[is_open])
        high[is_open] = np.where(excess > 0, x[is_open], high[is_open])
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = x[is_open] - excess / slope
        is_inside = (newton >= low[is_open]) & (newton <= high[is_open])
        x[is_open] = np.where(is_inside, newton, low[is_open] / 2 + high[is_open] / 2)
        is_open = is_open[np.abs(excess) > ACCURACY]
        is_open = is_open[high[is_open] - low[is_open] > 4 * np.spacing(np.abs(x[is_open]))]
        if is_open.size == 0:
            break
    return np.asarray(x)


def mixture_log_density(y: Floats, means: Floats, sds: Floats) -> Floats:
    """Return the log density of one observation per row under the row's mixture.

    Examples
    --------
    >>> import numpy as np
    >>> mixture_log_density(np.array([0.0]), np.array([[0.0, 0.0]]), np.array([1.0, 1.0])).round(4)
    array([-0.9189])
    """
    z = (y[:, None] - means) / sds
    return np.asarray(logsumexp(-0.5 * z * z - np.log(sds) - LOG_ROOT_TAU, axis=1) - math.log(means.shape[1]))
