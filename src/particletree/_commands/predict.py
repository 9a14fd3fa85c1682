"""The command `predict`: predictions for the rows of a file, one batch at a time, in bounded memory."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from particletree._atomic_files import is_device
from particletree._commands.console import say, tell
from particletree._commands.matching import UnseenLevels, kinds_to_read, match_columns
from particletree._commands.output_files import check_output, destination
from particletree._data import check_rows
from particletree._files import TableFile, open_table
from particletree._files.frame import is_number
from particletree._model.target import ClassLabels, Numbers
from particletree._posterior import Posterior

LEVEL = 0.9
QUANTILES = (0.05, 0.95)
# With these a cell begins that spreadsheets take for a formula; the last four are the wide forms of the first.
_STARTS_OF_FORMULAS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


@dataclass(frozen=True)
class PredictOptions:
    """The options of the command; ``particletree predict --help`` explains them."""

    model: Path
    data: Path
    output: Path | None  # None: standard output
    jobs: int | None = None
    no_header: bool = False
    decimal_comma: bool = False
    safe_text: bool = False


def run_predict(options: PredictOptions) -> None:
    """Write the predictions for the rows of a file to another file, or to standard output."""
    output = options.output
    if output is not None:
        check_output(output, options.model, options.data)
    posterior = Posterior.load(options.model)
    file = open_table(options.data, not options.no_header, options.decimal_comma)
    names = match_columns(posterior, file)
    labels = labels_to_write(posterior, options.safe_text)
    with destination(output) as stream:
        n_rows = write_predictions(posterior, file, names, labels, stream, options.jobs)
    if output is not None and not is_device(output):
        say(f"{n_rows:,} predictions are in {output}.")


def labels_to_write(posterior: Posterior, safe: bool) -> list[str]:
    """Return the classes as they are written, formulas of a spreadsheet after a quotation mark if they are to be safe.

    A number for regression has no labels. A note mentions formulas that are written as they are.
    """
    if not isinstance(posterior.target, ClassLabels):
        return []
    labels = [str(label) for label in posterior.target.classes.tolist()]
    formulas = [label for label in labels if label.startswith(_STARTS_OF_FORMULAS) and not is_number(label)]
    if safe:
        return [f"'{label}" if label in formulas else label for label in labels]
    if formulas:
        tell(
            f"particletree: note: spreadsheets take {formulas[0]!r} for a formula; --safe-text writes it after a "
            "single quotation mark, which makes it text"
        )
    return labels


def write_predictions(
    posterior: Posterior,
    file: TableFile,
    names: Sequence[str],
    labels: Sequence[str],
    stream: IO[str],
    n_jobs: int | None,
) -> int:
    """Write a header line and one line per row; return the number of rows."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(headings(posterior))
    n_rows, unseen = 0, UnseenLevels(posterior, names)
    for frame in file.batches(kinds_to_read(posterior, names)):
        unseen.look(frame)
        writer.writerows(predict_rows(posterior, frame.matrix(names), labels, n_jobs))
        n_rows += frame.n_rows
        _show_progress(f"{n_rows:,} rows", stream)
    if n_rows == 0:
        raise ValueError(f"{file.path} has no rows.")
    _show_progress(f"{n_rows:,} rows\n", stream)
    unseen.tell()
    return n_rows


def headings(posterior: Posterior) -> list[str]:
    """Return the names of the columns of the result."""
    target = posterior.target
    if isinstance(target, ClassLabels):
        return ["predicted", *(f"p_{label}" for label in target.classes.tolist()), "p_predicted_5%", "p_predicted_95%"]
    return [f"{what}{end}" for end in _name_ends(target) for what in ("mean", "sd", "5%", "95%")]


def _name_ends(target: Numbers) -> list[str]:
    if target.n_targets == 1:
        return [""]
    return [f"_{name}" for name in target.names or range(1, target.n_targets + 1)]


def predict_rows(
    posterior: Posterior, X: NDArray[Any], labels: Sequence[str], n_jobs: int | None
) -> Iterator[list[str]]:
    """Yield the cells of the result, row by row."""
    if isinstance(posterior.target, ClassLabels):
        return _predict_classes(posterior, X, labels, n_jobs)
    return _predict_numbers(posterior, X, n_jobs)


def _predict_classes(
    posterior: Posterior, X: NDArray[Any], labels: Sequence[str], n_jobs: int | None
) -> Iterator[list[str]]:
    rows, predictions = _checked(posterior, X), posterior.predictions
    probabilities = predictions.means(rows, n_jobs)
    best = probabilities.argmax(axis=1)
    ends = predictions.intervals(rows, LEVEL, n_jobs)[np.arange(len(best)), best]
    for place, numbers in zip(best.tolist(), np.hstack((probabilities, ends)).tolist(), strict=True):
        yield [labels[place], *map(_format, numbers)]


def _predict_numbers(posterior: Posterior, X: NDArray[Any], n_jobs: int | None) -> Iterator[list[str]]:
    rows, predictions = _checked(posterior, X), posterior.predictions
    parts = (predictions.means(rows, n_jobs), predictions.deviations(rows, n_jobs))
    quantiles = predictions.quantiles(rows, QUANTILES, n_jobs=n_jobs)
    cells = np.concatenate((np.stack(parts, axis=-1), quantiles), axis=-1)  # rows x targets x 4
    for numbers in cells.reshape(len(rows), -1).tolist():
        yield list(map(_format, numbers))


def _checked(posterior: Posterior, X: NDArray[Any]) -> NDArray[np.float64]:
    return check_rows(X, posterior.n_features, posterior.feature_names, posterior.columns)


def _format(number: float) -> str:
    return f"{number:.8g}"


def _show_progress(text: str, stream: IO[str]) -> None:
    """Overwrite the progress line, if standard error is a terminal and the result does not go there."""
    if sys.stderr.isatty() and not stream.isatty():
        print(f"\rparticletree {text}", end="", file=sys.stderr, flush=True)
