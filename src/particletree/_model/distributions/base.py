r"""The interface of all families of distributions, and the coordinate in which quantiles are solved.

Quantiles of mixtures are roots (``mixtures.py``), and roots are found in few steps if the function is nearly linear.
The tails of most distributions on the positive numbers are powers of x, so that their logarithm is linear in
:math:`u = \log x`; on the unit interval both tails are linear in :math:`u = \log(x / (1 - x))`. Each family has a
:class:`Line`, its coordinate u; a step of a given size in u is a step of that relative size in x, however small x is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

Self = TypeVar("Self", bound="Distributions")
Floats = NDArray[np.float64]


class Line(NamedTuple):
    """A coordinate u of the points x in the range of the distributions.

    Attributes
    ----------
    to_point : callable
        From u to x.
    from_point : callable
        From x to u.
    log_stretch : callable
        The log of dx / du, of u.
    low, high : float
        The range of u: beyond it, x underflows or overflows.
    smallest_step : float
        A step of u that is negligible; 0 if that depends on the size of u alone.
    """

    to_point: Callable[[Floats], Floats]
    from_point: Callable[[Floats], Floats]
    log_stretch: Callable[[Floats], Floats]
    low: float
    high: float
    smallest_step: float


LARGEST = float(np.finfo(np.float64).max)

REAL = Line(np.array, np.array, np.zeros_like, -LARGEST, LARGEST, 0.0)
POSITIVE = Line(np.exp, np.log, np.array, -745.0, 709.0, 1e-11)
UNIT = Line(expit, logit, lambda u: np.asarray(log_expit(u) + log_expit(-u)), -745.0, 745.0, 1e-11)


@dataclass(frozen=True, eq=False)
class Distributions(ABC):
    """Base of the families; subclasses are dataclasses whose fields are arrays, one entry per distribution."""

    is_discrete: ClassVar[bool] = False  # whether the distributions live on the whole numbers from 0 on
    line: ClassVar[Line] = REAL

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The arrays of parameters."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def select(self: Self, chosen: NDArray[Any]) -> Self:
        """Return the distributions with these indices, or where a mask is true."""
        return type(self)(*(parameter[chosen] for parameter in self.parameters))

    @classmethod
    def join(cls: type[Self], pieces: list[Self]) -> Self:
        """Concatenate the distributions of all pieces."""
        return cls(*(np.concatenate(columns) for columns in zip(*(piece.parameters for piece in pieces), strict=True)))

    @abstractmethod
    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x, one point per distribution."""

    @abstractmethod
    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x, one point per distribution, accurately also if it is small."""

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """Return the log density at x, or the log probability of x where the distributions are discrete."""

    @abstractmethod
    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point below which (with `upper`: above which) each distribution alone has probability q.

        For discrete distributions: the smallest integer with a cdf of at least q (with `upper`: 1 - q).
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a number from each distribution."""

    def tail_on_line(self, u: Floats, upper: bool) -> Floats:
        """Return the probability of at most (with `upper`: of more than) the point at u on the line."""
        x = self.line.to_point(u)
        return self.survival(x) if upper else self.cdf(x)

    def log_density_on_line(self, u: Floats) -> Floats:
        """Return the log density of the coordinate u, rather than of x."""
        return np.asarray(self.log_density(self.line.to_point(u)) + self.line.log_stretch(u), dtype=np.float64)
