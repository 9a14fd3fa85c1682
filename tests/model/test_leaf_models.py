"""What every leaf model promises, and the formulas of each against exact arithmetic.

The classes TestEveryLeafModel and TestEveryLeafModelOfNumbers hold for leaf models from outside the package too: a test
module that imports them runs them on the leaf models of its own fixtures `model` and `number_model`
(tests/extension/test_bernoulli.py).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from model.scipy_distributions import to_scipy
from particletree._model.distributions import Distributions
from particletree._model.leaf import LeafModel
from particletree._model.leaves import (
    LEAF_MODELS,
    Categorical,
    Exponential,
    Flat,
    Gaussian,
    GaussianKnownVariance,
    Poisson,
)
from particletree._model.leaves.numbers import format_with_spread, sample_mean_and_sd
from particletree._model.row_columns import select_rows
from particletree._model.target import ClassLabels, Numbers, Observations

OF_NUMBERS = [model for model in LEAF_MODELS if model.target_type is Numbers]


def observe(
    model: type[LeafModel], n: int = 30, n_targets: int = 2, seed: int = 0, weighted: bool = True
) -> Observations:
    """Make observations that the leaf model allows."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 3.0, n) if weighted else None
    if model.target_type is ClassLabels:
        return Observations(ClassLabels(np.arange(3)), np.sort(rng.integers(0, 3, n)).astype(np.int32), weights)
    real = np.abs(rng.normal(5, 2, (n, n_targets)) * [1.0, 100.0, 0.01][:n_targets])
    counts = rng.poisson(3, (n, n_targets)).astype(float)
    zeros_and_ones = rng.integers(0, 2, (n, n_targets)).astype(float)
    columns = allowed_columns(model, n, rng)
    candidates = (Observations(Numbers(n_targets), y, weights, columns) for y in (real, counts, zeros_and_ones))
    return next(observations for observations in candidates if is_allowed(model, observations))


def allowed_columns(model: type[LeafModel], n: int, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Make the row columns that the leaf model declares: numbers, or zeros and ones, whichever it allows."""
    made = (
        (column.name, (rng.uniform(0.5, 2.0, n), rng.integers(0, 2, n).astype(float)), column.is_wrong)
        for column in model.declared_columns
    )
    return {name: next(c for c in candidates if not is_wrong(c).any()) for name, candidates, is_wrong in made}


def is_allowed(model: type[LeafModel], observations: Observations) -> bool:
    try:
        model().check_observations(observations)
    except ValueError:
        return False
    return True


def rows_of(observations: Observations, rows: Any) -> Observations:
    def take(values: NDArray[Any] | None) -> NDArray[Any] | None:
        return None if values is None else values[rows]

    values = observations.values[rows]
    return Observations(
        observations.target, values, take(observations.weights), select_rows(observations.row_columns, rows)
    )


def statistics_of(leaf: LeafModel, observations: Observations) -> NDArray[np.float64]:
    return np.asarray(leaf.row_statistics(observations).sum(axis=0))


def resolved(model: type[LeafModel], observations: Observations) -> LeafModel:
    leaf: LeafModel = model().completed(Categorical.paper()).resolve(observations)
    return leaf


@pytest.fixture(params=LEAF_MODELS, ids=lambda model: model.__name__)
def model(request: pytest.FixtureRequest) -> type[LeafModel]:
    leaf_model: type[LeafModel] = request.param
    return leaf_model


@pytest.fixture(params=OF_NUMBERS, ids=lambda model: model.__name__)
def number_model(request: pytest.FixtureRequest) -> type[LeafModel]:
    leaf_model: type[LeafModel] = request.param
    return leaf_model


class TestEveryLeafModel:
    def test_statistics_have_the_promised_number_and_count_the_rows(self, model: type[LeafModel]) -> None:
        observations = observe(model)
        leaf = resolved(model, observations)
        statistics = leaf.row_statistics(observations)
        assert statistics.shape == (observations.n_rows, leaf.n_statistics(observations.target))
        assert leaf.n_rows(statistics) == pytest.approx(observations.row_weights)
        assert leaf.n_rows(statistics.sum(axis=0)) == pytest.approx(observations.row_weights.sum())

    def test_a_weight_counts_a_row_so_many_times(self, model: type[LeafModel]) -> None:
        observations = observe(model, n=6, weighted=False)
        leaf, copies = resolved(model, observations), np.array([1, 2, 3, 1, 5, 2])
        repeated = rows_of(observations, np.repeat(np.arange(6), copies))
        weighted = Observations(
            observations.target, observations.values, copies.astype(float), observations.row_columns
        )
        assert statistics_of(leaf, weighted) == pytest.approx(statistics_of(leaf, repeated))

    def test_is_vectorised_over_leading_axes(self, model: type[LeafModel]) -> None:
        observations = observe(model, n=24)
        leaf = resolved(model, observations)
        grid = leaf.row_statistics(observations).reshape(2, 3, 4, -1).sum(axis=2)
        n_outputs = observations.target.n_outputs
        assert leaf.log_marginal(grid).shape == (2, 3)
        assert leaf.mean(grid).shape == (2, 3, n_outputs)
        assert leaf.log_marginal(grid)[1, 2] == pytest.approx(float(leaf.log_marginal(grid[1, 2])))
        assert leaf.mean(grid)[1, 2] == pytest.approx(leaf.mean(grid[1, 2]))

    def test_the_distribution_of_the_parameter_has_the_mean(self, model: type[LeafModel]) -> None:
        observations = observe(model)
        leaf = resolved(model, observations)
        statistics = leaf.row_statistics(observations).reshape(5, 6, -1).sum(axis=1)
        for output in range(observations.target.n_outputs):
            distribution = to_scipy(leaf.parameter_distributions(statistics, output))
            assert distribution.mean() == pytest.approx(leaf.mean(statistics)[:, output], rel=1e-9)

    def test_good_statistics_have_no_faults(self, model: type[LeafModel]) -> None:
        observations = observe(model)
        leaf = resolved(model, observations)
        assert not any(mask.any() for mask, _ in leaf.faults(leaf.row_statistics(observations)))

    def test_bad_statistics_have_faults(self, model: type[LeafModel]) -> None:
        observations = observe(model, n=4)
        leaf = resolved(model, observations)
        statistics = leaf.row_statistics(observations)
        statistics[0, -1], statistics[1], statistics[2, 0] = np.nan, 0.0, 1e13
        broken = np.any([mask for mask, _ in leaf.faults(statistics)], axis=0)
        assert broken.tolist() == [True, True, True, False]

    def test_words_fill_one_line(self, model: type[LeafModel]) -> None:
        for n_targets in (1, 2, 3):
            observations = observe(model, n_targets=n_targets)
            leaf = resolved(model, observations)
            statistics = statistics_of(leaf, observations)
            for text in (
                leaf.describe_prediction(statistics, observations.target),
                leaf.describe_rows(statistics, observations.target),
            ):
                assert text
                assert "\n" not in text
                assert "nan" not in text

    def test_clones(self, model: type[LeafModel]) -> None:
        leaf = resolved(model, observe(model))
        assert clone(leaf) == leaf
        assert clone(model()) == model()

    def test_kernel_parameters_are_finite(self, model: type[LeafModel]) -> None:
        observations = observe(model)
        leaf = resolved(model, observations)
        assert np.isfinite(leaf.kernel_parameters(observations.target)).all()


class TestEveryLeafModelOfNumbers:
    @pytest.mark.parametrize("n_targets", [1, 3])
    def test_the_marginal_is_the_product_of_predictions(self, number_model: type[LeafModel], n_targets: int) -> None:
        observations = observe(number_model, n=25, n_targets=n_targets, weighted=False)
        leaf = resolved(number_model, observations)
        rows = leaf.row_statistics(observations)
        before = np.cumsum(rows, axis=0) - rows
        before[0] = 0
        log_densities = sum(
            leaf.predictive_distributions(before, k, observations.row_columns).log_density(observations.values[:, k])
            for k in range(n_targets)
        )
        ahead = np.cumsum(log_densities)
        assert leaf.log_marginal(np.cumsum(rows, axis=0)) == pytest.approx(ahead, rel=1e-9, abs=1e-9)

    def test_no_rows_have_marginal_one(self, number_model: type[LeafModel]) -> None:
        observations = observe(number_model)
        leaf = resolved(number_model, observations)
        nothing = np.zeros(leaf.n_statistics(observations.target))
        assert float(leaf.log_marginal(nothing)) == pytest.approx(0, abs=1e-12)

    def test_the_predictive_distribution_has_the_mean_and_the_variances(self, number_model: type[LeafModel]) -> None:
        observations = observe(number_model)
        leaf = resolved(number_model, observations)
        statistics = leaf.row_statistics(observations).reshape(5, 6, -1).sum(axis=1)
        noise, parameter = leaf.variances(statistics)
        for output in range(2):
            distribution = to_scipy(leaf.predictive_distributions(statistics, output))
            assert distribution.mean() == pytest.approx(leaf.mean(statistics)[:, output], rel=1e-9)
            assert distribution.var() == pytest.approx((noise + parameter)[:, output], rel=1e-9)
            of_mean = to_scipy(leaf.parameter_distributions(statistics, output))
            assert of_mean.var() == pytest.approx(parameter[:, output], rel=1e-9)

    def test_draws_follow_the_prior_predictive_distribution(self, number_model: type[LeafModel]) -> None:
        leaf, rng = resolved(number_model, observe(number_model)), np.random.default_rng(5)
        target, n = Numbers(2), 2000
        draws = np.array([leaf.draw(1, target, rng)[0] for _ in range(n)])
        for output in range(2):
            distribution: Distributions = leaf.predictive_distributions(
                np.zeros((1, leaf.n_statistics(target))), output
            )
            for q in (0.1, 0.5, 0.9):
                point = distribution.quantile(q)
                expected = float(distribution.cdf(point)[0])  # of a discrete distribution it may be 1
                error = (draws[:, output] <= point).mean() - expected
                assert abs(error) <= 4 * np.sqrt(expected * (1 - expected) / n)

    def test_rows_of_one_draw_share_a_parameter(self, number_model: type[LeafModel]) -> None:
        leaf, rng = resolved(number_model, observe(number_model)), np.random.default_rng(6)
        draws = np.array([np.log1p(np.abs(leaf.draw(40, Numbers(2), rng)[:, 0])) for _ in range(100)])
        assert draws.mean(axis=1).var() > 3 * draws.var(axis=1).mean() / 40

    def test_observations_of_one_leaf_share_its_parameter(self, number_model: type[LeafModel]) -> None:
        """Each follows the predictive distribution; two of the same leaf differ by their noise alone."""
        observations, rng, n = observe(number_model), np.random.default_rng(7), 4000
        leaf = resolved(number_model, observations)
        statistics = leaf.row_statistics(observations)[:12].sum(axis=0)[None]
        noise, _ = leaf.variances(statistics)
        for output in range(2):
            leaf_of = np.repeat(np.arange(n), 2)
            pairs = leaf.draw_observations(np.repeat(statistics, n, axis=0), leaf_of, output, rng).reshape(n, 2)
            distribution: Distributions = leaf.predictive_distributions(statistics, output)
            for q in (0.1, 0.5, 0.9):
                point = distribution.quantile(q)
                expected = float(distribution.cdf(point)[0])  # of a discrete distribution it may be 1
                error = (pairs <= point).mean(axis=0) - expected
                assert (np.abs(error) <= 4 * np.sqrt(expected * (1 - expected) / n)).all()
            squares = np.square(pairs[:, 0] - pairs[:, 1]) / 2
            assert abs(squares.mean() - noise[0, output]) < 4 * squares.std() / np.sqrt(n)

    def test_resolving_fills_every_parameter(self, number_model: type[LeafModel]) -> None:
        for n_targets in (1, 3):
            leaf = resolved(number_model, observe(number_model, n_targets=n_targets))
            for field in fields(leaf):
                value = getattr(leaf, field.name)
                assert isinstance(value, float) if n_targets == 1 else len(value) == 3
                assert np.isfinite(value).all()

    def test_what_is_given_is_kept(self, number_model: type[LeafModel]) -> None:
        names = [field.name for field in fields(number_model)]
        leaf = number_model(**{names[0]: 7.0, names[1]: [1.5, 2.5]}).resolve(observe(number_model))
        assert getattr(leaf, names[0]) == (7.0, 7.0)
        assert getattr(leaf, names[1]) == (1.5, 2.5)

    def test_a_wrong_number_of_values_is_refused(self, number_model: type[LeafModel]) -> None:
        for name in number_model().get_params():
            leaf = number_model(**{name: (1.0, 2.0, 3.0)})
            with pytest.raises(ValueError, match=rf"{name} has 3 values, but there are 2 targets"):
                leaf.resolve(observe(number_model))

    @pytest.mark.parametrize("value", ["1", True, [], [1.0, None], np.ones(2)])
    def test_what_is_no_number_is_refused(self, number_model: type[LeafModel], value: Any) -> None:
        for name in number_model().get_params():
            with pytest.raises(TypeError, match=rf"{number_model.__name__}\.{name} must be a number"):
                number_model(**{name: value})

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, [1.0, np.nan]])
    def test_what_is_not_finite_is_refused(self, number_model: type[LeafModel], value: Any) -> None:
        for name in number_model().get_params():
            with pytest.raises(ValueError, match=rf"{number_model.__name__}\.{name} must be a number between"):
                number_model(**{name: value})

    def test_scales_are_positive(self, number_model: type[LeafModel]) -> None:
        for name in number_model().get_params().keys() - {"prior_mean"}:
            with pytest.raises(ValueError, match="must be a number between"):
                number_model(**{name: 0.0})

    def test_open_parameters_are_named(self, number_model: type[LeafModel]) -> None:
        leaf = number_model()
        for name in [name for name, value in leaf.get_params().items() if value is None][:1]:
            with pytest.raises(ValueError, match=rf"{name} is open \(None\)"):
                leaf.kernel_parameters(Numbers(1))

    @pytest.mark.parametrize("value", [0.0, 1.0])
    def test_a_constant_target_works(self, number_model: type[LeafModel], value: float) -> None:
        observations = Observations(Numbers(1), np.full((7, 1), value))
        leaf = resolved(number_model, observations)
        statistics = statistics_of(leaf, observations)
        assert np.isfinite(leaf.log_marginal(statistics))
        assert leaf.mean(statistics)[0] == pytest.approx(value, rel=0.4, abs=0.4)


class TestNumbersInAnyUnit:
    def test_a_constant_target_away_from_zero_and_one_works(self, number_model: type[LeafModel]) -> None:
        TestEveryLeafModelOfNumbers().test_a_constant_target_works(number_model, 4.0)

    @pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
    @pytest.mark.parametrize("model", [Gaussian, GaussianKnownVariance, Exponential])
    def test_the_unit_changes_nothing_but_the_unit(self, model: type[LeafModel], scale: float) -> None:
        plain = observe(model, n_targets=1)
        scaled = Observations(plain.target, plain.values * scale, plain.weights)
        ours, theirs = resolved(model, scaled), resolved(model, plain)
        a, b = statistics_of(ours, scaled), statistics_of(theirs, plain)
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9)
        density = float(ours.log_marginal(a)) + plain.row_weights.sum() * np.log(scale)
        assert density == pytest.approx(float(theirs.log_marginal(b)), rel=1e-9)
        assert ours.mean(a) / scale == pytest.approx(theirs.mean(b), rel=1e-9)
        assert "±" in ours.describe_prediction(a, plain.target)


class TestNormalNoise:
    @pytest.mark.parametrize("model", [Gaussian, GaussianKnownVariance])
    def test_an_offset_costs_no_digits(self, model: type[LeafModel]) -> None:
        plain = observe(model, n_targets=1)
        plain = Observations(plain.target, np.round(plain.values * 1024) / 1024, plain.weights)
        moved = Observations(plain.target, plain.values + 2.0**30, plain.weights)
        ours, theirs = resolved(model, moved), resolved(model, plain)
        a, b = float(ours.log_marginal(statistics_of(ours, moved))), statistics_of(theirs, plain)
        assert a == pytest.approx(float(theirs.log_marginal(b)), rel=1e-6)

    @pytest.mark.parametrize("model", [Gaussian, GaussianKnownVariance])
    def test_targets_out_of_reach_are_refused(self, model: type[LeafModel]) -> None:
        leaf = model(prior_mean=0.0, noise_sd=1e-200)  # type: ignore[call-arg]
        with pytest.raises(ValueError, match=r"1\.0 in row 1 \(counted from 0\) lies more than 1e\+150 times noise_sd"):
            leaf.check_observations(Observations(Numbers(1), np.array([[0.0], [1.0]])))
        model().check_observations(observe(model))

    @pytest.mark.parametrize("model", [Gaussian, GaussianKnownVariance])
    def test_impossible_moments_are_faults(self, model: type[LeafModel]) -> None:
        leaf = model(prior_mean=0.0)  # type: ignore[call-arg]
        statistics = np.array([[2.0, 0.0, -1.0], [2.0, 5.0, 1.0], [2.0, -2.0, 2.0], [1.0, 0.0, -1e-9]])
        assert np.any([mask for mask, _ in leaf.faults(statistics)], axis=0).tolist() == [True, True, False, False]

    def test_variances_may_be_infinite(self) -> None:
        leaf = Gaussian(prior_mean=0.0, mean_strength=1.0, noise_sd=1.0, noise_df=0.5)
        assert np.isinf(leaf.variances([1.0, 0.0, 0.0])).all()
        assert leaf.describe_prediction(np.array([1.0, 0.0, 0.0]), Numbers()) == "0"

    def test_words(self) -> None:
        leaf = Gaussian(prior_mean=[150.0, 70.0], mean_strength=0.25, noise_sd=[10.0, 5.0])
        statistics = np.array([50.0, 11.5, 60.0, 0.0, 50.0])
        target = Numbers(2, ("height", "weight"))
        assert leaf.describe_prediction(statistics, target) == "height: 152.3 ± 11.0; weight: 70.00 ± 5.15"
        assert (
            leaf.describe_rows(statistics, target) == "50 rows: height mean 152.3, sd 10.7; weight mean 70.00, sd 5.00"
        )
        many = Gaussian(prior_mean=0.0, mean_strength=1.0, noise_sd=1.0)
        text = many.describe_prediction(np.array([1.0, *[0.0, 1.0] * 5]), Numbers(5))
        assert text.startswith("target 0: 0.00 ± ")
        assert text.endswith("; 2 more targets")

    def test_the_prior_leaves_variance_to_explain(self) -> None:
        observations = observe(Gaussian, n_targets=1)
        mean, sd = sample_mean_and_sd(observations)
        leaf = Gaussian().resolve(observations)
        assert leaf.prior_mean == pytest.approx(float(mean[0]))
        assert leaf.noise_sd == pytest.approx(0.3 * float(sd[0]))
        assert float(np.asarray(leaf.noise_sd) / np.sqrt(leaf.mean_strength)) == pytest.approx(float(sd[0]))


class TestCountsAndTimes:
    @pytest.mark.parametrize("value", [-1.0, 0.5])
    def test_what_is_not_a_count_is_refused(self, value: float) -> None:
        observations = Observations(Numbers(2, ("cars", "bikes")), np.array([[0.0, 1.0], [1.0, value]]))
        with pytest.raises(ValueError, match=rf"The value {value} of bikes in row 1 \(counted from 0\) is not a count"):
            Poisson().check_observations(observations)

    def test_counts_that_floats_cannot_tell_apart_are_refused(self) -> None:
        """Up to 2^53 every whole number is a float."""
        Poisson().check_observations(Observations(Numbers(1), np.array([[1.0], [2.0**53]])))
        with pytest.raises(
            ValueError, match=r"in row 1 .* is too large for a count: .* up to 2\^53 = 9007199254740992"
        ):
            Poisson().check_observations(Observations(Numbers(1), np.array([[1.0], [2.0**53 + 2]])))

    @pytest.mark.parametrize("leaf", [Poisson(), Poisson(prior_mean=2.0)])
    @pytest.mark.parametrize("exposure", [[1.0, 1e-300], [1e-300, 1e-300], [1.0, 1e300], [5e-324, 1.0]])
    def test_an_exposure_out_of_range_is_refused_by_its_row(self, leaf: Poisson, exposure: list[float]) -> None:
        """The message speaks of the exposure, which the user gave, not of the prior mean that was derived from it."""
        observations = Observations(Numbers(1), np.array([[1.0], [3.0]]), row_columns={"exposure": np.array(exposure)})
        with pytest.raises(
            ValueError, match=r"^The exposure \S+ in row [01] \(counted from 0\) is out of range: with"
        ) as e:
            leaf.check_observations(observations)
        assert "prior_mean" not in str(e.value)

    def test_log_marginals_of_huge_counts(self) -> None:
        """At counts of 10^15 the terms of the textbook formula are 10^18, and their rounding errors hundreds."""
        mp = pytest.importorskip("mpmath")
        mp.mp.dps = 60
        for mean in (1e9, 1e12, 1e15):
            y = np.random.default_rng(0).poisson(mean, (100, 1)).astype(float)
            observations = Observations(Numbers(1), y)
            leaf = Poisson().resolve(observations)
            m, total = mp.mpf(leaf.prior_mean), mp.fsum(y.ravel().tolist())
            expected = mp.loggamma(1 + total) - mp.log(m) - (1 + total) * mp.log(1 / m + len(y))
            expected -= mp.fsum(mp.loggamma(mp.mpf(count) + 1) for count in y.ravel().tolist())
            ours = float(leaf.log_marginal(leaf.row_statistics(observations).sum(axis=0)))
            assert ours == pytest.approx(float(expected), abs=1e-6)

    @pytest.mark.parametrize(("mean", "tolerance"), [(1e9, 1e-5), (1e12, 0.02), (1e15, 20.0)])
    def test_the_stated_loss_where_huge_counts_differ(self, mean: float, tolerance: float) -> None:
        mp = pytest.importorskip("mpmath")
        mp.mp.dps = 60
        y = np.random.default_rng(0).poisson(mean * (1 + np.arange(100) % 2))[:, None].astype(float)
        observations = Observations(Numbers(1), y)
        leaf: Any = Poisson().resolve(observations)
        for part in (slice(None), slice(0, None, 2)):
            total = mp.fsum(y[part].ravel().tolist())
            expected = mp.loggamma(1 + total) - mp.log(leaf.prior_mean)
            expected -= (1 + total) * mp.log(1 / mp.mpf(leaf.prior_mean) + len(y[part]))
            expected -= mp.fsum(mp.loggamma(mp.mpf(count) + 1) for count in y[part].ravel().tolist())
            ours = float(leaf.log_marginal(leaf.row_statistics(observations)[part].sum(axis=0)))
            assert abs(ours - float(expected)) < tolerance

    def test_negative_times_are_refused(self) -> None:
        observations = Observations(Numbers(1), np.array([[0.0], [-2.5]]))
        with pytest.raises(ValueError, match=r"The value -2.5 in row 1 \(counted from 0\) is not a waiting time"):
            Exponential().check_observations(observations)
        Exponential().check_observations(observe(Exponential))

    def test_faults(self) -> None:
        counts = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, -1.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
        assert np.any([mask for mask, _ in Poisson().faults(counts)], axis=0).tolist() == [True, True, False]
        times = np.array([[1.0, -1.0], [1.0, 0.0]])
        assert np.any([mask for mask, _ in Exponential().faults(times)], axis=0).tolist() == [True, False]

    def test_words(self) -> None:
        leaf = Poisson(prior_mean=1.0)
        assert leaf.describe_rows(np.array([2.0, 3.5, 7.0, 0.0]), Numbers()) == "2 rows: total 7, exposure 3.5"
        assert leaf.describe_rows(np.array([2.0, 2.0, 7.0, 0.0]), Numbers()) == "2 rows: total 7"
        assert leaf.describe_prediction(np.array([2.0, 3.0, 7.0, 0.0]), Numbers()) == "2.00 ± 1.58"
        assert Exponential(prior_mean=2.0).describe_rows(np.array([4.0, 6.0]), Numbers()) == "4 rows: mean 3"

    def test_times_may_have_no_mean(self) -> None:
        leaf = Exponential(prior_mean=1.0, shape=0.5)
        assert leaf.mean([0.25, 1.0]).tolist() == [np.inf]
        assert np.isinf(leaf.variances([1.0, 1.0])).all()

    def test_priors_where_nothing_happened(self) -> None:
        nothing = Observations(Numbers(1), np.zeros((4, 1)))
        assert Poisson().resolve(nothing).prior_mean == 0.125
        assert Exponential().resolve(nothing).prior_mean == 1.0


class TestAgainstExactArithmetic:
    SIZES = (1e-3, 1.0, 17.0, 1e5, 1e9)

    @pytest.fixture
    def mp(self) -> Any:
        mpmath = pytest.importorskip("mpmath")
        mpmath.mp.dps = 60
        return mpmath

    @pytest.mark.parametrize("s", [1e-200, 1.0, 1e200])
    @pytest.mark.parametrize("k", [1e-3, 0.25, 100.0])
    def test_gaussian(self, mp: Any, k: float, s: float) -> None:
        leaf = Gaussian(0.0, k, s, 3.0)
        for n in self.SIZES:
            for center in (0.0, 0.3, 1e4):
                s1, s2 = n * center, n * (center**2 + 1.5)
                a0, n_, s1_ = mp.mpf(3) / 2, mp.mpf(n), mp.mpf(s1)
                a_n, b_n = a0 + n_ / 2, a0 + (mp.mpf(s2) - s1_**2 / (mp.mpf(k) + n_)) / 2
                exact = mp.loggamma(a_n) - mp.loggamma(a0) + a0 * mp.log(a0) - a_n * mp.log(b_n)
                exact += mp.log(mp.mpf(k) / (mp.mpf(k) + n_)) / 2 - n_ / 2 * mp.log(2 * mp.pi) - n_ * mp.log(mp.mpf(s))
                tolerance = 1e-13 * max(1, n) * max(1, center**2)
                assert float(leaf.log_marginal([n, s1, s2])) == pytest.approx(float(exact), rel=1e-11, abs=tolerance)

    @pytest.mark.parametrize("t", [1e-250, 1e-3, 1.0, 1e5, 1e200])
    def test_gaussian_known_variance(self, mp: Any, t: float) -> None:
        leaf = GaussianKnownVariance(0.0, t, 2.0)
        for n in self.SIZES:
            s1, s2 = n * 0.3, n * 1.5
            tau2, n_ = (mp.mpf(t) / 2) ** 2, mp.mpf(n)
            exact = -n_ / 2 * mp.log(2 * mp.pi) - n_ * mp.log(2) - mp.log(1 + n_ * tau2) / 2
            exact -= (mp.mpf(s2) - tau2 * mp.mpf(s1) ** 2 / (1 + n_ * tau2)) / 2
            assert float(leaf.log_marginal([n, s1, s2])) == pytest.approx(float(exact), rel=1e-12)

    @pytest.mark.parametrize("apart", [0.0, 1e3, 1e6])
    @pytest.mark.parametrize("offset", [0.0, 1e6, 1e15])
    def test_gaussian_far_from_zero_and_in_groups_far_apart(self, mp: Any, offset: float, apart: float) -> None:
        """The accuracy that `MomentsLeaf` states, for the rows of one of two groups."""
        y = offset + apart * (np.arange(100) % 2) + np.random.default_rng(0).normal(size=100)
        observations = Observations(Numbers(1), y[:, None])
        for noise_sd, tolerance in ((None, 1e-9), (1.0, 1e-9 + 1e-13 * apart**2)):
            leaf: Any = GaussianKnownVariance(noise_sd=noise_sd).resolve(observations)
            s, ratio = mp.mpf(leaf.noise_sd), (mp.mpf(leaf.mean_sd) / mp.mpf(leaf.noise_sd)) ** 2
            z = [(mp.mpf(value) - mp.mpf(leaf.prior_mean)) / s for value in y[::2].tolist()]
            s1, s2 = mp.fsum(z), mp.fsum(each**2 for each in z)
            exact = -25 * mp.log(2 * mp.pi) - 50 * mp.log(s) - mp.log(1 + 50 * ratio) / 2
            exact -= (s2 - ratio * s1**2 / (1 + 50 * ratio)) / 2
            ours = float(leaf.log_marginal(leaf.row_statistics(observations)[::2].sum(axis=0)))
            assert abs(ours - float(exact)) < tolerance

    @pytest.mark.parametrize("a", [1e-3, 1.0, 50.0])
    def test_poisson(self, mp: Any, a: float) -> None:
        leaf = Poisson(2.0, a)
        for n in self.SIZES:
            for total in (0.0, n, 100 * n):
                a_, b, s, e = mp.mpf(a), mp.mpf(a) / 2, mp.mpf(total), mp.mpf(1.5 * n)
                exact = mp.loggamma(a_ + s) - mp.loggamma(a_) + a_ * mp.log(b) - (a_ + s) * mp.log(b + e)
                exact += 2 * e - s * mp.log(2) - 3
                ours = float(leaf.log_marginal([n, 1.5 * n, total, -3.0]))
                assert ours == pytest.approx(float(exact), rel=1e-10, abs=1e-14 * total * 30)

    @pytest.mark.parametrize("m", [1e-200, 1.0, 1e200])
    def test_exponential(self, mp: Any, m: float) -> None:
        leaf = Exponential(m, 2.0)
        for n in self.SIZES:
            for total in (0.0, n, 100 * n):
                n_, s = mp.mpf(n), mp.mpf(total)
                exact = mp.loggamma(2 + n_) + 2 * mp.log(2) - (2 + n_) * mp.log(2 + s) - n_ * mp.log(mp.mpf(m))
                ours = float(leaf.log_marginal([n, total]))
                assert ours == pytest.approx(float(exact), rel=1e-10, abs=1e-14 * n * 30)


@pytest.mark.parametrize("model", [Categorical, Flat])
def test_classes_have_no_distribution_on_a_line(model: type[LeafModel]) -> None:
    with pytest.raises(TypeError, match="predicts classes"):
        model().predictive_distributions(np.ones((1, 2)), 0)
    with pytest.raises(TypeError, match="predicts classes"):
        model().variances(np.ones((1, 2)))


@pytest.mark.parametrize(
    ("mean", "sd", "text"),
    [
        (152.3456, 12.0987, "152.3 ± 12.1"),
        (-0.001, 1.0, "0.00 ± 1.00"),
        (0.0, 0.02, "0.0000 ± 0.0200"),
        (123456.0, 1234.5, "123456 ± 1234"),
        (1e9 + 0.25, 1.0, "1000000000.25 ± 1.00"),
        (1.5e200, 1e199, "1.500e+200 ± 1.00e+199"),
        (1.5e-200, 1e-199, "1.50e-200 ± 1.00e-199"),
        (3.0, np.inf, "3"),
        (3.0, 0.0, "3"),
    ],
)
def test_numbers_with_their_spread(mean: float, sd: float, text: str) -> None:
    assert format_with_spread(mean, sd) == text
