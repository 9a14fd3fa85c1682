"""Archives of arrays: zip files without compression, with one JSON header and arrays in NumPy's ``.npy`` format.

The same content gives the same bytes. A file is written under a temporary name and then moved into place, so that an
interrupted save leaves the old file. Files are untrusted, so reading checks everything: members must be uncompressed (a
compressed member can be a zip bomb), intact (checksums), of the expected dtype, and exactly as long as their shape
requires.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._atomic_files import open_atomically

HEADER = "header.json"
SINGLE_TREES = "particletree posterior"
SUMS_OF_TREES = "particletree posterior of sums of trees"


def write_archive(path: str | os.PathLike[str], header: bytes, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a header and named arrays to a file, completely or not at all."""
    members = {HEADER: header} | {f"{name}.npy": _to_npy(array) for name, array in arrays.items()}
    with open_atomically(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            # A fixed date, so that the same content gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)


def _to_npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


@contextmanager
def errors_about(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors name the file that cannot be loaded."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Cannot load a posterior from {os.fspath(path)}: {error}") from error


def read_archive(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the members of a zip archive, checked against their checksums."""
    data = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if any(info.compress_type != zipfile.ZIP_STORED for info in infos):
                raise ValueError("a member is compressed, which this format does not allow")
            if len({info.filename for info in infos}) != len(infos):
                raise ValueError("a member occurs twice")
            if sum(info.file_size for info in infos) > len(data):
                raise ValueError("the members claim to be larger than the file")
            members = {info.filename: archive.read(info) for info in infos}
    except ValueError:
        raise
    except Exception as error:  # zipfile raises a dozen types of exception for damaged files
        raise ValueError(f"not an intact zip archive ({error})") from error
    if HEADER not in members:
        raise ValueError(f"the member {HEADER} is missing")
    return members


def read_array(name: str, data: bytes, expected: Sequence[np.dtype[Any]], n_dimensions: int) -> NDArray[Any]:
    """Return the array in a ``.npy`` member; its header is checked before memory is allocated."""
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("unknown version of the npy format")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # a malicious header can make the parser fail in many ways
        raise ValueError(f"{name}.npy has no valid header ({error})") from error
    if dtype not in expected or fortran_order or len(shape) != n_dimensions:
        raise ValueError(f"{name}.npy has the wrong type or number of dimensions: {dtype}, shape {shape}")
    body = data[stream.tell() :]
    if min(shape) < 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"{name}.npy claims the shape {shape}, which does not match its size")
    # The copy is writable, aligned and in the byte order of this machine.
    return np.frombuffer(body, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))
