"""Predictions in batches of rows: bounded memory, several threads, and Ctrl-C between two batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

VISITS = 2**24  # rows x cuts per batch of means: a fraction of a second, even if a row visits every cut
LEAVES = 2**22  # rows x trees per batch of intervals: bounds memory
LEAST_ROWS, MOST_ROWS = 2**6, 2**16  # per batch: fewer read a large posterior too often, more are no faster


def rows_per_batch_of_means(n_cuts: int) -> int:
    """Return the number of rows per batch for means, with trees that have `n_cuts` cuts."""
    return min(MOST_ROWS, max(LEAST_ROWS, VISITS // (1 + n_cuts)))


def rows_per_batch_of_intervals(n_rows: int, n_trees: int, n_jobs: int | None) -> int:
    """Return the number of rows per batch for intervals."""
    share = -(-n_rows // _n_threads(n_jobs))
    return min(MOST_ROWS, max(1, LEAVES // n_trees), max(LEAST_ROWS, share))


def by_batches(
    answer: Callable[[slice], NDArray[np.float64]],
    n_rows: int,
    shape: tuple[int, ...],
    step: int,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the results of `answer` for all rows, each of this shape, computed for at most `step` rows at a time."""
    if n_rows <= step:
        return answer(slice(0, n_rows))
    answers = np.empty((n_rows, *shape))

    def fill(start: int) -> None:
        part = slice(start, start + step)
        answers[part] = answer(part)

    starts = range(0, n_rows, step)
    if _n_threads(n_jobs) == 1:
        for start in starts:  # Ctrl-C is handled between two batches
            fill(start)
    else:
        n_at_once = None if n_jobs is None else min(n_jobs, len(starts))  # joblib starts all threads, even if idle
        Parallel(n_jobs=n_at_once, require="sharedmem")(delayed(fill)(start) for start in starts)
    return answers


def _n_threads(n_jobs: int | None) -> int:
    return 1 if n_jobs is None else int(effective_n_jobs(n_jobs))
