"""Files that are complete or not there at all.

What is written goes to a draft beside the file, which takes the file's place when it is complete. A program that is
killed, or a disk that is full, so leaves what was there before. Devices and pipes (``/dev/stdout``) are written to as
they are: a file in their place would break other programs. Where the path is a link, what it points to is replaced.
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
    """Tell whether something stands at a path that is neither a file nor a folder: a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def open_whole(path: Path, *, text: bool = False) -> Iterator[IO[Any]]:
    """Open a file to write, as UTF-8 text without translated line ends or as bytes.

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
    """Let the errors of writing name the file that was asked for: the system names the draft, or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_PLACE or str(error.filename).endswith(".part"):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
