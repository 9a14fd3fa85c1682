"""Distributions and their mixtures: against SciPy on grids, exact arithmetic in the tails, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from model.scipy_distributions import log_density, to_scipy
from particletree._model.distributions import (
    Beta,
    Distributions,
    Gamma,
    InverseGamma,
    Lomax,
    Mixtures,
    NegativeBinomial,
    Normal,
    StudentT,
    Tail,
)
from particletree._model.distributions.continuous import Logistic


def spread(low: float, high: float, n: int = 12, seed: int = 0) -> NDArray[np.float64]:
    return np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(high), n))


FAMILIES: dict[str, Distributions] = {
    "beta": Beta(spread(0.1, 100, seed=1), spread(0.1, 100, seed=2)),
    "normal": Normal(spread(0.1, 100, seed=1) - 20, spread(0.5, 20, seed=2)),
    "student": StudentT(spread(0.5, 1000, seed=3), spread(0.1, 100, seed=1) - 20, spread(0.5, 20, seed=2)),
    "gamma": Gamma(spread(0.3, 100, seed=1), spread(0.1, 100, seed=2)),
    "inverse gamma": InverseGamma(spread(0.3, 100, seed=1), spread(0.1, 100, seed=2)),
    "lomax": Lomax(spread(0.3, 100, seed=1), spread(0.1, 100, seed=2)),
    "negative binomial": NegativeBinomial(spread(0.3, 100, seed=1), spread(0.05, 10, seed=2)),
}
PROBABILITIES = [1e-12, 1e-4, 0.05, 0.5]


@pytest.fixture(params=FAMILIES)
def distributions(request: pytest.FixtureRequest) -> Distributions:
    return FAMILIES[request.param]


@pytest.fixture(params=[name for name, distributions in FAMILIES.items() if not distributions.is_discrete])
def continuous(request: pytest.FixtureRequest) -> Distributions:
    return FAMILIES[request.param]


class TestFamilies:
    @pytest.mark.parametrize("upper", [False, True])
    @pytest.mark.parametrize("q", PROBABILITIES)
    def test_agree_with_scipy(self, distributions: Distributions, q: float, upper: bool) -> None:
        theirs = to_scipy(distributions)
        x = distributions.quantile(q, upper)
        assert distributions.cdf(x) == pytest.approx(theirs.cdf(x), rel=1e-9)
        assert distributions.survival(x) == pytest.approx(theirs.sf(x), rel=1e-9)
        assert distributions.log_density(x) == pytest.approx(log_density(distributions, x), rel=1e-9, abs=1e-9)
        if not distributions.is_discrete and not (
            isinstance(distributions, Beta) and upper
        ):  # 1 - x has too few digits there
            assert (distributions.survival(x) if upper else distributions.cdf(x)) == pytest.approx(q, rel=1e-9)

    def test_draws_follow_the_distribution(self, distributions: Distributions) -> None:
        one = distributions.select(np.full(4000, 5))
        draws = one.draw(np.random.default_rng(7))
        for q in (0.1, 0.5, 0.9):
            point = one.quantile(q)
            expected = float(one.cdf(point)[0])
            z = ((draws <= point).mean() - expected) / np.sqrt(expected * (1 - expected) / draws.size)
            assert abs(z) < 4

    def test_the_coordinate_has_the_density_of_the_point(self, continuous: Distributions) -> None:
        distributions = continuous
        x = distributions.quantile(0.3)
        u = distributions.line.from_point(x)
        assert distributions.line.to_point(u) == pytest.approx(x)
        assert distributions.tail_on_line(u, False) == pytest.approx(distributions.cdf(x))
        assert distributions.tail_on_line(u, True) == pytest.approx(distributions.survival(x))
        step = 1e-6 * np.maximum(np.abs(u), 0.1)
        slope = (distributions.tail_on_line(u + step, False) - distributions.tail_on_line(u - step, False)) / (2 * step)
        assert np.exp(distributions.log_density_on_line(u)) == pytest.approx(slope, rel=1e-5)


class TestFamiliesAtTheExtremes:
    @pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
    def test_scales_and_offsets(self, scale: float) -> None:
        unit, one = np.array([scale]), np.array([3.0])
        for distributions in (Normal(unit, unit), StudentT(one, unit, unit), InverseGamma(one, unit), Lomax(one, unit)):
            for q in PROBABILITIES:
                x = distributions.quantile(q)
                assert np.isfinite(x).all()
                assert distributions.cdf(x) == pytest.approx(q, rel=1e-8)
                assert np.isfinite(distributions.log_density(x)).all()

    def test_far_tails_of_student(self) -> None:
        distribution = StudentT(np.array([3.0]), np.zeros(1), np.ones(1))
        # log of 6 sqrt(3) / (pi x^4), the leading term of the density
        x = np.array([1e200])
        assert distribution.log_density(x) == pytest.approx(np.log(6 * np.sqrt(3) / np.pi) - 4 * np.log(x), rel=1e-12)

    def test_counts_far_out(self) -> None:
        mpmath = pytest.importorskip("mpmath")
        mpmath.mp.dps = 40
        for r, rate, k in [
            (1e9, 1.0, 1e9),
            (1e-3, 1e-3, 0.0),
            (1e-3, 1e-3, 1e6),
            (1e12, 1e3, 1e9 + 5e4),
            (5.0, 1e9, 2),
        ]:
            r_, rate_, k_ = mpmath.mpf(r), mpmath.mpf(rate), mpmath.mpf(k)
            p = rate_ / (1 + rate_)
            exact = mpmath.loggamma(k_ + r_) - mpmath.loggamma(r_) - mpmath.loggamma(k_ + 1)
            exact += r_ * mpmath.log(p) + k_ * mpmath.log(1 - p)
            ours = NegativeBinomial(np.array([r]), np.array([rate])).log_density(np.array([k]))
            assert ours == pytest.approx(float(exact), rel=1e-11, abs=1e-11)

    def test_what_is_no_count_has_no_probability(self) -> None:
        distribution = FAMILIES["negative binomial"].select(np.array([0, 0, 0]))
        assert distribution.log_density(np.array([-1.0, 0.5, 2.5])).tolist() == [-np.inf] * 3
        assert distribution.cdf(np.array([-1.0, 0.5, 0.0]))[0] == 0
        assert distribution.survival(np.array([-1.0, 0.5, 0.0]))[0] == 1

    @pytest.mark.parametrize("q", [0.01, 0.5, 0.99])
    def test_the_quantile_of_a_count_is_the_smallest_that_reaches(self, q: float) -> None:
        distribution = FAMILIES["negative binomial"]
        assert distribution.quantile(q).tolist() == to_scipy(distribution).ppf(q).tolist()

    def test_a_large_count_is_found(self) -> None:
        distribution = NegativeBinomial(np.array([1e12, 0.01]), np.array([1.0, 1e-6]))
        k = distribution.quantile(0.5)
        assert k[0] == pytest.approx(1e12, rel=1e-5)
        assert distribution.cdf(k).min() >= 0.5
        assert distribution.cdf(k - 1)[0] < 0.5

    def test_logistic(self) -> None:
        distributions = Logistic(np.array([1.0, -5.0]), np.array([2.0, 0.1]))
        theirs = stats.logistic(distributions.location, distributions.scale)
        x = distributions.quantile(1e-4)
        assert x == pytest.approx(theirs.ppf(1e-4))
        assert distributions.quantile(1e-4, upper=True) == pytest.approx(theirs.isf(1e-4))
        assert distributions.log_density(x) == pytest.approx(theirs.logpdf(x))
        assert distributions.survival(x) == pytest.approx(theirs.sf(x))
        assert distributions.draw(np.random.default_rng(0)).shape == (2,)


def mixtures_of(distributions: Distributions, n_mixtures: int, width: int, seed: int) -> Mixtures:
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(n_mixtures), width)
    distribution = rng.integers(0, len(distributions.parameters[0]), owner.size)
    return Mixtures(
        owner, rng.dirichlet(np.full(width, 0.5), n_mixtures).ravel(), distribution, distributions, n_mixtures
    )


def by_bisection(mixtures: Mixtures, q: float, upper: bool) -> NDArray[np.float64]:
    """Return quantiles by halving a wide bracket on a plain sum of SciPy's cdfs."""
    theirs = to_scipy(mixtures.distributions.select(mixtures.distribution))
    low, high = np.full(mixtures.n_mixtures, -1e7), np.full(mixtures.n_mixtures, 1e7)
    for _ in range(200):
        middle = (low + high) / 2
        at = middle[mixtures.owner]
        tail = mixtures.total(theirs.sf(at) if upper else theirs.cdf(at))
        is_right = tail <= q if upper else tail >= q
        low, high = np.where(is_right, low, middle), np.where(is_right, middle, high)
    return high


class TestMixtures:
    @pytest.mark.parametrize("width", [1, 2, 9])
    @pytest.mark.parametrize("upper", [False, True])
    @pytest.mark.parametrize("q", [1e-3, 0.05, 0.5])
    def test_agree_with_bisection(self, distributions: Distributions, q: float, upper: bool, width: int) -> None:
        mixtures = mixtures_of(distributions, 8, width, seed=width)
        ours = mixtures.quantile(q, upper)
        expected = by_bisection(mixtures, q, upper)
        if distributions.is_discrete:
            assert ours.tolist() == np.round(expected).tolist()
        else:
            bracketed = np.abs(expected) < 9e6
            assert ours[bracketed] == pytest.approx(expected[bracketed], rel=1e-8, abs=1e-9)

    @pytest.mark.parametrize("upper", [False, True])
    @pytest.mark.parametrize("q", [1e-15, 1e-6, 0.2])
    def test_cut_the_probability_off(self, continuous: Distributions, q: float, upper: bool) -> None:
        mixtures = mixtures_of(continuous, 30, 6, seed=4)
        x = mixtures.quantile(q, upper)
        if not (isinstance(continuous, Beta) and upper):  # 1 - x has too few digits there
            assert mixtures.tail(x, upper) == pytest.approx(q, rel=1e-7)

    @pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
    @pytest.mark.parametrize("offset", [0.0, 1e9])
    def test_any_unit_and_offset(self, scale: float, offset: float) -> None:
        plain = mixtures_of(FAMILIES["student"], 20, 5, seed=1)
        assert isinstance(plain.distributions, StudentT)
        moved = StudentT(
            plain.distributions.df, (plain.distributions.location + offset) * scale, plain.distributions.scale * scale
        )
        x = Mixtures(plain.owner, plain.weight, plain.distribution, moved, plain.n_mixtures).quantile(0.03)
        assert x / scale - offset == pytest.approx(plain.quantile(0.03), rel=1e-8, abs=1e-15 * offset * 10)

    def test_narrow_components_far_apart(self) -> None:
        distributions = Normal(np.array([-1e6, 0.0, 1e6]), np.array([1e-6, 1e-3, 1e-6]))
        mixture = Mixtures(np.zeros(3, dtype=int), np.array([0.2, 0.5, 0.3]), np.arange(3), distributions, 1)
        assert mixture.quantile(0.1) == pytest.approx(-1e6)
        assert mixture.quantile(0.45) == pytest.approx(0.0, abs=1e-9)
        assert mixture.quantile(0.1, upper=True) == pytest.approx(1e6)

    @pytest.mark.parametrize("q", [0.05, 0.25, 0.5])
    @pytest.mark.parametrize("upper", [False, True])
    def test_a_wrong_inverse_is_found_out(self, q: float, upper: bool) -> None:
        # SciPy 1.17's betaincinv answers with a cdf of 1 for the first of these.
        distributions = Beta(np.array([1000.0, 1000.5, 1001.0]), np.array([1.9e9, 1.9e9, 1.9e9]))
        number = np.arange(3)
        x = Mixtures(number, np.ones(3), number, distributions, 3).quantile(q, upper)
        assert (distributions.survival(x) if upper else distributions.cdf(x)) == pytest.approx(q, rel=1e-6)

    def test_no_mixtures(self) -> None:
        empty = Mixtures(np.empty(0, dtype=int), np.empty(0), np.empty(0, dtype=int), FAMILIES["gamma"], 0)
        assert empty.quantile(0.5).shape == (0,)

    def test_tails(self) -> None:
        assert Tail.of(0.25) == Tail(0.25, False)
        assert Tail.of(0.75) == Tail(0.25, True)
        for q in (0.0, 1.0, -1.0, 2.0, np.nan):
            with pytest.raises(ValueError, match="above 0 and below 1"):
                Tail.of(q)


@pytest.mark.parametrize("df", [1e-3, 0.5, 1.5, 3.0, 4.0, 7.0, 30.0, 1e8])
@pytest.mark.parametrize("below", [0.0, 6e-17, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.03])
def test_students_quantiles_near_the_median_have_all_digits(df: float, below: float) -> None:
    distribution = StudentT(np.array([df]), np.zeros(1), np.ones(1))
    for upper in (False, True):
        z = distribution.quantile(0.5 - below, upper)
        found = distribution.survival(z) if upper else distribution.cdf(z)
        assert found[0] == pytest.approx(0.5 - below, abs=1e-15)
