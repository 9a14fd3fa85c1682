r"""The split into training and held-out rows, and the scores of the fit and of CART on the held-out rows.

For classification the scores are accuracy and the mean log probability of the true class, with CART's leaves smoothed
as in the paper (``_commands/cart.py``). For regression they are the root mean squared error, the mean log density of
the observations, and the coverage of the 90% intervals. CART has no predictive distribution: it gets a normal one
around the mean of the leaf, with the standard deviation of its residuals on the training rows. For CART, categories of
up to 30 levels are one-hot encoded, those of more are numbered; missing values stay, since scikit-learn's trees accept
them. CART does without columns whose texts may be names of the rows: it would split on the numbers of names that no
held-out row has.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._commands.cart import make_cart, make_regression_cart, smoothed_probabilities
from particletree._commands.training_table import Problem, may_name_rows

Floats = NDArray[np.float64]

MOST_COLUMNS_OF_A_CATEGORY = 30
INTERVAL = (0.05, 0.95)
_NORMAL_QUANTILE = 1.6448536269514722  # at 0.95
CLASS_SCORES = ("accuracy", "log-prob.")
NUMBER_SCORES = ("RMSE", "log density", "in 90% interval")


@dataclass(frozen=True)
class Score:
    """The scores of one method on the held-out rows."""

    method: str
    seconds: float
    values: tuple[float, ...]

    def cells(self) -> tuple[str, ...]:
        """Return the scores as text, cell by cell."""
        return self.method, f"{1e3 * self.seconds:.0f}", *(f"{value:.4g}" for value in self.values)


def choose_held_out(y: NDArray[Any], share: float, seed: int, is_regression: bool) -> NDArray[np.bool_]:
    """Tell which rows are held out: about this share of each class, and never all rows of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._commands.held_out import choose_held_out
    >>> y = np.array(["a"] * 10 + ["b"] * 10 + ["c"])
    >>> held_out = choose_held_out(y, 0.3, seed=0, is_regression=False)
    >>> [int(held_out[y == label].sum()) for label in "abc"]
    [3, 3, 0]
    """
    order = np.random.default_rng(seed).permutation(len(y))
    classes = np.zeros(len(y), dtype=np.intp) if is_regression else np.unique(y, return_inverse=True)[1]
    order = order[classes[order].argsort(kind="stable")]
    n_held_out = max(1, round(share * len(y)))
    held_out = np.zeros(len(y), dtype=bool)
    held_out[order[((np.arange(n_held_out) + 0.5) * len(y) / n_held_out).astype(np.intp)]] = True
    first = np.unique(classes[order], return_index=True)[1]
    held_out[order[first]] = False
    if not held_out.any() or (~held_out).sum() < 2:
        raise ValueError(f"{len(y)} rows are too few to hold out a share of {share:g}.")
    return held_out


def score_fit(model: Any, seconds: float, test: Problem) -> Score:
    """Score a fitted estimator on held-out rows."""
    if test.is_regression:
        low, high = model.predict_quantiles(test.X, INTERVAL).T
        values = _number_scores(test, model.predict(test.X), model.predict_log_density(test.X, test.y), low, high)
    else:
        values = _class_scores(test, model.predict_proba(test.X), model.classes_)
    return Score("particletree", seconds, values)


def score_cart(train: Problem, test: Problem) -> Score:
    """Fit CART to the training rows and score it on the held-out rows."""
    X_train, X_test = _features_for_cart(train, test)
    cart = make_regression_cart() if train.is_regression else make_cart()
    start = time.perf_counter()
    cart.fit(X_train, train.y if train.is_regression else train.y.tolist(), sample_weight=train.weights)
    seconds = time.perf_counter() - start
    if train.is_regression:
        mean, variance = cart.predict(X_test), _mean((train.y - cart.predict(X_train)) ** 2, train)
        sd = max(float(np.finfo(np.float64).tiny), float(np.sqrt(variance)))
        log_density = -0.5 * ((test.y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
        reach = _NORMAL_QUANTILE * sd
        return Score("CART", seconds, _number_scores(test, mean, log_density, mean - reach, mean + reach))
    return Score("CART", seconds, _class_scores(test, smoothed_probabilities(cart, X_test), cart.classes_))


def left_out_of_cart(train: Problem) -> list[int]:
    """Return the indices of the categorical features that may be names of the rows."""
    return [index for index in train.categorical if may_name_rows(len(_levels(train.X[:, index])), train.n_rows)]


def _class_scores(test: Problem, probabilities: Floats, classes: NDArray[Any]) -> tuple[float, float]:
    place_of = {label: place for place, label in enumerate(classes.tolist())}
    right = np.array([place_of[label] for label in test.y.tolist()])
    is_right = probabilities.argmax(axis=1) == right
    return _mean(is_right, test), _mean(np.log(probabilities[np.arange(len(right)), right]), test)


def _number_scores(test: Problem, mean: Floats, log_density: Floats, low: Floats, high: Floats) -> tuple[float, ...]:
    is_covered = (low <= test.y) & (test.y <= high)
    return float(np.sqrt(_mean((test.y - mean) ** 2, test))), _mean(log_density, test), _mean(is_covered, test)


def _mean(values: NDArray[Any], problem: Problem) -> float:
    return float(np.average(values, weights=problem.weights))


def _levels(column: NDArray[Any]) -> list[Any]:
    return sorted(set(column.tolist()) - {None})


def _features_for_cart(train: Problem, test: Problem) -> list[Floats]:
    """Return the features as numbers: categories are one-hot encoded, or numbered if they have many levels."""
    parts: list[list[Floats]] = [[np.zeros((problem.n_rows, 0))] for problem in (train, test)]
    for index in np.setdiff1d(np.arange(train.X.shape[1]), left_out_of_cart(train)).tolist():
        levels = _levels(train.X[:, index]) if index in train.categorical else None
        for problem, columns in zip((train, test), parts, strict=True):
            column = problem.X[:, index]
            if levels is None:
                columns.append(column.astype(np.float64)[:, None])
                continue
            place_of = {level: place for place, level in enumerate(levels)}
            places = np.array([place_of.get(cell, np.nan) for cell in column.tolist()])[:, None]
            is_numbered = len(levels) > MOST_COLUMNS_OF_A_CATEGORY
            columns.append(places if is_numbered else (places == np.arange(max(1, len(levels)))).astype(np.float64))
    return [
        np.concatenate(columns, axis=1) if len(columns) > 1 else np.zeros((problem.n_rows, 1))
        for problem, columns in zip((train, test), parts, strict=True)
    ]
