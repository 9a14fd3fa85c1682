"""Mixtures over leaves of every leaf model of numbers: against plain sums of SciPy's, and by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

from model.scipy_distributions import log_density, to_scipy
from particletree._model.distributions import Distributions
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Categorical, Exponential, Gaussian, GaussianKnownVariance, Poisson
from particletree._model.target import Numbers, Observations
from particletree._posterior.predictions.leaf_mixtures import (
    LeafMixtures,
    mixture_mean,
    parameter_interval,
    predictive_log_density,
    predictive_quantiles,
)

Floats = NDArray[np.float64]

LEAVES = {
    "gaussian": Gaussian([5.0, 50.0], 0.25, [2.0, 20.0], 3.0),
    "gaussian_known_variance": GaussianKnownVariance([5.0, 50.0], [3.0, 30.0], [2.0, 20.0]),
    "poisson": Poisson([5.0, 50.0], 1.0),
    "exponential": Exponential([5.0, 50.0], 2.5),
}


@pytest.fixture(params=LEAVES)
def leaf(request: pytest.FixtureRequest) -> LeafModel:
    return LEAVES[request.param]


def make_mixtures(leaf: LeafModel, n_kinds: int = 6, width: int = 5, seed: int = 0) -> LeafMixtures:
    """Make leaves with 1 to 20 rows each, and mixtures of some of these, padded."""
    rng = np.random.default_rng(seed)
    statistics = []
    for _ in range(12):
        n = int(rng.integers(1, 20))
        y = rng.poisson(rng.uniform(1, 12), (n, 2)) * [1.0, 10.0]
        observations = Observations(Numbers(2), y, None, columns(leaf, rng.uniform(0.5, 2.0, n)))
        statistics.append(leaf.row_statistics(observations).sum(axis=0))
    weights = rng.dirichlet(np.full(width, 0.7), n_kinds)
    weights[0, 2:] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    return LeafMixtures(weights, rng.integers(0, 12, (n_kinds, width)), np.array(statistics))


def columns(leaf: LeafModel, numbers: Any) -> dict[str, Any]:
    """Return numbers as the row columns that a leaf model declares."""
    return {column.name: np.asarray(numbers) for column in leaf.declared_columns}


def distributions_of_row(
    mixtures: LeafMixtures, leaf: LeafModel, kind: int, output: int, e: float | None = None
) -> Distributions:
    statistics = mixtures.statistics[mixtures.blocks[kind]]
    return leaf.predictive_distributions(
        statistics, output, {} if e is None else columns(leaf, np.full(len(statistics), e))
    )


def plain_quantile(weights: Floats, distributions: Distributions, q: float) -> float:
    """Return a quantile by halving a bracket on the plain sum of SciPy's cdfs; of counts, by counting up."""
    theirs = to_scipy(distributions)
    if distributions.is_discrete:
        return float(np.argmax(theirs.cdf(np.arange(4000)[:, None]) @ weights >= q))
    low, high = -1e5, 1e5
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if float(weights @ theirs.cdf(middle)) >= q else (middle, high)
    return high


class TestParameterInterval:
    @pytest.mark.parametrize("level", [0.5, 0.9])
    def test_agrees_with_bisection(self, leaf: LeafModel, level: float) -> None:
        mixtures = make_mixtures(leaf)
        interval = parameter_interval(mixtures, leaf, level)
        assert interval.shape == (6, 2, 2)
        for kind in range(6):
            for output in range(2):
                distributions = leaf.parameter_distributions(mixtures.statistics[mixtures.blocks[kind]], output)
                for end, q in enumerate(((1 - level) / 2, (1 + level) / 2)):
                    expected = plain_quantile(mixtures.weights[kind], distributions, q)
                    assert interval[kind, output, end] == pytest.approx(expected, rel=1e-8)

    def test_holds_the_mean(self, leaf: LeafModel) -> None:
        mixtures = make_mixtures(leaf)
        interval, mean = parameter_interval(mixtures, leaf, 0.99), mixture_mean(mixtures, leaf)
        assert ((interval[..., 0] < mean) & (mean < interval[..., 1])).all()

    def test_a_single_target_of_two_outputs_is_not_mirrored(self) -> None:
        leaf = LEAVES["gaussian"]
        interval = parameter_interval(make_mixtures(leaf), leaf, 0.9)
        assert (interval[:, 1, 0] > 1).all()


class TestPredictiveQuantiles:
    Q = (0.05, 0.5, 0.95)

    def test_agree_with_bisection(self, leaf: LeafModel) -> None:
        mixtures = make_mixtures(leaf)
        quantiles = predictive_quantiles(mixtures, leaf, self.Q)
        assert quantiles.shape == (6, 2, 3)
        for kind in range(6):
            for output in range(2):
                distributions = distributions_of_row(mixtures, leaf, kind, output)
                expected = [plain_quantile(mixtures.weights[kind], distributions, q) for q in self.Q]
                assert quantiles[kind, output] == pytest.approx(expected, rel=1e-8)

    def test_each_row_has_its_exposure(self) -> None:
        leaf = LEAVES["poisson"]
        mixtures = make_mixtures(leaf)._replace(kind=np.array([3, 0, 3, 3]))
        exposure = np.array([0.5, 2.0, 7.0, 0.5])
        quantiles = predictive_quantiles(mixtures, leaf, self.Q, {"exposure": exposure})
        assert quantiles.shape == (4, 2, 3)
        for row, kind in enumerate((3, 0, 3, 3)):
            distributions = distributions_of_row(mixtures, leaf, kind, 0, exposure[row])
            expected = [plain_quantile(mixtures.weights[kind], distributions, q) for q in self.Q]
            assert quantiles[row, 0].tolist() == expected

    def test_an_exposure_of_one_is_none(self) -> None:
        leaf = LEAVES["poisson"]
        mixtures = make_mixtures(leaf)
        with_one = predictive_quantiles(mixtures, leaf, self.Q, {"exposure": np.ones(6)})
        assert np.array_equal(with_one, predictive_quantiles(mixtures, leaf, self.Q))

    def test_pieces_change_nothing(self, leaf: LeafModel, monkeypatch: pytest.MonkeyPatch) -> None:
        mixtures, y = make_mixtures(leaf), np.full((6, 2), 3.0)
        exposure = columns(leaf, np.linspace(0.5, 2, 6))
        whole = predictive_quantiles(mixtures, leaf, self.Q, exposure)
        densities = predictive_log_density(mixtures, leaf, y, exposure)
        monkeypatch.setattr("particletree._posterior.predictions.leaf_mixtures.COMPONENTS", 1)
        assert np.array_equal(predictive_quantiles(mixtures, leaf, self.Q, exposure), whole)
        assert np.array_equal(predictive_log_density(mixtures, leaf, y, exposure), densities)

    def test_impossible_probabilities_are_refused(self, leaf: LeafModel) -> None:
        with pytest.raises(ValueError, match="above 0 and below 1"):
            predictive_quantiles(make_mixtures(leaf), leaf, [0.5, 1.0])

    def test_classes_have_none(self) -> None:
        mixtures = LeafMixtures(np.ones((1, 1)), np.zeros((1, 1), dtype=int), np.ones((1, 3)))
        with pytest.raises(TypeError, match="predicts classes"):
            predictive_quantiles(mixtures, Categorical.paper(), [0.5])


class TestPredictiveLogDensity:
    def test_the_product_over_targets_stands_inside_the_sum(self, leaf: LeafModel) -> None:
        kinds = np.array([2, 0, 5, 2])
        mixtures = make_mixtures(leaf)._replace(kind=kinds)
        y = np.array([[3.0, 40.0], [7.0, 100.0], [0.0, 0.0], [900.0, 5.0]])
        exposure = np.array([0.5, 1.0, 2.0, 3.0])
        ours = predictive_log_density(mixtures, leaf, y, columns(leaf, exposure))
        for row, kind in enumerate(kinds):
            terms = sum(
                log_density(distributions_of_row(mixtures, leaf, kind, k, exposure[row]), y[row, k]) for k in range(2)
            )
            assert ours[row] == pytest.approx(logsumexp(terms, b=mixtures.weights[kind]), rel=1e-9)

    def test_far_away_it_is_small_and_finite(self) -> None:
        leaf = LEAVES["gaussian_known_variance"]
        density = predictive_log_density(make_mixtures(leaf), leaf, np.full((6, 2), 1e9))
        assert np.isfinite(density).all()
        assert (density < -1e10).all()

    def test_what_cannot_be_has_density_zero(self) -> None:
        leaf = LEAVES["poisson"]
        assert predictive_log_density(make_mixtures(leaf), leaf, np.full((6, 2), 0.5)).tolist() == [-np.inf] * 6


def test_no_rows() -> None:
    leaf = LEAVES["gaussian"]
    empty = LeafMixtures(np.zeros((0, 2)), np.zeros((0, 2), dtype=int), np.ones((3, 5)))
    assert parameter_interval(empty, leaf, 0.9).shape == (0, 2, 2)
    assert predictive_quantiles(empty, leaf, [0.5]).shape == (0, 2, 1)
    assert predictive_log_density(empty, leaf, np.zeros((0, 2))).shape == (0,)
