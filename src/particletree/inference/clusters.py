"""How the data reach the workers of a cluster: once, and so that a worker that is lost takes nothing with it.

joblib sends the arguments of a call with the call, unless its backend finds a better way. Two need help:

- *Dask*: joblib scatters large arguments, each to a single worker, and scattered data die with their worker. What a
  function has returned Dask can make again, so the data become the result of a function.
- *Ray*: its pool would keep large arguments in Ray's object store, but does not recognise how recent versions of joblib
  wrap the calls. So the data are put there before, and each call fetches them: in shared memory, once a machine.

Threads share the data as they are, and for processes on one machine joblib maps large arrays into memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from joblib.parallel import get_active_backend

Data = TypeVar("Data")


@dataclass(frozen=True)
class InObjectStore:
    """Data in Ray's object store."""

    reference: Any

    def fetch(self) -> Any:
        """Return the data, on any machine of the cluster."""
        import ray

        return ray.get(self.reference)


@contextmanager
def sent_once(data: Data) -> Iterator[Any]:
    """Yield what stands for the data in joblib's calls, and becomes the data again by `received`.

    If the body fails, runs that wait for the data on Dask are cancelled.
    """
    backend: Any = get_active_backend(prefer="threads")[0]
    kind = type(backend).__name__
    if kind == "DaskDistributedBackend":
        with _dask_future(backend.client, data) as future:
            yield future
    elif kind == "RayBackend":
        import ray  # starts or finds the cluster, if that has not been done

        yield InObjectStore(ray.put(data))
    else:
        yield data


def received(sent: Any) -> Any:
    """Return the data, where a call runs, from what `sent_once` gave; Dask has put them in its place already."""
    return sent.fetch() if isinstance(sent, InObjectStore) else sent


@contextmanager
def _dask_future(client: Any, data: Data) -> Iterator[Any]:
    import dask

    # Dask warns of large arguments, because most people send them more than once.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
        future = client.submit(_itself, data, key=f"particletree-data-{uuid4().hex}")
    try:
        yield future
    except BaseException:
        future.cancel()  # and with it the runs that have not begun
        raise


def _itself(data: Data) -> Data:
    return data
