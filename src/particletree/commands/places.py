"""Where a command may write: checked before the work, which may be long."""

from __future__ import annotations

import os
from pathlib import Path

from particletree.whole_files import is_device


def check_output(output: Path, *inputs: Path) -> None:
    """Refuse a place that cannot be written, or that one of the inputs stands at."""
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder; name a file to write.")
    if not output.absolute().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {output.parent} to write {output.name} to.")
    if not os.access(output if is_device(output) else output.resolve().parent, os.W_OK):
        raise PermissionError(f"{output} cannot be written: you may not write there. Name a file in another folder.")
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"{output} is what is read; name another file to write.")
