"""The rows for the page: those that are given, checked; those kept by the posterior; or, without any, a typical row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.row_columns import check_row_columns, read_row_columns, refuse_undeclared
from particletree._model.row_columns import RowColumns, select_rows
from particletree._model.rule import has_gap
from particletree._model.target import ClassLabels, Numbers
from particletree._plots.names import checked_rows
from particletree._posterior import Posterior

Floats = NDArray[np.float64]


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


def table_of(posterior: Posterior, X: Any) -> Any:
    """Return X, or else the training rows that the posterior has kept; None if there are neither."""
    if X is not None or posterior.kept_rows is None:
        return X
    return spelled_out(posterior, posterior.kept_rows)


def spelled_out(posterior: Posterior, rows: Floats) -> NDArray[Any]:
    """Return rows with levels instead of their numbers, None for missing."""
    if not posterior.columns.levels:
        return rows
    table = rows.astype(object)
    for feature, levels in posterior.columns.levels.items():
        table[:, feature] = [(*levels, None)[int(number)] for number in rows[:, feature]]
    return table


def typical_row(posterior: Posterior, rows: Floats | None) -> Floats:
    """Return the median of each feature of numbers, and the most frequent level of the others.

    Without rows: the median of the values between which trees cut, and the first level. A feature without any value, or
    that no tree cuts, is missing.
    """
    typical = np.full(posterior.n_features, np.nan)
    for feature in range(posterior.n_features):
        column = None if rows is None else rows[:, feature]
        if (levels := posterior.columns.levels.get(feature)) is not None:
            known = np.zeros(1) if column is None else column[(column >= 0) & (column < len(levels))]
            typical[feature] = np.bincount(known.astype(np.int64), minlength=1).argmax()
            continue
        values = cut_values(posterior, feature) if column is None else column[~np.isnan(column)]
        if values.size:
            typical[feature] = np.quantile(values, 0.5, method="lower")
    return typical


def cut_values(posterior: Posterior, feature: int) -> Floats:
    """Return the values of the training data between which trees cut a feature of numbers."""
    nodes = posterior.forest.nodes
    cuts = nodes[(nodes["feature"] == feature) & has_gap(nodes)]
    return np.unique(np.concatenate((cuts["gap_low"], cuts["gap_high"])))


def rows_along(posterior: Posterior, feature: int, typical: Floats) -> NDArray[Any] | None:
    """Return typical rows that differ in one feature, at the values between which trees cut it; None if none does."""
    values = np.zeros(1) if posterior.columns.is_categorical(feature) else cut_values(posterior, feature)
    if values.size == 0:
        return None
    rows = np.tile(typical, (values.size, 1))
    rows[:, feature] = values
    return spelled_out(posterior, rows)
