"""Predictions a batch of rows at a time: bounded memory, several threads, and Ctrl-C between two batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

VISITS = 2**24  # rows x cuts that a prediction handles at a time: a fraction of a second, even if a row meets every cut
LEAVES = 2**22  # rows x trees that an interval handles at a time: bounds memory
LEAST_ROWS, MOST_ROWS = 2**6, 2**16  # of a batch: with fewer a large posterior is read too often, more win nothing


def rows_per_batch_of_means(n_cuts: int) -> int:
    """Return how many rows are predicted at a time by trees with this many cuts."""
    return min(MOST_ROWS, max(LEAST_ROWS, VISITS // (1 + n_cuts)))


def rows_per_batch_of_intervals(n_rows: int, n_trees: int, n_jobs: int | None) -> int:
    """Return how many of some rows get their intervals at a time."""
    share = -(-n_rows // _n_threads(n_jobs))
    return min(MOST_ROWS, max(1, LEAVES // n_trees), max(LEAST_ROWS, share))


def by_batches(
    answer: Callable[[slice], NDArray[np.float64]],
    n_rows: int,
    shape: tuple[int, ...],
    step: int,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the answers to all rows, each of this shape, asked for at most `step` rows at a time."""
    if n_rows <= step:
        return answer(slice(0, n_rows))
    answers = np.empty((n_rows, *shape))

    def fill(start: int) -> None:
        part = slice(start, start + step)
        answers[part] = answer(part)

    starts = range(0, n_rows, step)
    if _n_threads(n_jobs) == 1:
        for start in starts:  # between two, Ctrl-C is heard
            fill(start)
    else:
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(fill)(start) for start in starts)
    return answers


def _n_threads(n_jobs: int | None) -> int:
    return 1 if n_jobs is None else int(effective_n_jobs(n_jobs))
