"""The paper's data sets, with the paper's splits, from the original files of the UCI repository.

A file is looked for, plain or compressed with gzip, in the folder that the caller passes, or else in the folder of the
environment variable ``PARTICLETREE_DATA_DIR``. If neither is given, ``pooch`` downloads it from UCI once and keeps it
in the user's cache. In every case its content must match the checksum in this module, so that a damaged or edited file
is detected before anything is measured on it.

The data sets are licensed CC BY 4.0: pen-digits is by E. Alpaydin and F. Alimoglu (1996, doi:10.24432/C5MG6K), MAGIC by
R. Bock (2004, doi:10.24432/C52C8B), Madelon by I. Guyon (2004, doi:10.24432/C5602H).
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DamagedFileError", "Split", "find_file", "load_madelon", "load_magic", "load_pendigits"]

VARIABLE = "PARTICLETREE_DATA_DIR"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
MAGIC_FEATURES = ["fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist"]
SPLIT_SEED = 0  # default seed of MAGIC's random split


@dataclass(frozen=True)
class Source:
    """The path of a file below UCI's address, and the SHA-256 of its (uncompressed) content."""

    place: str
    sha256: str


FILES = {
    "pendigits.tra": Source(
        "pendigits/pendigits.tra", "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3"
    ),
    "pendigits.tes": Source(
        "pendigits/pendigits.tes", "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015"
    ),
    "magic04.data": Source("magic/magic04.data", "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a"),
    "madelon_train.data": Source(
        "madelon/MADELON/madelon_train.data", "0b6e37711efdc7ab74250c51e7d6966bffd9f8f2b0e9971e882c3a7a380c2314"
    ),
    "madelon_train.labels": Source(
        "madelon/MADELON/madelon_train.labels", "10bffcc3b017467cb810d326b931951adcbde2b4870faf981da2991993b48689"
    ),
    "madelon_valid.data": Source(
        "madelon/MADELON/madelon_valid.data", "cb9a46475147de1a58d9f15ef4c318e5b85de344e0f9ab92626fa446aa815dc9"
    ),
    "madelon_valid.labels": Source(
        "madelon/madelon_valid.labels", "fbac32fa87fac41ab731994a1c824e7b25396069bff6df242c01fe240fcb34dc"
    ),
}


class DamagedFileError(ValueError):
    """A file exists, but its content is not what UCI published."""


@dataclass(frozen=True)
class Split:
    """A data set divided into training and test rows."""

    name: str
    X_train: NDArray[np.float64]
    y_train: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def load_pendigits(folder: str | os.PathLike[str] | None = None) -> Split:
    """Load pen-digits with UCI's own split: 7,494 training and 3,498 test rows, 16 features, 10 classes.

    Parameters
    ----------
    folder : path or None, default None
        Folder with the UCI files, plain or compressed; None means the environment variable
        ``PARTICLETREE_DATA_DIR``, or else a download.
    """
    parts = [_read_numbers(folder, f"pendigits.{part}") for part in ("tra", "tes")]
    (X_train, y_train), (X_test, y_test) = [(part[:, :16], part[:, 16].astype(np.int64)) for part in parts]
    return Split("pen-digits", X_train, y_train, X_test, y_test)


def load_magic(folder: str | os.PathLike[str] | None = None, seed: int = SPLIT_SEED) -> Split:
    """Load MAGIC, 19,020 rows of 10 features in 2 classes, split at random into 70% training and 30% test rows.

    Parameters
    ----------
    folder : path or None, default None
        As in `load_pendigits`.
    seed : int, default 0
        Seed of the split.
    """
    text = _read_text(folder, "magic04.data")
    cells = np.array([line.split(",") for line in text.split()])
    X, y = cells[:, :10].astype(np.float64), cells[:, 10]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [round(0.7 * len(y))])
    return Split("MAGIC", X[train], y[train], X[test], y[test])


def load_madelon(folder: str | os.PathLike[str] | None = None) -> Split:
    """Load Madelon: 2,000 training rows and, as test rows, the 600 of the validation files; 500 features, 2 classes.

    Parameters
    ----------
    folder : path or None, default None
        As in `load_pendigits`.
    """
    parts = []
    for part in ("train", "valid"):
        X = _read_numbers(folder, f"madelon_{part}.data", delimiter=None)
        parts.append((X, _read_numbers(folder, f"madelon_{part}.labels", delimiter=None).astype(np.int64)))
    (X_train, y_train), (X_test, y_test) = parts
    return Split("Madelon", X_train, y_train, X_test, y_test)


def _read_numbers(folder: str | os.PathLike[str] | None, name: str, delimiter: str | None = ",") -> NDArray[np.float64]:
    return np.loadtxt(_read_text(folder, name).splitlines(), delimiter=delimiter)


def _read_text(folder: str | os.PathLike[str] | None, name: str) -> str:
    path = find_file(folder, name)
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFileError(f"{path} is damaged: it cannot be unpacked ({error}). Get it again.") from error
    found, expected = hashlib.sha256(content).hexdigest(), FILES[name].sha256
    if found != expected:
        raise DamagedFileError(
            f"{path} is not the file that UCI published: its content has the SHA-256 {found}, expected {expected}. "
            f"Get it again from {UCI}{FILES[name].place}."
        )
    return content.decode("ascii")


def find_file(folder: str | os.PathLike[str] | None, name: str) -> Path:
    """Return the path of the file: in the folder, in that of the environment variable, or in the download cache."""
    place = folder if folder is not None else os.environ.get(VARIABLE) or None
    if place is None:
        return _download(name)
    for path in (Path(place) / f"{name}.gz", Path(place) / name):
        if path.exists():
            return path
    raise FileNotFoundError(f"{place} has neither {name} nor {name}.gz; get it from {UCI}{FILES[name].place}.")


def _download(name: str) -> Path:
    """Return the path of the file in the user's cache; download it if it is not there yet."""
    by_hand = (
        f"Download {UCI}{FILES[name].place} and its neighbours into a folder, and name that folder with --data-dir, in "
        f"the call, or in the environment variable {VARIABLE}."
    )
    try:
        import pooch
    except ImportError as error:
        raise FileNotFoundError(
            f"No folder was given for {name}, and downloading needs pooch: pip install pooch. "
            f"Or do it by hand: {by_hand}"
        ) from error
    source = FILES[name]
    try:
        path = pooch.retrieve(
            UCI + source.place, known_hash=f"sha256:{source.sha256}", fname=name, path=pooch.os_cache("particletree")
        )
    except OSError as error:  # the base of requests' errors
        raise FileNotFoundError(f"{name} could not be downloaded ({type(error).__name__}). {by_hand}") from error
    except ValueError as error:  # pooch raises this if the checksum differs
        raise DamagedFileError(
            f"{name} was downloaded, but it is not the file that we know: {error} {by_hand}"
        ) from None
    return Path(path)
