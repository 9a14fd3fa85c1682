"""Atomic writes: a file is written completely or not at all.

Output goes to a temporary file in the same folder, which replaces the target when it is complete, so that a killed
program or a full disk leaves the old file as it was. Devices and pipes (``/dev/stdout``) are written to directly:
replacing them would break other programs. If the path is a symbolic link, the file that it points to is replaced.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_device(path: Path) -> bool:
    """Tell whether a path exists and is neither a file nor a folder: a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def open_whole(path: Path, *, text: bool = False) -> Iterator[IO[Any]]:
    """Open a file for writing, as UTF-8 text without newline translation or as bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from particletree.whole_files import open_whole
    >>> path = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with open_whole(path, text=True) as stream:
    ...     n_written, is_there = stream.write("1 2 3"), path.exists()
    >>> is_there, path.read_text()
    (False, '1 2 3')
    """
    form: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if text else {"mode": "wb"}
    with _told_by_name(path):
        if is_device(path):
            with path.open(**{"mode": "w", **form}) as stream:
                yield stream
        else:
            with _draft(path.resolve(), {"mode": "w", **form}) as stream:
                yield stream


@contextmanager
def _draft(target: Path, form: dict[str, Any]) -> Iterator[IO[Any]]:
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open(**form) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _told_by_name(path: Path) -> Iterator[None]:
    """Make write errors name the requested file: the system names the temporary file, or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_PLACE or str(error.filename).endswith(".part"):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
