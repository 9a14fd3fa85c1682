"""Progress of islands at work: one line that is written over, from a thread of its own.

The kernel runs with the GIL released and reports to a monitor; this module only reads it. On a terminal the line is
redrawn several times a second, elsewhere (a log file) one line is written when an island ends. Islands in other
processes have monitors of their own: of these the line tells how many have come back, and nothing else.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

INTERVAL = 0.1
BAR_WIDTH = 20
STEPS = {"islands": ("stage", "ESS"), "chains": ("iteration", "leaves")}  # what a run counts, and what it reports


class Monitor(Protocol):
    """What the bar reads of the kernel's monitor."""

    def stage(self, island: int) -> int: ...  # noqa: D102
    def ess(self, island: int) -> float: ...  # noqa: D102
    def is_done(self, island: int) -> bool: ...  # noqa: D102


def progress_line(monitor: Monitor, n_islands: int, seconds: float, what: str = "islands", n_returned: int = 0) -> str:
    """Return the line for the present state: islands done, and stage and ESS of the one that is furthest behind."""
    n_done = _count_done(monitor, n_islands, n_returned)
    running = [i for i in range(n_islands) if not monitor.is_done(i) and monitor.stage(i) > 0]
    filled = BAR_WIDTH * n_done // n_islands
    bar = "#" * filled + "-" * (BAR_WIDTH - filled)
    line = f"particletree [{bar}] {n_done}/{n_islands} {what}"
    if running:
        island = min(running, key=monitor.stage)
        step, state = STEPS[what]
        line += f", {step} {monitor.stage(island)}, {state} {monitor.ess(island):.1f}"
    return f"{line}, {seconds:.1f} s"


@contextmanager
def progress_bar(
    monitor: Monitor,
    n_islands: int,
    *,
    show: bool,
    what: str = "islands",
    stream: TextIO | None = None,
    n_returned: Callable[[], int] = lambda: 0,
) -> Iterator[None]:
    """Show the progress of the islands on `stream` (standard error by default) while the body runs.

    `n_returned` tells how many have come back, from wherever they ran.
    """
    if not show:
        yield
        return
    finished = threading.Event()
    state = (monitor, n_islands, what, n_returned)
    thread = threading.Thread(target=_draw, args=(*state, stream or sys.stderr, finished), daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def _columns() -> int:
    """Return the width of the terminal: a longer line would wrap, and could not be written over."""
    return shutil.get_terminal_size().columns


def _count_done(monitor: Monitor, n_islands: int, n_returned: int) -> int:
    return max(n_returned, sum(monitor.is_done(i) for i in range(n_islands)))


def _draw(
    monitor: Monitor,
    n_islands: int,
    what: str,
    n_returned: Callable[[], int],
    stream: TextIO,
    finished: threading.Event,
) -> None:
    start = time.perf_counter()
    is_terminal = stream.isatty()
    written = -1
    while True:
        is_last = finished.wait(INTERVAL)
        n_done = _count_done(monitor, n_islands, n_returned())
        if is_terminal or n_done != written or is_last:
            line = progress_line(monitor, n_islands, time.perf_counter() - start, what, n_done)
            stream.write(f"\r{line[: _columns() - 1]}\x1b[K" if is_terminal else f"{line}\n")
            stream.flush()
            written = n_done
        if is_last:
            if is_terminal:
                stream.write("\n")
                stream.flush()
            return
