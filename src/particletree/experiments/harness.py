"""Do what is left of a grid: cells in parallel, each written down when it is done, with a bar that tells the time left.

A cell is small to send, says what it is (`description`, by which the journal knows it), about how long it takes
(`cost`), and does its work in `run`. Expensive cells start first, so that no long one is left over at the end; the time
left is judged by the costs of what is done and what is not.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

from particletree.experiments.journal import Entry, Journal, key_of


class Cell(Protocol):
    """One piece of work of a grid."""

    @property
    def description(self) -> dict[str, Any]:
        """What the cell is, in plain JSON: two cells with the same description are the same cell."""
        ...

    @property
    def cost(self) -> float:
        """About how many seconds it takes."""
        ...

    def run(self) -> dict[str, Any]:
        """Do the work and return the measurements, in plain JSON."""
        ...


C = TypeVar("C", bound=Cell)


class CellsFailedError(RuntimeError):
    """Some cells ended with an error; the others are in the journal."""


def distinct_cells(cells: Sequence[C]) -> list[C]:
    """Return cells without repetition: figures share some."""
    return list({key_of(cell.description): cell for cell in cells}.values())


def run_cells(
    cells: Sequence[Cell], journal: Journal, *, n_jobs: int | None = None, show_progress: bool = True
) -> None:
    """Run every cell that the journal does not have yet, and put the journal in order.

    Parameters
    ----------
    cells : sequence of Cell
        The grid.
    journal : Journal
        What is done, open for writing.
    n_jobs : int or None, default None
        How many cells run at a time, each in a process of its own; as in joblib, None means 1 and -1 all cores.
    show_progress : bool, default True
        Whether to draw a bar on standard error.

    Raises
    ------
    CellsFailedError
        When some cells raised an error; the message has the first of them. They run again next time.
    """
    wanted = distinct_cells(cells)
    left = [cell for cell in wanted if key_of(cell.description) not in journal.entries]
    left.sort(key=lambda cell: -cell.cost)
    start = time.perf_counter() - journal.elapsed
    failures: list[str] = []
    parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    with _bar(len(wanted), left, show=show_progress) as advance:
        for number, result, seconds in parallel(delayed(_run_one)(i, cell) for i, cell in enumerate(left)):
            cell = left[number]
            if isinstance(result, str):
                failures.append(f"{key_of(cell.description)}\n{result}")
            else:
                journal.append(Entry(cell.description, result, seconds, time.perf_counter() - start))
            advance(cell)
    journal.put_in_order()
    if failures:
        raise CellsFailedError(f"{len(failures)} of {len(left)} cells failed. The first:\n{failures[0]}")


def _run_one(number: int, cell: Cell) -> tuple[int, dict[str, Any] | str, float]:
    """Return the cell's number, its result or what went wrong, and its time."""
    start = time.perf_counter()
    try:
        result: dict[str, Any] | str = cell.run()
    except Exception:
        result = traceback.format_exc()
    return number, result, time.perf_counter() - start


@contextmanager
def _bar(n_cells: int, left: Sequence[Cell], *, show: bool) -> Iterator[Any]:
    """Give the body a function that is told which cell is done, and draw a bar by costs until then."""
    from tqdm import tqdm

    is_terminal = sys.stderr.isatty()
    n_done = n_cells - len(left)
    layout = "{desc} {percentage:3.0f}% |{bar:24}| {elapsed} gone, {remaining} left"
    total = sum(cell.cost for cell in left)
    interval = 0.2 if is_terminal else 30.0  # a log needs a line now and then, not ten a second
    with tqdm(total=total, bar_format=layout, ascii=" #", mininterval=interval, disable=not show or not left) as bar:

        def tell() -> None:
            bar.set_description_str(f"{n_done:,} of {n_cells:,} cells", refresh=False)

        def advance(cell: Cell) -> None:
            nonlocal n_done
            n_done += 1
            tell()
            bar.update(min(cell.cost, max(0.0, total - bar.n)))

        tell()
        yield advance
