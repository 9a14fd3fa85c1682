"""CSV files, read with the standard library, one batch of rows at a time.

Text is UTF-8, with or without a byte order mark, plain or compressed with gzip. The delimiter is the one of comma,
semicolon, tab and vertical bar that divides the first line into most cells. The first line has the names, unless the
caller says that there is no header: its columns are then called x1, x2, ... by position. In a header, a column without
a name gets the one that pandas gives it, "Unnamed: 0" for the first. Decimal commas are refused unless the caller
allows them: 1,5 might be two cells, a number or text.

Spaces around a cell are ignored. A cell is missing if it is empty or one of `MISSING`. A column holds numbers if all
other cells are numbers, booleans if all are true or false (in any case), and text otherwise; a column of missing
values alone counts as numbers. "None" is not a missing value, because it is the name of a level in many tables.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from particletree._files.frame import FINITE_ONLY, ROWS_PER_BATCH, Frame, Kind, Source

DELIMITERS = ",;\t|"
MISSING = frozenset({"", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_BOOLEANS = {"true": True, "false": False}
# A sentinel that is read after the last line: it is a row of its own unless a quotation is still open. It starts with
# half a surrogate pair, which no UTF-8 text contains; "\0" would not do, because the reader of Python 3.10 refuses it.
_END = "\ud800end of the file"


@dataclass(frozen=True)
class Batch:
    """Rows as text, column by column, and the number of rows before them in the file."""

    start: int
    n_rows: int
    columns: list[list[str]]


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose first line has been read; its methods are those of :class:`TableFile`."""

    source: Source
    delimiter: str
    first_line: tuple[str, ...]
    has_header: bool
    has_decimal_commas: bool = False

    @classmethod
    def open(cls, source: Source, has_header: bool = True, has_decimal_commas: bool = False) -> CsvFile:
        """Read the first line of a file."""
        first_lines = {}
        for delimiter in DELIMITERS:  # the header spans several lines if a name contains line breaks
            with _text_of(source) as stream:
                first = next(_rows_of(_reader(stream, delimiter)), None)
            if first is None:
                raise ValueError(f"{source.path} is empty.")
            first_lines[delimiter] = tuple(cell.strip() for cell in first)
        delimiter = max(DELIMITERS, key=lambda candidate: len(first_lines[candidate]))
        file = cls(source, delimiter, first_lines[delimiter], has_header, has_decimal_commas)
        repeated = [name for name, count in Counter(file.names).items() if count > 1]
        if repeated:
            raise ValueError(
                f"{file.path} has several columns called {repeated[0]!r}; give each a name of its own, or, if the "
                "first line is data, add --no-header."
            )
        return file

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.source.path

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        if not self.has_header:
            return tuple(f"x{number}" for number in range(1, len(self.first_line) + 1))
        return tuple(name or f"Unnamed: {index}" for index, name in enumerate(self.first_line))

    @property
    def notes(self) -> list[str]:
        """Notes for the user about the names of the columns."""
        if not self.has_header:
            return []
        notes = [
            f"column {index + 1} has no name and is called {self.names[index]!r}, as pandas calls it; drop it if it "
            "counts the rows"
            for index, given in enumerate(self.first_line)
            if not given
        ]
        if any(name and is_number(name) for name in self.first_line):
            notes.append("some names in the first line are numbers; if that line is data, add --no-header")
        return notes

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each column, from all of its cells."""
        found: list[Kind | None] = [None] * len(self.names)
        for batch in self._text_batches():
            for index, kind in enumerate(found):
                if kind is not Kind.TEXT:
                    found[index] = join_kinds(kind, kind_of(batch.columns[index]))
                    if found[index] is Kind.TEXT and self.delimiter != ",":
                        self._refuse_decimal_commas(index, batch)
        return {name: kind or Kind.NUMBER for name, kind in zip(self.names, found, strict=True)}

    def _refuse_decimal_commas(self, index: int, batch: Batch) -> None:
        for number, cell in enumerate(batch.columns[index]):
            if DECIMAL_COMMA.fullmatch(cell):
                where = self._place(batch.start + number, index)
                raise ValueError(f"{where}: {cell!r} has a decimal comma. Add --decimal-comma to read it as a number.")

    def batches(self, kinds: Mapping[str, Kind]) -> Iterator[Frame]:
        """Yield the rows with the named columns, one batch at a time."""
        for batch in self._text_batches():
            yield Frame({name: self._cells(batch, name, kind) for name, kind in kinds.items()}, batch.n_rows)

    def _cells(self, batch: Batch, name: str, kind: Kind) -> NDArray[Any]:
        index = self.names.index(name)
        return to_cells(batch.columns[index], kind, lambda number: self._place(batch.start + number, index))

    def _text_batches(self) -> Iterator[Batch]:
        start = 0
        with _text_of(self.source) as stream:
            rows = self._rows(_reader(stream, self.delimiter))
            while chunk := list(islice(rows, ROWS_PER_BATCH)):
                self._refuse_ragged(chunk, start)
                yield Batch(start, len(chunk), [self._stripped(cells) for cells in zip(*chunk, strict=True)])
                start += len(chunk)

    def _stripped(self, cells: Sequence[str]) -> list[str]:
        """Return cells without spaces around them, and with decimal points."""
        stripped = map(str.strip, cells)
        if not self.has_decimal_commas:
            return list(stripped)
        return [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in stripped]

    def _rows(self, reader: Any) -> Iterator[list[str]]:
        """Return the cells of each row below the names."""
        return islice(_rows_of(reader), int(self.has_header), None)

    def _place(self, row: int, index: int | None = None) -> str:
        """Describe the location of a row or a cell; the file is read again to find the line number."""
        with _text_of(self.source) as stream:
            reader = _reader(stream, self.delimiter)
            next(islice(self._rows(reader), row, None))
            where = f"{self.path}, line {reader.line_num}"
        return where if index is None else f"{where}, column {self.names[index]!r}"

    def _refuse_ragged(self, chunk: Sequence[Sequence[str]], start: int) -> None:
        n_cells = len(self.first_line)
        if set(map(len, chunk)) == {n_cells}:
            return
        number, found = next((number, len(cells)) for number, cells in enumerate(chunk) if len(cells) != n_cells)
        raise ValueError(
            f"{self._place(start + number)}: {found} {'cell' if found == 1 else 'cells'}, where the first line has "
            f"{n_cells} (divided by {self.delimiter!r})."
        )


@contextmanager
def _text_of(source: Source) -> Iterator[TextIO]:
    """Open a text file, plain or compressed; raise a clear error if it is not UTF-8 text."""
    with (
        source.open() as raw,
        gzip.GzipFile(fileobj=raw) if source.is_gzip else raw as file,
        io.TextIOWrapper(cast("io.BufferedReader", file), encoding="utf-8-sig", newline="") as stream,
    ):
        try:
            yield stream
        except UnicodeDecodeError as error:
            raise ValueError(f"{source.path} is not text in UTF-8; save it as CSV in UTF-8.") from error
        except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{source.path} cannot be read as CSV: {error}.") from error


def _reader(stream: TextIO, delimiter: str) -> Any:
    return csv.reader(chain(stream, [_END]), delimiter=delimiter, skipinitialspace=True)


def _rows_of(reader: Any) -> Iterator[list[str]]:
    """Yield the cells of each row; empty lines are skipped, and an unterminated quotation is an error."""
    start = 1
    for row in reader:
        if row == [_END]:
            return
        if row and row[-1].endswith(_END):
            raise csv.Error(f"the quotation mark in line {start} is never closed")
        if row not in ([], [""]):
            yield row
        start = reader.line_num + 1


def kind_of(texts: Iterable[str]) -> Kind | None:
    """Return the kind of a column with these cells; None if all are missing.

    Examples
    --------
    >>> from particletree._files.csv_file import kind_of
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
        filled = ["nan" if text in MISSING else text for text in texts]
        numbers = _as_numbers(filled)
        if numbers is None:
            _refuse_unlike(filled, is_number, "a number", place)
        values = np.array(numbers, dtype=np.float64)
        for number in np.flatnonzero(np.isinf(values)).tolist():
            raise ValueError(f"{place(number)}: {texts[number]!r} is infinite; {FINITE_ONLY}")
        return values
    cells: list[bool | str | None]
    if kind is Kind.BOOLEAN:
        _refuse_unlike(texts, lambda text: text in MISSING or text.lower() in _BOOLEANS, "true or false", place)
        cells = [_BOOLEANS.get(text.lower()) for text in texts]
    else:  # equal texts as one object, because a column has few levels and many rows
        cells = [None if text in MISSING else sys.intern(text) for text in texts]
    values = np.empty(len(texts), dtype=object)
    values[:] = cells
    return values


def _refuse_unlike(texts: Iterable[str], is_one: Callable[[str], bool], what: str, place: Callable[[int], str]) -> None:
    for number, text in enumerate(texts):
        if not is_one(text):
            hint = " Add --decimal-comma to read it as one." if DECIMAL_COMMA.fullmatch(text) else ""
            raise ValueError(f"{place(number)}: {text!r} is not {what}, which the column is read as.{hint}")
