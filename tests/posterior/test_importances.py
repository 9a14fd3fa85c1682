"""Feature importances of single trees and of sums of trees, from their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from particletree import (
    MCMC,
    SMC,
    BARTClassifier,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exact,
    Gaussian,
    Poisson,
)
from particletree._model.target import ClassLabels

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
Floats = NDArray[np.float64]
SHORT = {"n_trees": 5, "n_iterations": 60, "n_chains": 2, "random_state": 0}
FEW = {"sampler": SMC(n_islands=3), "random_state": 0}
ESTIMATORS = {
    "classes": BayesianTreeClassifier(**FEW),
    "chains": BayesianTreeClassifier(sampler=MCMC(n_iterations=60, n_chains=2), random_state=0),
    "exact": BayesianTreeClassifier(sampler=Exact(n_draws=1), random_state=0),
    "numbers": BayesianTreeRegressor(**FEW),
    "two targets": BayesianTreeRegressor(leaf=Gaussian(), **FEW),
    "a constant target": BayesianTreeRegressor(leaf=Gaussian(), **FEW),
    "counts": BayesianTreeRegressor(leaf=Poisson(), **FEW),
    "sums": BARTRegressor(**SHORT),
}


def table(name: str, n_rows: int = 10) -> tuple[Floats, Any]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 3))
    X[3, 0] = np.nan
    score = np.where(X[:, 1] > 0, 2.0, 0.0) + np.nan_to_num(X[:, 0]) + 0.1 * rng.normal(size=n_rows)
    targets: dict[str, Any] = {
        "two targets": np.column_stack([score, 1e6 + 1e-3 * X[:, 2]]),
        "a constant target": np.column_stack([score, np.full(n_rows, 1e6 + 0.1)]),
        "counts": np.floor(np.exp(score)),
        "numbers": score,
        "sums": score,
    }
    return X, targets.get(name, np.digitize(score, [0.0, 1.5]))


def brute_force(posterior: Any, rows: Floats) -> Floats:
    """Return the importances from all pairs of different rows, one prediction at a time."""
    means = posterior.predictive(rows)
    unit = np.ones(means.shape[1]) if isinstance(posterior.target, ClassLabels) else means.std(axis=0)
    unit[unit < 1e-12 * np.abs(means).max(axis=0)] = np.inf  # a constant, up to rounding
    lost = np.zeros(posterior.n_features)
    for i, row in enumerate(rows):
        for j, other in enumerate(rows):
            for feature in range(rows.shape[1]) if i != j else ():
                changed = row.copy()
                changed[feature] = other[feature]
                moved = posterior.predictive(changed[None])[0] - means[i]
                lost[feature] += ((moved / unit) ** 2).sum()
    return lost / lost.sum()


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_they_are_the_shares_of_the_variance_over_all_pairs_of_ten_rows(name: str) -> None:
    X, y = table(name)
    posterior = ESTIMATORS[name].fit(X, y).posterior_
    found = posterior.feature_importances()
    np.testing.assert_allclose(found, brute_force(posterior, posterior.kept_rows), rtol=1e-6, atol=1e-12)
    assert found.sum() == pytest.approx(1.0)


def test_exact_predictions_depend_on_features_that_no_drawn_tree_cuts() -> None:
    posterior = ESTIMATORS["exact"].fit(*table("exact")).posterior_
    assert posterior.inclusion_probabilities().min() == 0
    assert (posterior.feature_importances() > 0).all()


@pytest.mark.parametrize("name", ["classes", "numbers", "counts", "sums"])
def test_features_that_do_not_matter_are_near_zero(name: str) -> None:
    X, y = table(name, n_rows=400)
    importances = ESTIMATORS[name].fit(np.column_stack([X, X[::-1, :2]]), y).feature_importances_
    assert importances[:2].min() > 0.1
    assert importances[2:].max() < 0.03


@pytest.mark.parametrize("name", ["classes", "numbers", "sums"])
def test_rows_that_are_given_count_as_those_that_were_kept(name: str) -> None:
    posterior = ESTIMATORS[name].fit(*table(name, n_rows=300)).posterior_
    expected = posterior.feature_importances()
    np.testing.assert_array_equal(posterior.feature_importances(posterior.kept_rows), expected)
    np.testing.assert_array_equal(posterior.without_rows().feature_importances(posterior.kept_rows), expected)
    on_few = posterior.feature_importances(posterior.kept_rows[:20])
    assert on_few.sum() == pytest.approx(1.0)
    assert (on_few != expected).any()


def test_what_is_returned_can_be_changed() -> None:
    posterior = ESTIMATORS["classes"].fit(*table("classes")).posterior_
    expected = posterior.feature_importances()
    posterior.feature_importances()[:] = 7.0
    np.testing.assert_array_equal(posterior.feature_importances(), expected)


def test_all_are_zero_where_nothing_varies() -> None:
    X, _ = table("numbers")
    models = (BayesianTreeClassifier(**FEW), BARTClassifier(**SHORT))
    for model in models:
        assert model.fit(X, np.zeros(10, dtype=int)).feature_importances_.tolist() == [0.0, 0.0, 0.0]
    for model in (BayesianTreeRegressor(**FEW), BARTRegressor(**SHORT)):
        assert model.fit(X[:1], [2.0]).feature_importances_.tolist() == [0.0, 0.0, 0.0]


def test_a_constant_target_adds_nothing_though_its_means_differ_by_rounding() -> None:
    X, y = table("a constant target", n_rows=400)
    posterior = ESTIMATORS["a constant target"].fit(X, y).posterior_
    assert posterior.predictive(X)[:, 1].std() > 0
    assert posterior.feature_importances()[2] < 0.001


@pytest.mark.parametrize("factor", [1e-3, 1e6, 1e200])
def test_units_of_targets_do_not_matter(factor: float) -> None:
    X, y = table("two targets", n_rows=60)
    y[:, 1] = X[:, 2]
    plain, scaled = (
        BayesianTreeRegressor(leaf=Gaussian(), **FEW).fit(X, y * [1.0, unit]).feature_importances_
        for unit in (1.0, factor)
    )
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)
    assert plain.min() > 0.02
