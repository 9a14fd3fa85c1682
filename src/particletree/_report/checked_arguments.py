"""What is given for the page: rows with their targets and row columns, and limits; checked against each other."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.row_columns import check_row_columns, read_row_columns, refuse_undeclared
from particletree._model.row_columns import RowColumns, select_rows
from particletree._model.target import ClassLabels, Numbers
from particletree._plots.names import checked_rows
from particletree._posterior import Posterior

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """How much the page holds at most.

    Examples
    --------
    >>> from particletree._report.checked_arguments import Limits
    >>> Limits(max_trees=100)
    Limits(n_dependence=6, max_trees=100)
    """

    n_dependence: int = 6
    max_trees: int = 2_000

    def __post_init__(self) -> None:
        _check_whole("n_dependence", self.n_dependence, 0, "the number of features whose dependence is shown")
        _check_whole("max_trees", self.max_trees, 1, "the largest number of trees in the page")


def _check_whole(name: str, value: object, least: int, meaning: str) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, {meaning}, got {value!r}.")


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows and what is known of them; a part that was not given is None.

    Attributes
    ----------
    X, y
        The features and targets, as the user gave them.
    row_columns : mapping
        What else was given of each row, by the names of columns; None if a column was not.
    suffix : {"", "_test"}
        What the names of these arguments end with, for errors.
    """

    X: Any
    y: Any = None
    row_columns: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ""

    def check(self, posterior: Posterior) -> None:
        """Refuse targets and row columns that do not match the rows or the posterior."""
        parts = {"y": self.y, **self.row_columns}
        given = {name: values for name, values in parts.items() if values is not None}
        for name in given.keys() - {"y"}:
            refuse_undeclared(posterior.leaf, name, self.suffix)
        if not given:
            return
        if self.X is None:
            name, rows = f"{next(iter(given))}{self.suffix}", f"X{self.suffix}"
            raise ValueError(f"{name} was given without {rows}: give the rows that it belongs to, or leave it out.")
        n_rows = len(checked_rows(posterior, self.X))
        for name, values in given.items():
            shape = np.shape(values)
            if not shape or shape[0] != n_rows:
                found = f"{shape[0]} values" if shape else "a single value"
                raise ValueError(
                    f"X{self.suffix} has {n_rows} rows, but {name}{self.suffix} has {found}: give one for each row."
                )
        if "y" in given:
            self._check_targets(posterior)

    def _check_targets(self, posterior: Posterior) -> None:
        shape, n_targets = np.shape(self.y), posterior.target.n_outputs
        is_class = isinstance(posterior.target, ClassLabels)
        if is_class and len(shape) != 1:
            raise ValueError(f"y{self.suffix} must have shape ({shape[0]},), one label for each row, got {shape}.")
        if not is_class and int(np.prod(shape[1:])) != n_targets:
            raise ValueError(
                f"y{self.suffix} has shape {shape}, but the fit had {n_targets} target{'s' * (n_targets > 1)}: "
                "give the same, in the same order."
            )

    def lacking(self, posterior: Posterior) -> list[str]:
        """Return the columns of the fit without which predictions cannot be compared with the targets."""
        return [name for name in posterior.row_columns if self.row_columns.get(name) is None]

    def known(self, posterior: Posterior) -> tuple[Floats, NDArray[Any], RowColumns]:
        """Return rows, targets and row columns, without the rows whose targets cannot be scored."""
        targets, is_known = known_targets(posterior, self.y)
        if not is_known.any():
            raise ValueError("No row has a target that the model knows: give the targets as they were for the fit.")
        numbers_of_known = np.flatnonzero(is_known)
        columns = select_rows(read_row_columns(self.row_columns, len(targets), self.suffix), numbers_of_known)
        check_row_columns(posterior.leaf, columns, lambda row: int(numbers_of_known[row]), self.suffix)
        return checked_rows(posterior, self.X)[is_known], targets[is_known], columns


def known_targets(posterior: Posterior, y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return targets as an array, and which of them can be scored: labels of the fit, or finite numbers."""
    values = np.asarray(y)
    if isinstance(posterior.target, Numbers):
        values = values.astype(np.float64)
        return values, np.asarray(np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    return values, np.isin(values.astype(object), posterior.target.classes.astype(object))
