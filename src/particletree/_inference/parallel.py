"""Independent runs of a sampler in parallel: islands of particles, or chains.

Each run is one call of the kernel with the GIL released and its own seed, so that the result does not depend on how
many run in parallel, nor on where they run, which is up to joblib's backend (threads, processes, a cluster). Ctrl-C
quickly stops all runs in this process.

A run is a small message, returns flat arrays, and gives the same result wherever it is repeated, because it depends on
its seed alone. The data are sent separately, only once (:func:`sent_once`), and so that losing a worker loses no data.
joblib sends the arguments with every call, unless its backend finds a better way. Two backends need help:

- *Dask*: joblib scatters each large argument to a single worker, and scattered data are lost with their worker. Dask
  can recompute the result of a function, so the data are made the result of a function.
- *Ray*: its pool would keep large arguments in Ray's object store, but does not recognise how recent versions of joblib
  wrap the calls. So the data are put there first, and each call fetches them: from shared memory, once per machine.

Threads share the data, and for processes on one machine joblib memory-maps large arrays. With any backend joblib may
run the calls in the process of the fit instead: for Dask, if the cluster has a single core in all. There the data are
at hand, and nothing replaces the placeholder.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from particletree import _kernel
from particletree._data import TrainingData
from particletree._inference.progress import Budget, RunWords, progress_bar
from particletree._model.forest import Forest
from particletree._model.leaf import LeafModel
from particletree._model.prior import Prior
from particletree._model.rule import NODE
from particletree._posterior import Island
from particletree._user_warnings import warn_caller
from particletree._version import __version__

Arrays = TypeVar("Arrays")
Settings = TypeVar("Settings")
Data = TypeVar("Data")
AnyInput = TypeVar("AnyInput", bound="CommonInput")


@dataclass(frozen=True)
class CommonInput:
    """Base of what all runs of a sampler have in common: data and model, which can be sent to other processes.

    Subclasses are dataclasses of what is sent. What is cached, the kernel's view of it, is made anew in each process.
    """

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name; they are nearly all of the data to send."""
        raise NotImplementedError

    def __sizeof__(self) -> int:
        """Return the size including the arrays, from which Dask estimates the cost of keeping or moving the input."""
        return object.__sizeof__(self) + sum(array.nbytes for array in self.arrays().values())

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to other processes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Task(CommonInput):
    """The input of the runs over single trees."""

    data: TrainingData
    prior: Prior
    leaf: LeafModel

    @classmethod
    def prepare(cls, data: TrainingData, prior: Prior, leaf: LeafModel) -> Task:
        """Check the model's parameters, which may have changed since their construction, and return the task."""
        prior.validate()
        leaf.validate()
        return cls(data, prior, leaf)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names in the kernel; with the row columns they are nearly all of the data."""
        table, observed = self.data.table, self.data.observations
        return {
            "ranks": table.ranks,
            "values": table.values,
            "offsets": table.offsets,
            "n_levels": table.n_levels,
            "target": observed.values,
            "weights": np.empty(0) if observed.weights is None else observed.weights,
        }

    def model(self) -> dict[str, Any]:
        """Return leaf model and prior, by the names that the kernel has for their parameters."""
        return {
            "leaf": self.leaf.kernel_name,
            "leaf_parameters": self.leaf.kernel_parameters(self.data.observations.target),
            **prior_for_kernel(self.prior),
        }

    def __sizeof__(self) -> int:
        """Return the size including the arrays and the row columns."""
        return super().__sizeof__() + sum(column.nbytes for column in self.data.observations.row_columns.values())

    @cached_property
    def problem(self) -> _kernel.Problem:
        """The kernel's view of the data and the model, shared by all runs in a process.

        Arrays received from another process may be unaligned, hence `np.require`.
        """

        def aligned(columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
            return {name: np.require(array, requirements="A") for name, array in columns.items()}

        row_columns = aligned(self.data.observations.row_columns)
        return _kernel.Problem(**aligned(self.arrays()), row_columns=row_columns, **self.model())


def prior_for_kernel(prior: Prior) -> dict[str, Any]:
    """Return a prior by the names that the kernel has for its parts."""
    return {
        "prior": prior.kernel_name,
        "prior_parameters": np.array(prior.kernel_parameters(), dtype=np.float64),
        "feature_weights": np.array(prior.feature_weights or (), dtype=np.float64),
    }


def spawn(seed: np.random.SeedSequence, n: int, first: int = 0) -> list[np.random.SeedSequence]:
    """Return n children of a seed, from number `first` on, without modifying the seed.

    `seed.spawn` would modify it, so that running twice with the same object would give different results.

    Examples
    --------
    >>> import numpy as np
    >>> seed = np.random.SeedSequence(7)
    >>> [spawn(seed, 2)[1].generate_state(1)[0] for _ in range(2)] == [seed.spawn(2)[1].generate_state(1)[0]] * 2
    True
    """
    return [
        np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i), pool_size=seed.pool_size)
        for i in range(first, first + n)
    ]


def run_in_parallel(
    run: Callable[[Settings, AnyInput, np.random.SeedSequence, _kernel.Monitor, int], Arrays],
    settings: Settings,
    task: AnyInput,
    seeds: Sequence[np.random.SeedSequence],
    *,
    n_jobs: int | None,
    show_progress: bool,
    words: RunWords,
    budget: Budget | None = None,
) -> list[Arrays]:
    """Call `run(settings, task, seed, monitor, number)` for every seed and return the results in order.

    They run in `n_jobs` threads, unless `joblib.parallel_config` sets another backend or number of jobs. Workers of a
    cluster that have another version of the package cause a warning.
    """
    monitor = _kernel.Monitor(len(seeds))
    # All runs are dispatched at once: they are small, and an adaptive cluster grows with the queued work.
    n_threads = None if n_jobs is None else min(n_jobs, len(seeds))  # joblib starts all, also those without work
    parallel = Parallel(n_jobs=n_threads, prefer="threads", pre_dispatch="all")

    def n_returned() -> int:
        return getattr(parallel, "n_completed_tasks", 0)  # joblib sets it when the first task is dispatched

    bar = progress_bar(monitor, len(seeds), words, show=show_progress, n_returned=n_returned, budget=budget)
    with bar, sent_once(task) as sent:
        try:
            run_later = delayed(_run_one)
            here = Here(task)
            tasks = (run_later(run, settings, sent, here, seed, monitor, i) for i, seed in enumerate(seeds))
            results = list(parallel(tasks))
        except BaseException:  # stop the runs in other threads, and wait: the process may be about to exit
            monitor.cancel()
            while monitor.n_running() > 0:
                time.sleep(0.002)
            raise
    others = {version for version, _ in results} - {__version__}
    if others:
        warn_caller(
            f"Workers of the cluster have particletree {' and '.join(sorted(others))}, but this process has "
            f"{__version__}: the result may differ from that of either version. Install {__version__} on every worker, "
            "and fit again."
        )
    return [arrays for _, arrays in results]


def _run_one(run: Callable[..., Arrays], settings: Any, sent: Any, here: Here, *args: Any) -> tuple[str, Arrays]:
    """Return the version of the package where the run was, and its result."""
    return __version__, run(settings, received(sent, here), *args)


def to_island(arrays: _kernel.TreeArrays, log_evidence: float | None, trace: NDArray[Any]) -> Island:
    """Return the kernel's arrays of one run as an island."""
    return Island(
        forest=Forest(
            nodes=arrays["nodes"].view(NODE)[:, 0],
            roots=arrays["roots"],
            statistics=arrays["statistics"],
            row_hashes=arrays["row_hashes"],
        ),
        weights=arrays["weights"],
        log_likelihoods=arrays["log_likelihoods"],
        log_priors=arrays["log_priors"],
        log_evidence=log_evidence,
        trace=trace,
    )


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C has been pressed; the previous signal handler is still called.

    Python raises `KeyboardInterrupt` wherever the main thread is. Inside a finaliser or the callback of a weak
    reference the exception is printed and dropped, so a loop that only catches it would miss the interrupt.
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield pressed.is_set
        return

    def notice(number: int, frame: Any) -> None:
        pressed.set()
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class InObjectStore:
    """Data in Ray's object store."""

    reference: Any

    def fetch(self) -> Any:
        """Return the data, on any machine of the cluster."""
        import ray

        return ray.get(self.reference)


class Here:
    """The data in the process of the fit; a copy that is sent to another process has none."""

    def __init__(self, data: Any = None) -> None:
        self.data = data

    def __reduce__(self) -> tuple[type[Here], tuple[()]]:
        return Here, ()


@contextmanager
def sent_once(data: Data) -> Iterator[Any]:
    """Yield a placeholder for the data in joblib's calls, which `received` turns into the data again.

    If the body of the `with` statement fails, Dask runs that wait for the data are cancelled.
    """
    backend: Any = get_active_backend(prefer="threads")[0]
    kind = type(backend).__name__
    if kind == "DaskDistributedBackend":
        with _dask_future(backend.client, data) as future:
            yield future
    elif kind == "RayBackend":
        import ray  # connects to a cluster, or starts one, at the first use

        yield InObjectStore(ray.put(data))
    else:
        yield data


def received(sent: Any, here: Here) -> Any:
    """Return the data of a placeholder from `sent_once`, on a worker, where Dask has replaced its own, or here."""
    if here.data is not None:
        return here.data
    return sent.fetch() if isinstance(sent, InObjectStore) else sent


@contextmanager
def _dask_future(client: Any, data: Data) -> Iterator[Any]:
    import dask

    # Dask warns about large arguments, because they are usually sent more than once; these are not.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
        future = client.submit(_itself, data, key=f"particletree-data-{uuid4().hex}")
    try:
        yield future
    except BaseException:
        future.cancel()  # which also cancels the runs that have not started
        raise


def _itself(data: Data) -> Data:
    return data
