"""The command `report`: an HTML page about a saved posterior, optionally with a file of rows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._commands.console import check_output, say, tell
from particletree._commands.held_out import choose_held_out
from particletree._commands.matching import UnseenLevels, kinds_to_read, match_columns
from particletree._commands.training_table import check_name, is_present, read_target
from particletree._data.row_columns import check_row_columns, refuse_undeclared
from particletree._files import Frame, Kind, TableFile, open_table, read_all
from particletree._model.target import ClassLabels
from particletree._posterior import Posterior
from particletree._report.page import write_report
from particletree._report.rows import known_targets
from particletree._report.scores import are_training_rows


@dataclass(frozen=True)
class ReportOptions:
    """The options of the command; ``particletree report --help`` explains them."""

    model: Path
    output: Path
    data: Path | None = None
    target: str | None = None
    test_size: float | None = None
    seed: int = 0
    title: str | None = None
    no_header: bool = False
    decimal_comma: bool = False
    row_columns: Mapping[str, str] = field(default_factory=dict)  # the columns of the file, by what they say

    @classmethod
    def of(cls, options: argparse.Namespace) -> ReportOptions:
        """Return the options that the command line's parser has found."""
        given = vars(options)
        return cls(**{name: given[name] for name in cls.__dataclass_fields__})


def run_report(options: ReportOptions) -> None:
    """Write the page, and print its path."""
    inputs = [options.model] if options.data is None else [options.model, options.data]
    check_output(options.output, *inputs)
    posterior = Posterior.load(options.model)
    check_options(posterior, options)
    rows = {} if options.data is None else read_rows(posterior, options, options.data)
    write_report(posterior, options.output, title=options.title, **({"target_name": options.target} | rows))
    say(f"The report is in {options.output}: open it in a browser.")


def check_options(posterior: Posterior, options: ReportOptions) -> None:
    """Refuse row columns that have no use, and a division of rows that cannot be checked without them."""
    for name, column in options.row_columns.items():
        if options.data is None:
            raise ValueError(f"--{name} {column} names a column of the rows: give these too, by --data DATA.")
        refuse_undeclared(posterior.leaf, name)
        if column == options.target:
            raise ValueError(f"--target and --{name} must name two different columns, got {column!r} twice.")
    for name in lacking(posterior, options.row_columns):
        if options.test_size is not None:
            raise ValueError(f"--test-size needs --{name} COL here, because the posterior was fitted with {name}.")


def lacking(posterior: Posterior, row_columns: Mapping[str, str]) -> list[str]:
    """Return the columns of the fit without which predictions cannot be scored, and which were not given."""
    return [name for name in posterior.row_columns if name not in row_columns]


def read_rows(posterior: Posterior, options: ReportOptions, data: Path) -> dict[str, Any]:
    """Return the arguments of `write_report` that come from a file of rows."""
    file = open_table(data, not options.no_header, options.decimal_comma)
    target = find_target(posterior, file, options.target)
    roles = find_roles(posterior, file, target, options.row_columns)
    names = match_columns(posterior, file, roles)
    frame = read_all(file, kinds_to_read(posterior, names) | roles)
    unseen = UnseenLevels(posterior, names)
    unseen.look(frame)
    unseen.tell()
    if target is None:
        return {"X": frame.matrix(names)}
    return {"target_name": target} | with_target(posterior, options, frame, names, target)


def find_target(posterior: Posterior, file: TableFile, given: str | None) -> str | None:
    """Return the column with the target: the one that the user names, or the only candidate."""
    if given is not None:
        check_name(file, given)
        return given
    found = candidates(posterior, file)
    if len(found) == 1:
        return found[0]
    tell("particletree: note: predictions are not scored, because no column is known as the target; give --target COL")
    return None


def find_roles(
    posterior: Posterior, file: TableFile, target: str | None, row_columns: Mapping[str, str]
) -> dict[str, Kind]:
    """Return the columns that are read beside the features, with the kind of each: the target and the row columns."""
    roles = {} if target is None else {target: file.kinds()[target]}
    for column in row_columns.values():
        check_name(file, column)
        roles[column] = Kind.NUMBER
    for name in lacking(posterior, row_columns) if target is not None else ():
        tell(
            f"particletree: note: predictions are not scored, because the posterior was fitted with {name}; give "
            f"--{name} COL"
        )
    return roles


def candidates(posterior: Posterior, file: TableFile) -> list[str]:
    """Return the columns that may be the target: the one with its name, or those that contain only its classes."""
    target, features = posterior.target, posterior.feature_names
    if not isinstance(target, ClassLabels):
        return [name for name in target.names or () if name in file.names]
    used = set(file.names if features is None else features)
    others = [name for name in file.names if name not in used]
    if not others:
        return []
    kinds = {name: kind for name, kind in file.kinds().items() if name in others}
    columns, classes = read_all(file, kinds).columns, set(target.classes.tolist())
    return [name for name in others if _holds_classes(columns[name], classes)]


def _holds_classes(values: NDArray[Any], classes: set[Any]) -> bool:
    present = set(values[is_present(values)].tolist())
    return bool(present) and present <= classes


def with_target(
    posterior: Posterior, options: ReportOptions, frame: Frame, names: list[str], target: str
) -> dict[str, Any]:
    """Return the rows with a known target, divided into training and held-out rows if a test size is given."""
    is_regression = not isinstance(posterior.target, ClassLabels)
    frame = with_row_columns(posterior, options, frame, is_present(frame.columns[target]))
    y = read_target(frame.columns[target], target, is_regression)
    is_known = known_targets(posterior, y)[1] if len(y) else np.zeros(0, dtype=bool)
    if not is_known.any():
        raise ValueError(f"No row has a value of {target!r} that the fit knows; name the column by --target.")
    if not is_known.all():
        tell(f"particletree: note: {int((~is_known).sum())} rows with classes that the fit does not know are left out")
    frame = frame.rows(is_known)
    given = {"X": frame.matrix(names), "y": y[is_known]}
    given |= {name: frame.columns[column] for name, column in options.row_columns.items()}
    if options.test_size is None:
        return given
    return held_apart(posterior, given, choose_held_out(given["y"], options.test_size, options.seed, is_regression))


def with_row_columns(posterior: Posterior, options: ReportOptions, frame: Frame, is_used: NDArray[np.bool_]) -> Frame:
    """Return the rows in use that have a value in each row column, which is checked; print a note about the others."""
    for column in options.row_columns.values():
        is_given = is_present(frame.columns[column])
        n_without = int((is_used & ~is_given).sum())
        if n_without:
            are = "row without a value of {} is" if n_without == 1 else "rows without a value of {} are"
            tell(f"particletree: note: {n_without} {are.format(repr(column))} left out")
        is_used = is_used & is_given
    numbers, used = np.flatnonzero(is_used), frame.rows(is_used)
    columns = {name: used.columns[column].astype(np.float64) for name, column in options.row_columns.items()}
    check_row_columns(posterior.leaf, columns, lambda row: int(numbers[row]))
    return used


def held_apart(
    posterior: Posterior, given: dict[str, NDArray[Any]], held_out: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Return the training rows and the held-out rows; refuse rows that are not those of the fit."""
    fitted = {name: values[~held_out] for name, values in given.items()}
    rows = posterior.as_numbers(fitted["X"])
    row_columns = {name: values for name, values in fitted.items() if name not in ("X", "y")}
    if not are_training_rows(posterior, rows, fitted["y"], row_columns):
        raise ValueError(
            "The rows that remain are not those of the fit; give the file, --test-size and --seed of "
            "`particletree fit`, or leave --test-size out."
        )
    return fitted | {f"{name}_test": values[held_out] for name, values in given.items()}
