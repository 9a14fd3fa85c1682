r"""Distributions on the real line: of means, and of observations with noise.

They have a location and a scale, and everything is computed from :math:`z = (x - location) / scale`, so that neither a
large offset nor very small or large units lose accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaln, expit, log_expit, logit, ndtr, ndtri, stdtr, stdtrit

from particletree._model.distributions.base import REAL, Distributions, Floats, Line

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
