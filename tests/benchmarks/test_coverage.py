"""What the case `coverage` counts."""

import numpy as np
import pytest

from benchmarks import coverage
from benchmarks.settings import Settings


def constant(probability):
    """Return a way to draw a truth that is the same everywhere."""
    return lambda model, X, rng: lambda points: np.full(len(points), probability)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_data_of_one_class_are_left_out(probability):
    """They have no interval for the other class, and would count as covered."""
    model = coverage.MODELS["default"]
    assert coverage.measure_one(model, constant(probability), 20, 2, seed=0) is None


@pytest.mark.parametrize("n_features", [2, 20])
def test_coverage_and_width_are_shares_for_any_number_of_features(n_features):
    held, width = coverage.measure_one(coverage.MODELS["default"], constant(0.5), 50, n_features, seed=0)
    assert 0 < width < 1
    assert 0 <= held <= 1


def test_the_summary_has_the_standard_error_over_data_sets():
    result = coverage.summarise("default", "a tree", 50, 5, [np.array([0.8, 0.2]), np.array([1.0, 0.4])])
    assert (result.n_data_sets, result.n_features) == (2, 5)
    assert result.coverage == pytest.approx(0.9)
    assert result.error == pytest.approx(0.1)
    assert "90% ± 10%" in coverage.to_markdown([result])


def test_several_numbers_of_features_are_measured():
    results = list(coverage.measure(Settings("tiny")))
    assert {result.n_features for result in results} == {2, 5}
    assert all(0 <= result.coverage <= 1 for result in results)
