"""Training data: the table of features, the observed targets, and the weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from particletree._data.categories import FROM_DTYPE
from particletree._data.features import Features, check_features_alone, check_features_to_fit
from particletree._data.fingerprint import DataFingerprint
from particletree._data.row_columns import read_row_columns
from particletree._data.row_errors import refuse_first, refuse_masked
from particletree._data.table import Table, rank_features
from particletree._data.target import check_numbers_to_predict, check_target, encode, encode_where
from particletree._model.columns import Columns
from particletree._model.row_columns import RowColumns, select_rows
from particletree._model.target import ClassLabels, Numbers, Observations
from particletree._user_warnings import warn_caller

# Marks a row that the kernel leaves out, in place of its position.
_LEFT_OUT = 2**32 - 1

# The log marginal likelihood of n rows is a difference of terms of order n log n: beyond this, cancellation ruins it.
_LARGEST_WEIGHT = 1e12

# Options of scikit-learn's conversion: we check the shape and missing and infinite values ourselves.
_ACCEPTED: dict[str, Any] = {
    "dtype": np.float64,
    "order": "C",
    "ensure_all_finite": False,
    "ensure_2d": False,
    "allow_nd": True,
    "ensure_min_samples": 0,
    "input_name": "sample_weight",
}


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The input of a sampler: features, observed targets, and the meaning of the features' numbers.

    Rows of weight 0 are left out. If the target is class labels, the rows are sorted by label (a stable sort), so that
    a class is a range of rows and counting the rows of a block by class does not read the labels. A class may have no
    row. If the target is numbers, rows keep their order. The observations know the caller's number of each row.

    Examples
    --------
    >>> from particletree._data import make_training_data
    >>> data = make_training_data([[2.5], [0.1], [7.0]], [1, 0, 0], n_classes=2)
    >>> data.observations.values.tolist(), data.table.ranks.tolist()
    ([0, 0, 1], [[0, 2, 1]])
    """

    table: Table
    observations: Observations
    columns: Columns

    def some_rows(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return at most `n` rows, evenly spaced in the table, as values, and their numbers in the caller's table."""
        rows = np.unique(np.linspace(0, self.table.n_rows - 1, n).astype(np.int64))
        numbers = self.observations.row_numbers
        return self.table.values_of(rows), rows if numbers is None else numbers[rows].astype(np.int64)

    @cached_property
    def fingerprint(self) -> DataFingerprint:
        """Hashes of the parts, which identify the data of a posterior."""
        return DataFingerprint.of(self.table, self.columns, self.observations)


def check_classification_data(
    estimator: object, X: Any, y: Any, sample_weight: Any = None, *, categorical_features: Any = FROM_DTYPE
) -> TrainingData:
    """Check the arguments of a classifier's `fit`, and prepare them for a sampler.

    Parameters
    ----------
    estimator : object
        The classifier; `n_features_in_` and, for data frames, `feature_names_in_` are set on it.
    X : array-like or data frame, shape (n_rows, n_features)
        The features: numbers, none of them infinite, and the levels of categorical features; any may be missing.
    y : array-like, shape (n_rows,)
        The labels: integers, text, booleans, or floats that are whole numbers.
    sample_weight : array-like, shape (n_rows,), optional
        How often each row counts: finite, at least 0, fractions allowed. Rows of weight 0 are ignored, together with
        labels and levels that occur in no other row.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        Which features are categorical, as for the estimators.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from particletree._data import check_classification_data
    >>> check_classification_data(DummyClassifier(), [[0.5], [1.5]], ["yes", "no"]).observations.target
    ClassLabels(['no', 'yes'])
    """
    features = _check_features_and_y(estimator, X, y, categorical_features)
    given = check_target(y, len(features))
    weights = None if sample_weight is None else check_weights(sample_weight, len(features))
    classes, labels = encode(given) if weights is None or weights.all() else encode_where(weights > 0, given)
    return _assemble_labels(features, labels, ClassLabels(classes), weights)


def check_regression_data(
    estimator: object,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    categorical_features: Any = FROM_DTYPE,
    **row_columns: Any,
) -> TrainingData:
    """Check the arguments of a regressor's `fit`, and prepare them for a sampler.

    Parameters
    ----------
    estimator, X, sample_weight, categorical_features
        As in :func:`check_classification_data`.
    y : array-like or data frame, shape (n_rows,) or (n_rows, n_targets)
        The targets, finite numbers.
    **row_columns : array-like, shape (n_rows,), or None
        What else is known of each row, by the names of columns that the leaf model declares.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from particletree._data import check_regression_data
    >>> check_regression_data(DummyRegressor(), [[0.5], [1.5]], [3, 4.5]).observations.values
    array([[3. ],
           [4.5]])
    """
    features = _check_features_and_y(estimator, X, y, categorical_features)
    weights = None if sample_weight is None else check_weights(sample_weight, len(features))
    numbers, target = check_numbers_to_predict(y, len(features), weights)
    return _assemble_numbers(features, numbers, target, weights, read_row_columns(row_columns, len(features)))


def _check_features_and_y(estimator: object, X: Any, y: Any, categorical_features: Any) -> Features:
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    return check_features_to_fit(estimator, X, categorical_features)


def make_training_data(
    X: Any,
    labels: ArrayLike,
    n_classes: int,
    weights: ArrayLike | None = None,
    categorical_features: Any = None,
) -> TrainingData:
    """Prepare data for classification by a sampler that is called without an estimator.

    `X`, `weights` and `categorical_features` are as in :func:`check_classification_data`, `labels` are integers from 0
    to `n_classes - 1`.

    Examples
    --------
    >>> from particletree._data import make_training_data
    >>> make_training_data([[0.5], [1.5], [2.5]], [0, 1, 1], n_classes=2, weights=[1, 1, 0]).table.n_rows
    2
    """
    features = check_features_alone(X, categorical_features)
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iu" or numbers.shape != (len(features),):
        raise ValueError(
            f"labels must be {len(features)} integers, one for each row of X, got {numbers.dtype} of shape "
            f"{numbers.shape}. Number other labels with np.unique(labels, return_inverse=True)."
        )
    outside = (numbers < 0) | (numbers >= n_classes)
    refuse_first(outside, "Label out of range", f"Labels go from 0 to n_classes - 1 = {n_classes - 1}.")
    counts = None if weights is None else check_weights(weights, len(features))
    return _assemble_labels(features, numbers, ClassLabels(np.arange(n_classes)), counts)


def make_regression_data(
    X: Any,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    categorical_features: Any = None,
    **row_columns: ArrayLike | None,
) -> TrainingData:
    """Prepare data for regression by a sampler that is called without an estimator.

    The parameters are as in :func:`check_regression_data`.

    Examples
    --------
    >>> from particletree._data import make_regression_data
    >>> make_regression_data([[0.5], [1.5], [2.5]], [0.1, 1.0, 7.0], weights=[1, 1, 0]).table.n_rows
    2
    """
    features = check_features_alone(X, categorical_features)
    counts = None if weights is None else check_weights(weights, len(features))
    numbers, target = check_numbers_to_predict(y, len(features), counts)
    return _assemble_numbers(features, numbers, target, counts, read_row_columns(row_columns, len(features)))


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights as float64: finite, at least 0, not all 0, one per row."""
    refuse_masked(weights, "sample_weight")
    try:
        counts: NDArray[np.float64] = check_array(weights, **_ACCEPTED)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sample_weight must be one number for each row: {error}") from error
    if counts.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight for each row, got {counts.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        total = counts.sum()
    advice = "Weights say how often a row counts: finite, at least 0."
    if not np.isfinite(total):
        refuse_first(~np.isfinite(counts), "Weight that is NaN or inf in sample_weight", advice)
    refuse_first(counts < 0, "Negative weight in sample_weight", advice)
    if not total <= _LARGEST_WEIGHT:
        raise ValueError(
            f"The sum of sample_weight is {total:g}, more rows than the likelihood can be computed for (at most "
            f"{_LARGEST_WEIGHT:g}). Divide the weights by a constant: they say how often a row counts."
        )
    if total == 0:
        raise ValueError("Every weight in sample_weight is zero: no row is left to learn from. Give some row a weight.")
    n_counted = int(np.count_nonzero(counts))
    if n_counted > 2 and total < 1 + 1e-6:  # the posterior would hardly differ from the prior
        warn_caller(
            f"sample_weight sums to {total:.4g} for {n_counted} rows, so that all of them together count as "
            f"{total:.4g} rows and the posterior stays close to the prior. A weight says how often its row counts: "
            "multiply the weights by the number of rows if they were scaled to sum to 1."
        )
    return counts


def _assemble_labels(
    features: Features, labels: NDArray[Any], target: ClassLabels, weights: NDArray[np.float64] | None
) -> TrainingData:
    """Leave out the rows of weight 0, sort the rest by label, and rank their features."""
    narrow = labels.astype(np.min_scalar_type(target.n_outputs), copy=False)  # up to 16 bits NumPy sorts by counting
    order = narrow.argsort(kind="stable")
    if weights is not None and not weights.all():
        order = order[weights[order] > 0]
    values = narrow[order].astype(np.int32)
    observations = Observations(target, values, _kept_weights(weights, order), row_numbers=order)
    return _assemble(features, order, observations)


def _assemble_numbers(
    features: Features,
    numbers: NDArray[np.float64],
    target: Numbers,
    weights: NDArray[np.float64] | None,
    row_columns: RowColumns,
) -> TrainingData:
    """Leave out the rows of weight 0, and rank the features of the rest."""
    order = np.arange(len(numbers)) if weights is None else np.flatnonzero(weights)
    observations = Observations(
        target,
        np.ascontiguousarray(numbers[order]),
        _kept_weights(weights, order),
        select_rows(row_columns, order),
        None if len(order) == len(numbers) else order,
    )
    return _assemble(features, order, observations)


def _assemble(features: Features, order: NDArray[np.intp], observations: Observations) -> TrainingData:
    """Rank the features of the rows that are kept, in their order."""
    kept = features.of_rows(order)
    columns = Columns(kept.values.shape[1], kept.levels)
    positions = np.full(len(kept), _LEFT_OUT, dtype=np.uint32)
    positions[order] = np.arange(len(order), dtype=np.uint32)
    table = rank_features(kept.values, positions, columns.n_levels)
    missing = {feature for feature in range(table.n_features) if table.has_missing(feature)}
    missing |= {feature for feature, levels in kept.levels.items() if not levels}
    return TrainingData(table, observations, replace(columns, missing=frozenset(missing)))


def _kept_weights(weights: NDArray[np.float64] | None, order: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return the weights of the rows that are kept, in their order; None if every row counts once."""
    return None if weights is None or (weights[order] == 1).all() else weights[order]
