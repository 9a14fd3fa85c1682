"""Distributions on the positive numbers: of rates, and of waiting times and their means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln, xlogy

from particletree._model.distributions.base import POSITIVE, Distributions, Floats, Line


@dataclass(frozen=True, eq=False)
class Gamma(Distributions):
    """Gamma distributions with density proportional to x^(shape - 1) exp(-rate x).

    Examples
    --------
    >>> import numpy as np
    >>> Gamma(np.array([1.0]), np.array([2.0])).quantile(0.5).round(4)
    array([0.3466])
    """

    line: ClassVar[Line] = POSITIVE

    shape: Floats
    rate: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(gammainc(self.shape, self.rate * x), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(gammaincc(self.shape, self.rate * x), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        return np.asarray(_log_gamma_density(self.shape, self.rate * x) + np.log(self.rate))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point with probability q on one side."""
        return np.asarray(_gamma_quantile(self.shape, q, upper) / self.rate)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(rng.standard_gamma(self.shape) / self.rate)


@dataclass(frozen=True, eq=False)
class InverseGamma(Distributions):
    """Distributions of scale / g where g has a Gamma distribution with this shape and rate 1.

    Examples
    --------
    >>> import numpy as np
    >>> InverseGamma(np.array([1.0]), np.array([2.0])).quantile(0.5).round(4)
    array([2.8854])
    """

    line: ClassVar[Line] = POSITIVE

    shape: Floats
    scale: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(gammaincc(self.shape, self.scale / x), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(gammainc(self.shape, self.scale / x), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        return np.asarray(_log_gamma_density(self.shape, self.scale / x) + np.log(self.scale) - 2 * np.log(x))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point with probability q on one side."""
        return np.asarray(self.scale / _gamma_quantile(self.shape, q, not upper))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(self.scale / rng.standard_gamma(self.shape))


@dataclass(frozen=True, eq=False)
class Lomax(Distributions):
    """Lomax distributions (Pareto type II): the probability of more than x is (1 + x / scale)^(-shape).

    Examples
    --------
    >>> import numpy as np
    >>> Lomax(np.array([1.0]), np.array([2.0])).quantile(0.5)
    array([2.])
    """

    line: ClassVar[Line] = POSITIVE

    shape: Floats
    scale: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(-np.expm1(-self.shape * np.log1p(x / self.scale)))

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(np.exp(-self.shape * np.log1p(x / self.scale)))

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        return np.asarray(np.log(self.shape) - np.log(self.scale) - (self.shape + 1) * np.log1p(x / self.scale))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point with probability q on one side."""
        log_survival = np.log(q) if upper else np.log1p(-q)
        return np.asarray(self.scale * np.expm1(-log_survival / self.shape))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(self.scale * np.expm1(rng.standard_exponential(self.shape.shape) / self.shape))


def _log_gamma_density(shape: Floats, g: Floats) -> Floats:
    """Return the log density of Gamma distributions with rate 1."""
    return np.asarray(xlogy(shape - 1, g) - g - gammaln(shape))


def _gamma_quantile(shape: Floats, q: float, upper: bool) -> Floats:
    """Return the quantiles of Gamma distributions with rate 1, always above 0 so that they can be divisors."""
    inverse = gammainccinv if upper else gammaincinv
    return np.maximum(inverse(shape, q), np.finfo(np.float64).tiny)
