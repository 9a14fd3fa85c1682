"""Where a command may write, checked before the work, which may be long; and files that are complete or not there."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def check_output(output: Path, *inputs: Path) -> None:
    """Refuse a place that cannot be written, or that one of the inputs stands at."""
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder; name a file to write.")
    if not output.absolute().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {output.parent} to write {output.name} to.")
    if not os.access(output.absolute().parent, os.W_OK):
        raise PermissionError(f"The folder of {output} cannot be written to.")
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"{output} is what is read; name another file to write.")


@contextmanager
def destination(output: Path | None) -> Iterator[TextIO]:
    """Open standard output, or a file that is complete or not there at all."""
    if output is None:
        yield sys.stdout
        return
    draft = output.with_name(f".{output.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("x", encoding="utf-8", newline="") as stream:
            yield stream
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)
