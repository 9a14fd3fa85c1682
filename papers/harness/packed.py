"""A results file for the repository: compressed to a tenth, beside the plain one that a run appends to."""

from __future__ import annotations

import lzma
from pathlib import Path


def packed_path(path: Path) -> Path:
    """Return where the compressed file of a results file stands."""
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
    """Write the plain file from the compressed one, where only that is there; a plain one may know more, and stays."""
    if not path.exists() and packed_path(path).exists():
        path.write_bytes(lzma.decompress(packed_path(path).read_bytes()))
