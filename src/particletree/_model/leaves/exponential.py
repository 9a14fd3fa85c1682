r"""Waiting times with a mean that is unknown in each leaf.

The rate has a Gamma prior with shape a and rate parameter :math:`b = a m`, so that m is a typical waiting time:

.. math::
    \lambda \sim \mathrm{Gamma}(a, b), \qquad p(y \mid \lambda) = \lambda \exp(-\lambda y).

With :math:`n = \sum w` and :math:`S = \sum w y / m`, the marginal of a leaf's times is

.. math::
    \log \ell = \log \Gamma(a + n) - \log \Gamma(a) + a \log a - (a + n) \log(a + S) - n \log m.

The mean waiting time :math:`1 / \lambda` has an inverse Gamma distribution with shape a + n and scale m (a + S); a new
waiting time has a Lomax distribution with the same parameters. Both have mean :math:`m (a + S) / (a + n - 1)`.

If m is None, it is estimated from the data: the sample mean.
An evidence with such estimates is an empirical Bayes one: it uses the targets twice.

References
----------
Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, section 2.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from particletree._model.distributions import InverseGamma, Lomax
from particletree._model.leaf import Faults, Floats
from particletree._model.leaves.numbers import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    CountsOfEvents,
    PerTarget,
    broken,
    check_per_target,
    check_scale,
    for_each_target,
    refuse_first,
    rows_faults,
    sample_mean_and_sd,
)
from particletree._model.row_columns import NO_COLUMNS, RowColumns
from particletree._model.target import Observations, Target


@dataclass
class Exponential(CountsOfEvents):
    """Waiting times: exponentially distributed, with an unknown mean in each leaf.

    Each parameter is one number, or a list or tuple with one number per target.

    Parameters
    ----------
    prior_mean : float, sequence of float or None, default None
        A typical waiting time: one over the prior mean of the rate. None means the sample mean.
    shape : float, sequence of float or "auto", default 2.0
        Strength of the prior, as a number of rows; larger values shrink the means of leaves more towards `prior_mean`.
        Above 1 the prior mean of the time is finite, above 2 also its variance. With "auto" the evidence chooses.

    Examples
    --------
    >>> from particletree import Exponential
    >>> leaf = Exponential(prior_mean=10.0)
    >>> leaf.mean([3, 6.0])  # three rows with a total time of 60
    array([20.])
    """

    kernel_name: ClassVar[str] = "exponential"

    prior_mean: PerTarget | None = None
    shape: PerTarget = 2.0

    def validate(self) -> None:
        """Check that the parameters are in the ranges in which the marginal likelihood is accurate."""
        check_scale(self, "prior_mean")
        check_per_target(self, "shape", "between 1e-6 and 1e8", low=1e-6, high=1e8, or_auto=True)

    def resolve(self, observations: Observations) -> Exponential:
        """Return the leaf model with the sample mean where the prior mean is None."""
        return self._resolved(observations.target, prior_mean=lambda: _typical_time(observations))

    def check_observations(self, observations: Observations) -> None:
        """Refuse negative times."""
        advice = "Leave such rows out, or take Gaussian() for numbers that are not waiting times."
        refuse_first(observations.values < 0, observations, "is not a waiting time: a number of at least 0", advice)

    def kernel_parameters(self, target: Target) -> Floats:
        """Return the typical time and the shape, for each target."""
        return self._columns(("prior_mean", "shape"), target).ravel()

    def n_statistics(self, target: Target) -> int:
        """Return 1 + the number of targets."""
        return 1 + target.n_outputs

    def row_statistics(self, observations: Observations) -> Floats:
        """Return each row's weight, and its times in units of the typical time, multiplied by the weight."""
        w = observations.row_weights[:, None]
        return np.hstack((w, w * (observations.values / self._values("prior_mean"))))

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal density of times with these statistics."""
        a, (shape, total) = self._values("shape"), self._posterior(statistics)
        gammas: Any = gammaln(shape) - gammaln(a) + a * np.log(a) - shape * np.log(total)
        return np.asarray((gammas - self.n_rows(statistics)[..., None] * np.log(self._unit())).sum(axis=-1))

    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the mean time of each target; infinite if the posterior shape is at most 1."""
        shape, total = self._posterior(statistics)
        return self._unit() * _over(total, shape - 1)

    def parameter_distributions(self, statistics: Floats, output: int) -> InverseGamma:
        """Return the distributions of the mean time of a target."""
        return InverseGamma(*self._shape_and_scale(statistics, output))

    def predictive_distributions(self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS) -> Lomax:
        """Return the distributions of a new time of a target."""
        return Lomax(*self._shape_and_scale(statistics, output))

    def faults(self, statistics: Floats) -> Faults:
        """Yield the rules that the number of rows is in range and no time is negative."""
        yield from rows_faults(statistics)
        yield broken(~(statistics[:, 1:] >= 0)), "total times must be at least 0"

    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a rate from the prior, and times given it."""
        m, a = self.kernel_parameters(target).reshape(-1, 2).T
        mean = m * (a / rng.standard_gamma(a))
        return np.asarray(mean * rng.standard_exponential((n_rows, m.size)))

    def draw_observations(
        self,
        statistics: Floats,
        leaf_of: NDArray[np.int64],
        output: int,
        rng: np.random.Generator,
        row_columns: RowColumns = NO_COLUMNS,
    ) -> Floats:
        """Draw a mean time for each leaf, and times given it."""
        mean = self.parameter_distributions(statistics, output).draw(rng)
        return np.asarray(mean[leaf_of] * rng.standard_exponential(leaf_of.shape))

    def _posterior(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return a + n and a + S, with an axis for the targets."""
        numbers, a = np.asarray(statistics, dtype=np.float64), self._values("shape")
        total = a + numbers[..., 1:]
        return np.broadcast_to(a + numbers[..., :1], total.shape), total

    def _shape_and_scale(self, statistics: Floats, output: int) -> tuple[Floats, Floats]:
        shape, total = self._posterior(statistics)
        return shape[..., output], (self._unit() * total)[..., output]

    def _unit(self) -> Floats:
        return self._values("prior_mean")

    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        shape, total = self._posterior(statistics)
        noise = _over(total, shape - 1) * _over(total, shape - 2)
        return noise, np.where(shape > 2, noise / np.maximum(shape - 1, 1.0), np.inf)

    def _describe_data(self, statistics: Floats, target: Target) -> str:
        means = self._unit() * statistics[1:] / statistics[0]
        return for_each_target([f"mean {mean:.4g}" for mean in means.tolist()], target, " ")


def _over(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, infinite where the denominator is not positive."""
    is_positive = denominator > 0
    return np.asarray(np.where(is_positive, numerator / np.where(is_positive, denominator, 1.0), np.inf))


def _typical_time(observations: Observations) -> Floats:
    """Return the sample mean of each target, or 1 where all times are zero."""
    mean, _ = sample_mean_and_sd(observations)
    return np.where(mean > 0, np.clip(mean, SMALLEST_SCALE, LARGEST_SCALE), 1.0)
