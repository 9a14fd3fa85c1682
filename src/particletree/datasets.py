"""The paper's data sets, read from a folder of the original UCI files (plain or gzip-compressed).

The folder is given as an argument or by the environment variable ``PARTICLETREE_DATA_DIR``. Nothing is downloaded.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VARIABLE = "PARTICLETREE_DATA_DIR"
MAGIC_FEATURES = ["fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist"]


@dataclass(frozen=True)
class Split:
    """A data set cut into a training and a test part."""

    name: str
    X_train: NDArray[np.float64]
    y_train: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def load_pendigits(folder: str | os.PathLike[str] | None = None) -> Split:
    """Load pen-digits with UCI's own split: 7,494 training and 3,498 test rows, 16 features, 10 classes."""
    parts = [_read_numbers(folder, f"pendigits.{part}") for part in ("tra", "tes")]
    (X_train, y_train), (X_test, y_test) = [(part[:, :16], part[:, 16].astype(np.int64)) for part in parts]
    return Split("pen-digits", X_train, y_train, X_test, y_test)


def load_magic(folder: str | os.PathLike[str] | None = None, seed: int = 0) -> Split:
    """Load MAGIC, 19,020 rows of 10 features in 2 classes, split at random into 70% training and 30% test rows."""
    text = _read_text(folder, "magic04.data")
    cells = np.array([line.split(",") for line in text.split()])
    X, y = cells[:, :10].astype(np.float64), cells[:, 10]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [round(0.7 * len(y))])
    return Split("MAGIC", X[train], y[train], X[test], y[test])


def load_madelon(folder: str | os.PathLike[str] | None = None) -> Split:
    """Load Madelon: 2,000 training rows and, as test rows, the 600 of the validation files; 500 features, 2 classes."""
    parts = []
    for part in ("train", "valid"):
        X = _read_numbers(folder, f"madelon_{part}.data", delimiter=None)
        parts.append((X, _read_numbers(folder, f"madelon_{part}.labels", delimiter=None).astype(np.int64)))
    (X_train, y_train), (X_test, y_test) = parts
    return Split("Madelon", X_train, y_train, X_test, y_test)


def _read_numbers(folder: str | os.PathLike[str] | None, name: str, delimiter: str | None = ",") -> NDArray[np.float64]:
    return np.loadtxt(_read_text(folder, name).splitlines(), delimiter=delimiter)


def _read_text(folder: str | os.PathLike[str] | None, name: str) -> str:
    place = folder if folder is not None else os.environ.get(VARIABLE)
    if place is None:
        raise FileNotFoundError(
            f"No folder was given for {name}. Put the UCI files (plain or .gz) into a folder and name it in the call "
            f"or in the environment variable {VARIABLE}."
        )
    for path, opener in ((Path(place) / f"{name}.gz", gzip.open), (Path(place) / name, open)):
        if path.exists():
            with opener(path, "rt") as file:
                return str(file.read())
    raise FileNotFoundError(f"{place} has neither {name} nor {name}.gz; get it from the UCI repository.")
