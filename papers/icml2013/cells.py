"""The cells of the grid: a data set, a method with its settings, and a seed.

The module of each figure builds its grid from these three; `over_seeds` returns the cells.
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
UNLIMITED = "unlimited"  # no data: for draws from the prior
BREAST_CANCER = "breast cancer"  # ships with scikit-learn, for tests


@dataclass(frozen=True)
class Cell:
    """One fit: method, data and seed. The folder of the data is not part of a cell's identity."""

    data: str
    method: Method
    seed: int
    folder: str | None = field(default=None, compare=False)

    @property
    def description(self) -> dict[str, Any]:
        """The identity of the cell, in plain JSON."""
        settings = {"kind": self.method.kind, **asdict(self.method)}
        return {"data": self.data, "method": settings, "seed": self.seed}

    @property
    def cost(self) -> float:
        """Estimated time in seconds."""
        return self.method.cost(self.data)

    def run(self) -> dict[str, Any]:
        """Fit and score on one thread; libraries that would use all cores (gradient boosting) are limited too."""
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
    """Return a data set, read once per process; MAGIC always with the same split, as in the paper."""
    if name == BREAST_CANCER:
        return split_at_random(name, *load_breast_cancer(return_X_y=True))
    return LOADERS[name](folder)


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Fit something small, so that lazy imports do not count in the first cell of a process."""
    data = load(BREAST_CANCER, None)
    for method in (Filter(50), Filter(2, "optimal"), Cart()):
        method.measure(data, 0)
