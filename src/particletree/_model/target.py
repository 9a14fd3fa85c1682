"""Targets: the type of what is predicted, and the observed values.

A target is class labels (:class:`ClassLabels`) or numbers (:class:`Numbers`). The posterior keeps it to name its
predictions; the leaf model defines the distribution of the observations (``leaf.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from particletree._model.row_columns import RowColumns


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """One of K classes per row.

    Attributes
    ----------
    classes : ndarray, shape (K,)
        The labels; a row's observation is the number of its label among these.
    """

    classes: NDArray[Any]

    @property
    def n_outputs(self) -> int:
        """Number of class probabilities that a prediction has."""
        return int(self.classes.size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassLabels) and self.classes.tolist() == other.classes.tolist()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ClassLabels({self.classes.tolist()!r})"


@dataclass(frozen=True)
class Numbers:
    """One or several numbers per row, independent given the tree.

    Attributes
    ----------
    n_targets : int
        Number of targets per row.
    names : tuple of str or None
        Their names, if the data had names.
    """

    n_targets: int = 1
    names: tuple[str, ...] | None = None

    @property
    def n_outputs(self) -> int:
        """Number of means that a prediction has."""
        return self.n_targets


Target: TypeAlias = ClassLabels | Numbers


def class_labels(target: Target) -> NDArray[Any]:
    """Return the labels of a target that has classes."""
    if not isinstance(target, ClassLabels):
        raise TypeError(f"The target is {target!r}, which has no classes.")
    return target.classes


@dataclass(frozen=True, eq=False)
class Observations:
    """The observed targets, one entry per row.

    Attributes
    ----------
    target : ClassLabels or Numbers
        The type of target.
    values : ndarray
        Indices of classes, int32 of shape (n_rows,), in increasing order; or float64 of shape (n_rows, n_targets).
    weights : ndarray of float64, shape (n_rows,), or None
        How often each row counts, above 0; None if every row counts once.
    row_columns : mapping from str to ndarray of float64, shape (n_rows,)
        What else is known of the rows, by the names of columns that the leaf model declares (``row_columns.py``).
    row_numbers : ndarray of integers, shape (n_rows,), or None
        The number of each row in the table that the caller has passed, by which messages name it; None if rows have
        kept their order and none was left out.
    """

    target: Target
    values: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    row_columns: RowColumns = field(default_factory=dict)
    row_numbers: NDArray[np.intp] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """How often each row counts, as an array also if all count once."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    def number_of_row(self, row: int) -> int:
        """Return the number of a row in the caller's table."""
        return row if self.row_numbers is None else int(self.row_numbers[row])
