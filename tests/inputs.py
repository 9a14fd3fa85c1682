"""What the tests of the input share: a classifier whose checks are all ours, and how a refusal is tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from particletree._data import Table, check_classification_data, check_features

LARGE = 2**53  # LARGE + 1 is the first integer that is not a float64
WIDE_DTYPE = getattr(pl, "Int128", pl.Object)  # Int128 is younger than the oldest polars that we test with


DAYS = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")


class Model(ClassifierMixin, BaseEstimator):
    """Somebody's classifier: all of its checks are ours, its predictions are those of one tree."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Model:
        data = check_classification_data(self, X, y, sample_weight)
        self._columns = data.columns
        self.classes_ = data.observations.target.classes
        tree = DecisionTreeClassifier(random_state=0)
        self.tree_ = tree.fit(restore(data.table), data.observations.values, data.observations.weights)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = check_features(self, X, self._columns)
        probabilities = np.zeros((len(X), len(self.classes_)))
        probabilities[:, self.tree_.classes_] = self.tree_.predict_proba(X)
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


def restore(table: Table) -> np.ndarray:
    """Return the values that a table was made of."""
    return np.column_stack([table.feature_values(f)[table.ranks[f]] for f in range(table.n_features)])


def labels_for(X: Any) -> np.ndarray:
    return np.arange(len(X)) % 2


def refuse(X: Any, *parts: str, error: type[Exception] = ValueError, y: Any = None, weights: Any = None) -> None:
    """Check that `fit` refuses X with a message that contains all the parts."""
    with pytest.raises(error) as caught:
        check_classification_data(Model(), X, labels_for(X) if y is None else y, weights)
    for part in parts:
        assert part in str(caught.value)
