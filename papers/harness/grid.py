"""Run the missing cells of a grid in parallel, each saved when it is done, with a progress bar and the remaining time.

A cell is a small object with a `description`, which identifies it in the journal, an estimated `cost` in seconds, and a
method `run` that does its work. Expensive cells start first, so that no long one is left at the end; the remaining time
is estimated from the costs.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol, TextIO, TypeVar

from joblib import Parallel, delayed

from papers.harness.journal import Entry, Journal, key_of


class Cell(Protocol):
    """One piece of work of a grid."""

    @property
    def description(self) -> dict[str, Any]:
        """The identity of the cell, in plain JSON: two cells with the same description are the same cell."""
        ...

    @property
    def cost(self) -> float:
        """Estimated time in seconds."""
        ...

    def run(self) -> dict[str, Any]:
        """Do the work and return the measurements, in plain JSON."""
        ...


C = TypeVar("C", bound=Cell)


class CellsFailedError(RuntimeError):
    """Some cells ended with an error; the others are in the journal."""


def distinct_cells(cells: Sequence[C]) -> list[C]:
    """Return cells without duplicates, because figures share some."""
    return list({key_of(cell.description): cell for cell in cells}.values())


def run_cells(
    cells: Sequence[Cell], journal: Journal, *, n_jobs: int | None = None, show_progress: bool = True
) -> None:
    """Run every cell that the journal does not have yet, and sort the journal.

    Parameters
    ----------
    cells : sequence of Cell
        The grid.
    journal : Journal
        The results, open for writing.
    n_jobs : int or None, default None
        Number of cells in parallel, each in its own process; as in joblib, None means 1 and -1 all cores.
    show_progress : bool, default True
        Whether to show a progress bar on standard error.

    Raises
    ------
    CellsFailedError
        If some cells raised an error; the message has the first of them. They run again next time.
    """
    wanted = distinct_cells(cells)
    left = [cell for cell in wanted if key_of(cell.description) not in journal.entries]
    if left:
        journal.check_machine()
    left.sort(key=lambda cell: -cell.cost)
    with _bar(len(wanted), left, show=show_progress) as advance:
        try:
            failures = _run_into(journal, left, n_jobs, advance)
        except BrokenProcessPool as error:
            raise CellsFailedError(
                "A process was ended from outside, perhaps for lack of memory. What was finished is kept; run the same "
                "command again, with a smaller --n-jobs if it happens again."
            ) from error
    journal.put_in_order()
    if failures:
        raise CellsFailedError(f"{len(failures)} of {len(left)} cells failed. The first:\n{failures[0]}")


def _run_into(
    journal: Journal, cells: Sequence[Cell], n_jobs: int | None, advance: Callable[[Cell], None]
) -> list[str]:
    """Run cells, and write each to the journal as soon as it is done; return the errors."""
    start = time.perf_counter() - journal.elapsed
    failures: list[str] = []
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    tasks = (delayed(_run_one)(i, cell, os.getpid()) for i, cell in enumerate(cells))
    for number, result, seconds in parallel(tasks):
        cell = cells[number]
        if isinstance(result, str):
            failures.append(f"{key_of(cell.description)}\n{result}")
        else:
            journal.append(Entry(cell.description, result, seconds, time.perf_counter() - start))
        advance(cell)
    return failures


def _run_one(number: int, cell: Cell, main_process: int) -> tuple[int, dict[str, Any] | str, float]:
    """Return the cell's number, its result or its error, and its time."""
    _end_with(main_process)
    start = time.perf_counter()
    try:
        result: dict[str, Any] | str = cell.run()
    except Exception:
        result = traceback.format_exc()
    return number, result, time.perf_counter() - start


@lru_cache(maxsize=1)
def _end_with(main_process: int) -> None:
    """End a worker when the main process has ended, because workers of a killed run would disturb the next one."""

    def watch() -> None:
        while os.getppid() == main_process:
            time.sleep(0.5)
        os._exit(1)

    if os.getppid() == main_process:
        threading.Thread(target=watch, daemon=True).start()


class _Lines:
    """A log instead of a terminal: text that would overwrite the line becomes a new line."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> None:
        """Write the text of a progress bar as a line."""
        if text.strip():
            self.stream.write(text.strip() + "\n")

    def flush(self) -> None:
        """Flush the stream."""
        self.stream.flush()


@contextmanager
def _bar(n_cells: int, left: Sequence[Cell], *, show: bool) -> Iterator[Any]:
    """Yield a function to call with each finished cell, and show a progress bar weighted by costs."""
    from tqdm import tqdm

    is_terminal = sys.stderr.isatty()
    n_done = n_cells - len(left)
    layout = "{desc} {percentage:3.0f}% |{bar:24}| {elapsed} gone, {remaining} left"
    total = sum(cell.cost for cell in left)
    interval = 0.2 if is_terminal else 30.0  # seconds; a log needs few lines
    stream: Any = sys.stderr if is_terminal else _Lines(sys.stderr)
    options = {"bar_format": layout, "ascii": " #", "mininterval": interval, "file": stream}
    with tqdm(total=total, disable=not show or not left, **options) as bar:

        def tell() -> None:
            bar.set_description_str(f"{n_done:,} of {n_cells:,} cells", refresh=False)

        def advance(cell: Cell) -> None:
            nonlocal n_done
            n_done += 1
            tell()
            bar.update(min(cell.cost, max(0.0, total - bar.n)))

        tell()
        yield advance
