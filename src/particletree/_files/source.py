"""Where the bytes of a table come from: a file, or a pipe, which can be read only once and is therefore kept in memory.

A file is read again for its header, for the kinds of its columns, for its rows, and for the line number of an error.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from particletree._atomic_files import is_device

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"  # the first bytes of such files


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
        >>> from particletree._files.source import Source
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
