"""Compressed results files for the repository, a tenth of the size of the plain file to which a run appends."""

from __future__ import annotations

import lzma
from pathlib import Path


def packed_path(path: Path) -> Path:
    """Return the path of the compressed file of a results file."""
    return path.with_name(f"{path.name}.xz")


def pack(path: Path) -> None:
    """Write the compressed file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "results.jsonl"
    ...     _ = path.write_text("a line")
    ...     pack(path)
    ...     path.unlink()
    ...     unpack(path)
    ...     path.read_text()
    'a line'
    """
    packed_path(path).write_bytes(lzma.compress(path.read_bytes()))


def unpack(path: Path) -> None:
    """Write the plain file from the compressed one, unless it exists: it may have more results."""
    if not path.exists() and packed_path(path).exists():
        path.write_bytes(lzma.decompress(packed_path(path).read_bytes()))
