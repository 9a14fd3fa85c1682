"""Means over seeds, against SciPy."""

import numpy as np
import pytest
from scipy import stats

from papers.harness.spread import Difference, Estimate, Spread, average, lies_between, way


def test_mean_and_standard_deviation():
    values = np.random.default_rng(0).normal(size=12)
    spread = Spread.of(values)
    assert spread.mean == pytest.approx(values.mean())
    assert spread.sd == pytest.approx(values.std(ddof=1))
    assert spread.se == pytest.approx(stats.sem(values))


def test_a_single_run_has_no_spread():
    assert Spread.of([3.0]) == Spread(3.0, 0.0, 1)


def test_the_p_value_is_welchs():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.0, 1.0, 10), rng.normal(0.7, 3.0, 7)
    expected = stats.ttest_ind(a, b, equal_var=False).pvalue
    assert Difference(Spread.of(a), Spread.of(b)).p_value == pytest.approx(expected)


def test_runs_that_do_not_vary():
    same, other = Spread(1.0, 0.0, 3), Spread(2.0, 0.0, 3)
    assert not Difference(same, same).is_clear
    assert Difference(other, same).gain() is True
    assert Difference(same, other).gain() is False


@pytest.mark.parametrize(
    ("value", "sd", "margin", "expected"),
    [
        (0.10, 0.03, 0.0, True),
        (-0.10, 0.03, 0.0, False),
        (0.01, 0.03, 0.0, None),
        (-0.01, 0.03, 0.0, None),
        (0.00, 0.003, 0.02, False),  # certainly less than what matters
        (0.00, 0.03, 0.02, None),
        (0.01, 0.001, 0.02, False),  # clear, but less than what matters
        (0.03, 0.001, 0.02, True),
    ],
)
def test_a_gain_is_shown_excluded_or_open(value, sd, margin, expected):
    assert Difference(Spread(value, sd, 10), Spread(0.0, sd, 10)).gain(margin) is expected


def test_the_average_over_settings_has_the_right_standard_error():
    runs = np.random.default_rng(4).normal(size=(6, 20_000, 10))  # settings, repetitions, seeds
    averages = [average([Spread.of(runs[k, i]) for k in range(6)]) for i in range(300)]
    assert np.mean([a.se for a in averages]) == pytest.approx(runs.mean(axis=(0, 2)).std(), rel=0.03)


@pytest.mark.parametrize(
    ("value", "se", "expected"),
    [
        (0.0, 0.009, True),
        (0.0, 0.011, None),  # no difference to be seen, and none excluded
        (0.015, 0.002, True),  # a clear difference, but a small one
        (-0.015, 0.002, True),
        (0.015, 0.004, None),
        (-0.015, 0.004, None),
        (0.03, 0.006, None),  # clear, but perhaps a small one
        (0.03, 0.004, False),
        (-0.03, 0.004, False),
        (0.02, 0.0, True),
    ],
)
def test_equivalence_is_shown_refuted_or_open(value, se, expected):
    assert lies_between(Estimate(value, se), -0.02, 0.02) is expected
    difference = Difference(Spread(value, 3.0 * se, 9), Spread(0.0, 0.0, 9))
    assert lies_between(difference, -0.02, 0.02) is expected


@pytest.mark.parametrize(
    ("value", "no_loss", "no_gain"),
    [(-0.05, False, True), (-0.02, None, True), (0.0, True, True), (0.02, True, None), (0.05, True, False)],
)
def test_one_side_of_a_margin(value, no_loss, no_gain):
    found = Estimate(value, 0.005)
    assert lies_between(found, -0.02, np.inf) is no_loss
    assert lies_between(found, -np.inf, 0.02) is no_gain


def test_a_difference_of_the_margin_is_seldom_taken_for_none():
    rng = np.random.default_rng(2)
    a, b = (rng.normal(mean, 0.01, size=(2000, 10)) for mean in (0.02, 0.0))
    found = [lies_between(Difference(Spread.of(x), Spread.of(y)), -0.02, 0.02) for x, y in zip(a, b, strict=True)]
    assert found.count(True) < 0.05 * 2000  # one in 40, a little more for the errors being estimates
    assert found.count(False) < 0.05 * 2000


def test_a_share_of_the_way_has_the_right_standard_error():
    rng = np.random.default_rng(5)
    low, high, reached = (rng.normal(mean, sd, size=(1000, 10)) for mean, sd in ((1.0, 0.1), (2.0, 0.2), (1.7, 0.1)))
    found = []
    for i in range(1000):
        there = Spread.of(reached[i])
        found.append(way(Spread.of(low[i]), Spread.of(high[i]), Estimate(there.mean, there.se)))
    assert np.mean([share.value for share in found]) == pytest.approx(0.7, abs=0.005)
    assert np.mean([share.se for share in found]) == pytest.approx(np.std([s.value for s in found]), rel=0.1)


def test_a_share_of_nothing_is_unknown():
    same = Spread(1.0, 0.1, 10)
    assert way(same, same, Estimate(1.1, 0.1)).at_least(0.5) is None


def test_a_difference_of_differences():
    a, b, c = Spread(3.0, 0.3, 9), Spread(1.0, 0.0, 9), Spread(1.5, 0.4, 9)
    found = Difference(a, b).minus(Difference(c, b))
    assert found.value == pytest.approx(1.5)
    assert found.se == pytest.approx(0.5 / 3)
