"""What a fit reads from a file: the roles of its columns, and features, target and weights of the rows in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.categories import texts_among_numbers
from particletree._data.row_errors import refuse_first
from particletree._files import Frame, Kind, TableFile, nearest_names, read_all

# A text column with more levels than this share of the rows may be a name or an identifier.
_SHARE_OF_LEVELS, _FEW_LEVELS = 0.5, 20


@dataclass(frozen=True)
class Roles:
    """The names of the target, of the weights, and of the features with the kind of each."""

    target: str
    weights: str | None
    features: dict[str, Kind]


def choose_columns(file: TableFile, target: str, weights: str | None, drop: list[str]) -> tuple[Roles, Frame]:
    """Return the roles of the columns of a file, and its rows with the columns in use."""
    for name in (target, *([weights] if weights is not None else []), *drop):
        check_name(file, name)
    left_out = set(drop) - {target}
    kinds = {name: kind for name, kind in file.kinds().items() if name not in left_out}
    if weights is not None:
        kinds[weights] = Kind.NUMBER
    features = {name: kind for name, kind in kinds.items() if name not in (target, weights)}
    if not features:
        raise ValueError(f"{file.path} has no column beside the target to predict it from.")
    return Roles(target, weights, features), read_all(file, kinds)


def check_name(file: TableFile, name: str) -> None:
    """Refuse the name of a column that a file does not have."""
    if name not in file.names:
        hints = "".join(f" Note: {note}." for note in file.notes)
        raise ValueError(f"{file.path} has no column {name!r}; {nearest_names(name, file.names)}{hints}")


def is_present(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values of a column are not missing."""
    if values.dtype == np.float64:
        return np.asarray(~np.isnan(values.astype(np.float64)))
    return np.array([value is not None and value == value for value in values.tolist()], dtype=bool)


def may_name_rows(n_levels: int, n_rows: int) -> bool:
    """Tell whether a text column has so many levels that they may be names or identifiers of the rows."""
    return n_levels > max(_FEW_LEVELS, _SHARE_OF_LEVELS * n_rows)


def doubtful_columns(frame: Frame, features: dict[str, Kind]) -> list[str]:
    """Return notes about columns that look like names, numbers or identifiers of the rows, or texts like numbers."""
    notes = []
    for name in (name for name, kind in features.items() if kind is Kind.NUMBER and frame.n_rows > _FEW_LEVELS):
        numbers = frame.columns[name].astype(np.float64)
        if (np.diff(numbers) >= 1).all() and (numbers % 1 == 0).all():
            notes.append(f"column {name!r} has an increasing whole number in each row; if it numbers them, --drop it")
    for name in (name for name, kind in features.items() if kind is Kind.TEXT):
        levels = set(frame.columns[name].tolist()) - {None}
        n_levels = len(levels)
        if texts := sorted(texts_among_numbers(levels)):
            shown = ", ".join(map(repr, texts[:5])) + (", ..." if len(texts) > 5 else "")
            notes.append(
                f"column {name!r} has {n_levels - len(texts)} different numbers and {shown}, and is taken as "
                "categories; empty cells are missing values and leave a column of numbers what it is"
            )
        if may_name_rows(n_levels, frame.n_rows):
            notes.append(
                f"column {name!r} has {n_levels} different texts in {frame.n_rows} rows; if it names them, --drop it"
            )
    return notes


# As in _data/target.py: more distinct numbers than this, or few rows per class, suggest a regression target.
_MANY_NUMBERS, _MANY_CLASSES, _FEW_ROWS_PER_CLASS = 100, 20, 5


def read_target(values: NDArray[Any], name: str, is_regression: bool) -> NDArray[Any]:
    """Return the numbers, or the labels as text, booleans or whole numbers, of rows that all have one."""
    if is_regression and values.dtype != np.float64:
        raise ValueError(f"The target {name!r} holds {values[0]!r}, which is not a number; omit --regression.")
    if is_regression:
        return values
    if values.dtype != np.float64:
        cells = values.tolist()
        return np.array(cells, dtype=bool) if all(isinstance(cell, bool) for cell in cells) else values
    if not np.isfinite(values).all() or (values != np.floor(values)).any():
        raise ValueError(
            f"The target {name!r} has {len(np.unique(values))} distinct numbers with fractions, which are not classes; "
            "add --regression to predict a number."
        )
    if np.abs(values).max(initial=0) >= 2**53:
        raise ValueError(
            f"The target {name!r} has whole numbers of 2**53 (9007199254740992) and more, of which neighbours are read "
            "as the same number. Write the labels as text, e.g. with a letter in front."
        )
    return values.astype(np.int64)


def doubt_classes(y: NDArray[Any], name: str) -> list[str]:
    """Return a note if the classes are so many numbers that the target looks like one for regression."""
    n_classes = len(set(y.tolist()))
    are_many = n_classes > _MANY_NUMBERS or (n_classes > _MANY_CLASSES and len(y) < _FEW_ROWS_PER_CLASS * n_classes)
    if y.dtype.kind not in "if" or not are_many:
        return []
    return [f"the target {name!r} has {n_classes} distinct numbers, each a class now; --regression predicts a number"]


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
    row_numbers : ndarray
        The number of each row in the file, counted from 0.
    """

    roles: Roles
    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    is_regression: bool
    row_numbers: NDArray[np.int64]

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
        return Problem(self.roles, self.X[mask], self.y[mask], weights, self.is_regression, self.row_numbers[mask])


def make_problem(roles: Roles, frame: Frame, is_regression: bool) -> tuple[Problem, list[str]]:
    """Return the rows with a target and a nonzero weight, and notes about the rows that were left out."""
    has_target = is_present(frame.columns[roles.target])
    counts = np.ones(frame.n_rows, dtype=bool) if roles.weights is None else frame.columns[roles.weights] != 0
    if not counts.any():
        raise ValueError(f"Every weight in column {roles.weights!r} is zero: no row is left to learn from.")
    if roles.weights is not None:
        given, advice = frame.columns[roles.weights], "Weights say how often a row counts: at least 0."
        refuse_first(has_target & np.isnan(given), f"No weight in column {roles.weights!r}", advice)
        refuse_first(has_target & (given < 0), f"Negative weight in column {roles.weights!r}", advice)
    left_out = {f"without a value of {roles.target!r}": ~has_target, "of weight zero": has_target & ~counts}
    notes = [
        f"{n} {'row' if n == 1 else 'rows'} {which} left out" for which, mask in left_out.items() if (n := mask.sum())
    ]
    kept = frame.rows(has_target & counts)
    y = read_target(kept.columns[roles.target], roles.target, is_regression)
    if len(y) == 0:
        raise ValueError(f"No row has a value of the target {roles.target!r}.")
    if len(set(y.tolist())) == 1:
        raise ValueError(
            f"The target {roles.target!r} has one value only, {y.tolist()[0]!r}: there is nothing to learn."
        )
    weights = None if roles.weights is None else kept.columns[roles.weights]
    X, row_numbers = kept.matrix(list(roles.features)), np.flatnonzero(has_target & counts)
    return Problem(roles, X, y, weights, is_regression, row_numbers), notes
