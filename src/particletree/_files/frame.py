"""Tables with named columns, the interface of all table files, and where their bytes come from.

A file is read again for its header, for the kinds of its columns, for its rows, and for the line number of an error. A
pipe can be read only once, and is therefore kept in memory.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from particletree._atomic_files import is_device

ROWS_PER_BATCH = 2**14
FINITE_ONLY = "write a finite number (at most 1.8e308), or leave the cell empty."
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"  # the first bytes of such files


class Kind(Enum):
    """The kind of values in a column."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"


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


@dataclass(frozen=True)
class Source:
    """Bytes that can be read several times.

    Attributes
    ----------
    path : Path
        Where they come from.
    content : bytes or None
        What has come out of a pipe; None for a file.
    """

    path: Path
    content: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, path: Path) -> Source:
        """Return the source of a path; a pipe, or what somebody types, is read to its end.

        Examples
        --------
        >>> from pathlib import Path
        >>> from particletree._files.frame import Source
        >>> Source.of(Path("magic04.data.gz")).is_gzip
        True
        """
        return cls(path, path.read_bytes() if is_device(path) else None)

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file: by its extension, or by the first bytes of a pipe, which may have none."""
        return self.path.suffix in (".parquet", ".pq") or (self.content or b"").startswith(_PARQUET)

    @property
    def is_gzip(self) -> bool:
        """Whether it is compressed with gzip, likewise."""
        return self.path.suffix == ".gz" or (self.content or b"").startswith(_GZIP)

    def open(self) -> IO[bytes]:
        """Open the bytes for reading, from the first."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)


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
