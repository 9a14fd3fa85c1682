"""Atomic writes: a file is written completely or not at all.

Output goes to a temporary file in the same folder, which replaces the target when it is complete, so that a killed
program or a full disk leaves the old file as it was. The temporary file is removed on errors, Ctrl-C and SIGTERM; what
``kill -9`` leaves is removed by the next write of the same file, which recognises it because it is not locked (not on
Windows, which has no such locks). Devices and pipes (``/dev/stdout``) are written to directly:
replacing them would break other programs. If the path is a symbolic link, the file that it points to is replaced.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_device(path: Path) -> bool:
    """Tell whether a path exists and is neither a file nor a folder: a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def open_atomically(path: Path, *, text: bool = False) -> Iterator[IO[Any]]:
    """Open a file for writing, as UTF-8 text without newline translation or as bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from particletree._atomic_files import open_atomically
    >>> path = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with open_atomically(path, text=True) as stream:
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
    _remove_abandoned_drafts(target)
    draft, stream = _new_draft(target, form)
    try:
        with stream, _removed_when_terminated(draft):
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl is not None:
                draft.replace(target)  # while it is locked
        if fcntl is None:
            draft.replace(target)  # Windows replaces no open file
    finally:
        draft.unlink(missing_ok=True)


def _new_draft(target: Path, form: dict[str, Any]) -> tuple[Path, IO[Any]]:
    """Create a draft, and lock it as long as it is open: the system releases the lock of a killed process."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        stream = draft.open(**form)
        _lock(stream)
        if draft.exists():
            return draft, stream
        stream.close()  # another process took it for abandoned before it was locked


def _remove_abandoned_drafts(target: Path) -> None:
    """Remove the drafts of the same file that no process has locked, as ``kill -9`` leaves them."""
    if fcntl is None:
        return
    is_draft = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part").fullmatch
    with suppress(OSError):
        for path in [path for path in target.parent.iterdir() if is_draft(path.name) and path.is_file()]:
            with suppress(OSError), path.open("r+b") as stream:
                if _lock(stream):
                    path.unlink()


def _lock(stream: IO[Any]) -> bool:
    """Lock a file; tell whether it is, which another process or the file system may prevent."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def _removed_when_terminated(draft: Path) -> Iterator[None]:
    """Remove a draft if SIGTERM or SIGHUP would end the process, which then ends by the signal as it would have."""
    writer = os.getpid()

    def remove_and_end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == writer:  # rather than a fork of it
            draft.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    is_main = threading.current_thread() is threading.main_thread()
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    taken = [number for number in ends if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, remove_and_end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _told_by_name(path: Path) -> Iterator[None]:
    """Make write errors name the requested file: the system names the temporary file, or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_PLACE or str(error.filename).endswith(".part"):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
