"""Times on a shared machine: the contestants take turns, and each is known by its best time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any


def best_times(contestants: Mapping[str, Callable[[], Any]], n_rounds: int) -> dict[str, float]:
    """Run every contestant once a round, in turn, and return the shortest time of each in seconds.

    Examples
    --------
    >>> sorted(best_times({"a": lambda: None, "b": lambda: None}, n_rounds=2))
    ['a', 'b']
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(n_rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in times.items()}
