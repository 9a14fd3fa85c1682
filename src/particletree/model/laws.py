"""Laws of one number: what a leaf says about a class probability, a mean or an observation.

A :class:`Laws` is many laws of one family, their parameters in flat arrays, so that mixtures over hundreds of leaves
and thousands of rows are computed at once (``posterior/intervals.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln

Self = TypeVar("Self", bound="Laws")
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Laws(ABC):
    """Base of the families; subclasses are dataclasses whose fields are arrays of parameters, one entry per law."""

    is_discrete: ClassVar[bool] = False  # whether the laws live on the whole numbers from 0 on

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The arrays of parameters."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def select(self: Self, chosen: NDArray[Any]) -> Self:
        """Return the laws with these numbers, or where a mask is true."""
        return type(self)(*(parameter[chosen] for parameter in self.parameters))

    @abstractmethod
    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x, a point for each law."""

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """Return the log density at x, or the log probability of x where the laws are discrete."""

    @abstractmethod
    def quantile(self, q: float) -> Floats:
        """Return the point below which each law alone has probability q."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a number from each law."""


@dataclass(frozen=True, eq=False)
class Beta(Laws):
    """Laws on [0, 1] with density proportional to p^(a - 1) (1 - p)^(b - 1)."""

    a: Floats
    b: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the regularised incomplete beta function."""
        return np.asarray(betainc(self.a, self.b, x), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        return np.asarray((self.a - 1) * np.log(x) + (self.b - 1) * np.log1p(-x) - betaln(self.a, self.b))

    def quantile(self, q: float) -> Floats:
        """Return the inverse of the regularised incomplete beta function."""
        return np.asarray(betaincinv(self.a, self.b, q), dtype=np.float64)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each law."""
        return np.asarray(rng.beta(self.a, self.b), dtype=np.float64)
