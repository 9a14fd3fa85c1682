"""The data of a fit: features in the form that the estimators take, target and weights of the rows in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._commands.columns import Roles, is_present
from particletree._commands.target import make_target
from particletree._files import Frame, Kind


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to learn from or to be scored on.

    Attributes
    ----------
    roles : Roles
        The roles of the columns of the file.
    X : ndarray, shape (n_rows, n_features)
        The features.
    y : ndarray, shape (n_rows,)
        Labels or numbers.
    weights : ndarray or None
        How often each row counts.
    is_regression : bool
        Whether the target is a number.
    """

    roles: Roles
    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    is_regression: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def categorical(self) -> list[int]:
        """The indices of the categorical features."""
        return [index for index, kind in enumerate(self.roles.features.values()) if kind is not Kind.NUMBER]

    def rows(self, mask: NDArray[np.bool_]) -> Problem:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[mask]
        return Problem(self.roles, self.X[mask], self.y[mask], weights, self.is_regression)


def make_problem(roles: Roles, frame: Frame, is_regression: bool) -> tuple[Problem, list[str]]:
    """Return the rows with a target and a nonzero weight, and notes about the rows that were left out."""
    has_target = is_present(frame.columns[roles.target])
    counts = np.ones(frame.n_rows, dtype=bool) if roles.weights is None else frame.columns[roles.weights] != 0
    if not counts.any():
        raise ValueError(f"Every weight in column {roles.weights!r} is zero: no row is left to learn from.")
    notes = [
        *_note_left_out(int((~has_target).sum()), f"without a value of {roles.target!r}"),
        *_note_left_out(int((has_target & ~counts).sum()), "of weight zero"),
    ]
    kept = frame.rows(has_target & counts)
    y = make_target(kept.columns[roles.target], roles.target, is_regression)
    weights = None if roles.weights is None else kept.columns[roles.weights]
    return Problem(roles, kept.matrix(list(roles.features)), y, weights, is_regression), notes


def _note_left_out(n: int, which: str) -> list[str]:
    return [f"{n} {'row' if n == 1 else 'rows'} {which} left out"] if n else []
