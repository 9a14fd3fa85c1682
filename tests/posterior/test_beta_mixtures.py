"""Quantiles of Beta mixtures: against SciPy, against numerical integration, and at the extremes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad
from scipy.special import betainc

from particletree._model import Categorical
from particletree._posterior.predictions.leaf_mixtures import (
    LeafDistributions,
    LeafMixtures,
    _merge_equal,
    distribution_mixtures,
    mixture_mean,
    parameter_interval,
)


def one_row(weights: list[float], counts: list[list[float]]) -> LeafMixtures:
    return LeafMixtures(np.array([weights]), np.arange(len(weights))[None], np.array(counts, dtype=float))


def parameters(counts: NDArray[np.float64], leaf: Categorical) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    alpha = leaf.pseudo_counts(counts)
    return alpha, alpha.sum(axis=-1, keepdims=True) - alpha


def mixture_cdf(mixtures: LeafMixtures, leaf: Categorical, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F(points) for points of shape (n_rows, n_classes), the definition written out."""
    a, b = parameters(mixtures.statistics[mixtures.blocks], leaf)
    values: NDArray[np.float64] = (mixtures.weights[:, :, None] * betainc(a, b, points[:, None, :])).sum(axis=1)
    return values


def random_mixtures(rng: np.random.Generator, n_rows: int, width: int, n_classes: int) -> LeafMixtures:
    shares = rng.dirichlet(np.full(n_classes, 0.3), size=20)
    counts = np.array([rng.multinomial(rng.integers(1, 60), share) for share in shares], dtype=float)
    weights = rng.dirichlet(np.full(width, 0.5), size=n_rows)
    return LeafMixtures(weights, rng.integers(0, 20, size=(n_rows, width)), counts)


class TestOneLeaf:
    @pytest.mark.parametrize("level", [1e-9, 0.5, 0.9, 0.999, 1 - 1e-9])
    @pytest.mark.parametrize("concentration", [0.01, 1.0, 5.0, 1000.0])
    @pytest.mark.parametrize("counts", [[1, 0], [3, 4], [1000, 7], [3, 0, 9], [1e6, 10, 2e5, 0]])
    def test_agrees_with_scipy(self, counts: list[float], concentration: float, level: float) -> None:
        leaf = Categorical(concentration)
        a, b = parameters(np.array(counts, dtype=float), leaf)
        tail = (1 - level) / 2
        expected = np.stack([stats.beta.ppf(tail, a, b), stats.beta.isf(tail, a, b)], axis=-1)
        assert parameter_interval(one_row([1.0], [counts]), leaf, level)[0] == pytest.approx(expected, abs=1e-9)

    def test_small_quantiles_keep_their_relative_accuracy(self) -> None:
        interval = parameter_interval(one_row([1.0], [[0, 20, 30]]), Categorical(0.3), 0.9)[0, 0]
        assert interval[0] == pytest.approx(stats.beta.ppf(0.05, 0.1, 50.2), rel=1e-9)
        assert interval[0] < 1e-14


class TestMixtures:
    @pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.9999])
    @pytest.mark.parametrize("n_classes", [2, 3, 7])
    def test_ends_are_quantiles_of_the_mixture(self, n_classes: int, level: float) -> None:
        mixtures, leaf = random_mixtures(np.random.default_rng(n_classes), 40, 12, n_classes), Categorical(2.0)
        interval = parameter_interval(mixtures, leaf, level)
        tail = (1 - level) / 2
        assert mixture_cdf(mixtures, leaf, interval[:, :, 0]) == pytest.approx(tail, abs=1e-10)
        assert mixture_cdf(mixtures, leaf, interval[:, :, 1]) == pytest.approx(1 - tail, abs=1e-10)

    def test_agrees_with_integration_of_the_density(self) -> None:
        mixtures, leaf = one_row([0.3, 0.7], [[3, 1], [2, 8]]), Categorical(2.0)
        low, high = parameter_interval(mixtures, leaf, 0.8)[0, 0]
        distributions = [(0.3, stats.beta(4, 2)), (0.7, stats.beta(3, 9))]
        mass, _ = quad(lambda p: sum(w * distribution.pdf(p) for w, distribution in distributions), low, high)
        below, _ = quad(lambda p: sum(w * distribution.pdf(p) for w, distribution in distributions), 0, low)
        assert (mass, below) == pytest.approx((0.8, 0.1), abs=1e-9)

    def test_agrees_with_simulation(self) -> None:
        rng = np.random.default_rng(3)
        mixtures, leaf, n = one_row([0.2, 0.5, 0.3], [[3, 1, 0], [2, 8, 4], [0, 0, 6]]), Categorical(1.5), 100_000
        alpha = leaf.pseudo_counts(mixtures.statistics)[rng.choice(3, size=n, p=mixtures.weights[0])]
        draws = rng.standard_gamma(alpha)
        draws /= draws.sum(axis=1, keepdims=True)
        interval = parameter_interval(mixtures, leaf, 0.9)[0]
        z = (np.array([(draws < interval[:, end]).mean(axis=0) for end in (0, 1)]) - [[0.05], [0.95]]) / np.sqrt(
            0.05 * 0.95 / n
        )
        assert np.abs(z).max() < 4, z

    def test_mean_is_the_weighted_mean_of_the_leaves(self) -> None:
        mixtures, leaf = one_row([0.25, 0.75], [[3, 1], [2, 8]]), Categorical(2.0)
        assert mixture_mean(mixtures, leaf)[0] == pytest.approx(
            [0.25 * 4 / 6 + 0.75 * 3 / 12, 0.25 * 2 / 6 + 0.75 * 9 / 12]
        )

    def test_two_classes_mirror_each_other(self) -> None:
        interval = parameter_interval(random_mixtures(np.random.default_rng(1), 9, 5, 2), Categorical.paper(), 0.9)
        assert interval[:, 1, 0] == pytest.approx(1 - interval[:, 0, 1])
        assert interval[:, 1, 1] == pytest.approx(1 - interval[:, 0, 0])

    def test_equal_and_padded_components_change_nothing(self) -> None:
        counts = [[3.0, 1.0, 2.0], [2.0, 8.0, 0.0], [3.0, 1.0, 2.0]]
        leaf = Categorical(2.0)
        plain = parameter_interval(one_row([0.6, 0.4], counts[:2]), leaf, 0.9)
        assert parameter_interval(
            one_row([0.1, 0.4, 0.5, 0.0], [*counts, [9.0, 9.0, 9.0]]), leaf, 0.9
        ) == pytest.approx(plain)

    def test_wider_levels_contain_narrower_ones(self) -> None:
        mixtures = random_mixtures(np.random.default_rng(5), 20, 6, 4)
        ends = [parameter_interval(mixtures, Categorical.paper(), level) for level in (1e-12, 0.3, 0.9, 1 - 1e-12)]
        for inner, outer in itertools.pairwise(ends):
            assert (outer[..., 0] <= inner[..., 0] + 1e-9).all()
            assert (inner[..., 1] <= outer[..., 1] + 1e-9).all()


class TestExtremes:
    def test_one_class_is_certain(self) -> None:
        assert parameter_interval(one_row([0.5, 0.5], [[3], [4]]), Categorical.paper(), 0.9).tolist() == [[[1.0, 1.0]]]

    def test_no_rows(self) -> None:
        empty = LeafMixtures(np.zeros((0, 2)), np.zeros((0, 2), dtype=int), np.ones((3, 4)))
        assert parameter_interval(empty, Categorical.paper(), 0.9).shape == (0, 4, 2)

    def test_separate_components_leave_a_gap(self) -> None:
        # Exactly 5% lies at the left component: any end in the gap is right, and the search must not stall in it.
        mixtures, leaf = one_row([0.05, 0.95], [[10, 1e6], [1e6, 10]]), Categorical(1.0)
        interval = parameter_interval(mixtures, leaf, 0.9)[0]
        assert 0 < interval[0, 0] < 1
        assert interval[0, 1] == pytest.approx(1, abs=1e-4)

    @settings(max_examples=150, deadline=None)
    @given(
        concentration=st.sampled_from([1e-100, 1e-12, 1e-3, 1.0, 1e4, 1e8]),
        n_classes=st.sampled_from([2, 3, 10, 300]),
        scale=st.sampled_from([1.0, 10.0, 1e3, 1e6, 1e9]),
        level=st.sampled_from([1e-15, 1e-6, 0.5, 0.9, 1 - 1e-6, 1 - 1e-15]),
        seed=st.integers(0, 2**32 - 1),
    )
    def test_hold_up(self, concentration: float, n_classes: int, scale: float, level: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        counts = np.floor(rng.random((6, n_classes)) ** 8 * scale)
        counts[:, 0] += 1
        mixtures = LeafMixtures(rng.dirichlet(np.full(3, 0.3), size=4), rng.integers(0, 6, size=(4, 3)), counts)
        interval = parameter_interval(mixtures, Categorical(concentration), level)
        assert ((interval >= 0) & (interval <= 1)).all()
        assert (interval[..., 0] <= interval[..., 1]).all()


class TestKinds:
    def test_rows_of_one_kind_have_one_interval(self) -> None:
        mixtures, kind = random_mixtures(np.random.default_rng(2), 5, 6, 4), np.array([3, 0, 3, 3, 1])
        interval = parameter_interval(mixtures._replace(kind=kind), Categorical.paper(), 0.9)
        assert np.array_equal(interval, parameter_interval(mixtures, Categorical.paper(), 0.9)[kind])

    @pytest.mark.parametrize("n_classes", [2, 5])
    def test_pieces_change_nothing(self, n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
        mixtures = random_mixtures(np.random.default_rng(4), 40, 12, n_classes)
        whole = parameter_interval(mixtures, Categorical.paper(), 0.9)
        for size in (1, 200):
            monkeypatch.setattr("particletree._posterior.predictions.leaf_mixtures.COMPONENTS", size)
            assert np.array_equal(parameter_interval(mixtures, Categorical.paper(), 0.9), whole)

    def test_absent_classes_have_one_distribution(self) -> None:
        counts = np.array([[3.0, 0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, 1.0]])
        mixtures = LeafMixtures(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0, 1], [1, 0]]), counts)
        distributions, distribution_of = distribution_mixtures(
            mixtures, LeafDistributions(Categorical.paper(), 5, False), row_columns={}
        )
        assert distribution_of.tolist() == [[0, 1, 2, 1, 3], [4, 4, 5, 4, 6]]
        assert distributions.n_mixtures == 7


def test_merge_equal_adds_weights() -> None:
    owner, key = np.array([0, 0, 0, 0, 2, 2]), np.array([4, 2, 4, 2, 7, 7])
    merged = _merge_equal(owner, key, np.array([0.1, 0.2, 0.3, 0.4, 0.25, 0.5]), 8)
    assert merged[0].tolist() == [0, 0, 2]
    assert merged[1].tolist() == [2, 4, 7]
    assert merged[2] == pytest.approx(np.array([0.6, 0.4, 0.75]))
