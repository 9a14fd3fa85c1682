r"""Numbers with normal noise of known variance; the mean of each leaf is unknown.

With noise of standard deviation s, and leaves' means with prior mean m and standard deviation t (Murphy 2007, section
2):

.. math::
    \mu \sim N(m, t^2), \qquad y \mid \mu \sim N(\mu, s^2).

With :math:`z = (y - m) / s`, :math:`n = \sum w`, :math:`S_1 = \sum w z`, :math:`S_2 = \sum w z^2` and
:math:`\tau^2 = (t / s)^2`, the marginal of a leaf's targets is

.. math::
    \log \ell = -\tfrac n2 \log 2 \pi - n \log s - \tfrac12 \log(1 + n \tau^2)
    - \tfrac12 \left( S_2 - \frac{\tau^2 S_1^2}{1 + n \tau^2} \right).

The mean of the leaf is normal around :math:`m + s \tau^2 S_1 / (1 + n \tau^2)` with variance
:math:`s^2 \tau^2 / (1 + n \tau^2)`; a new observation is normal with :math:`s^2` added to that.

Parameters that are None are estimated from the data: m is the sample mean, t the sample standard deviation, and s a
share of it (``gaussian.py``). An evidence with such estimates is an empirical Bayes one: it uses the targets twice.

References
----------
Murphy, K. P. (2007). Conjugate Bayesian analysis of the Gaussian distribution. Technical report, UBC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.distributions import Normal
from particletree._model.leaf import Floats
from particletree._model.leaves.numbers import (
    MomentsLeaf,
    PerTarget,
    check_location,
    check_scale,
    noise_guess,
    sample_mean_and_sd,
    sample_scale,
)
from particletree._model.row_columns import NO_COLUMNS, RowColumns
from particletree._model.target import Observations, Target

LOG_TWO_PI = math.log(2 * math.pi)
LARGEST_LOG = 690.0  # beyond it, exp or its inverse overflows


@dataclass
class GaussianKnownVariance(MomentsLeaf):
    """Numbers with normal noise of known variance; the mean of each leaf is unknown.

    Each parameter is one number, or a list or tuple with one number per target.

    Parameters
    ----------
    prior_mean : float, sequence of float or None, default None
        Prior mean of the leaves' means; None means the sample mean.
    mean_sd : float, sequence of float or None, default None
        Prior standard deviation of the leaves' means; smaller values shrink them more towards `prior_mean`. None means
        the sample standard deviation.
    noise_sd : float, sequence of float, None or "auto", default None
        Standard deviation of the noise: smaller values give larger trees. None means 0.3 times the sample standard
        deviation; "auto" as in `Gaussian`.

    Examples
    --------
    >>> from particletree import GaussianKnownVariance
    >>> leaf = GaussianKnownVariance(prior_mean=0.0, mean_sd=1.0, noise_sd=1.0)
    >>> leaf.mean([3, 6.0, 14.0])  # three rows with sum 6 and sum of squares 14
    array([1.5])
    """

    kernel_name: ClassVar[str] = "gaussian_known_variance"

    prior_mean: PerTarget | None = None
    mean_sd: PerTarget | None = None
    noise_sd: PerTarget | None = None

    def validate(self) -> None:
        """Check that the parameters are in the ranges in which the marginal likelihood is accurate."""
        check_location(self, "prior_mean")
        check_scale(self, "mean_sd")
        check_scale(self, "noise_sd", or_auto=True)

    def resolve(self, observations: Observations) -> GaussianKnownVariance:
        """Return the leaf model with estimates, from the sample mean and standard deviation, for what is None."""
        return self._resolved(
            observations.target,
            prior_mean=lambda: sample_mean_and_sd(observations)[0],
            mean_sd=lambda: sample_scale(observations),
            noise_sd=lambda: noise_guess(observations),
        )

    def kernel_parameters(self, target: Target) -> Floats:
        """Return the prior mean, its standard deviation and that of the noise, for each target."""
        return self._columns(("prior_mean", "mean_sd", "noise_sd"), target).ravel()

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal density of targets with these moments."""
        n, s1, s2 = self._moments(statistics)
        squares: Any = np.maximum(s2 - s1 * (s1 / self._precision(statistics)), 0.0)
        with np.errstate(divide="ignore"):  # log(1 + n tau^2), also where tau^2 overflows
            determinant = np.logaddexp(0.0, np.log(n) + 2 * self._log_ratio())
        noise = n * (LOG_TWO_PI / 2 + np.log(self._values("noise_sd")))
        return np.asarray((-noise - determinant / 2 - squares / 2).sum(axis=-1))

    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the posterior mean of each target, between the rows' mean and the prior's."""
        _, s1, _ = self._moments(statistics)
        return np.asarray(self._values("prior_mean") + self._values("noise_sd") * (s1 / self._precision(statistics)))

    def parameter_distributions(self, statistics: Floats, output: int) -> Normal:
        """Return the distributions of the mean of a target."""
        return self._distributions(statistics, output, 0.0)

    def predictive_distributions(self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS) -> Normal:
        """Return the distributions of a new observation of a target."""
        return self._distributions(statistics, output, 1.0)

    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a mean from the prior, and targets given it."""
        m, t, s = self.kernel_parameters(target).reshape(-1, 3).T
        mu = m + t * rng.standard_normal(m.size)
        return np.asarray(mu + s * rng.standard_normal((n_rows, m.size)))

    def draw_observations(
        self,
        statistics: Floats,
        leaf_of: NDArray[np.int64],
        output: int,
        rng: np.random.Generator,
        row_columns: RowColumns = NO_COLUMNS,
    ) -> Floats:
        """Draw a mean for each leaf, and observations given it."""
        mu = self.parameter_distributions(statistics, output).draw(rng)
        unit = np.broadcast_to(self._unit(), self._n_targets(statistics))[output]
        return np.asarray(mu[leaf_of] + unit * rng.standard_normal(leaf_of.shape))

    def _log_ratio(self) -> Floats:
        """Return log tau, the log of the prior standard deviation of the means in units of the noise."""
        return np.log(self._values("mean_sd")) - np.log(self._values("noise_sd"))

    def _precision(self, statistics: ArrayLike) -> Floats:
        """Return n + 1 / tau^2, the precision of the mean in units of the noise's precision."""
        n, s1, _ = self._moments(statistics)
        return np.broadcast_to(n + np.exp(np.clip(-2 * self._log_ratio(), -LARGEST_LOG, LARGEST_LOG)), s1.shape)

    def _distributions(self, statistics: Floats, output: int, noise: float) -> Normal:
        """Return the distributions of the mean plus `noise` times the noise."""
        scale = np.broadcast_to(self._unit(), self._n_targets(statistics))[output]
        spread = np.sqrt(noise + 1 / self._precision(statistics)[..., output])
        return Normal(self.mean(statistics)[..., output], scale * spread)

    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        precision = self._precision(statistics)
        return np.ones_like(precision), 1 / precision
