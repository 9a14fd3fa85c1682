"""Files that are damaged in every way: members, arrays, and fields of the header."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.runs.traces import RECORDS

Members = dict[str, bytes]


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Members, compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def npy(array: NDArray[Any], allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def retyped(records: NDArray[Any], name: str, form: str) -> NDArray[Any]:
    """Return records of which one field has another type."""
    with np.errstate(invalid="ignore"):  # a nan that becomes an integer
        return records.astype([(field, form if field == name else old) for field, old in records.dtype.descr])


def damaged(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield wrong versions of an array: of its numbers, its length, its order and its type."""
    for name in array.dtype.names or ():
        for what, column in damaged_numbers(array[name]):
            records = array.copy()
            records[name] = column
            yield f"{name} {what}", records
        yield f"{name} of another type", retyped(array, name, "<f4" if array.dtype[name].kind != "f" else "<i8")
    if array.dtype.names is None:
        yield from damaged_numbers(array)
    yield "empty", array[:0]
    yield "shorter", array[:-1]
    yield "longer", np.concatenate([array, array[-1:]])
    yield "reversed", np.ascontiguousarray(array[::-1])
    yield "rolled", np.roll(array, 1, axis=0)
    yield "a table", np.ascontiguousarray(array[None])
    yield "a number", np.zeros((), dtype=array.dtype)
    yield "big-endian", array.astype(array.dtype.newbyteorder(">"))
    yield "objects", array.astype(object)
    for record in (*RECORDS, np.dtype("<i8"), np.dtype("<f4"), np.dtype("<U3"), np.dtype("<c16"), np.dtype("V8")):
        yield f"{record} zeros", np.zeros(array.shape, dtype=record)


def damaged_numbers(array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield an array with extreme numbers, at its beginning, at its end and everywhere."""
    for value in extremes(array):
        for place in (slice(0, 1), slice(-1, None), slice(None)):
            wrong = np.array(array)
            wrong.reshape(-1)[place] = value
            yield f"{value!r} at {place}", wrong
    if array.dtype == np.bool_ and array.size:  # a truth value that is neither 0 nor 1
        yield "byte 200", np.full(array.shape, 200, dtype=np.uint8).view(np.bool_)


def extremes(array: NDArray[Any]) -> list[Any]:
    if array.dtype == np.bool_:
        return [True, False]
    if array.dtype.kind == "f":
        largest = np.finfo(array.dtype).max
        return [np.nan, np.inf, -np.inf, largest, -largest, np.finfo(array.dtype).tiny, 0.0, -1.0, 0.5, 1e13]
    limits = np.iinfo(array.dtype)
    candidates = (limits.min, limits.max, -1, 0, 1, 3, 4, 9, 200, array.size, 100_000, 10**9, 2**33)
    return [value for value in candidates if limits.min <= value <= limits.max]


MONSTERS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, 2**63, 10**400, -(10**400)),
    *(0.5, -0.5, 1e-320, 1e308, float("nan"), float("inf"), float("-inf")),
    *("", "x", "Flat", "object", "\n\x1b[2J", "\ud800", "9" * 5000),
    *([], [[]], [None], ["a", "a"], ["\x1b[2J", "\n"], [0, 1, 2], {}, {"kind": []}, {"dtype": "object", "values": []}),
    *({"kind": "numbers", "n_targets": 3, "names": None}, {"kind": "numbers", "n_targets": 2**20, "names": None}),
    *({"kind": "numbers", "n_targets": 1, "names": ["\n\x1b[2J"]}, {"kind": "numbers", "n_targets": 10**400}),
    *({"kind": "classes", "classes": {"dtype": "<U1", "values": list("abc")}}, {"kind": "classes", "classes": []}),
)


def damaged_headers(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield a header with a monster in the place of each of its parts, or without the part."""
    if isinstance(content, dict):
        for key, part in content.items():
            yield f"without {key}", {name: value for name, value in content.items() if name != key}
            for what, damaged_part in damaged_headers(part):
                yield f"{key}: {what}", content | {key: damaged_part}
    if isinstance(content, list):
        for at, part in enumerate(content):
            for what, damaged_part in damaged_headers(part):
                yield f"[{at}]: {what}", [*content[:at], damaged_part, *content[at + 1 :]]
    for monster in MONSTERS:
        yield repr(monster)[:50], monster
