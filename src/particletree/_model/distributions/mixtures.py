r"""Mixtures of distributions of one family, and their exact quantiles.

.. math::
    F(x) = \sum_j w_j F_j(x), \qquad F^{-1}(q) \in [\min_j F_j^{-1}(q), \; \max_j F_j^{-1}(q)].

No sampling is involved: a quantile is a root, bracketed by the quantiles of the components and found by Newton's method
safeguarded by bisection. Steps are taken in (u, log F), where u is the coordinate of the family's line (``base.py``).
Tails are nearly linear there, so that few steps are needed and very small quantiles keep their relative accuracy. An
upper quantile is found in (u, log(1 - F)), from the probability above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from particletree._model.distributions.base import REAL, Distributions, Floats
from particletree._model.distributions.continuous import Logistic
from particletree._model.distributions.counts import smallest_count

MAX_STEPS = 200  # enough for bisection alone, except near zero on the real line, where Newton steps converge faster
ACCURACY = 1e-13  # relative, of the probability on the side of a quantile
TRUSTED = 1e-7  # largest relative error of the probability of a distribution's own quantile
STEPS_OF_THE_GUESS = 3  # more take longer than they save


class Tail(NamedTuple):
    """A quantile by the probability on one side of it, below or above."""

    q: float
    is_upper: bool

    @classmethod
    def of(cls, q: float) -> Tail:
        """Return the smaller tail at the q-quantile, so that the upper one keeps all digits of 1 - q."""
        if not 0 < q < 1:
            raise ValueError(f"A quantile needs a probability above 0 and below 1, got {q!r}.")
        return cls(float(q), False) if q <= 0.5 else cls(1.0 - float(q), True)


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Many mixtures in flat arrays: component j is `distributions[distribution[j]]` and belongs to mixture `owner[j]`.

    Attributes
    ----------
    owner : ndarray of int64, shape (n_components,)
        The mixture of each component, in increasing order; every mixture has a component.
    weight : ndarray of float64, shape (n_components,)
        Weights, which sum to 1 within a mixture.
    distribution : ndarray of int64, shape (n_components,)
        Indices of distributions.
    distributions : Distributions
        The distributions, each listed once however many mixtures have it.
    n_mixtures : int
        Number of mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model.distributions import Normal
    >>> two = Normal(np.array([-1.0, 1.0]), np.array([0.1, 0.1]))
    >>> mixture = Mixtures(np.array([0, 0]), np.array([0.5, 0.5]), np.array([0, 1]), two, 1)
    >>> mixture.quantile(0.25).round(6)
    array([-1.])
    """

    owner: NDArray[np.int64]
    weight: Floats
    distribution: NDArray[np.int64]
    distributions: Distributions
    n_mixtures: int

    def select(self, mixtures: NDArray[np.bool_]) -> Mixtures:
        """Return the mixtures where the mask is true, renumbered."""
        kept = mixtures[self.owner]
        new_number = np.cumsum(mixtures) - 1
        return Mixtures(
            new_number[self.owner[kept]],
            self.weight[kept],
            self.distribution[kept],
            self.distributions,
            int(mixtures.sum()),
        )

    def total(self, values: Floats) -> Floats:
        """Return the weighted sum of `values`, one per component, for each mixture."""
        return np.asarray(np.bincount(self.owner, weights=self.weight * values, minlength=self.n_mixtures))

    def tail(self, x: Floats, upper: bool = False) -> Floats:
        """Return the probability of at most (with `upper`: of more than) a point x for each mixture."""
        components = self.distributions.select(self.distribution)
        at = x[self.owner]
        return self.total(components.survival(at) if upper else components.cdf(at))

    def log_tail_on_line(self, u: Floats, upper: bool) -> tuple[Floats, Floats]:
        """Return the log probability on one side of u, a point on the line, and its derivative in u."""
        components, at = self.distributions.select(self.distribution), u[self.owner]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            tail = self.total(components.tail_on_line(at, upper))
            density = self.total(np.exp(components.log_density_on_line(at)))
            return np.log(tail), (-density if upper else density) / tail

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the point below which (with `upper`: above which) each mixture has probability q.

        For discrete distributions: the smallest integer with a cdf of at least q (with `upper`: 1 - q).
        """
        if self.n_mixtures == 0:
            return np.empty(0)
        return self._count_quantile(q, upper) if self.distributions.is_discrete else self._line_quantile(q, upper)

    def _count_quantile(self, q: float, upper: bool) -> Floats:
        low, high = self._extremes(self.distributions.quantile(q, upper)[self.distribution])

        def is_reached(k: Floats, unsolved: NDArray[np.int64]) -> NDArray[np.bool_]:
            is_open = np.zeros(self.n_mixtures, dtype=np.bool_)
            is_open[unsolved] = True
            tail = self.select(is_open).tail(k, upper)
            return tail <= q if upper else tail >= q

        return smallest_count(is_reached, low - 1, high)

    def _line_quantile(self, q: float, upper: bool) -> Floats:
        line, tail = self.distributions.line, Tail(q, upper)
        own = _own_quantiles(self.distributions, tail)
        low, high = self._extremes(own[self.distribution])
        u = _solve(self, tail, low, self._first_guess(own, tail, low, high), high)
        u = np.where(u <= line.low + 1, -math.inf, np.where(u >= line.high - 1, math.inf, u))
        return line.to_point(u)

    def _first_guess(self, own: Floats, tail: Tail, low: Floats, high: Floats) -> Floats:
        """Return approximate quantiles, with logistic distributions of the same quantile and density."""
        middle = low / 2 + high / 2
        with np.errstate(all="ignore"):
            scale = tail.q * (1 - tail.q) / np.exp(self.distributions.log_density_on_line(own))
            location = own + (logit(tail.q) if tail.is_upper else -logit(tail.q)) * scale
            guess = _solve(
                replace(self, distributions=Logistic(location, scale)), tail, low, middle, high, STEPS_OF_THE_GUESS
            )
        return np.where(np.isnan(guess), middle, guess)

    def _extremes(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest of the values, one per component, for each mixture."""
        first = np.searchsorted(self.owner, np.arange(self.n_mixtures))
        return np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)


def _own_quantiles(distributions: Distributions, tail: Tail) -> Floats:
    """Return the quantile of each distribution alone, on the line.

    SciPy's inverses of the incomplete functions fail for some large parameters, and near 1 a point has too few digits;
    quantiles with a wrong tail probability are solved for again.
    """
    line = distributions.line
    with np.errstate(divide="ignore", over="ignore"):
        own = np.clip(line.from_point(distributions.quantile(*tail)), line.low, line.high)
        is_wrong = ~(np.abs(distributions.tail_on_line(own, tail.is_upper) / tail.q - 1) <= TRUSTED)
    if line is not REAL and is_wrong.any():
        number = np.flatnonzero(is_wrong)
        alone = Mixtures(np.arange(number.size), np.ones(number.size), number, distributions, number.size)
        low, high = np.full(number.size, line.low), np.full(number.size, line.high)
        own[number] = _solve(alone, tail, low, low / 2 + high / 2, high)
    return own


def _solve(
    mixtures: Mixtures, tail: Tail, low: Floats, guess: Floats, high: Floats, max_steps: int = MAX_STEPS
) -> Floats:
    """Return the points of the line with a given probability on one side, each within its bracket.

    Newton's method; a step that leaves the bracket, or that is more than half the previous step, is replaced by
    bisection.
    """
    result, is_open = guess.copy(), high - low > _smallest_step(guess, mixtures.distributions)
    unsolved, mixtures = np.flatnonzero(is_open), mixtures.select(is_open)
    u, low, high, last_step = guess[is_open], low[is_open], high[is_open], np.full(unsolved.size, math.inf)
    for _ in range(max_steps):
        if unsolved.size == 0:
            break
        log_tail, slope = mixtures.log_tail_on_line(u, tail.is_upper)
        excess = log_tail - math.log(tail.q)
        is_left = (excess > 0) if tail.is_upper else (excess < 0)
        low, high = np.where(is_left, u, low), np.where(is_left, high, u)
        new = _next(u, excess, slope, low, high, last_step)
        last_step = np.abs(new - u)
        result[unsolved] = new
        is_open = ~((np.abs(excess) <= ACCURACY) | (last_step <= _smallest_step(new, mixtures.distributions)))
        mixtures, unsolved = mixtures.select(is_open), unsolved[is_open]
        u, low, high, last_step = new[is_open], low[is_open], high[is_open], last_step[is_open]
    return result


def _next(u: Floats, excess: Floats, slope: Floats, low: Floats, high: Floats, last_step: Floats) -> Floats:
    """Return the point after a Newton step, or the middle of the bracket if that step is not safe."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        newton = u - excess / slope
        trusted = (newton >= low) & (newton <= high) & (np.abs(newton - u) <= last_step / 2)
    return np.asarray(np.where(trusted, newton, low / 2 + high / 2))


def _smallest_step(u: Floats, distributions: Distributions) -> Floats:
    """Return the negligible step on the line."""
    return np.asarray(np.maximum(2 * np.spacing(np.abs(u)), distributions.line.smallest_step))
