"""Distributions of counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, xlogy

from particletree._model.distributions.base import Distributions, Floats

MAX_HALVINGS = 1100  # more than the exponents that a float has
LOG_ROOT_TWO_PI = float(np.log(2 * np.pi) / 2)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Distributions):
    r"""Negative binomial distributions: counts whose rate has a Gamma distribution.

    The count is Poisson with a mean that has a Gamma distribution with this `shape` and this `rate`: the number of
    failures before success number `shape`, where each trial succeeds with probability :math:`p = rate / (1 + rate)`.
    Storing the rate keeps both p and 1 - p accurate.

    Examples
    --------
    >>> import numpy as np
    >>> NegativeBinomial(np.array([1.0]), np.array([1.0])).cdf(np.array([1.0]))
    array([0.75])
    """

    is_discrete: ClassVar[bool] = True

    shape: Floats
    rate: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        k = np.floor(x)
        below = betainc(self.shape, np.maximum(k, 0) + 1, self.rate / (1 + self.rate))
        return np.asarray(np.where(k < 0, 0.0, below), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        k = np.floor(x)
        above = betainc(np.maximum(k, 0) + 1, self.shape, 1 / (1 + self.rate))
        return np.asarray(np.where(k < 0, 1.0, above), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        r"""Return the log probability of x, minus infinity if x is not a count.

        Loader's saddle-point form: with :math:`n = shape + x`, the log probability is that of `shape` successes in n
        trials plus log(shape / n), in which no large terms cancel.
        """
        is_count = (x >= 0) & (x == np.floor(x))
        k, r = np.where(is_count, x, 0.0), self.shape
        n = r + k
        deviance = half_deviance(r, n * (self.rate / (1 + self.rate))) + half_deviance(k, n / (1 + self.rate))
        log_coefficient = stirling_error(n) - stirling_error(r) - stirling_error(k)
        # for x = 0 the term x^x / x! is 1, without the square root of Stirling's formula
        log_root = np.where(k > 0, np.log(r / n / np.where(k > 0, k, 1.0)) / 2 - LOG_ROOT_TWO_PI, np.log(r / n) / 2)
        return np.asarray(np.where(is_count, log_coefficient - deviance + log_root, -np.inf))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the smallest count with a cdf of at least q (with `upper`: 1 - q)."""

        def is_reached(k: Floats, unsolved: NDArray[np.int64]) -> NDArray[np.bool_]:
            distributions = self.select(unsolved)
            return distributions.survival(k) <= q if upper else distributions.cdf(k) >= q

        mean = self.shape / self.rate
        spread = np.sqrt(mean * (1 + 1 / self.rate))
        high = _double_until(is_reached, np.ceil(mean + 4 * spread))
        return smallest_count(is_reached, np.full(high.size, -1.0), high)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(rng.poisson(rng.standard_gamma(self.shape) / self.rate), dtype=np.float64)


IsReached = Callable[[Floats, NDArray[np.int64]], NDArray[np.bool_]]


def smallest_count(is_reached: IsReached, low: Floats, high: Floats) -> Floats:
    """Return the smallest integer at which a monotone condition holds, by bisection.

    Parameters
    ----------
    is_reached : callable
        The condition, for one integer per unsolved problem and the indices of these problems.
    low, high : ndarray of float64
        Integers: the condition does not hold at `low`, and it holds at `high`.
    """
    low, high = low.copy(), high.copy()
    for _ in range(MAX_HALVINGS):
        middle = np.floor(low / 2 + high / 2)
        unsolved = np.flatnonzero((middle > low) & (middle < high))
        if unsolved.size == 0:
            break
        reached = is_reached(middle[unsolved], unsolved)
        high[unsolved[reached]] = middle[unsolved[reached]]
        low[unsolved[~reached]] = middle[unsolved[~reached]]
    return high


def _double_until(is_reached: IsReached, high: Floats) -> Floats:
    """Return counts at which the condition holds, by doubling those at which it does not."""
    high = np.maximum(high, 1.0)
    unsolved = np.arange(high.size)
    for _ in range(MAX_HALVINGS):
        unsolved = unsolved[~is_reached(high[unsolved], unsolved)]
        unsolved = unsolved[high[unsolved] < 1e300]
        if unsolved.size == 0:
            break
        high[unsolved] *= 2
    return high


def log_poisson(x: Floats, mean: Floats) -> Floats:
    """Return the log probability of counts under Poisson distributions with positive means, huge counts included.

    Examples
    --------
    >>> log_poisson(np.array([0.0, 1e15]), np.array([2.0, 1e15])).round(6).tolist()
    [-2.0, -18.188327]
    """
    log_root = np.log(np.where(x > 0, x, 1.0)) / 2 + LOG_ROOT_TWO_PI
    return np.asarray(np.where(x > 0, -stirling_error(x) - log_root, 0.0) - half_deviance(x, mean))


def stirling_error(x: Floats) -> Floats:
    """Return log Gamma(x + 1) minus Stirling's formula for it; 0 at x = 0, where the formula is not defined."""
    large = np.maximum(x, 15.0)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / large**2) / large**2) / large**2) / large
    small = np.clip(x, np.finfo(np.float64).tiny, 15.0)
    direct = gammaln(small + 1) - xlogy(small + 0.5, small) + small - LOG_ROOT_TWO_PI
    return np.asarray(np.where(x > 15, series, np.where(x > 0, direct, 0.0)))


def half_deviance(x: Floats, mean: Floats) -> Floats:
    """Return x log(x / mean) + mean - x for a positive mean, by a series where x is near it (Loader 2000, bd0).

    Examples
    --------
    >>> half_deviance(np.array([0.0, 1e15 + 1e7]), np.array([2.0, 1e15])).round(9).tolist()
    [2.0, 0.05]
    """
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    small = np.where(near, v, 0.0)
    series = sum(small ** (2 * j + 1) / (2 * j + 1) for j in range(1, 9))
    direct = xlogy(x, np.where(x > 0, x, 1.0) / mean) + mean - x
    return np.asarray(np.where(near, (x - mean) * v + 2 * x * series, direct))
