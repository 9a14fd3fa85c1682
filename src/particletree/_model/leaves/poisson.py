r"""Counts with a rate per unit of exposure that is unknown in each leaf.

The rate has a Gamma prior with mean m and shape a, hence rate parameter :math:`b = a / m`:

.. math::
    \lambda \sim \mathrm{Gamma}(a, b), \qquad y \mid \lambda \sim \mathrm{Poisson}(\lambda e).

With :math:`E = \sum w e`, :math:`S = \sum w y` and :math:`h = \sum w \log \mathrm{Poisson}(y \mid m e)`, the log
probability of the counts at the prior mean, the marginal of a leaf's counts is

.. math::
    \log \ell = \log \frac{\Gamma(a + S)}{\Gamma(a)} + a \log b - (a + S) \log(b + E) - S \log m + m E + h.

For huge counts these terms are many times larger than their sum. It is computed as

.. math::
    \log \ell = D(a + S, a + m E) - \tfrac12 \log(1 + S / a) + d(a + S) - d(a) + h

with :math:`D(s, r) = s \log(s / r) - s + r`, half the deviance of a count, and the error :math:`d` of Stirling's
formula (``distributions/counts.py``). Rounding then costs about :math:`10^{-15} \sum w D(y, m e)`: nothing for counts
that agree, up to 2^53, but 0.01 for 100 counts of about :math:`10^{12}` that differ by a factor of two, and 10 for such
counts of :math:`10^{15}`.

The rate of the leaf has the distribution :math:`\mathrm{Gamma}(a + S, b + E)`; a count over exposure e is negative
binomial with
:math:`r = a + S` and success probability :math:`(b + E) / (b + E + e)`.

If m is None, it is estimated from the data: the total count per unit of exposure (half a count if the total is 0).
An evidence with such estimates is an empirical Bayes one: it uses the targets twice.

References
----------
Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, section 2.6.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.distributions import Gamma, NegativeBinomial
from particletree._model.distributions.counts import half_deviance, log_poisson, stirling_error
from particletree._model.leaf import Faults, Floats, MeanWords
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
    weighted_sums,
)
from particletree._model.row_columns import NO_COLUMNS, RowColumn, RowColumns
from particletree._model.target import Observations, Target
from particletree._model.text import format_count

LEAST_COUNT = 0.5  # the total that the prior assumes if all counts are 0
LARGEST_EXACT = 2.0**53  # beyond it floats skip whole numbers
SMALLEST_EXPECTED, LARGEST_EXPECTED = 1e-280, 1e280  # counts; the ratio of a count to it must be a float
EXPOSURE = RowColumn(
    "exposure",
    "how long, or over how many, a row's count was taken: positive and finite",
    lambda exposure: exposure <= 0,
    "is not positive",
    default=1.0,
    of_new_rows=True,
)


@dataclass
class Poisson(CountsOfEvents):
    """Counts: Poisson distributed, with an unknown rate per unit of exposure in each leaf.

    Each parameter is one number, or a list or tuple with one number per target.

    Parameters
    ----------
    prior_mean : float, sequence of float or None, default None
        Prior mean of the rate; None means the total count per unit of exposure.
    shape : float, sequence of float or "auto", default 1.0
        Strength of the prior mean, as a number of counted events; larger values shrink the rates of leaves more towards
        it. With "auto" the evidence chooses.

    Examples
    --------
    >>> from particletree import Poisson
    >>> leaf = Poisson(prior_mean=1.0)
    >>> leaf.mean([2, 3.0, 7.0, 0.0])  # two rows with an exposure of 3 in which 7 were counted
    array([2.])
    """

    kernel_name: ClassVar[str] = "poisson"
    declared_columns: ClassVar[tuple[RowColumn, ...]] = (EXPOSURE,)

    prior_mean: PerTarget | None = None
    shape: PerTarget = 1.0

    def validate(self) -> None:
        """Check that the parameters are in the ranges in which the marginal likelihood is accurate."""
        check_scale(self, "prior_mean")
        check_per_target(self, "shape", "between 1e-6 and 1e8", low=1e-6, high=1e8, or_auto=True)

    def resolve(self, observations: Observations) -> Poisson:
        """Return the leaf model with the total count per unit of exposure where the prior mean is None."""
        return self._resolved(observations.target, prior_mean=lambda: _overall_rate(observations))

    def check_observations(self, observations: Observations) -> None:
        """Refuse targets that are not counts, and exposures for which the log marginal cannot be computed."""
        y = observations.values
        advice = "Leave such rows out, or take Gaussian() for numbers that are not counts."
        refuse_first((y < 0) | (y != np.floor(y)), observations, "is not a count: a whole number of at least 0", advice)
        too_large = f"is too large for a count: floats are exact whole numbers only up to 2^53 = {LARGEST_EXACT:.0f}"
        refuse_first(
            y > LARGEST_EXACT, observations, too_large, "Take Gaussian() for such numbers or their logarithms."
        )
        if EXPOSURE.name in observations.row_columns:
            self._check_exposure(observations, _exposure(observations))

    def _check_exposure(self, observations: Observations, exposure: Floats) -> None:
        """Refuse an exposure for which the rate or the expected count is too far from 1 to compute with."""
        rate = _overall_rate(observations) if self.prior_mean is None else self._values("prior_mean")
        with np.errstate(over="ignore"):
            expected = rate * exposure[:, None]
        is_computable = (rate >= SMALLEST_SCALE) & (rate <= LARGEST_SCALE)
        is_computable = is_computable & (expected >= SMALLEST_EXPECTED) & (expected <= LARGEST_EXPECTED)
        for row, column in np.argwhere(~is_computable)[:1].tolist():
            at = float(np.broadcast_to(rate, expected.shape)[row, column])
            number = observations.number_of_row(row)
            raise ValueError(
                f"The exposure {float(exposure[row])!r} in row {number} (counted from 0) is out of range: with "
                f"{at:.3g} counts per unit of exposure, {expected[row, column]:.3g} are expected in this row. Multiply "
                "all exposures by a constant, so that they are nearer to 1, or leave the row out."
            )

    def kernel_parameters(self, target: Target) -> Floats:
        """Return the prior mean and the shape, for each target."""
        return self._columns(("prior_mean", "shape"), target).ravel()

    def n_statistics(self, target: Target) -> int:
        """Return 2 + 2 times the number of targets."""
        return 2 + 2 * target.n_outputs

    def row_statistics(self, observations: Observations) -> Floats:
        """Return each row's weight, and, times it, exposure, counts and their log probabilities at the prior mean."""
        y, e, w = observations.values, _exposure(observations)[:, None], observations.row_weights[:, None]
        at_prior_mean = log_poisson(y, self._values("prior_mean") * e)
        return np.hstack((w, w * e, w * np.stack((y, at_prior_mean), axis=-1).reshape(len(y), -1)))

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return the log marginal probability of counts with these statistics."""
        numbers = np.asarray(statistics, dtype=np.float64)
        total, at_prior_mean = numbers[..., 2::2], numbers[..., 3::2]
        a, (shape, rate) = self._values("shape"), self._posterior(numbers)
        deviance = half_deviance(shape, self._values("prior_mean") * rate)
        gammas = stirling_error(shape) - stirling_error(a) - np.log1p(total / a) / 2
        return np.asarray((deviance + gammas + at_prior_mean).sum(axis=-1))

    def mean(self, statistics: ArrayLike) -> Floats:
        """Return the mean rate of each target, per unit of exposure."""
        shape, rate = self._posterior(statistics)
        return np.asarray(shape / rate)

    def describe_distance(self, distance: float) -> str:
        """Return a sentence that says by how much predictions change."""
        return f"predictions by about {distance:.2g} standard deviations of a count with the mean rate"

    def information_per_row(self, statistics: ArrayLike) -> Floats:
        """Return the mean exposure of the rows: a rate that is observed over e has the noise variance v / e."""
        return np.asarray(statistics, dtype=np.float64)[..., 1] / self.n_rows(statistics)

    def expected(self, means: Floats, row_columns: RowColumns) -> Floats:
        """Return the expected counts: rate times exposure."""
        return means * EXPOSURE.values(row_columns)[..., None]

    def mean_words(self, given: Collection[str]) -> MeanWords:
        """Return that the mean is a rate, if the counts had an exposure."""
        if EXPOSURE.name not in given:
            return MeanWords()
        scored = " of counts, predicted as rate times exposure"
        return MeanWords("rate", " per unit of exposure", " over an exposure of 1", "count", scored)

    def parameter_distributions(self, statistics: Floats, output: int) -> Gamma:
        """Return the distributions of the rate of a target."""
        shape, rate = self._posterior(statistics)
        return Gamma(shape[..., output], rate[..., output])

    def predictive_distributions(
        self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS
    ) -> NegativeBinomial:
        """Return the distributions of a new count over an exposure."""
        shape, rate = (part[..., output] for part in self._posterior(statistics))
        return NegativeBinomial(shape, rate / EXPOSURE.values(row_columns))

    def faults(self, statistics: Floats) -> Faults:
        """Yield the rules that the number of rows is in range, the exposure positive and no count negative."""
        yield from rows_faults(statistics)
        yield broken(~(statistics[:, 1:2] > 0)), "the exposure of a block must be above 0"
        yield broken(~(statistics[:, 2::2] >= 0)), "counts must be at least 0"

    def draw(self, n_rows: int, target: Target, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a rate from the prior, and counts over an exposure of 1 given it."""
        m, a = self.kernel_parameters(target).reshape(-1, 2).T
        rate = m * (rng.standard_gamma(a) / a)
        return rng.poisson(rate, size=(n_rows, m.size)).astype(np.float64)

    def draw_observations(
        self,
        statistics: Floats,
        leaf_of: NDArray[np.int64],
        output: int,
        rng: np.random.Generator,
        row_columns: RowColumns = NO_COLUMNS,
    ) -> Floats:
        """Draw a rate for each leaf, and counts over the exposures given it."""
        rate = self.parameter_distributions(statistics, output).draw(rng)
        return np.asarray(rng.poisson(rate[leaf_of] * EXPOSURE.values(row_columns)), dtype=np.float64)

    def _prior_rate(self) -> Floats:
        """Return b, the strength of the prior as an exposure."""
        return self._values("shape") / self._values("prior_mean")

    def _posterior(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        """Return the shape and the rate parameter of the rate's distribution, with an axis for the targets."""
        numbers = np.asarray(statistics, dtype=np.float64)
        shape = self._values("shape") + numbers[..., 2::2]
        return shape, np.broadcast_to(self._prior_rate() + numbers[..., 1:2], shape.shape)

    def _unit(self) -> Floats:
        return np.ones(1)

    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        shape, rate = self._posterior(statistics)
        return shape / rate, shape / rate**2

    def _describe_data(self, statistics: Floats, target: Target) -> str:
        totals = for_each_target([f"total {format_count(total)}" for total in statistics[2::2].tolist()], target, " ")
        n, exposure = statistics[:2].tolist()
        return totals if n == exposure else f"{totals}, exposure {format_count(exposure)}"


def _exposure(observations: Observations) -> Floats:
    """Return the exposure of each row."""
    return np.full(observations.n_rows, EXPOSURE.values(observations.row_columns))


def _overall_rate(observations: Observations) -> Floats:
    """Return the total count per unit of exposure of each target."""
    w = observations.row_weights
    total = weighted_sums(w, observations.values)
    return np.where(total > 0, total, LEAST_COUNT) / float(weighted_sums(w, _exposure(observations)))
