"""The baseline for comparisons: scikit-learn's CART, with probabilities smoothed as in the paper (section 4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


def make_cart(criterion: str = "gini", random_state: int = 0) -> DecisionTreeClassifier:
    """Return the paper's CART classifier, with at least 10 rows per leaf."""
    return DecisionTreeClassifier(criterion=criterion, min_samples_leaf=10, random_state=random_state)


def make_regression_cart(random_state: int = 0) -> DecisionTreeRegressor:
    """Return CART for regression, with at least 10 rows per leaf as for classification."""
    return DecisionTreeRegressor(min_samples_leaf=10, random_state=random_state)


def smoothed_probabilities(
    cart: DecisionTreeClassifier, X: NDArray[np.float64], concentration: float = 5.0
) -> NDArray[np.float64]:
    """Return CART's class probabilities with `concentration` pseudo-counts per leaf, divided among the classes."""
    counts = cart.tree_.weighted_n_node_samples[cart.apply(X)][:, None]
    frequencies = cart.predict_proba(X)
    smoothed = (counts * frequencies + concentration / frequencies.shape[1]) / (counts + concentration)
    return np.asarray(smoothed, dtype=np.float64)


def accuracy(probabilities: NDArray[np.float64], classes: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the share of rows whose most probable class is the true one."""
    return float(np.mean(classes[probabilities.argmax(axis=1)] == y))


def mean_log_probability(probabilities: NDArray[np.float64], classes: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the mean over rows of the log probability of the true class."""
    return float(np.mean(np.log(probabilities[np.arange(len(y)), np.searchsorted(classes, y)])))
