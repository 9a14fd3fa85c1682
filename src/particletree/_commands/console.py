"""The outer frame of a command: errors in one line, a quiet end on Ctrl-C, the exit status, and the output path.

The path of the output is checked before a long fit starts, and the file is written completely or not at all.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from particletree._atomic_files import is_device, open_atomically


class MissingExtraError(RuntimeError):
    """A command needs packages that are not installed."""


def run_command(program: str, work: Callable[[], int | None], *, failure: int = 2, debug: bool = False) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    program : str
        Name of the program, with which messages begin.
    work : callable
        The work of the command; returns an exit status, or None for success.
    failure : int, default 2
        The exit status for invalid files and values.
    debug : bool, default False
        Whether an error shows its traceback instead of one line.

    Returns
    -------
    int
        What `work` returned; 1 if the output pipe was closed, `failure` after an error, 130 after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for terminals that cannot show box lines or ±
    try:
        with _warnings_in_one_line(program):
            status = work()
        sys.stdout.flush()
    except BrokenPipeError:  # as in `particletree demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        tell(f"{program}: interrupted")
        return 130
    except (OSError, ValueError, MemoryError, MissingExtraError) as error:
        tell(traceback.format_exc() if debug else f"{program}: {describe_error(error)}")
        return failure
    return status or 0


def say(text: str, end: str = "\n") -> None:
    """Print what a command has to say beside the file that it writes.

    If nobody reads on (`particletree fit ... | head`), the rest is not printed, and the work goes on.
    """
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe_error(error: Exception) -> str:
    """Return the cause of an error in one line.

    Examples
    --------
    >>> from particletree._commands.console import describe_error
    >>> describe_error(FileNotFoundError(2, "No such file or directory", "iris.csv"))
    'iris.csv: No such file or directory'
    """
    if isinstance(error, MemoryError):
        return "not enough memory. Use fewer rows or columns." + (f" ({error})" if str(error) else "")
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror
    return " ".join(str(error).split())


@contextmanager
def _warnings_in_one_line(program: str) -> Iterator[None]:
    """Print warnings as messages of the command, without the line of code that they point at."""
    shown = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"{program}: note: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = shown


def format_table(rows: Sequence[Sequence[str]], n_texts: int = 2) -> str:
    """Align the columns of a table: the first `n_texts` to the left, numbers to the right, a line below the headings.

    Examples
    --------
    >>> print(format_table([("a", "b", "n"), ("x", "y", "10")]))
    a  b   n
    --------
    x  y  10
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(w) if i < n_texts else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def tell(text: str, end: str = "\n") -> None:
    """Print a message to standard error, which keeps it separate from the command's output."""
    print(text, end=end, file=sys.stderr, flush=True)


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
    with open_atomically(output, text=True) as stream:
        yield stream
