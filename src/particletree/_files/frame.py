"""Tables with named columns, and the interface of all table files."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ROWS_PER_BATCH = 2**14


@dataclass(frozen=True, eq=False)
class Frame:
    """Some rows of a table.

    Attributes
    ----------
    columns : mapping of str to ndarray
        The values of each column by name: float64 with nan, or objects that are text or booleans, with None.
    n_rows : int
        Number of rows.
    """

    columns: Mapping[str, NDArray[Any]]
    n_rows: int

    def matrix(self, names: Sequence[str]) -> NDArray[Any]:
        """Return columns as one array for the estimators: float64 if all are numbers, otherwise objects."""
        parts = [self.columns[name] for name in names]
        dtype = np.float64 if all(part.dtype == np.float64 for part in parts) else object
        table = np.empty((self.n_rows, len(parts)), dtype=dtype)
        for index, part in enumerate(parts):
            table[:, index] = part
        return table

    def rows(self, chosen: NDArray[Any] | slice) -> Frame:
        """Return some of the rows, by their numbers or by a mask."""
        columns = {name: values[chosen] for name, values in self.columns.items()}
        return Frame(columns, len(np.arange(self.n_rows)[chosen]))

    @staticmethod
    def join(frames: Sequence[Frame], names: Sequence[str]) -> Frame:
        """Concatenate the rows of several frames."""
        columns = {name: np.concatenate([frame.columns[name] for frame in frames]) for name in names}
        return Frame(columns, sum(frame.n_rows for frame in frames))


class TableFile(Protocol):
    """A file with a table."""

    @property
    def path(self) -> Path:
        """The path of the file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def notes(self) -> list[str]:
        """Notes for the user about its columns."""

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each column."""

    def batches(self, kinds: Mapping[str, Kind]) -> Iterator[Frame]:
        """Yield the rows, one batch at a time, with the named columns, read as these kinds."""


def read_all(file: TableFile, kinds: Mapping[str, Kind]) -> Frame:
    """Return all rows of a file; refuse a file without rows."""
    frames = list(file.batches(kinds))
    if not frames:
        raise ValueError(f"{file.path} has no rows.")
    return Frame.join(frames, list(kinds))


def nearest_names(name: str, names: Sequence[str]) -> str:
    """Suggest the names that are similar to one that does not exist, or list all names.

    Examples
    --------
    >>> from particletree._files import nearest_names
    >>> nearest_names("specis", ["species", "island"]), nearest_names("y", ["a", "b"])
    ("did you mean 'species'?", "the columns are 'a', 'b'")
    """
    folded = {known.lower(): known for known in names}
    near = [folded[match] for match in difflib.get_close_matches(name.lower(), folded, n=3)]
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(map(repr, names[:10]))
    return f"the columns are {shown}" + (f" and {len(names) - 10} more" if len(names) > 10 else "")


# The kinds of columns in a text file: numbers, booleans or text, and which cells are missing.
#
# Spaces around a cell are ignored. A cell is missing if it is empty or one of `MISSING`. A column holds numbers if all
# other cells are numbers, booleans if all are true or false (in any case), and text otherwise; a column of missing
# values alone counts as numbers. "None" is not a missing value, because it is the name of a level in many tables.

MISSING = frozenset({"", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_BOOLEANS = {"true": True, "false": False}


FINITE_ONLY = "write a finite number (at most 1.8e308), or leave the cell empty."


class Kind(Enum):
    """The kind of values in a column."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"


def kind_of(texts: Iterable[str]) -> Kind | None:
    """Return the kind of a column with these cells; None if all are missing.

    Examples
    --------
    >>> from particletree._files.frame import kind_of
    >>> kind_of(["1", "", "2.5e3"]), kind_of(["TRUE", "false", "NA"]), kind_of(["1", "one"])
    (<Kind.NUMBER: 'number'>, <Kind.BOOLEAN: 'boolean'>, <Kind.TEXT: 'text'>)
    """
    present = set(texts) - MISSING
    if not present:
        return None
    if all(text.lower() in _BOOLEANS for text in present):
        return Kind.BOOLEAN
    return Kind.TEXT if _as_numbers(list(present)) is None else Kind.NUMBER


def join_kinds(first: Kind | None, second: Kind | None) -> Kind | None:
    """Return the kind of a column whose two parts have these kinds."""
    if first is None or second is None:
        return first or second
    return first if first is second else Kind.TEXT


def is_number(text: str) -> bool:
    """Tell whether a cell is a number."""
    return _as_numbers([text]) is not None


def _as_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return texts as numbers, None if one is not a number; underscores between digits are not accepted."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    return None if "_" in "".join(texts) else numbers


def to_cells(texts: Sequence[str], kind: Kind, place: Callable[[int], str]) -> NDArray[Any]:
    """Return cells as values: float64 with nan, or text or booleans as objects, None for a missing one.

    Parameters
    ----------
    texts : sequence of str
        The cells.
    kind : Kind
        The kind that they are read as.
    place : callable
        Describes the location of the cell with a given number, for the error about a cell of another kind.
    """
    if kind is Kind.NUMBER:
        return _to_numbers(texts, place)
    values = np.empty(len(texts), dtype=object)
    values[:] = _to_booleans(texts, place) if kind is Kind.BOOLEAN else _to_texts(texts)
    return values


def _to_numbers(texts: Sequence[str], place: Callable[[int], str]) -> NDArray[np.float64]:
    filled = ["nan" if text in MISSING else text for text in texts]
    numbers = _as_numbers(filled)
    if numbers is None:
        _refuse_unlike(filled, is_number, "a number", place)
    values = np.array(numbers, dtype=np.float64)
    for number in np.flatnonzero(np.isinf(values)).tolist():
        raise ValueError(f"{place(number)}: {texts[number]!r} is infinite; {FINITE_ONLY}")
    return values


def _to_booleans(texts: Sequence[str], place: Callable[[int], str]) -> list[bool | None]:
    _refuse_unlike(texts, lambda text: text in MISSING or text.lower() in _BOOLEANS, "true or false", place)
    return [_BOOLEANS.get(text.lower()) for text in texts]


def _to_texts(texts: Sequence[str]) -> list[str | None]:
    """Return each text, equal ones as one object, because a column has few levels and many rows."""
    return [None if text in MISSING else sys.intern(text) for text in texts]


def _refuse_unlike(texts: Iterable[str], is_one: Callable[[str], bool], what: str, place: Callable[[int], str]) -> None:
    for number, text in enumerate(texts):
        if not is_one(text):
            hint = " Add --decimal-comma to read it as one." if DECIMAL_COMMA.fullmatch(text) else ""
            raise ValueError(f"{place(number)}: {text!r} is not {what}, which the column is read as.{hint}")
