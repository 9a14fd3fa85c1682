"""The regressions that sums of trees are fitted to: one for numbers, and K - 1 sequential probits for K classes.

Each probit leaves out the rows of the earlier classes (``_model/bart.py``). A class label with weight w becomes w
rows, each with its own latent variable, so the weights of labels must be whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data import Table, TrainingData
from particletree._data.table import rank_features
from particletree._model.bart import Scaling, SumPrior, noise_guess, order_of_classes, probit_offset
from particletree._model.target import ClassLabels

Floats = NDArray[np.float64]
MOST_COLUMNS = 1000  # of a linear fit: with more, it would take too long for a rough guess of the noise


@dataclass(frozen=True, eq=False)
class Regression:
    """The data of one sum of trees: features, target and scaling.

    Attributes
    ----------
    table : Table
        The features.
    target : ndarray of float64, shape (n_rows,)
        Scaled numbers; or 1 for the class of this probit and 0 for later classes.
    weights : ndarray of float64, shape (n_rows,) or (0,)
        Weights of the rows; empty if all are 1.
    is_probit : bool
        Whether the target is a class.
    offset : float
        A constant that is added to the sum.
    noise_guess : float
        Residual standard deviation of a linear fit; 1 for classes.
    scaling : Scaling
        The scaling of the target.
    """

    table: Table
    target: Floats
    weights: Floats
    is_probit: bool
    offset: float = 0.0
    noise_guess: float = 1.0
    scaling: Scaling = field(default_factory=Scaling)

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of the kernel's problem by name, aligned: those from another process may not be."""
        table = self.table
        arrays = {
            "ranks": table.ranks,
            "values": table.values,
            "offsets": table.offsets,
            "n_levels": table.n_levels,
            "weights": self.weights,
        }
        return {name: np.require(array, requirements="A") for name, array in arrays.items()}

    def kernel_settings(self, prior: SumPrior) -> dict[str, Any]:
        """Return the kernel's arguments for the target and for the priors of leaf values and noise."""
        return {
            "target": np.require(self.target, requirements="A"),
            "is_probit": self.is_probit,
            "offset": self.offset,
            "leaf_sd": prior.probit_leaf_sd if self.is_probit else prior.leaf_sd,
            "noise_df": 0.0 if self.is_probit else prior.noise_df,
            "noise_scale": 0.0 if self.is_probit else prior.noise_scale(self.noise_guess),
            "noise_sd": self.noise_guess,
        }


def class_order_of(data: TrainingData) -> NDArray[np.int64]:
    """Return the order of the classes in the sequence of probits; empty for numbers."""
    observed = data.observations
    if not isinstance(observed.target, ClassLabels):
        return np.empty(0, dtype=np.int64)
    counts = np.bincount(observed.values, weights=observed.row_weights, minlength=observed.target.n_outputs)
    return order_of_classes(np.asarray(counts, dtype=np.float64))


def regressions_of(data: TrainingData) -> tuple[Regression, ...]:
    """Return the regression of each sum of trees.

    Examples
    --------
    >>> from particletree._data import make_training_data
    >>> data = make_training_data([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 2], n_classes=3)
    >>> [regression.target.tolist() for regression in regressions_of(data)]
    [[0.0, 1.0, 1.0, 0.0], [1.0, 0.0]]
    """
    if isinstance(data.observations.target, ClassLabels):
        return tuple(_probits(data))
    return (_of_numbers(data),)


def _of_numbers(data: TrainingData) -> Regression:
    observed = data.observations
    if observed.target.n_outputs != 1:
        raise ValueError(
            f"A sum of trees predicts one number, got {observed.target.n_outputs} targets: fit each apart."
        )
    y = observed.values[:, 0]
    scaling = Scaling.of(y)
    scaled = scaling.to_unit(y)
    guess = noise_guess(linear_columns(data), scaled, observed.weights)
    weights = np.empty(0) if observed.weights is None else observed.weights
    return Regression(data.table, scaled, weights, is_probit=False, noise_guess=guess, scaling=scaling)


def linear_columns(data: TrainingData) -> NDArray[np.float64] | None:
    """Return the design matrix of a linear fit, shape (n_rows, n_columns); None if it would have too many columns.

    Numbers are as they are, missing ones the mean, and levels one-hot. One level of each categorical feature is left
    out, because the intercept accounts for it.

    Examples
    --------
    >>> from particletree._data import make_regression_data
    >>> data = make_regression_data([["a", 1.0], ["b", None], ["b", 4.0]], [1.0, 2.0, 3.0], categorical_features=[0])
    >>> linear_columns(data).tolist()
    [[0.0, 1.0], [1.0, 2.5], [1.0, 4.0]]
    """
    table, levels = data.table, data.columns.levels
    n_columns = sum(len(levels[feature]) if feature in levels else 1 for feature in range(table.n_features))
    if n_columns > min(MOST_COLUMNS, table.n_rows):
        return None
    columns = []
    for feature in range(table.n_features):
        values = table.feature_values(feature)[table.ranks[feature]]
        if feature in levels:  # missing is the number after the last level
            n_numbers = len(levels[feature]) + (feature in data.columns.missing)
            columns.append((values[:, None] == np.arange(1, n_numbers)).astype(np.float64))
            continue
        is_missing = np.isnan(values)
        if is_missing.any():  # the sum of the others must not overflow
            values[is_missing] = 0.0 if is_missing.all() else (values[~is_missing] / 2.0**40).mean() * 2.0**40
        columns.append(values[:, None])
    return np.concatenate(columns, axis=1)


def _probits(data: TrainingData) -> list[Regression]:
    copies = _copies(data.observations.row_weights)
    labels, order = data.observations.values[copies], class_order_of(data)
    regressions = []
    for turn, asked in enumerate(order[:-1]):
        rows = np.flatnonzero(np.isin(labels, order[turn:]))
        is_asked = (labels[rows] == asked).astype(np.float64)
        # A class of `classes_` that has no row would have the share 0 or 1: it is smoothed.
        is_alone = np.ptp(is_asked) == 0
        share = (is_asked.sum() + 0.5) / (is_asked.size + 1) if is_alone else is_asked.mean()
        offset = probit_offset(float(share))
        regressions.append(
            Regression(_table_of(data, copies[rows]), is_asked, np.empty(0), is_probit=True, offset=offset)
        )
    return regressions


def _copies(weights: Floats) -> NDArray[np.int64]:
    """Return the index of each row, repeated by its weight."""
    if (weights != np.round(weights)).any():
        raise ValueError(
            "sample_weight of class labels must be whole numbers for sums of trees, in which a label that counts twice "
            "is two rows; got fractions. Round them, after a multiplication if need be, or use BayesianTreeClassifier."
        )
    return np.repeat(np.arange(weights.size), weights.astype(np.int64))


def _table_of(data: TrainingData, rows: NDArray[np.int64]) -> Table:
    """Return the table of some rows, with new ranks; the table itself if they are all its rows, once each."""
    table = data.table
    if np.array_equal(rows, np.arange(table.n_rows)):
        return table
    places = table.ranks[:, rows].astype(np.int64) + table.offsets[:-1, None]
    return rank_features(np.ascontiguousarray(table.values[places].T), None, table.n_levels)
