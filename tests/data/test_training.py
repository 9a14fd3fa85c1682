"""Training data: the rows in the order of their labels, with or without an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from inputs import Model, refuse, restore
from particletree._data import check_classification_data, make_training_data


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([Model()])
def test_a_classifier_that_uses_it_passes_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=1))
def test_rows_stand_in_the_order_of_their_labels(rows: list[tuple[int, float]]) -> None:
    numbers = np.arange(len(rows), dtype=np.float64)
    expected = sorted(((label, number, weight) for number, (label, weight) in enumerate(rows) if weight > 0))
    weights = [weight for _, weight in rows]
    labels = [label for label, _ in rows]
    if not expected:
        refuse(numbers[:, None], "Every weight in sample_weight is zero", y=labels, weights=weights)
        return
    data = make_training_data(numbers[:, None], labels, 5, weights)
    assert data.observations.values.tolist() == [label for label, _, _ in expected]
    assert restore(data.table).ravel().tolist() == [number for _, number, _ in expected]
    kept = np.ones(len(expected)) if data.observations.weights is None else data.observations.weights
    assert kept.tolist() == [weight for _, _, weight in expected]


@pytest.mark.parametrize("n_classes", [200, 300, 70_000])
def test_rows_of_a_class_keep_their_order_however_many_classes_there_are(n_classes: int) -> None:
    labels = np.random.default_rng(1).choice([0, 1, n_classes // 2, n_classes - 1], size=500)
    data = make_training_data(np.arange(500.0)[:, None], labels, n_classes)
    np.testing.assert_array_equal(restore(data.table).ravel(), np.argsort(labels, kind="stable"))
    np.testing.assert_array_equal(data.observations.values, np.sort(labels))


def test_one_row_and_one_class_are_allowed() -> None:
    data = check_classification_data(Model(), [[1.0, 2.0]], ["only"])
    target = data.observations.target
    assert (data.table.n_rows, target.n_outputs, target.classes.tolist()) == (1, 1, ["only"])
    assert data.observations.values.tolist() == [0]
    assert Model().fit([[1.0], [2.0]], ["only", "only"]).predict_proba([[5.0]]).tolist() == [[1.0]]


def test_training_data_without_an_estimator() -> None:
    data = make_training_data([[3.0], [1.0], [2.0]], [2, 0, 2], n_classes=4, weights=[2, 0, 1])
    assert data.observations.target.n_outputs == 4
    assert data.observations.values.tolist() == [2, 2]
    assert restore(data.table).tolist() == [[3.0], [2.0]]
    assert data.observations.weights is not None
    assert data.observations.weights.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("labels", "part"),
    [
        ([0, 2], "Label out of range in row 1 (counted from 0). Labels go from 0 to n_classes - 1 = 1"),
        ([-1, 0], "Label out of range in row 0"),
        ([0], "labels must be 2 integers"),
        ([0.0, 1.0], "np.unique(labels, return_inverse=True)"),
        (["a", "b"], "np.unique(labels, return_inverse=True)"),
    ],
)
def test_labels_without_an_estimator_must_be_numbered(labels: Any, part: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is compared below)
        make_training_data([[0.0], [1.0]], labels, n_classes=2)
    assert part in str(caught.value)
