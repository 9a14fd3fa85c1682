r"""Mixtures of normals with equal weights, one mixture per row: the predictive distribution under the draws.

.. math:: p(y \mid x) = \frac1D \sum_d N(y; f_d(x), \sigma_d^2)

Quantiles are exact: roots of the distribution function, bracketed by those of the components and found by Newton's
method, safeguarded by bisection. :class:`~particletree._model.distributions.mixtures.Mixtures` does the same for any
family and any weights, in flat arrays; here all rows have the same number of components, and arrays of shape (rows,
draws) are ten times faster.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

Floats = NDArray[np.float64]
MAX_STEPS = 100
ACCURACY = 1e-12  # of the probability below a quantile
LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)


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
        x[is_open] = _next(x[is_open], excess, slope, low[is_open], high[is_open])
        is_open = is_open[np.abs(excess) > ACCURACY]
        is_open = is_open[high[is_open] - low[is_open] > 4 * np.spacing(np.abs(x[is_open]))]
        if is_open.size == 0:
            break
    return np.asarray(x)


def _next(x: Floats, excess: Floats, slope: Floats, low: Floats, high: Floats) -> Floats:
    """Return the point after a Newton step, or the middle of the bracket if that point is outside."""
    with np.errstate(divide="ignore", invalid="ignore"):
        newton = x - excess / slope
    is_inside = (newton >= low) & (newton <= high)
    return np.asarray(np.where(is_inside, newton, low / 2 + high / 2))


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
