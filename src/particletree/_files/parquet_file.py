"""Parquet files, read with polars or with pandas and pyarrow, whichever is installed."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._files.frame import FINITE_ONLY, ROWS_PER_BATCH, Frame, Kind, Source

_ADVICE = 'Parquet files need polars, or pandas with pyarrow: pip install "particletree[parquet]"'


@dataclass(frozen=True, eq=False)
class ParquetFile:
    """A Parquet file, read as a whole; its methods are those of :class:`TableFile`."""

    path: Path
    columns: Mapping[str, list[Any]]

    @classmethod
    def open(cls, source: Source) -> ParquetFile:
        """Read a file."""
        with source.open() as file:
            try:
                import polars
            except ImportError:
                try:
                    import pandas

                    frame = pandas.read_parquet(file)
                except ImportError as error:
                    raise ValueError(f"{source.path}: {_ADVICE}.") from error
            else:
                try:
                    frame = polars.read_parquet(file)
                except polars.exceptions.PolarsError as error:
                    raise ValueError(f"{source.path} cannot be read as Parquet: {error}.") from error
        return cls(source.path, {str(name): frame[name].to_list() for name in frame.columns})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def notes(self) -> list[str]:
        """No notes: a Parquet file states the names and types of its columns."""
        return []

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each column; text for anything but numbers and booleans."""
        return {name: _kind_of_objects(cells) for name, cells in self.columns.items()}

    def batches(self, kinds: Mapping[str, Kind]) -> Iterator[Frame]:
        """Yield the rows with the named columns, one batch at a time."""
        n_rows = max(map(len, self.columns.values()), default=0)
        columns = {name: self._values(name, kind) for name, kind in kinds.items()}
        whole = Frame(columns, n_rows)
        for start in range(0, n_rows, ROWS_PER_BATCH):
            yield whole.rows(slice(start, start + ROWS_PER_BATCH))

    def _values(self, name: str, kind: Kind) -> NDArray[Any]:
        found = self.columns[name]
        if kind is Kind.NUMBER:
            return self._numbers(name)
        values = np.empty(len(found), dtype=object)
        values[:] = [None if _is_missing(cell) else cell if kind is Kind.BOOLEAN else str(cell) for cell in found]
        return values

    def _numbers(self, name: str) -> NDArray[np.float64]:
        try:
            values = np.array([np.nan if _is_missing(cell) else float(cell) for cell in self.columns[name]])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path}, column {name!r}: {error}, where numbers are expected.") from error
        for row in np.flatnonzero(np.isinf(values)).tolist():
            raise ValueError(f"{self.path}, row {row + 1}, column {name!r}: {values[row]} is infinite; {FINITE_ONLY}")
        return values


def _is_missing(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def _kind_of_objects(cells: list[Any]) -> Kind:
    present = {type(cell) for cell in cells if not _is_missing(cell)}
    if present and all(issubclass(kind, bool | np.bool_) for kind in present):
        return Kind.BOOLEAN
    are_numbers = all(issubclass(kind, numbers.Real) and not issubclass(kind, bool) for kind in present)
    return Kind.NUMBER if are_numbers else Kind.TEXT
