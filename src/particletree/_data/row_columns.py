"""Row columns, which say more of a row than features and targets: one finite number each, or an error names the row.

They are read with the other data, whatever the leaf model, and checked against what the leaf model declares, when the
rows of weight 0 are gone: these may hold any number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from particletree._data.row_errors import refuse_masked
from particletree._data.target import as_array, to_float64
from particletree._model.leaf import LeafModel
from particletree._model.leaves import registered_leaf_models
from particletree._model.row_columns import Floats, RowColumns
from particletree._model.target import Observations


def read_row_columns(given: Mapping[str, Any], n_rows: int, suffix: str = "") -> dict[str, Floats]:
    """Return the columns that are not None as float64, without a look at the numbers.

    Errors call a column by its name with the `suffix`.

    Examples
    --------
    >>> from particletree._data.row_columns import read_row_columns
    >>> read_row_columns({"exposure": [1, 0.5], "event": None}, 2)
    {'exposure': array([1. , 0.5])}
    """
    columns = {}
    for name, values in given.items():
        if values is None:
            continue
        shown = f"{name}{suffix}"
        refuse_masked(values, shown)
        array = as_array(values, shown)
        if array.shape != (n_rows,):
            raise ValueError(f"{shown} must have shape ({n_rows},), one number for each row, got {array.shape}.")
        columns[name] = to_float64(array, shown)
    return columns


def checked_row_columns(leaf: LeafModel, given: Mapping[str, Any], n_rows: int, suffix: str = "") -> dict[str, Floats]:
    """Return the columns of rows with observations that a leaf model is to be compared with."""
    columns = read_row_columns(given, n_rows, suffix)
    check_row_columns(leaf, columns, suffix=suffix)
    return columns


def checked_new_columns(leaf: LeafModel, given: Mapping[str, Any], n_rows: int) -> dict[str, Floats]:
    """Return the columns of rows whose observations are still to come; others say nothing of these."""
    columns = checked_row_columns(leaf, given, n_rows)
    of_new_rows = leaf.columns_of_new_rows(columns)
    for name in columns:
        if name not in of_new_rows:
            raise ValueError(f"{name} has no meaning for observations that are still to come; leave it out.")
    return columns


def check_row_columns(
    leaf: LeafModel, columns: RowColumns, number_of_row: Callable[[int], int] = int, suffix: str = ""
) -> None:
    """Refuse columns that the leaf model does not declare, and numbers that it does not allow.

    `number_of_row` turns the position of a row into the number that the caller knows it by.
    """
    declared = {column.name: column for column in leaf.declared_columns}
    for name, values in columns.items():
        refuse_undeclared(leaf, name, suffix)
        column, shown = declared[name], f"{name}{suffix}"
        is_finite = np.isfinite(values)
        for is_wrong, problem in ((~is_finite, "is NaN or inf"), (column.is_wrong(values), column.problem)):
            if is_wrong.any():
                row = number_of_row(int(is_wrong.argmax()))
                raise ValueError(
                    f"{shown.capitalize()} that {problem} in row {row} (counted from 0). "
                    f"{name.capitalize()} says {column.meaning}."
                )


def check_observed_columns(leaf: LeafModel, observations: Observations) -> None:
    """Check the columns of training rows: also that none is missing that the leaf model has no default for."""
    check_row_columns(leaf, observations.row_columns, observations.number_of_row)
    for column in leaf.declared_columns:
        if column.default is None and column.name not in observations.row_columns:
            raise ValueError(
                f"{type(leaf).__name__} needs {column.name}, which says {column.meaning}: pass {column.name}=..., one "
                "number for each row."
            )


def refuse_undeclared(leaf: LeafModel, name: str, suffix: str = "") -> None:
    """Refuse a column that the leaf model has no use for, and name the leaf models that have."""
    if any(column.name == name for column in leaf.declared_columns):
        return
    others = [
        f"leaf={other}()"
        for other, kind in registered_leaf_models().items()
        if any(column.name == name for column in kind.declared_columns)
    ]
    if not others:
        raise TypeError(f"{name}{suffix} is neither an argument nor a row column that {type(leaf).__name__} declares.")
    instead = " or ".join(others)
    raise ValueError(f"{type(leaf).__name__} has no use for {name}{suffix}; leave it out, or fit with {instead}.")
