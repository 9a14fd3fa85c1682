"""CSV files, read with the standard library, one batch of rows at a time.

Text is UTF-8, with or without a byte order mark, plain or compressed with gzip. The delimiter is the one of comma,
semicolon, tab and vertical bar that divides the first line into most cells. The first line has the names, unless the
caller says that there is no header: its columns are then called x1, x2, ... by position. In a header, a column without
a name gets the one that pandas gives it, "Unnamed: 0" for the first. Decimal commas are refused unless the caller
allows them: 1,5 might be two cells, a number or text.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, cast

from numpy.typing import NDArray

from particletree._files.frame import (
    DECIMAL_COMMA,
    ROWS_PER_BATCH,
    Frame,
    Kind,
    is_number,
    join_kinds,
    kind_of,
    to_cells,
)
from particletree._files.source import Source

DELIMITERS = ",;\t|"
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
        first_lines = {delimiter: _first_row(source, delimiter) for delimiter in DELIMITERS}
        delimiter = max(DELIMITERS, key=lambda candidate: len(first_lines[candidate]))
        file = cls(source, delimiter, first_lines[delimiter], has_header, has_decimal_commas)
        file._refuse_repeated_names()
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

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

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
            found = [self._wider_kind(i, kind, batch) for i, kind in enumerate(found)]
        return {name: kind or Kind.NUMBER for name, kind in zip(self.names, found, strict=True)}

    def _wider_kind(self, index: int, kind: Kind | None, batch: Batch) -> Kind | None:
        """Return the kind of a column after a batch, given the kind of the rows before it."""
        if kind is Kind.TEXT:
            return kind
        joined = join_kinds(kind, kind_of(batch.columns[index]))
        if joined is Kind.TEXT and self.delimiter != ",":
            self._refuse_decimal_commas(index, batch)
        return joined

    def batches(self, kinds: Mapping[str, Kind]) -> Iterator[Frame]:
        """Yield the rows with the named columns, one batch at a time."""
        for batch in self._text_batches():
            yield Frame({name: self._cells(batch, name, kind) for name, kind in kinds.items()}, batch.n_rows)

    def _cells(self, batch: Batch, name: str, kind: Kind) -> NDArray[Any]:
        index = self._index_of[name]
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

    def _refuse_repeated_names(self) -> None:
        repeated = [name for name, count in Counter(self.names).items() if count > 1]
        if repeated:
            raise ValueError(
                f"{self.path} has several columns called {repeated[0]!r}; give each a name of its own, or, if the "
                "first line is data, add --no-header."
            )

    def _refuse_decimal_commas(self, index: int, batch: Batch) -> None:
        for number, cell in enumerate(batch.columns[index]):
            if DECIMAL_COMMA.fullmatch(cell):
                where = self._place(batch.start + number, index)
                raise ValueError(f"{where}: {cell!r} has a decimal comma. Add --decimal-comma to read it as a number.")


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


def _first_row(source: Source, delimiter: str) -> tuple[str, ...]:
    """Return the cells of the header, which spans several lines if a name contains line breaks."""
    with _text_of(source) as stream:
        first = next(_rows_of(_reader(stream, delimiter)), None)
    if first is None:
        raise ValueError(f"{source.path} is empty.")
    return tuple(cell.strip() for cell in first)
