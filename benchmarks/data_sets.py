"""Data for the benchmarks: scikit-learn's, the paper's if a folder is given, and generated data of any size.

The generated data are cheap, so that ten million rows take seconds: uniform numbers, some features with all values
distinct, some with a thousand and some with ten, and labels by a random tree over the first few features, one in ten of
them replaced by a random one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split

from benchmarks.settings import Settings
from particletree.datasets import VARIABLE, Split, load_madelon, load_magic, load_pendigits

LOADERS = {"pen-digits": load_pendigits, "MAGIC": load_magic, "Madelon": load_madelon}
SHAPES = ("mixed", "all values distinct", "two values a feature", "every row 100 times")
N_INFORMATIVE = 5
NOISE = 0.1


def data_sets(settings: Settings) -> Iterator[Split]:
    """Yield scikit-learn's data, a generated set, and the paper's if a folder is given; fewer in a quick run."""
    yield split_at_random("breast cancer", *load_breast_cancer(return_X_y=True))
    if settings.scale == "tiny":
        return
    yield split_at_random("digits", *load_digits(return_X_y=True))
    if settings.scale == "quick":
        yield from main_data_sets(settings)
    else:
        yield split_at_random("iris", *load_iris(return_X_y=True))
        yield split_at_random("wine", *load_wine(return_X_y=True))
        yield split_at_random("binary, 20,000 x 30", *generate(28_571, 30, shape="two values a feature"))
        yield generated_split()
        yield from paper_data_sets(settings, list(LOADERS))


def main_data_sets(settings: Settings) -> list[Split]:
    """Return pen-digits and MAGIC if they are in the folder, otherwise a generated set."""
    if settings.scale == "tiny":
        return [split_at_random("breast cancer", *load_breast_cancer(return_X_y=True))]
    return list(paper_data_sets(settings, ["pen-digits", "MAGIC"])) or [generated_split()]


def paper_data_sets(settings: Settings, names: list[str]) -> Iterator[Split]:
    """Yield the named data sets of the paper that are in the folder; print a message about the others."""
    if settings.data_dir is None and VARIABLE not in os.environ:
        return
    for name in names:
        try:
            yield LOADERS[name](settings.data_dir)
        except FileNotFoundError as error:
            settings.say(f"{name} is left out: {error}")


def generated_split() -> Split:
    """Return scikit-learn's make_classification, whose labels do not come from a tree."""
    X, y = make_classification(20_000, 20, n_informative=10, n_classes=3, random_state=0)
    return split_at_random("generated, 14,000 x 20", X, y)


def split_at_random(name: str, X: Any, y: Any, seed: int = 0) -> Split:
    """Split into 70% training and 30% test rows."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    return Split(name, np.ascontiguousarray(X_train), y_train, np.ascontiguousarray(X_test), y_test)


def generate(
    n_rows: int, n_features: int, n_classes: int = 3, shape: str = "mixed", seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return generated features and labels.

    Parameters
    ----------
    n_rows, n_features, n_classes : int
        The size.
    shape : str, default "mixed"
        One of `SHAPES`: the number of distinct values per feature, and whether rows repeat.
    seed : int, default 0
        Seed.

    Examples
    --------
    >>> X, y = generate(1000, 20, n_classes=4)
    >>> X.shape, len(set(y.tolist())), len(set(X[:, 0])), len(set(X[:, 1]))
    ((1000, 20), 4, 1000, 10)
    """
    generator = np.random.default_rng(seed)
    X = generator.random((n_rows, n_features))
    if shape == "mixed":
        for first, n_values in ((1, 10), (3, 1000)):
            X[:, first::4] = np.floor(n_values * X[:, first::4])
            X[:, first::4] /= n_values
    elif shape == "two values a feature":
        X = np.round(X)
    elif shape == "every row 100 times":
        X = X[generator.integers(max(1, n_rows // 100), size=n_rows)]
    elif shape not in SHAPES:
        raise ValueError(f"shape must be one of {', '.join(SHAPES)}, got {shape!r}.")
    return X, label(X, n_classes, generator)


def label(X: NDArray[np.float64], n_classes: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return labels by a random tree over the first features, with at least four leaves per class, and noise."""
    n_levels = int(np.ceil(np.log2(n_classes))) + 2
    n_rows, n_informative = len(X), min(N_INFORMATIVE, X.shape[1])
    low, high = np.zeros((1, n_informative)), np.ones((1, n_informative))
    leaf = np.zeros(n_rows, dtype=np.int64)
    for level in range(n_levels):
        nodes, feature = np.arange(2**level), generator.integers(n_informative, size=2**level)
        share = generator.uniform(0.3, 0.7, size=2**level)
        cut = low[nodes, feature] + share * (high[nodes, feature] - low[nodes, feature])
        goes_right = np.take_along_axis(X, feature[leaf][:, None], axis=1)[:, 0] > cut[leaf]
        low, high = np.repeat(low, 2, axis=0), np.repeat(high, 2, axis=0)
        high[2 * nodes, feature], low[2 * nodes + 1, feature] = cut, cut
        leaf = 2 * leaf + goes_right
    y = generator.permutation(np.arange(2**n_levels) % n_classes)[leaf]
    is_noise = generator.random(n_rows) < NOISE
    y[is_noise] = generator.integers(n_classes, size=int(is_noise.sum()))
    return y
