r"""Zeros and ones: a leaf model that is not part of the package, the worked example of docs/extending.md.

The probability of a one has a Beta prior:

.. math::
    p \sim \mathrm{Beta}(a, b), \qquad y \mid p \sim \mathrm{Bernoulli}(p).

With :math:`S_1 = \sum w y` and :math:`S_0 = \sum w (1 - y)`, the marginal of a leaf's zeros and ones is

.. math::
    \ell = B(a + S_1, b + S_0) / B(a, b).

The probability has the distribution :math:`\mathrm{Beta}(a + S_1, b + S_0)`; a new observation is 1 with its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

from particletree.extending import (
    NO_COLUMNS,
    Beta,
    Distributions,
    Faults,
    Floats,
    NumbersLeaf,
    Observations,
    PerTarget,
    RowColumns,
    Target,
    broken,
    check_per_target,
    for_each_target,
    format_count,
    refuse_first,
    register_leaf_model,
    rows_faults,
)


@dataclass(frozen=True, eq=False)
class ZeroOrOne(Distributions):
    """Distributions on 0 and 1, whose probabilities are in proportion to two numbers: small ones keep their digits."""

    is_discrete: ClassVar[bool] = True

    zeros: Floats
    ones: Floats

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most x."""
        return np.asarray(np.where(x < 0, 0.0, np.where(x < 1, self.zeros / (self.zeros + self.ones), 1.0)))

    def survival(self, x: Floats) -> Floats:
        """Return the probability of more than x."""
        return np.asarray(np.where(x < 0, 1.0, np.where(x < 1, self.ones / (self.zeros + self.ones), 0.0)))

    def log_density(self, x: Floats) -> Floats:
        """Return the log probability of x, minus infinity where x is neither 0 nor 1."""
        share = np.where(x == 1, self.ones, self.zeros) / (self.zeros + self.ones)
        return np.asarray(np.where((x == 0) | (x == 1), np.log(share), -np.inf))

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return 0 where its cdf is at least q (with `upper`: 1 - q), else 1."""
        at_zero = np.zeros_like(self.ones)
        is_reached = self.survival(at_zero) <= q if upper else self.cdf(at_zero) >= q
        return np.where(is_reached, 0.0, 1.0)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.where(rng.random(self.ones.shape) * (self.zeros + self.ones) < self.ones, 1.0, 0.0)


@register_leaf_model
@dataclass
class Bernoulli(NumbersLeaf):
    """Zeros and ones with a probability that is unknown in each leaf.

    Each parameter is one number, or a list or tuple of one for each target.

    Parameters
    ----------
    a, b : float or sequence of float, default 1.0
        How many ones and how many zeros the prior is worth.

    Examples
    --------
    >>> Bernoulli().mean([3, 2.0, 1.0])  # three rows, two of them ones
    array([0.6])
    """

    kernel_name: ClassVar[str] = "bernoulli"

    a: PerTarget = 1.0
    b: PerTarget = 1.0

    def validate(self) -> None:
        """Check that the parameters are in ranges in which the marginal keeps its digits."""
        for name in ("a", "b"):
            check_per_target(self, name, "between 1e-6 and 1e8", low=1e-6, high=1e8)

    def resolve(self, observations: Observations) -> Bernoulli:
        """Return the leaf model with its parameters per target; none is taken from the data."""
        return self._resolved(observations.target)

    def check_observations(self, observations: Observations) -> None:
        """Refuse what is neither 0 nor 1."""
        y = observations.values
        advice = "Leave such rows out, or take Poisson() for counts."
        refuse_first((y != 0) & (y != 1), observations, "is neither 0 nor 1", advice)

    def kernel_parameters(self, target: Target) -> Floats:
        """Return a and b, for each target."""
        return self._columns(("a", "b"), target).ravel()

    def n_statistics(self, target: Target) -> int:
        """Return one, and two for each target."""
        return 1 + 2 * target.n_outputs

    def row_statistics(self, observations: Observations) -> Floats:
        """Return each row's weight, and for each target that weight among the ones or among the zeros."""
        y, w = observations.values, observations.row_weights[:, None]
        return np.hstack((w, w * np.stack((y, 1 - y), axis=-1).reshape(len(y), -1)))

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal probability of zeros and ones with these statistics."""
        ones, zeros = self._posterior(statistics)
        return np.asarray((betaln(ones, zeros) - betaln(self._values("a"), self._values("b"))).sum(axis=-1))

    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the probability of a one, of each target."""
        ones, zeros = self._posterior(statistics)
        return np.asarray(ones / (ones + zeros))

    def parameter_distributions(self, statistics: Floats, output: int) -> Beta:
        """Return the distributions of the probability of a one."""
        ones, zeros = self._posterior(statistics)
        return Beta(ones[..., output], zeros[..., output])

    def predictive_distributions(
        self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS
    ) -> ZeroOrOne:
        """Return the distributions of a new zero or one."""
        ones, zeros = self._posterior(statistics)
        return ZeroOrOne(zeros[..., output], ones[..., output])

    def faults(self, statistics: Floats) -> Faults:
        """Yield that the number of rows is in range and no weight of ones or zeros negative."""
        yield from rows_faults(statistics)
        yield broken(~(statistics[:, 1:] >= 0)), "the ones and the zeros must count at least 0"

    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a probability from the prior, and zeros and ones given it."""
        a, b = self.kernel_parameters(target).reshape(-1, 2).T
        return (rng.random((n_rows, a.size)) < rng.beta(a, b)).astype(np.float64)

    def draw_observations(
        self,
        statistics: Floats,
        leaf_of: NDArray[np.int64],
        output: int,
        rng: np.random.Generator,
        row_columns: RowColumns = NO_COLUMNS,
    ) -> Floats:
        """Draw a probability for each leaf, and zeros and ones given it."""
        p = self.parameter_distributions(statistics, output).draw(rng)
        return (rng.random(leaf_of.shape) < p[leaf_of]).astype(np.float64)

    def _posterior(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the two parameters of the probability's distribution, with an axis for the targets."""
        numbers = np.asarray(statistics, dtype=np.float64)
        return self._values("a") + numbers[..., 1::2], self._values("b") + numbers[..., 2::2]

    def _unit(self) -> Floats:
        return np.ones(1)

    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        ones, zeros = self._posterior(statistics)
        total = ones + zeros
        of_probability = (ones / total) * (zeros / total) / (total + 1)
        return of_probability * total, of_probability

    def _describe_data(self, statistics: Floats, target: Target) -> str:
        texts = [f"{format_count(ones)} ones" for ones in statistics[1::2].tolist()]
        return for_each_target(texts, target, " ")
