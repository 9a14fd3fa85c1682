"""The formulas of sums of trees: units, prior of leaf values and noise, and the order of classes."""

import numpy as np
import pytest
from scipy.stats import chi2

from particletree._model.bart import (
    Scaling,
    SumPrior,
    class_probabilities,
    noise_guess,
    order_of_classes,
    probit_offset,
)


@pytest.mark.parametrize("n_trees", [1, 7, 200])
@pytest.mark.parametrize("k", [1.0, 2.0, 3.5])
def test_k_standard_deviations_of_the_sum_reach_the_ends(n_trees, k):
    prior = SumPrior(n_trees, k)
    assert k * np.sqrt(n_trees) * prior.leaf_sd == pytest.approx(0.5)
    assert k * np.sqrt(n_trees) * prior.probit_leaf_sd == pytest.approx(3.0)


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("nu", [3.0, 10.0])
def test_the_noise_is_below_the_guess_with_this_probability(nu, q):
    scale = SumPrior(noise_df=nu, noise_quantile=q).noise_scale(0.2)
    variance = nu * scale / chi2(nu).rvs(200_000, random_state=0)
    assert (np.sqrt(variance) < 0.2).mean() == pytest.approx(q, abs=0.005)


@pytest.mark.parametrize(
    "wrong", [{"n_trees": 0}, {"k": 0.0}, {"noise_df": -1.0}, {"noise_quantile": 0.0}, {"k": float("inf")}]
)
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SumPrior(**wrong)


def test_scaling_there_and_back():
    y = np.array([3.0, -9.0, 14.5, 0.0])
    scaling = Scaling.of(y)
    unit = scaling.to_unit(y)
    assert (unit.min(), unit.max()) == (-0.5, 0.5)
    np.testing.assert_allclose(scaling.from_unit(unit), y)


@pytest.mark.parametrize("value", [0.0, -7.5, 1e300])
def test_scaling_of_a_constant(value):
    scaling = Scaling.of(np.full(3, value))
    np.testing.assert_array_equal(scaling.to_unit(np.full(3, value)), 0.0)


class TestNoiseGuess:
    def test_against_least_squares(self):
        rng = np.random.default_rng(0)
        design = rng.normal(size=(60, 4)) * [1.0, 1e4, 1e-4, 3.0] + [0.0, 1e6, 0.0, 2.0]
        y = design @ [0.01, 1e-5, 10.0, 0.0] + 0.05 * rng.normal(size=60)
        _, (squares,), *_ = np.linalg.lstsq(np.column_stack([np.ones(60), design]), y, rcond=None)
        assert noise_guess(design, y) == pytest.approx(np.sqrt(squares / (60 - 5)), rel=1e-6)

    def test_columns_that_depend_on_each_other(self):
        rng = np.random.default_rng(1)
        one = rng.normal(size=(40, 2))
        y = one @ [0.1, -0.2] + 0.03 * rng.normal(size=40)
        both = np.column_stack([one, one @ [2.0, 1.0], np.full(40, 7.0)])
        assert noise_guess(both, y) == pytest.approx(noise_guess(one, y), rel=1e-9)

    def test_weights_are_counts(self):
        rng = np.random.default_rng(2)
        design, y, counts = rng.normal(size=(20, 2)), rng.normal(size=20), rng.integers(1, 5, 20)
        copies = noise_guess(np.repeat(design, counts, axis=0), np.repeat(y, counts))
        assert noise_guess(design, y, counts.astype(float)) == pytest.approx(copies)

    def test_fractions_of_a_row(self):
        rng = np.random.default_rng(2)
        design, y, weights = rng.normal(size=(20, 2)), rng.normal(size=20), rng.uniform(0.2, 4.0, 20)
        root = np.sqrt(weights)
        columns = root[:, None] * np.column_stack([np.ones(20), design])
        _, (squares,), *_ = np.linalg.lstsq(columns, root * y, rcond=None)
        assert noise_guess(design, y, weights) == pytest.approx(np.sqrt(squares / (weights.sum() - 3)))

    def test_more_columns_than_rows(self):
        y = np.array([0.1, 0.4, -0.2])
        assert noise_guess(np.eye(3), y) == noise_guess(None, y) == pytest.approx(y.std(ddof=1))

    def test_data_without_noise(self):
        x = np.linspace(-0.5, 0.5, 10)
        assert noise_guess(x[:, None], x) == noise_guess(None, np.zeros(5)) == 1e-3


class TestClasses:
    def test_probabilities_sum_to_one(self):
        conditional = np.random.default_rng(0).random((5, 8, 3))
        probabilities = class_probabilities(conditional)
        assert probabilities.shape == (5, 8, 4)
        np.testing.assert_allclose(probabilities.sum(axis=-1), 1.0)
        np.testing.assert_allclose(
            probabilities[..., 2], (1 - conditional[..., :2]).prod(axis=-1) * conditional[..., 2]
        )

    def test_two_classes(self):
        np.testing.assert_allclose(class_probabilities(np.array([[0.3]])), [[0.3, 0.7]])

    def test_one_class(self):
        assert class_probabilities(np.empty((2, 0))).tolist() == [[1.0], [1.0]]

    def test_shares_that_are_asked_for_in_turn(self):
        """Shares 0.5, 0.3, 0.2 are 1/2, 3/5 and the rest."""
        np.testing.assert_allclose(class_probabilities(np.array([0.5, 0.6])), [0.5, 0.3, 0.2])

    def test_one_class_against_the_rest_is_something_else(self):
        """What the docstring says of the diagonal orthant probit, fitted one class at a time."""
        share = np.array([0.5, 0.3, 0.2])
        odds = share / (1 - share)
        np.testing.assert_allclose(odds / odds.sum(), [0.60, 0.26, 0.15], atol=0.005)

    def test_order(self):
        assert order_of_classes(np.array([2.0, 5.0, 5.0, 1.0])).tolist() == [1, 2, 0, 3]
        assert (
            order_of_classes(np.array([9.0, 1.0])).tolist() == order_of_classes(np.array([1.0, 9.0])).tolist() == [1, 0]
        )
        assert order_of_classes(np.array([4.0])).tolist() == [0]

    def test_offset(self):
        assert probit_offset(0.975) == pytest.approx(1.959964, abs=1e-6)
