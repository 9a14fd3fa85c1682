"""Progress bar of running islands or chains: one line that is overwritten, from its own thread.

The kernel runs with the GIL released and writes a step and a value per run to a monitor, which this module reads. The
sampler names them (:class:`RunWords`): the stage of an island and its effective sample size, or the iteration of a
chain and the number of leaves of its tree. On a terminal the line is redrawn several times per second; elsewhere, such
as in a log file, one line is written when a run ends. Runs in other processes have their own monitors, so for these
only the number of finished runs is shown.
"""

from __future__ import annotations

import numbers
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TextIO

import numpy as np

INTERVAL = 0.1
BAR_WIDTH = 20


def is_shown(verbose: object) -> bool:
    """Tell whether the parameter `verbose` asks for a progress bar: True, or a number above 0."""
    if not isinstance(verbose, numbers.Real | np.bool_):
        raise TypeError(f"verbose must be an integer, 0 for silence or 1 for a progress bar, got {verbose!r}.")
    return float(verbose) > 0


class Monitor(Protocol):
    """The part of the kernel's monitor that the progress bar reads."""

    def step(self, run: int) -> int: ...
    def value(self, run: int) -> float: ...
    def is_done(self, run: int) -> bool: ...


@dataclass(frozen=True)
class RunWords:
    """A sampler's names for its runs, for their steps, and for the value reported with a step."""

    runs: str
    step: str
    value: str


@dataclass(frozen=True)
class Budget:
    """A time limit instead of a number of runs: runs and seconds of earlier rounds, and the seconds allowed."""

    n_done: int
    seconds: float
    limit: float


def progress_line(
    monitor: Monitor, n_runs: int, seconds: float, words: RunWords, n_returned: int = 0, budget: Budget | None = None
) -> str:
    """Return the progress line: the runs done, and step and value of the slowest run.

    Examples
    --------
    >>> from particletree import SMC, _kernel
    >>> progress_line(_kernel.Monitor(5), 5, 1.26, SMC.words, n_returned=1)
    'particletree [####----------------] 1/5 islands, 1.3 s'
    >>> progress_line(_kernel.Monitor(2), 2, 5.0, SMC.words, budget=Budget(40, 25.0, 60.0))
    'particletree [##########----------] 40 islands, 30.0 of 60 s'
    """
    n_done, steps = _count_done(monitor, n_runs, n_returned), ""
    running = [i for i in range(n_runs) if not monitor.is_done(i) and monitor.step(i) > 0]
    if running:
        run = min(running, key=monitor.step)
        steps = f", {words.step} {monitor.step(run)}, {words.value} {monitor.value(run):.1f}"
    if budget is None:
        return f"particletree {_bar(n_done / n_runs)} {n_done}/{n_runs} {words.runs}{steps}, {seconds:.1f} s"
    used = budget.seconds + seconds
    counted = f"{budget.n_done + n_done} {words.runs}{steps}"
    return f"particletree {_bar(min(1.0, used / budget.limit))} {counted}, {used:.1f} of {budget.limit:g} s"


def _bar(share: float) -> str:
    filled = int(BAR_WIDTH * share)
    return f"[{'#' * filled}{'-' * (BAR_WIDTH - filled)}]"


def end_line(*, show: bool) -> None:
    """End the line that the rounds of a budget have overwritten, on a terminal."""
    if show and sys.stderr.isatty():
        print(file=sys.stderr, flush=True)


@contextmanager
def progress_bar(
    monitor: Monitor,
    n_runs: int,
    words: RunWords,
    *,
    show: bool,
    stream: TextIO | None = None,
    n_returned: Callable[[], int] = lambda: 0,
    budget: Budget | None = None,
) -> Iterator[None]:
    """Show the progress of the runs on `stream` (standard error by default) while the body runs.

    `n_returned` returns the number of finished runs, wherever they ran. With a `budget`, further rounds continue the
    same line, which `end_line` ends.
    """
    if not show:
        yield
        return
    finished = threading.Event()
    state = (monitor, n_runs, words, n_returned, budget)
    thread = threading.Thread(target=_draw, args=(*state, stream or sys.stderr, finished), daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def _columns() -> int:
    """Return the width of the terminal: a longer line would wrap, and could not be overwritten."""
    return shutil.get_terminal_size().columns


def _count_done(monitor: Monitor, n_runs: int, n_returned: int) -> int:
    return max(n_returned, sum(monitor.is_done(i) for i in range(n_runs)))


def _draw(
    monitor: Monitor,
    n_runs: int,
    words: RunWords,
    n_returned: Callable[[], int],
    budget: Budget | None,
    stream: TextIO,
    finished: threading.Event,
) -> None:
    start = time.perf_counter()
    is_terminal = stream.isatty()
    written = -1
    while True:
        is_last = finished.wait(INTERVAL)
        n_done = _count_done(monitor, n_runs, n_returned())
        if is_terminal or n_done != written or is_last:
            line = progress_line(monitor, n_runs, time.perf_counter() - start, words, n_done, budget)
            stream.write(f"\r{line[: _columns() - 1]}\x1b[K" if is_terminal else f"{line}\n")
            stream.flush()
            written = n_done
        if is_last:
            if is_terminal and budget is None:
                stream.write("\n")
                stream.flush()
            return
