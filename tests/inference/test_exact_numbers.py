"""The exact recursion for numbers: against the oracle that lists all trees and integrates leaves on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from number_oracle import (
    LARGER,
    SMALL,
    NumberData,
    NumberEnumeration,
    case_name,
)
from particletree import Exact, Flat, TreePrior
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.exact.sampler import ExactPosterior
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Exponential, Gaussian, GaussianKnownVariance, Poisson
from particletree._model.leaves.gaussian import LOG_TWO_PI
from particletree._model.row_columns import NO_COLUMNS, RowColumns

Floats = NDArray[np.float64]
Case = tuple[LeafModel, NumberData]

PRIOR = TreePrior(alpha=0.9, beta=0.7)
ACCURACY = 1e-7  # of the oracle's grids, where the tails of a variance are the worst
Q = (0.05, 0.5, 0.9)


@cache
def listed(data: NumberData, leaf_text: str) -> NumberEnumeration:
    leaf = next(leaf for leaf, one in SMALL if one is data)
    assert repr(leaf) == leaf_text
    return NumberEnumeration(data, PRIOR, leaf)


def enumeration(case: Case) -> NumberEnumeration:
    leaf, data = case
    return listed(data, repr(leaf))


def solve(case: Case) -> ExactPosterior:
    leaf, data = case
    posterior = Exact(n_draws=3).run(data.training_data(), PRIOR, leaf, seed=np.random.SeedSequence(0))
    assert isinstance(posterior, ExactPosterior)
    return posterior


@pytest.fixture(params=SMALL, ids=case_name)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


# What is compared; the planted errors below go through the same comparisons.


def check_evidence(case: Case, posterior: ExactPosterior) -> None:
    assert posterior.log_evidence == pytest.approx(enumeration(case).log_evidence, abs=1e-8), "log evidence"


def check_moments(case: Case, posterior: ExactPosterior) -> None:
    points = case[1].points()
    found = (posterior.predictive(points), *posterior.predictions.variances(points))
    for i, x in enumerate(points):
        expected = enumeration(case).mixture(x).moments()
        for what, ours, theirs in zip(("mean", "noise", "leaf parameters", "trees"), found, expected, strict=True):
            assert ours[i] == pytest.approx(theirs, rel=ACCURACY), what


def check_distribution(case: Case, posterior: ExactPosterior) -> None:
    leaf, data = case
    points = data.points()[::3]
    exposure = None if data.exposure is None else np.linspace(0.5, 3.0, len(points))
    columns = {} if exposure is None else {"exposure": exposure}
    y = data.y[1 : 1 + len(points)]
    log_densities = posterior.predictions.log_densities(points, y, columns)
    quantiles = posterior.predictions.quantiles(points, Q, columns)
    for i, x in enumerate(points):
        mixture, e = enumeration(case).mixture(x), 1.0 if exposure is None else float(exposure[i])
        assert log_densities[i] == pytest.approx(math.log(mixture.density(y[i], e)), abs=ACCURACY), "log density"
        for k, found in enumerate(quantiles[i]):
            below = mixture.cdf(found, k, e)
            if leaf.kernel_name == "poisson":
                assert (mixture.cdf(found - 1, k, e) < Q).all(), "quantile of counts"
                assert (below >= Q).all(), "quantile of counts"
            else:
                assert below == pytest.approx(np.array(Q), abs=ACCURACY), "quantile"


class TestAgainstTheListOfAllTrees:
    def test_evidence(self, case: Case) -> None:
        check_evidence(case, solve(case))

    def test_number_of_leaves(self, case: Case) -> None:
        expected, found = enumeration(case).n_leaves_probabilities(), solve(case).recursion.n_leaves_probabilities()
        np.testing.assert_allclose(found[: len(expected)], expected, atol=1e-9)

    def test_mean_and_parts_of_the_variance(self, case: Case) -> None:
        check_moments(case, solve(case))

    def test_density_and_quantiles(self, case: Case) -> None:
        check_distribution(case, solve(case))


# Planted errors, one formula at a time: the comparisons above must find each.


class GaussianCountsOneTooMany(Gaussian):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        more = np.array(statistics, dtype=float)
        more[..., 0] += 1
        return super().log_marginal(more)


class GaussianWithoutTheStrengthOfTheMean(Gaussian):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        n, k = self.n_rows(statistics), self._values("mean_strength")[0]
        return super().log_marginal(statistics) - np.log(k / (k + n)) / 2


class GaussianWithoutTheUnit(Gaussian):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        return super().log_marginal(statistics) + self.n_rows(statistics) * np.log(self._values("noise_sd")[0])


class GaussianAroundTheRowsAlone(Gaussian):
    def mean(self, statistics: ArrayLike) -> Floats:
        n, s1, _ = self._moments(statistics)
        return np.asarray(self._values("prior_mean") + self._values("noise_sd") * s1 / n)


class GaussianOneDegreeShort(Gaussian):
    def _unit_variances(self, statistics: Floats) -> tuple[Floats, Floats]:
        a_n, b_n, size = self._posterior(statistics)
        return b_n / (a_n - 0.5), b_n / (a_n - 0.5) / size


class GaussianThatForgetsTheNoise(Gaussian):
    def predictive_distributions(self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS) -> Any:
        return self._distributions(statistics, output, 0.0)


class KnownVarianceWithoutTheDeterminant(GaussianKnownVariance):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        tau = self._values("mean_sd")[0] / self._values("noise_sd")[0]
        return super().log_marginal(statistics) + np.log1p(self.n_rows(statistics) * tau**2) / 2


class KnownVarianceWithoutTwoPi(GaussianKnownVariance):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        return super().log_marginal(statistics) + self.n_rows(statistics) * LOG_TWO_PI / 2


class KnownVarianceOneRowTooMany(GaussianKnownVariance):
    def _precision(self, statistics: ArrayLike) -> Floats:
        return super()._precision(statistics) + 1


class KnownVarianceWithoutNoise(GaussianKnownVariance):
    def predictive_distributions(self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS) -> Any:
        return self._distributions(statistics, output, 0.0)


class PoissonWithoutConstants(Poisson):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        return super().log_marginal(statistics) - np.asarray(statistics)[..., 3]


class PoissonThatCountsRowsForExposure(Poisson):
    def _posterior(self, statistics: ArrayLike) -> tuple[Floats, Floats]:
        rows = np.array(statistics, dtype=float)
        rows[..., 1] = rows[..., 0]
        return super()._posterior(rows)


class PoissonWithoutTheGammaOfThePrior(Poisson):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        return super().log_marginal(statistics) + gammaln(self._values("shape")[0])


class PoissonThatIgnoresTheExposureToCome(Poisson):
    def predictive_distributions(self, statistics: Floats, output: int, row_columns: RowColumns = NO_COLUMNS) -> Any:
        return super().predictive_distributions(statistics, output)


class ExponentialOneRowTooMany(Exponential):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        more = np.array(statistics, dtype=float)
        more[..., 0] += 1
        return super().log_marginal(more)


class ExponentialWithoutTheUnit(Exponential):
    def log_marginal(self, statistics: ArrayLike) -> Floats:
        return super().log_marginal(statistics) + self.n_rows(statistics) * np.log(self._unit()[0])


class ExponentialWithTheMeanOfTheRate(Exponential):
    def mean(self, statistics: ArrayLike) -> Floats:
        shape, total = self._posterior(statistics)
        return np.asarray(self._unit() * total / shape)


Check = Callable[[Case, ExactPosterior], None]
PLANTED: list[tuple[type[LeafModel], Check, str]] = [
    (GaussianCountsOneTooMany, check_evidence, "log evidence"),
    (GaussianWithoutTheStrengthOfTheMean, check_evidence, "log evidence"),
    (GaussianWithoutTheUnit, check_evidence, "log evidence"),
    (GaussianAroundTheRowsAlone, check_moments, "mean"),
    (GaussianOneDegreeShort, check_moments, "noise"),
    (GaussianThatForgetsTheNoise, check_distribution, "log density"),
    (KnownVarianceWithoutTheDeterminant, check_evidence, "log evidence"),
    (KnownVarianceWithoutTwoPi, check_evidence, "log evidence"),
    (KnownVarianceOneRowTooMany, check_moments, "mean"),
    (KnownVarianceWithoutNoise, check_distribution, "log density"),
    (PoissonWithoutConstants, check_evidence, "log evidence"),
    (PoissonThatCountsRowsForExposure, check_evidence, "log evidence"),
    (PoissonThatCountsRowsForExposure, check_moments, "mean"),
    (PoissonWithoutTheGammaOfThePrior, check_evidence, "log evidence"),
    (PoissonThatIgnoresTheExposureToCome, check_distribution, "log density"),
    (ExponentialOneRowTooMany, check_evidence, "log evidence"),
    (ExponentialWithoutTheUnit, check_evidence, "log evidence"),
    (ExponentialWithTheMeanOfTheRate, check_moments, "mean"),
]


@pytest.mark.parametrize(("wrong", "check", "what"), PLANTED, ids=lambda part: getattr(part, "__name__", None))
def test_a_planted_error_is_found(wrong: type[LeafModel], check: Check, what: str) -> None:
    right = wrong.__mro__[1]
    wanted = "counts with exposure" if right is Poisson else None
    leaf, data = next(case for case in SMALL if type(case[0]) is right and wanted in (None, str(case[1])))
    check((leaf, data), solve((leaf, data)))
    with np.errstate(divide="ignore", invalid="ignore"):
        planted = solve((wrong(**leaf.get_params()), data))
    with pytest.raises(AssertionError, match=what):
        check((leaf, data), planted)


# A likelihood that does not depend on the partition returns the prior.

FLAT: list[Case] = [
    (Gaussian(3.5, mean_strength=1e12, noise_sd=1.1, noise_df=1e8), LARGER[0][1]),
    (GaussianKnownVariance(3.5, mean_sd=1e-9, noise_sd=0.8), LARGER[1][1]),
    (Poisson(1.8, shape=1e8), LARGER[2][1]),
    (Poisson(1.8, shape=1e8), LARGER[3][1]),
    (Exponential(1.9, shape=1e8), LARGER[4][1]),
]


@pytest.mark.parametrize("case", FLAT, ids=case_name)
def test_a_flat_likelihood_returns_the_prior(case: Case) -> None:
    leaf, data = case
    labels = np.arange(len(data.X)) % 2
    prior = ExactRecursion(make_training_data(data.X, labels, 2), PRIOR, Flat())
    found = ExactRecursion(data.training_data(), PRIOR, leaf)
    np.testing.assert_allclose(found.n_leaves_probabilities(), prior.n_leaves_probabilities(), atol=2e-6)
    np.testing.assert_allclose(found.depth_probabilities(), prior.depth_probabilities(), atol=2e-6)


@pytest.mark.parametrize(("case", "flat"), zip(LARGER, FLAT, strict=True), ids=case_name)
def test_data_that_tell_something_do_not(case: Case, flat: Case) -> None:
    leaf, data = case
    sizes = [ExactRecursion(data.training_data(), PRIOR, one).n_leaves_probabilities() for one in (leaf, flat[0])]
    assert np.abs(sizes[0] - sizes[1]).max() > 0.02
