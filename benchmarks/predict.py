"""The question: how long does predict_proba take beside a random forest with as many trees of similar size.

The forest has as many trees as the posterior has distinct ones, each with at most as many leaves as ours have on
average. Two batches: the test rows, and rows drawn from them. The first call after a fit, which prepares something for
those that follow, is not part of the ratio. One thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.data_sets import main_data_sets
from benchmarks.models import STANDARD, bayesian_tree, random_forest
from benchmarks.settings import Settings
from benchmarks.timing import best_times, time_once
from particletree.datasets import Split
from particletree.inference import SMC

METHODS = ("prior, 5 x 100", "prior, 1 x 2000")


@dataclass(frozen=True)
class Result:
    """One posterior against one forest on one batch of rows."""

    data: str
    method: str
    n_trees: int
    leaves: float
    forest_leaves: float
    depth: float
    forest_depth: float
    batch: str
    n_rows: int
    first_seconds: float
    seconds: float
    forest_seconds: float
    ratio: float


def measure(settings: Settings) -> Iterator[Result]:
    """Compare on the main data sets."""
    n_large = settings.choose(tiny=300, quick=10_000, full=100_000)
    n_rounds = settings.choose(tiny=(1, 1), quick=(3, 1), full=(9, 3))  # of the test rows, and of the large batch
    for data in main_data_sets(settings):
        drawn = np.random.default_rng(0).integers(len(data.X_test), size=n_large)
        for method in settings.choose(tiny=METHODS[:1], quick=METHODS[:1], full=METHODS):
            settings.say(f"{data.name}, {method}")
            yield from compare(data, method, STANDARD[method], data.X_test[drawn], n_rounds)


def compare(
    data: Split, method: str, sampler: SMC, large_batch: NDArray[np.float64], n_rounds: tuple[int, int]
) -> Iterator[Result]:
    """Fit both and time their predictions, in turn."""
    model = bayesian_tree(sampler).fit(data.X_train, data.y_train)
    posterior = model.posterior_
    leaves = float(np.mean(posterior.n_leaves))
    forest = random_forest(len(posterior.trees), max_leaf_nodes=max(2, round(leaves)), n_jobs=-1)
    forest.fit(data.X_train, data.y_train).set_params(n_jobs=1)
    first_seconds = time_once(partial(model.predict_proba, data.X_test))
    batches = {"test rows": data.X_test, f"{len(large_batch):,} rows": large_batch}
    for (name, batch), n in zip(batches.items(), n_rounds, strict=True):
        contestants = {"ours": partial(model.predict_proba, batch), "forest": partial(forest.predict_proba, batch)}
        seconds = best_times(contestants, n)
        yield Result(
            data=data.name,
            method=method,
            n_trees=len(posterior.trees),
            leaves=leaves,
            forest_leaves=mean_over_trees(forest, "get_n_leaves"),
            depth=float(np.mean(posterior.depths)),
            forest_depth=mean_over_trees(forest, "get_depth"),
            batch=name,
            n_rows=len(batch),
            first_seconds=first_seconds,
            seconds=seconds["ours"],
            forest_seconds=seconds["forest"],
            ratio=seconds["ours"] / seconds["forest"],
        )


def mean_over_trees(forest: Any, method: str) -> float:
    """Return the mean of a number over the trees of a forest."""
    return float(np.mean([getattr(tree, method)() for tree in forest.estimators_]))


def to_markdown(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    return markdown.table(
        ["data", "method"],
        ["trees", "leaves, ours / forest", "rows", "ours", "forest", "x forest"],
        [
            [
                r.data,
                r.method,
                f"{r.n_trees:,}",
                f"{r.leaves:.0f} / {r.forest_leaves:.0f}",
                f"{r.n_rows:,}",
                markdown.duration(r.seconds),
                markdown.duration(r.forest_seconds),
                markdown.ratio(r.ratio),
            ]
            for r in results
        ],
    )
