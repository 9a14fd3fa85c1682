"""The question: how long is a fit in units of CART's, and is the answer better.

Every row of the result is measured in one run on one thread: CART and the particle filters take turns on the same
data, and the figure is the ratio of the best times. Accuracy and log-probability are those of the last fit on the test
rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.model_selection import train_test_split

from particletree.benchmarks.cart import accuracy, make_cart, mean_log_probability, smoothed_probabilities
from particletree.benchmarks.timing import best_times
from particletree.datasets import VARIABLE, Split, load_magic, load_pendigits
from particletree.estimators import BayesianTreeClassifier
from particletree.inference import SMC

SAMPLERS = {
    "prior, 5 x 100": SMC(n_particles=100, n_islands=5),
    "prior, 1 x 2000": SMC(n_particles=2000, n_islands=1),
    "optimal, 1 x 1": SMC(n_particles=1, n_islands=1, proposal="optimal"),
}


@dataclass(frozen=True)
class Result:
    """One method on one data set."""

    data: str
    method: str
    seconds: float
    ratio: float
    accuracy: float
    log_probability: float


def data_sets(data_dir: str | os.PathLike[str] | None) -> Iterator[Split]:
    """Yield the data that ship with scikit-learn, a generated set, and the paper's where a folder is given."""
    for name, load in (("breast cancer", load_breast_cancer), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        yield split_at_random(name, X, y)
    X, y = make_classification(20_000, 20, n_informative=10, n_classes=3, random_state=0)
    yield split_at_random("generated, 14,000 x 20", X, y)
    if data_dir is not None or VARIABLE in os.environ:
        yield load_pendigits(data_dir)
        yield load_magic(data_dir)


def split_at_random(name: str, X: Any, y: Any, seed: int = 0) -> Split:
    """Split into 70% training and 30% test rows."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    return Split(name, np.ascontiguousarray(X_train), y_train, np.ascontiguousarray(X_test), y_test)


def compare_fits(data: Split, n_rounds: int) -> list[Result]:
    """Fit CART and the particle filters in turn and compare times and test scores."""
    cart = make_cart()
    models = {
        name: BayesianTreeClassifier(sampler=sampler, n_jobs=1, random_state=0) for name, sampler in SAMPLERS.items()
    }
    contestants = {"CART": cart} | models
    seconds = best_times(
        {name: partial(model.fit, data.X_train, data.y_train) for name, model in contestants.items()}, n_rounds
    )
    probabilities = {"CART": smoothed_probabilities(cart, data.X_test)}
    probabilities |= {name: model.predict_proba(data.X_test) for name, model in models.items()}
    return [
        Result(
            data=data.name,
            method=name,
            seconds=seconds[name],
            ratio=seconds[name] / seconds["CART"],
            accuracy=accuracy(predicted, cart.classes_, data.y_test),
            log_probability=mean_log_probability(predicted, cart.classes_, data.y_test),
        )
        for name, predicted in probabilities.items()
    ]


def to_markdown(results: list[Result]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| data | method | fit, ms | x CART | accuracy | mean log-probability |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for r in results:
        figures = f"{1e3 * r.seconds:.1f} | {r.ratio:.2f} | {r.accuracy:.3f} | {r.log_probability:.3f}"
        lines.append(f"| {r.data} | {r.method} | {figures} |")
    return "\n".join(lines)


def to_json(results: list[Result]) -> list[dict[str, Any]]:
    """Return the results as plain dictionaries."""
    return [asdict(result) for result in results]
