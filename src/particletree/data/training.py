"""Training data: the table, the labels and the weights, the rows in the order of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree.data.features import check_features_to_fit, check_numbers
from particletree.data.fingerprint import DataFingerprint, fingerprint_of
from particletree.data.refusals import refuse_first
from particletree.data.table import Table, rank_features
from particletree.data.target import check_target, encode, encode_where
from particletree.data.weights import check_weights

# The place of a row that the kernel leaves out.
_LEFT_OUT = 2**32 - 1


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a sampler is given: features, labels from 0 to `n_classes - 1`, and how often each row counts.

    The rows stand in the order of their labels, those of a class in the order in which they were given: `labels` never
    decreases, so a class is a stretch of rows, and counting a block's rows by class needs no look at the labels. A
    class may have no row. The weights are above 0; None means that every row counts once.

    Examples
    --------
    >>> from particletree.data import make_training_data
    >>> data = make_training_data([[2.5], [0.1], [7.0]], [1, 0, 0], n_classes=2)
    >>> data.labels.tolist(), data.table.ranks.tolist()
    ([0, 0, 1], [[0, 2, 1]])
    """

    table: Table
    labels: NDArray[np.int32]
    n_classes: int
    weights: NDArray[np.float64] | None = None

    @cached_property
    def fingerprint(self) -> DataFingerprint:
        """Hashes of the parts, by which posteriors of other data are told apart."""
        return fingerprint_of(self)


def check_training_data(
    estimator: object, X: Any, y: Any, sample_weight: Any = None
) -> tuple[TrainingData, NDArray[Any]]:
    """Check what a classifier's `fit` was given, and prepare it for a sampler.

    Parameters
    ----------
    estimator : object
        The classifier; `n_features_in_` and, for data frames, `feature_names_in_` are set on it.
    X : array-like or data frame, shape (n_rows, n_features)
        The features: numbers, none of them missing or infinite.
    y : array-like, shape (n_rows,)
        The labels: integers, text, booleans, or floats that are whole numbers.
    sample_weight : array-like, shape (n_rows,), optional
        How often each row counts: finite, at least 0, fractions allowed. Rows of weight 0 are ignored, as if they had
        not been given: a label that no other row has is not among the classes.

    Returns
    -------
    data : TrainingData
        The checked data, the rows in the order of their labels.
    classes : ndarray, shape (n_classes,)
        The distinct labels of the rows that count, sorted; the label `k` in `data` stands for `classes[k]`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from particletree.data import check_training_data
    >>> data, classes = check_training_data(DummyClassifier(), [[0.5], [1.5]], ["yes", "no"])
    >>> classes.tolist(), data.labels.tolist()
    (['no', 'yes'], [0, 1])
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    features = check_features_to_fit(estimator, X)
    given = check_target(y, len(features))
    weights = None if sample_weight is None else check_weights(sample_weight, len(features))
    classes, labels = encode(given) if weights is None or weights.all() else encode_where(weights > 0, given)
    return _assemble(features, labels, len(classes), weights), classes


def make_training_data(X: Any, labels: ArrayLike, n_classes: int, weights: ArrayLike | None = None) -> TrainingData:
    """Prepare data for a sampler that is called without an estimator.

    `X` and `weights` are as in :func:`check_training_data`, `labels` are integers from 0 to `n_classes - 1`.

    Examples
    --------
    >>> from particletree.data import make_training_data
    >>> make_training_data([[0.5], [1.5], [2.5]], [0, 1, 1], n_classes=2, weights=[1, 1, 0]).table.n_rows
    2
    """
    features = check_numbers(X)
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iu" or numbers.shape != (len(features),):
        raise ValueError(
            f"labels must be {len(features)} integers, one for each row of X, got {numbers.dtype} of shape "
            f"{numbers.shape}. Number other labels with np.unique(labels, return_inverse=True)."
        )
    outside = (numbers < 0) | (numbers >= n_classes)
    refuse_first(outside, "Label out of range", f"Labels go from 0 to n_classes - 1 = {n_classes - 1}.")
    counts = None if weights is None else check_weights(weights, len(features))
    return _assemble(features, numbers, n_classes, counts)


def _assemble(
    features: NDArray[np.float64], labels: NDArray[Any], n_classes: int, weights: NDArray[np.float64] | None
) -> TrainingData:
    """Leave out the rows of weight 0, put the rest in the order of their labels, and rank them."""
    ordered, kept_weights, positions = _order_rows(labels, n_classes, weights)
    return TrainingData(rank_features(features, positions), ordered, n_classes, kept_weights)


def _order_rows(
    labels: NDArray[Any], n_classes: int, counts: NDArray[np.float64] | None
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint32]]:
    """Return the labels in order, the weights in the same order, and the place of each row: none if its weight is 0."""
    narrow = labels.astype(np.min_scalar_type(n_classes), copy=False)  # up to 16 bits NumPy sorts by counting
    order = narrow.argsort(kind="stable")
    if counts is not None:
        if not counts.all():
            order = order[counts[order] > 0]
        counts = None if (counts[order] == 1).all() else counts[order]
    positions = np.full(len(labels), _LEFT_OUT, dtype=np.uint32)
    positions[order] = np.arange(len(order), dtype=np.uint32)
    return narrow[order].astype(np.int32), counts, positions
