"""The cells of the grid: a data set, a method with its settings, and a seed.

A grid is written as loops over these three in the module of each figure; `over_seeds` closes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from benchmarks.data_sets import LOADERS, split_at_random
from papers.icml2013.methods import Cart, Filter, Method
from particletree.datasets import Split

PENDIGITS, MAGIC, MADELON = "pen-digits", "MAGIC", "Madelon"
UNLIMITED = "unlimited"  # no data at all: for draws from the prior
BREAST_CANCER = "breast cancer"  # ships with scikit-learn, for tests


@dataclass(frozen=True)
class Cell:
    """One fit: what, on which data, with which seed. Where the data are is no part of what the cell is."""

    data: str
    method: Method
    seed: int
    folder: str | None = field(default=None, compare=False)

    @property
    def description(self) -> dict[str, Any]:
        """What the cell is, in plain JSON."""
        settings = {"kind": self.method.kind, **asdict(self.method)}
        return {"data": self.data, "method": settings, "seed": self.seed}

    @property
    def cost(self) -> float:
        """About how many seconds it takes."""
        return self.method.cost(self.data)

    def run(self) -> dict[str, Any]:
        """Fit and score, on one thread: libraries that would take all cores (gradient boosting) are held back."""
        with threadpool_limits(1):
            warm_up()
            data = None if self.data == UNLIMITED else load(self.data, self.folder)
            return self.method.measure(data, self.seed)  # type: ignore[arg-type]


def over_seeds(data: Iterable[str], methods: Iterable[Method], n_seeds: int) -> list[Cell]:
    """Return a cell for each data set, method and seed."""
    methods = list(methods)
    return [Cell(name, method, seed) for name in data for method in methods for seed in range(n_seeds)]


@lru_cache(maxsize=4)
def load(name: str, folder: str | None) -> Split:
    """Return a data set, read once in each process; MAGIC always in the same split, as in the paper."""
    if name == BREAST_CANCER:
        return split_at_random(name, *load_breast_cancer(return_X_y=True))
    return LOADERS[name](folder)


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Fit something small, so that the first cell of a process does not pay for what is loaded at first use."""
    data = load(BREAST_CANCER, None)
    for method in (Filter(50), Filter(2, "optimal"), Cart()):
        method.measure(data, 0)
