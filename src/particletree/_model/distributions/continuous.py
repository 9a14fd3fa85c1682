r"""Continuous distributions: of means and observations on the real line, of rates and times, of probabilities.

The families on the real line have a location and a scale, and everything is computed from
:math:`z = (x - location) / scale`, so that neither a large offset nor very small or large units lose accuracy. Those on
the positive numbers are of rates, of waiting times and of their means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    expit,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    log_expit,
    logit,
    ndtr,
    ndtri,
    stdtr,
    stdtrit,
    xlog1py,
    xlogy,
)

from particletree._model.distributions.base import POSITIVE, REAL, UNIT, Distributions, Floats, Line

LOG_ROOT_TWO_PI = math.log(2 * math.pi) / 2
NEAR_THE_MEDIAN = 0.1  # in units of the scale: beyond it, 15 digits are correct


@dataclass(frozen=True, eq=False)
class Normal(Distributions):
    """Normal distributions.

    Examples
    --------
    >>> import numpy as np
    >>> Normal(np.array([0.0, 10.0]), np.array([1.0, 2.0])).quantile(0.975).round(2)
    array([ 1.96, 13.92])
    """

    line: ClassVar[Line] = REAL

    location: Floats
    scale: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(ndtr((x - self.location) / self.scale), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(ndtr((self.location - x) / self.scale), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        z = (x - self.location) / self.scale
        return np.asarray(-z * z / 2 - LOG_ROOT_TWO_PI - np.log(self.scale))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point with probability q on one side."""
        z = -ndtri(q) if upper else ndtri(q)
        return np.asarray(self.location + self.scale * z)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(self.location + self.scale * rng.standard_normal(self.location.shape))


@dataclass(frozen=True, eq=False)
class StudentT(Distributions):
    """Student's t distributions with any degrees of freedom, location and scale.

    Examples
    --------
    >>> import numpy as np
    >>> StudentT(np.array([1.0]), np.array([5.0]), np.array([2.0])).quantile(0.75)
    array([7.])
    """

    line: ClassVar[Line] = REAL

    df: Floats
    location: Floats
    scale: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(stdtr(self.df, (x - self.location) / self.scale), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(stdtr(self.df, (self.location - x) / self.scale), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        # log(1 + z^2) is 2 log z where z^2 would overflow
        z = np.abs(x - self.location) / self.scale / np.sqrt(self.df)
        log_one_plus = np.where(z < 1e100, np.log1p(np.minimum(z, 1e100) ** 2), 2 * np.log(np.maximum(z, 1.0)))
        constant = betaln(self.df / 2, 0.5) + np.log(self.df) / 2 + np.log(self.scale)
        return np.asarray(-(self.df + 1) / 2 * log_one_plus - constant)

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point with probability q on one side."""
        z: Floats = np.asarray(stdtrit(self.df, q), dtype=np.float64)
        # Near the median stdtrit has only half of the digits; one Newton step gives the others.
        log_density = StudentT(self.df, np.zeros(1), np.ones(1)).log_density(z)
        z = np.where(np.abs(z) < NEAR_THE_MEDIAN, z - (stdtr(self.df, z) - q) / np.exp(log_density), z)
        return np.asarray(self.location + self.scale * (-z if upper else z))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(self.location + self.scale * rng.standard_t(self.df))


@dataclass(frozen=True, eq=False)
class Logistic(Distributions):
    """Logistic distributions, which are cheap to compute: the initial guess of quantiles uses them (``mixtures.py``).

    Examples
    --------
    >>> import numpy as np
    >>> Logistic(np.array([1.0]), np.array([2.0])).quantile(0.5)
    array([1.])
    """

    line: ClassVar[Line] = REAL

    location: Floats
    scale: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(expit((x - self.location) / self.scale), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(expit((self.location - x) / self.scale), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        z = np.abs(x - self.location) / self.scale
        return np.asarray(2 * log_expit(-z) + z - np.log(self.scale))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point with probability q on one side."""
        z = -logit(q) if upper else logit(q)
        return np.asarray(self.location + self.scale * z)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(rng.logistic(self.location, self.scale))


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


@dataclass(frozen=True, eq=False)
class Beta(Distributions):
    """Beta distributions: on [0, 1] with density proportional to p^(a - 1) (1 - p)^(b - 1).

    Examples
    --------
    >>> import numpy as np
    >>> Beta(np.array([1.0, 2.0]), np.array([1.0, 2.0])).cdf(np.array([0.25, 0.5]))
    array([0.25, 0.5 ])
    """

    line: ClassVar[Line] = UNIT

    a: Floats
    b: Floats
    log_beta: Floats = field(default=None, repr=False)  # type: ignore[arg-type]  # computed once, then selected

    def __post_init__(self) -> None:
        if self.log_beta is None:
            object.__setattr__(self, "log_beta", np.asarray(betaln(self.a, self.b), dtype=np.float64))

    def cdf(self, x: Floats) -> Floats:
        """Return the regularised incomplete beta function."""
        return np.asarray(betainc(self.a, self.b, x), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the complement of the regularised incomplete beta function."""
        return np.asarray(betaincc(self.a, self.b, x), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        return np.asarray(xlogy(self.a - 1, x) + xlog1py(self.b - 1, -x) - self.log_beta)

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the inverse of the regularised incomplete beta function."""
        inverse = betainccinv if upper else betaincinv
        return np.asarray(inverse(self.a, self.b, q), dtype=np.float64)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(rng.beta(self.a, self.b), dtype=np.float64)

    def tail_on_line(self, u: Floats, upper: bool) -> Floats:
        """Return the probability on one side of p = 1 / (1 + exp(-u)); the upper one as the lower one of 1 - p."""
        tail = betainc(self.b, self.a, expit(-u)) if upper else betainc(self.a, self.b, expit(u))
        return np.asarray(tail, dtype=np.float64)

    def log_density_on_line(self, u: Floats) -> Floats:
        """Return the log density of u, which is accurate at both ends."""
        log_p = log_expit(u)
        return np.asarray(self.a * log_p + self.b * (log_p - u) - self.log_beta)
