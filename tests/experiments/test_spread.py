"""Means over seeds, against SciPy."""

import numpy as np
import pytest
from scipy import stats

from particletree.experiments.spread import Difference, Spread, average, n_clear_in_family


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


def test_many_comparisons_of_equals_raise_few_alarms():
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(200):
        family = [Difference(Spread.of(rng.normal(size=10)), Spread.of(rng.normal(size=10))) for _ in range(15)]
        alarms += n_clear_in_family(family) > 0
    assert alarms < 25  # 5% of 200 are 10; 25 would be 4.9 standard deviations more


def test_one_difference_among_many_is_found():
    rng = np.random.default_rng(3)
    family = [Difference(Spread.of(rng.normal(size=10)), Spread.of(rng.normal(size=10))) for _ in range(15)]
    assert n_clear_in_family([*family, Difference(Spread(3.0, 1.0, 10), Spread(0.0, 1.0, 10))]) == 1
