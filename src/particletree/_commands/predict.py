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
from particletree._commands.console import check_output, destination, say, tell
from particletree._commands.matching import UnseenLevels, kinds_to_read, match_columns
from particletree._data import check_rows
from particletree._files import TableFile, open_table
from particletree._files.csv_file import is_number
from particletree._model.target import ClassLabels
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
    has_progress = sys.stderr.isatty() and not stream.isatty()  # the result does not go to the same terminal
    for frame in file.batches(kinds_to_read(posterior, names)):
        unseen.look(frame)
        writer.writerows(predict_rows(posterior, frame.matrix(names), labels, n_jobs))
        n_rows += frame.n_rows
        if has_progress:
            tell(f"\rparticletree {n_rows:,} rows", end="")
    if n_rows == 0:
        raise ValueError(f"{file.path} has no rows.")
    if has_progress:
        tell("")
    unseen.tell()
    return n_rows


def headings(posterior: Posterior) -> list[str]:
    """Return the names of the columns of the result."""
    target = posterior.target
    if isinstance(target, ClassLabels):
        return ["predicted", *(f"p_{label}" for label in target.classes.tolist()), "p_predicted_5%", "p_predicted_95%"]
    names = target.names or range(1, target.n_targets + 1)
    ends = [f"_{name}" for name in names] if target.n_targets > 1 else [""]
    return [f"{what}{end}" for end in ends for what in ("mean", "sd", "5%", "95%")]


def predict_rows(
    posterior: Posterior, X: NDArray[Any], labels: Sequence[str], n_jobs: int | None
) -> Iterator[list[str]]:
    """Yield the cells of the result, row by row: for classes the most probable one, then numbers."""
    rows = check_rows(X, posterior.n_features, posterior.feature_names, posterior.columns)
    predictions = posterior.predictions
    means = predictions.means(rows, n_jobs)
    if isinstance(posterior.target, ClassLabels):
        best = means.argmax(axis=1)
        ends = predictions.intervals(rows, LEVEL, n_jobs)[np.arange(len(best)), best]
        texts, numbers = [[labels[place]] for place in best.tolist()], np.hstack((means, ends))
    else:
        quantiles = predictions.quantiles(rows, QUANTILES, n_jobs=n_jobs)
        parts = np.stack((means, predictions.deviations(rows, n_jobs)), axis=-1)
        numbers = np.concatenate((parts, quantiles), axis=-1).reshape(len(rows), -1)  # rows x (targets x 4)
        texts = [[] for _ in rows]
    for cells, values in zip(texts, numbers.tolist(), strict=True):
        yield [*cells, *(f"{value:.8g}" for value in values)]
