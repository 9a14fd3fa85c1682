"""The question: how long is a fit in units of CART's, and is the answer better.

All methods take turns on the same data, on one thread; a figure is the ratio of the best CPU times. Scores are those of
the last fit on the test rows. CART's leaves (gini) are smoothed as the paper's are, and the forest gives every class at
least half a vote. Ours is the default estimator; the plot and the data also have the paper's model with three samplers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.data_sets import data_sets
from benchmarks.models import STANDARD, bayesian_tree, bounded_probabilities, random_forest
from benchmarks.settings import Settings
from benchmarks.timing import best_times
from particletree._commands.cart import accuracy, make_cart, mean_log_probability, smoothed_probabilities
from particletree._estimators import BayesianTreeClassifier
from particletree.datasets import Split

CART, CART_ENTROPY, FOREST = "CART, gini", "CART, entropy", "random forest, 100 trees"
DEFAULT = "particletree"


@dataclass(frozen=True)
class Result:
    """One method on one data set."""

    data: str
    method: str
    seconds: float
    ratio: float  # to CART with gini
    ratio_to_entropy: float
    ratio_to_forest: float
    accuracy: float
    log_probability: float


def measure(settings: Settings) -> Iterator[Result]:
    """Compare on every data set; the forest, which takes long, runs in fewer rounds."""
    n_rounds = settings.choose(tiny=1, quick=3, full=15)
    for data in data_sets(settings):
        settings.say(data.name)
        yield from compare_fits(data, n_rounds, settings.choose(tiny=1, quick=1, full=3))


def compare_fits(data: Split, n_rounds: int, n_forest_rounds: int) -> list[Result]:
    """Fit all methods in turn and compare times and test scores."""
    models: dict[str, Any] = {CART: make_cart(), CART_ENTROPY: make_cart("entropy"), FOREST: random_forest()}
    models |= {DEFAULT: BayesianTreeClassifier(n_jobs=1, random_state=0)}
    models |= {name: bayesian_tree(sampler) for name, sampler in STANDARD.items()}
    seconds = best_times(
        {name: partial(model.fit, data.X_train, data.y_train) for name, model in models.items()},
        dict.fromkeys(models, n_rounds) | {FOREST: n_forest_rounds},
        time.process_time,
    )
    classes = models[CART].classes_
    results = []
    for name, model in models.items():
        probabilities = predict(name, model, data.X_test)
        results.append(
            Result(
                data=data.name,
                method=name,
                seconds=seconds[name],
                ratio=seconds[name] / seconds[CART],
                ratio_to_entropy=seconds[name] / seconds[CART_ENTROPY],
                ratio_to_forest=seconds[name] / seconds[FOREST],
                accuracy=accuracy(probabilities, classes, data.y_test),
                log_probability=mean_log_probability(probabilities, classes, data.y_test),
            )
        )
    return results


def predict(name: str, model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of any of the models, bounded so that their logs are finite."""
    if name in (CART, CART_ENTROPY):
        return smoothed_probabilities(model, X)
    return bounded_probabilities(model, X) if name == FOREST else np.asarray(model.predict_proba(X))


def to_markdown(results: Sequence[Result]) -> str:
    """Return one row per data set: the default estimator beside CART and the forest."""
    rows = []
    for data in dict.fromkeys(r.data for r in results):
        found = {r.method: r for r in results if r.data == data}
        three = [found[name] for name in (DEFAULT, CART, FOREST)]
        scores = [f"{r.accuracy:.3f}" for r in three] + [f"{r.log_probability:.3f}" for r in three]
        rows.append([data, markdown.ratio(found[DEFAULT].ratio), *scores])
    rivals = ["CART's", "forest's"]
    return markdown.table(["data"], ["fit, x CART", "accuracy", *rivals, "log-probability", *rivals], rows)
