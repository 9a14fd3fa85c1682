"""Sending the data to the workers of a cluster: only once, and so that losing a worker loses no data.

joblib sends the arguments with every call, unless its backend finds a better way. Two backends need help:

- *Dask*: joblib scatters each large argument to a single worker, and scattered data are lost with their worker. Dask
  can recompute the result of a function, so the data are made the result of a function.
- *Ray*: its pool would keep large arguments in Ray's object store, but does not recognise how recent versions of joblib
  wrap the calls. So the data are put there first, and each call fetches them: from shared memory, once per machine.

Threads share the data, and for processes on one machine joblib memory-maps large arrays.

With any backend joblib may run the calls in the process of the fit instead: for Dask, if the cluster has a single core
in all. There the data are at hand, and nothing replaces the placeholder.
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
