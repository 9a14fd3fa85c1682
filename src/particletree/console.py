"""How a command meets its user: wrong arguments in one line, a quiet end when it is interrupted, an exit status."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable


class MissingExtraError(RuntimeError):
    """A command needs packages that are not installed."""


def run_command(program: str, work: Callable[[], int | None]) -> int:
    """Do the work of a command; returns the exit status.

    Parameters
    ----------
    program : str
        Its name, which messages begin with.
    work : callable
        What it does; returns its exit status, or None for success.

    Returns
    -------
    int
        What the work returned; 1 if nobody reads the output, 2 if the arguments were wrong, 130 if it was interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no box lines or ± gets a mark instead
    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone, as in `particletree demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        tell(f"{program}: interrupted")
        return 130
    except (OSError, ValueError, MissingExtraError) as error:
        tell(f"{program}: {error}")
        return 2
    return status or 0


def tell(text: str) -> None:
    """Say how far a command is, beside its output."""
    print(text, file=sys.stderr, flush=True)
