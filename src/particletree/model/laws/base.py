r"""What every family of laws answers, and the line on which its quantiles are sought.

Quantiles of mixtures are roots (``mixtures.py``), and roots are found in few steps where the function is nearly
straight. The tails of most laws on the positive numbers are powers of x, so that their logarithm is straight in
:math:`u = \log x`; on the unit interval both tails are straight in :math:`u = \log(x / (1 - x))`. A family names its
:class:`Line`; a step of a given size there is a step of that relative size in x, however small x is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

Self = TypeVar("Self", bound="Laws")
Floats = NDArray[np.float64]


class Line(NamedTuple):
    """A coordinate u of the points x that laws may take.

    Attributes
    ----------
    to_point : callable
        From u to x.
    from_point : callable
        From x to u.
    log_stretch : callable
        The log of dx / du, of u.
    low, high : float
        The range of u: beyond, x has no digits left.
    smallest_step : float
        A step of u that is too small to matter; 0 where that depends on the size of u alone.
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
class Laws(ABC):
    """Base of the families; subclasses are dataclasses whose fields are arrays of parameters, one entry per law."""

    is_discrete: ClassVar[bool] = False  # whether the laws live on the whole numbers from 0 on
    line: ClassVar[Line] = REAL

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The arrays of parameters."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def select(self: Self, chosen: NDArray[Any]) -> Self:
        """Return the laws with these numbers, or where a mask is true."""
        return type(self)(*(parameter[chosen] for parameter in self.parameters))

    @classmethod
    def join(cls: type[Self], pieces: list[Self]) -> Self:
        """Return the laws of all the pieces, one after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*(piece.parameters for piece in pieces), strict=True)))

    @abstractmethod
    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x, a point for each law."""

    @abstractmethod
    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x, a point for each law; small ones keep their digits."""

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """Return the log density at x, or the log probability of x where the laws are discrete."""

    @abstractmethod
    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point below which (with `upper`: above which) each law alone has probability q.

        Where the laws are discrete: the smallest whole number with a cdf of at least q (with `upper`: 1 - q).
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a number from each law."""

    def tail_on_line(self, u: Floats, upper: bool) -> Floats:
        """Return the probability of at most (with `upper`: of more than) the point at u on the line."""
        x = self.line.to_point(u)
        return self.survival(x) if upper else self.cdf(x)

    def log_density_on_line(self, u: Floats) -> Floats:
        """Return the log density of the coordinate u, rather than of x."""
        return np.asarray(self.log_density(self.line.to_point(u)) + self.line.log_stretch(u), dtype=np.float64)
