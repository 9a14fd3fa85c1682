r"""Numbers with normal noise whose mean and variance are unknown in each leaf.

The prior is conjugate (Murphy 2007, section 5; Chipman, George & McCulloch 1998, section 4.1), with location m,
strength k, degrees of freedom :math:`\nu` and scale s:

.. math::
    \sigma^2 \sim \text{scaled-inv-}\chi^2(\nu, s^2), \qquad \mu \mid \sigma^2 \sim N(m, \sigma^2 / k), \qquad
    y \mid \mu, \sigma^2 \sim N(\mu, \sigma^2).

With :math:`z = (y - m) / s`, :math:`n = \sum w`, :math:`S_1 = \sum w z` and :math:`S_2 = \sum w z^2`, and

.. math::
    a_0 = \nu / 2, \quad a_n = a_0 + n / 2, \quad b_n = a_0 + (S_2 - S_1^2 / (k + n)) / 2,

the marginal of a leaf's targets is

.. math::
    \log \ell = \log \Gamma(a_n) - \log \Gamma(a_0) + a_0 \log a_0 - a_n \log b_n
    + \tfrac12 \log \frac{k}{k + n} - \tfrac n2 \log 2 \pi - n \log s.

The mean of the leaf has Student's t distribution with :math:`2 a_n` degrees of freedom around :math:`m + s S_1 / (k +
n)` with scale :math:`s \sqrt{b_n / (a_n (k + n))}`; a new observation has the same with :math:`(k + n + 1) / (k + n)`
in place of :math:`1 / (k + n)`. The mean of the noise variance is :math:`s^2 b_n / (a_n - 1)`.

Parameters that are None are estimated from the data, similar to Chipman, George & McCulloch: m is the sample mean, and
s is `NOISE_SHARE` times the sample standard deviation, because the tree explains a part of the variance (this share has
the highest evidence over a number of tables, ``docs/defaults.md``). k gives the leaves' means the prior standard
deviation of the data, :math:`s / \sqrt{k}` = sample standard deviation. An evidence with such estimates is an
empirical Bayes one: it uses the targets twice.

References
----------
Murphy, K. P. (2007). Conjugate Bayesian analysis of the Gaussian distribution. Technical report, UBC.

Chipman, H. A., George, E. I. and McCulloch, R. E. (1998). Bayesian CART model search. JASA 93, 935-948.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from particletree._model.distributions import StudentT
from particletree._model.leaf import Floats
from particletree._model.leaves.numbers import (
    MomentsLeaf,
    PerTarget,
    check_location,
    check_per_target,
    check_scale,
    noise_guess,
    sample_mean_and_sd,
    sample_scale,
)
from particletree._model.row_columns import NO_COLUMNS, RowColumns
from particletree._model.target import Observations, Target

LOG_TWO_PI = math.log(2 * math.pi)


@dataclass
class Gaussian(MomentsLeaf):
    """Numbers with normal noise; the mean and the variance of each leaf are unknown.

    Each parameter is one number, or a list or tuple with one number per target.

    Parameters
    ----------
    prior_mean : float, sequence of float or None, default None
        Prior mean of the leaves' means; None means the sample mean.
    mean_strength : float, sequence of float or None, default None
        Strength of the prior mean, as a number of rows; larger values shrink the means of leaves more towards it. Their
        prior standard deviation is `noise_sd / sqrt(mean_strength)`; None makes this the sample standard deviation.
    noise_sd : float, sequence of float, None or "auto", default None
        Prior guess of the standard deviation of the noise: smaller values give larger trees. None means 0.3 times the
        sample standard deviation; with "auto" the evidence chooses among 0.1, 0.2, 0.3, 0.5 and 0.8 times
        it.
    noise_df : float or sequence of float, default 3.0
        Strength of this guess, as a number of rows; larger values keep the noise of all leaves closer to it.

    Examples
    --------
    >>> from particletree import Gaussian
    >>> leaf = Gaussian(prior_mean=0.0, mean_strength=1.0, noise_sd=1.0)
    >>> leaf.mean([3, 6.0, 14.0])  # three rows with sum 6 and sum of squares 14
    array([1.5])
    """

    kernel_name: ClassVar[str] = "gaussian"

    prior_mean: PerTarget | None = None
    mean_strength: PerTarget | None = None
    noise_sd: PerTarget | None = None
    noise_df: PerTarget = 3.0

    def validate(self) -> None:
        """Check that the parameters are in the ranges in which the marginal likelihood is accurate."""
        check_location(self, "prior_mean")
        check_per_target(self, "mean_strength", "between 1e-12 and 1e12", low=1e-12, high=1e12, is_optional=True)
        check_scale(self, "noise_sd", or_auto=True)
        check_per_target(self, "noise_df", "between 1e-6 and 1e8", low=1e-6, high=1e8)

    def resolve(self, observations: Observations) -> Gaussian:
        """Return the leaf model with estimates, from the sample mean and standard deviation, for what is None."""

        def strength() -> Floats:
            with np.errstate(over="ignore"):
                return np.clip((noise_sd / sample_scale(observations)) ** 2, 1e-12, 1e12)

        given = self.noise_sd is not None
        noise_sd = self._columns(("noise_sd",), observations.target)[:, 0] if given else noise_guess(observations)
        return self._resolved(
            observations.target,
            prior_mean=lambda: sample_mean_and_sd(observations)[0],
            mean_strength=strength,
            noise_sd=lambda: noise_sd,
        )

    def kernel_parameters(self, target: Target) -> Floats:
        """Return the prior mean, its strength, the degrees of freedom and the scale of the noise, for each target."""
        return self._columns(("prior_mean", "mean_strength", "noise_df", "noise_sd"), target).ravel()

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal density of targets with these moments."""
        n, _, _ = self._moments(statistics)
        k, s, a0 = self._values("mean_strength"), self._values("noise_sd"), self._values("noise_df") / 2
        a_n, b_n, size = self._posterior(statistics)
        gammas: Any = gammaln(a_n) - gammaln(a0) + a0 * np.log(a0) - a_n * np.log(b_n)
        return np.asarray((gammas + np.log(k / size) / 2 - n * (LOG_TWO_PI / 2 + np.log(s))).sum(axis=-1))

    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the posterior mean of each target, between the rows' mean and the prior's."""
        _, s1, _ = self._moments(statistics)
        _, _, size = self._posterior(statistics)
        return np.asarray(self._values("prior_mean") + self._values("noise_sd") * (s1 / size))

    def parameter_distributions(self, statistics: Floats, output: int) -> StudentT:
        """Return the distributions of the mean of a target."""
        return self._distributions(statistics, output, 0.0)

    def predictive_distributions(
        self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS
    ) -> StudentT:
        """Return the distributions of a new observation of a target."""
        return self._distributions(statistics, output, 1.0)

    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a variance and a mean from the prior, and targets given these."""
        m, k, df, s = self.kernel_parameters(target).reshape(-1, 4).T
        sigma = s * np.sqrt(df / 2 / rng.standard_gamma(df / 2))
        mu = m + sigma / np.sqrt(k) * rng.standard_normal(m.size)
        return np.asarray(mu + sigma * rng.standard_normal((n_rows, m.size)))

    def draw_observations(
        self,
        statistics: Floats,
        leaf_of: NDArray[np.int64],
        output: int,
        rng: np.random.Generator,
        row_columns: RowColumns = NO_COLUMNS,
    ) -> Floats:
        """Draw a variance and a mean for each leaf, and observations given these."""
        a_n, b_n, size = (part[..., output] for part in self._posterior(statistics))
        unit = np.broadcast_to(self._unit(), self._n_targets(statistics))[output]
        sigma = unit * np.sqrt(b_n / np.maximum(rng.standard_gamma(a_n), np.finfo(float).tiny))
        mu = self.mean(statistics)[..., output] + sigma / np.sqrt(size) * rng.standard_normal(sigma.shape)
        return np.asarray(mu[leaf_of] + sigma[leaf_of] * rng.standard_normal(leaf_of.shape))

    def _posterior(self, statistics: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return a_n, b_n and k + n, with an axis for the targets."""
        n, s1, s2 = self._moments(statistics)
        a0, size = self._values("noise_df") / 2, self._values("mean_strength") + n
        b_n = a0 + np.maximum(s2 - s1 * (s1 / size), 0.0) / 2
        return np.broadcast_to(a0 + n / 2, b_n.shape), b_n, np.broadcast_to(size, b_n.shape)

    def _distributions(self, statistics: Floats, output: int, noise: float) -> StudentT:
        """Return the distributions of the mean plus `noise` times the noise."""
        a_n, b_n, size = (part[..., output] for part in self._posterior(statistics))
        scale = np.broadcast_to(self._unit(), self._n_targets(statistics))[output]
        return StudentT(2 * a_n, self.mean(statistics)[..., output], scale * np.sqrt(b_n / a_n * (noise + 1 / size)))

    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        a_n, b_n, size = self._posterior(statistics)
        noise = np.where(a_n > 1, b_n / np.where(a_n > 1, a_n - 1, 1.0), np.inf)
        return noise, noise / size
