"""Times on a shared machine: the methods take turns, and the best time of each counts.

Fits on one thread are measured in CPU time, to which other programs on the machine add little. It counts all threads of
the process, so more than one thread is no advantage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Clock: TypeAlias = Callable[[], float]


def best_times(
    contestants: Mapping[str, Callable[[], Any]],
    n_rounds: int | Mapping[str, int],
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """Run every contestant once per round, in turn, and return the shortest time of each in seconds.

    Parameters
    ----------
    contestants : mapping of str to callable
        The functions to time, by name.
    n_rounds : int or mapping of str to int
        Number of rounds; with a mapping, slow contestants can have fewer. One with 0 rounds is not in the result.
    clock : callable, default `time.perf_counter`
        The clock, in seconds; `time.process_time` for CPU time.

    Examples
    --------
    >>> sorted(best_times({"a": lambda: None, "b": lambda: None}, n_rounds=2))
    ['a', 'b']
    """
    rounds = n_rounds if isinstance(n_rounds, Mapping) else dict.fromkeys(contestants, n_rounds)
    best: dict[str, float] = {}
    for i in range(max(rounds.values())):
        for name, run in contestants.items():
            if i < rounds[name]:
                best[name] = min(time_once(run, clock), best.get(name, float("inf")))
    return best


def time_once(run: Callable[[], Any], clock: Clock = time.perf_counter) -> float:
    """Return the seconds that a call takes."""
    start = clock()
    run()
    return clock() - start
