"""The command `predict`: the rows of a file get their predictions, a batch at a time, in bounded memory."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from particletree.commands.places import check_output
from particletree.console import tell
from particletree.data import check_rows
from particletree.files import Frame, Kind, TableFile, nearest_names, open_table
from particletree.model.columns import Level
from particletree.model.target import ClassLabels, Numbers
from particletree.posterior import Posterior
from particletree.whole_files import is_device, open_whole

LEVEL = 0.9
QUANTILES = (0.05, 0.95)


@dataclass(frozen=True)
class PredictOptions:
    """What the user asks for; ``particletree predict --help`` explains it."""

    model: Path
    data: Path
    output: Path | None  # None: standard output
    jobs: int | None = None
    no_header: bool = False
    decimal_comma: bool = False


def run_predict(options: PredictOptions) -> None:
    """Write the predictions for the rows of a file to another, or to standard output."""
    output = options.output
    if output is not None:
        check_output(output, options.model, options.data)
    posterior = Posterior.load(options.model)
    file = open_table(options.data, not options.no_header, options.decimal_comma)
    names = match_columns(posterior, file)
    with destination(output) as stream:
        n_rows = write_predictions(posterior, file, names, stream, options.jobs)
    if output is not None and not is_device(output):
        print(f"{n_rows:,} predictions are in {output}.")


def match_columns(posterior: Posterior, file: TableFile) -> list[str]:
    """Return the names of the columns in the order of the features; others are passed over with a note."""
    wanted = posterior.feature_names
    if wanted is None:
        return _by_position(posterior, file)
    missing = [name for name in wanted if name not in file.names]
    if missing:
        near = nearest_names(missing[0], file.names)
        raise ValueError(f"{file.path} lacks the column{'s' * (len(missing) > 1)} {_listed(missing)}; {near}")
    extra = [name for name in file.names if name not in wanted]
    if extra:
        tell(f"particletree: note: not used: {_listed(extra)}")
    return wanted


def _by_position(posterior: Posterior, file: TableFile) -> list[str]:
    if len(file.names) != posterior.n_features:
        raise ValueError(
            f"{file.path} has {len(file.names)} columns, but the posterior was fitted to {posterior.n_features} "
            "without names; give it those, in their order."
        )
    return list(file.names)


def _listed(names: Sequence[Level]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(repr, names[:10])) + more


def kinds_to_read(posterior: Posterior, names: Sequence[str]) -> dict[str, Kind]:
    """Return what the columns are read as: what they were in the fit, whatever the new rows look like."""
    levels = posterior.columns.levels
    return {name: _kind_of_levels(levels.get(index)) for index, name in enumerate(names)}


def _kind_of_levels(levels: tuple[Level, ...] | None) -> Kind:
    if levels is None:
        return Kind.NUMBER
    if levels and all(isinstance(level, bool) for level in levels):
        return Kind.BOOLEAN
    return Kind.TEXT if not levels or any(isinstance(level, str) for level in levels) else Kind.NUMBER


def write_predictions(
    posterior: Posterior, file: TableFile, names: Sequence[str], stream: IO[str], n_jobs: int | None
) -> int:
    """Write a line of names and one for each row; returns the number of rows."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(headings(posterior))
    n_rows, unseen = 0, UnseenLevels(posterior, names)
    for frame in file.batches(kinds_to_read(posterior, names)):
        unseen.look(frame)
        writer.writerows(predict_rows(posterior, frame.matrix(names), n_jobs))
        n_rows += frame.n_rows
        _show_progress(f"{n_rows:,} rows", stream)
    if n_rows == 0:
        raise ValueError(f"{file.path} has no rows.")
    _show_progress(f"{n_rows:,} rows\n", stream)
    unseen.tell()
    return n_rows


class UnseenLevels:
    """The levels of the rows that the fit has not seen: each tree sends them left or right by a coin."""

    def __init__(self, posterior: Posterior, names: Sequence[str]) -> None:
        self._known = {names[index]: set(levels) for index, levels in posterior.columns.levels.items()}
        self._found: dict[str, set[Level]] = {}

    def look(self, frame: Frame) -> None:
        """Look at some more rows."""
        for name, known in self._known.items():
            new = {cell for cell in set(frame.columns[name].tolist()) - known if cell is not None and cell == cell}
            if new:
                self._found.setdefault(name, set()).update(new)

    def tell(self) -> None:
        """Say what was found."""
        for name, levels in self._found.items():
            tell(f"particletree: note: column {name!r} has levels that the fit has not seen: {_listed(sorted(levels))}")


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


def predict_rows(posterior: Posterior, X: NDArray[Any], n_jobs: int | None) -> Iterator[list[str]]:
    """Yield the cells of the result, row by row."""
    if isinstance(posterior.target, ClassLabels):
        return _predict_classes(posterior, X, posterior.target.classes, n_jobs)
    return _predict_numbers(posterior, X, n_jobs)


def _predict_classes(
    posterior: Posterior, X: NDArray[Any], classes: NDArray[Any], n_jobs: int | None
) -> Iterator[list[str]]:
    rows, predictions = _checked(posterior, X), posterior.predictions
    probabilities = predictions.means(rows, n_jobs)
    best = probabilities.argmax(axis=1)
    ends = predictions.intervals(rows, LEVEL, n_jobs)[np.arange(len(best)), best]
    labels = [str(label) for label in classes.tolist()]
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


@contextmanager
def destination(output: Path | None) -> Iterator[IO[str]]:
    """Open standard output, or a file that is complete or not there at all."""
    if output is None:
        yield sys.stdout
        return
    with open_whole(output, text=True) as stream:
        yield stream


def _show_progress(text: str, stream: IO[str]) -> None:
    """Write over the line of progress, where somebody looks and the result goes elsewhere."""
    if sys.stderr.isatty() and not stream.isatty():
        print(f"\rparticletree {text}", end="", file=sys.stderr, flush=True)
