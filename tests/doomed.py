"""What tests install in the processes of a cluster: counters, and islands that kill their worker or wait at a gate.

joblib sends functions by their names, so that replacing `_run_island` in a worker's module is enough.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from particletree._inference import parallel, smc
from particletree._inference.parallel import Task
from particletree._version import __version__

real_island = smc._run_island


def count_unpickled_data(folder: Path) -> None:
    """Leave a file in the folder each time that this process receives the data."""

    def receive(task: Task, state: dict[str, Any]) -> None:
        (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        task.__dict__.update(state)

    Task.__setstate__ = receive  # type: ignore[attr-defined]


def stop_counting() -> None:
    del Task.__setstate__  # type: ignore[attr-defined]


def kill_this_worker_during_an_island(folder: Path, n_deaths: int) -> None:
    """Let the first islands kill their process: `n_deaths` processes in all, each of which notes that in the folder."""

    def island(settings: Any, task: Any, seed: Any, monitor: Any, number: int) -> Any:
        if not any(_is_mine_to_take(folder / f"death-{i}") for i in range(n_deaths)):
            return real_island(settings, task, seed, monitor, number)
        threading.Thread(target=_kill_when, args=(lambda: monitor.step(number) > 0,), daemon=True).start()
        real_island(settings, task, seed, monitor, number)
        os.kill(os.getpid(), signal.SIGKILL)  # it was too quick for the thread
        return None

    smc._run_island = island


def wait_at_the_gate(folder: Path) -> None:
    """Let each island note its start in the folder, and begin when there is a file named `gate`."""

    def island(settings: Any, task: Any, seed: Any, monitor: Any, number: int) -> Any:
        (folder / f"started-{number}").touch()
        wait_until((folder / "gate").exists)
        return real_island(settings, task, seed, monitor, number)

    smc._run_island = island


def pretend_to_be(version: str) -> None:
    """Let this process have another version of the package."""
    parallel.__version__ = version  # type: ignore[attr-defined]


def restore() -> None:
    smc._run_island = real_island
    parallel.__version__ = __version__  # type: ignore[attr-defined]


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("what a test waits for did not happen")
        time.sleep(0.005)


def _is_mine_to_take(path: Path) -> bool:
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _kill_when(holds: Callable[[], bool]) -> None:
    wait_until(holds)
    os.kill(os.getpid(), signal.SIGKILL)


def n_at_work(dask_worker: Any) -> int:
    return len(dask_worker.active_threads)
