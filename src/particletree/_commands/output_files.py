"""Output paths of the commands: checked before a long fit starts, and written completely or not at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from particletree._atomic_files import is_device, open_whole


def check_output(output: Path, *inputs: Path) -> None:
    """Refuse a path that cannot be written, or that is one of the inputs."""
    if str(output) == "-":
        raise ValueError("Standard output shows what is done; name a file to write, or ./- for one of that name.")
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder; name a file to write.")
    if not output.absolute().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {output.parent} to write {output.name} to.")
    if not os.access(output if is_device(output) else output.resolve().parent, os.W_OK):
        raise PermissionError(f"{output} cannot be written: you may not write there. Name a file in another folder.")
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"{output} is what is read; name another file to write.")


@contextmanager
def destination(output: Path | None) -> Iterator[IO[str]]:
    """Open standard output, or a file that is written completely or not at all.

    Redirected standard output gets UTF-8 and plain line ends, like a file: the defaults of Windows are its code page,
    which lacks most letters, and its own line ends.
    """
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        yield sys.stdout
        return
    with open_whole(output, text=True) as stream:
        yield stream
