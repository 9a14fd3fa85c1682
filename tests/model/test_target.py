"""Targets: what they say of themselves, what distinguishes them, and what was observed of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from particletree._model import Categorical, ClassLabels, Flat, Numbers
from particletree._model.target import Observations, Target, class_labels

COLOURS = ClassLabels(np.array(["blue", "red"]))


class TestClassLabels:
    @pytest.mark.parametrize("classes", [np.array([7]), np.array(["a", "b", "c"]), np.arange(300)], ids=len)
    def test_a_prediction_has_a_probability_for_each(self, classes: NDArray[Any]) -> None:
        assert ClassLabels(classes).n_outputs == len(classes)
        assert type(ClassLabels(classes).n_outputs) is int

    def test_equality_is_that_of_the_labels_in_their_order(self) -> None:
        assert ClassLabels(np.array(["blue", "red"], dtype=object)) == COLOURS
        assert ClassLabels(np.array(["red", "blue"])) != COLOURS
        assert ClassLabels(np.array(["blue"])) != COLOURS
        assert ClassLabels(np.array(["blue", "red", "green"])) != COLOURS
        assert ClassLabels(np.arange(2)) != ClassLabels(np.array(["0", "1"]))
        assert ClassLabels(np.arange(2)) != Numbers(2)
        assert ClassLabels(np.arange(2)) != [0, 1]

    def test_cannot_be_hashed_because_labels_are_an_array(self) -> None:
        with pytest.raises(TypeError, match="unhashable"):
            hash(COLOURS)

    def test_repr(self) -> None:
        assert repr(COLOURS) == "ClassLabels(['blue', 'red'])"
        assert repr(ClassLabels(np.array([0.5, 2.0]))) == "ClassLabels([0.5, 2.0])"

    def test_the_labels_keep_their_type(self) -> None:
        assert class_labels(ClassLabels(np.array([3, 5], dtype=np.int8))).dtype == np.int8


class TestNumbers:
    def test_a_prediction_has_a_mean_for_each(self) -> None:
        assert Numbers().n_outputs == 1
        assert Numbers(3).n_outputs == 3

    def test_equality_is_that_of_number_and_names(self) -> None:
        assert Numbers() == Numbers(1)
        assert Numbers(2, ("a", "b")) == Numbers(2, ("a", "b"))
        assert Numbers(2, ("a", "b")) != Numbers(2, ("b", "a"))
        assert Numbers(2, ("a", "b")) != Numbers(2)
        assert Numbers(2) != Numbers(3)
        assert Numbers(2) != ClassLabels(np.arange(2))

    def test_have_no_classes(self) -> None:
        with pytest.raises(TypeError, match=r"The target is Numbers\(n_targets=2, names=None\), which has no classes"):
            class_labels(Numbers(2))


@pytest.mark.parametrize("target", [COLOURS, Numbers(), Numbers(2, ("a", "b"))], ids=repr)
def test_pickles(target: Target) -> None:
    assert pickle.loads(pickle.dumps(target)) == target


class TestObservations:
    def test_rows_and_their_weights(self) -> None:
        labels = Observations(COLOURS, np.array([0, 0, 1], dtype=np.int32))
        assert labels.n_rows == 3
        assert labels.row_weights.tolist() == [1.0, 1.0, 1.0]
        weighted = Observations(Numbers(2), np.zeros((2, 2)), np.array([0.5, 3.0]))
        assert weighted.n_rows == 2
        assert weighted.row_weights.tolist() == [0.5, 3.0]
        assert weighted.row_columns == {}


class TestAsStatisticsOfLabels:
    """A class has a column of its own in the statistics, and a row counts there by its weight."""

    @pytest.mark.parametrize("leaf", [Categorical(3.0), Flat()])
    @pytest.mark.parametrize("weights", [None, np.array([0.5, 2.0, 1.0, 0.25])])
    def test_rows_count_for_their_class(self, leaf: Categorical, weights: NDArray[np.float64] | None) -> None:
        target = ClassLabels(np.array(["a", "b", "never"]))
        observations = Observations(target, np.array([0, 0, 1, 1], dtype=np.int32), weights)
        expected = np.eye(3)[[0, 0, 1, 1]] * (1.0 if weights is None else weights[:, None])
        np.testing.assert_array_equal(leaf.row_statistics(observations), expected)
        assert leaf.n_statistics(target) == 3
        assert leaf.n_rows(expected.sum(axis=0)) == pytest.approx(expected.sum())
