"""The command `report`: an HTML page about a saved posterior, optionally with a file of rows."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.commands.columns import check_name, is_present
from particletree.commands.held_out import choose_held_out
from particletree.commands.matching import UnseenLevels, kinds_to_read, match_columns
from particletree.commands.places import check_output
from particletree.commands.target import read_target
from particletree.console import tell
from particletree.files import Frame, TableFile, open_table
from particletree.files.frame import read_all
from particletree.model.target import ClassLabels
from particletree.posterior import Posterior
from particletree.report import write_report
from particletree.report.scores import are_training_rows, known_targets


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
    rows = {} if options.data is None else read_rows(posterior, options, options.data)
    write_report(posterior, options.output, title=options.title, **({"target_name": options.target} | rows))
    print(f"The report is in {options.output}: open it in a browser.")


def read_rows(posterior: Posterior, options: ReportOptions, data: Path) -> dict[str, Any]:
    """Return the arguments of `write_report` that come from a file of rows."""
    file = open_table(data, not options.no_header, options.decimal_comma)
    target = find_target(posterior, file, options.target)
    names = match_columns(posterior, file, target)
    kinds = kinds_to_read(posterior, names)
    frame = read_all(file, kinds if target is None else kinds | {target: file.kinds()[target]})
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


def candidates(posterior: Posterior, file: TableFile) -> list[str]:
    """Return the columns that may be the target: the one with its name, or those that contain only its classes."""
    target, features = posterior.target, posterior.feature_names
    if not isinstance(target, ClassLabels):
        return [name for name in target.names or () if name in file.names]
    others = [name for name in file.names if features is not None and name not in features]
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
    frame = frame.rows(is_present(frame.columns[target]))
    y = read_target(frame.columns[target], target, is_regression)
    is_known = known_targets(posterior, y)[1] if len(y) else np.zeros(0, dtype=bool)
    if not is_known.any():
        raise ValueError(f"No row has a value of {target!r} that the fit knows; name the column by --target.")
    if not is_known.all():
        tell(f"particletree: note: {int((~is_known).sum())} rows with classes that the fit does not know are left out")
    X, y = frame.rows(is_known).matrix(names), y[is_known]
    if options.test_size is None:
        return {"X": X, "y": y}
    return held_apart(posterior, X, y, choose_held_out(y, options.test_size, options.seed, is_regression))


def held_apart(posterior: Posterior, X: NDArray[Any], y: NDArray[Any], held_out: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the training rows and the held-out rows; refuse rows that are not those of the fit."""
    if not are_training_rows(posterior, posterior.as_numbers(X[~held_out]), y[~held_out]):
        raise ValueError(
            "The rows that remain are not those of the fit; give the file, --test-size and --seed of "
            "`particletree fit`, or leave --test-size out."
        )
    return {"X": X[~held_out], "y": y[~held_out], "X_test": X[held_out], "y_test": y[held_out]}
