"""The role of each column of a file in a fit: target, weights, feature or unused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.categories import texts_among_numbers
from particletree._files import Frame, Kind, TableFile, nearest_names
from particletree._files.frame import read_all

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


def numbers_rows(values: NDArray[Any]) -> bool:
    """Tell whether a column of numbers may be the number of the row: whole numbers that increase all the way."""
    numbers = values.astype(np.float64)
    return len(numbers) > _FEW_LEVELS and bool((np.diff(numbers) >= 1).all() and (numbers % 1 == 0).all())


def doubtful_columns(frame: Frame, features: dict[str, Kind]) -> list[str]:
    """Return notes about columns that look like names, numbers or identifiers of the rows, or texts like numbers."""
    notes = [
        f"column {name!r} has an increasing whole number in each row; if it numbers them, --drop it"
        for name, kind in features.items()
        if kind is Kind.NUMBER and numbers_rows(frame.columns[name])
    ]
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
