"""The question: how good are predictions of numbers, how long is the fit, and what do intervals hold.

Our regressor takes turns with scikit-learn's regression tree (at least 10 rows in a leaf), a random forest and gradient
boosting, all on one thread. Ours is the default estimator; the data also have the paper's prior over trees with two
samplers. The rivals predict no distribution: CART gets a normal one in each leaf with the mean and variance of its
rows, the others one with the variance of their errors in a cross-validation. The columns are the time of our fit in
units of CART's, our RMSE and theirs, our log density and theirs, and the share of test rows that our 90% intervals
hold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from benchmarks import markdown
from benchmarks.settings import Settings
from benchmarks.tables import NumberSplit, number_tables
from benchmarks.timing import best_times
from particletree import SMC, BayesianTreeRegressor, Gaussian, TreePrior

Floats = NDArray[np.float64]
DEFAULT, CART, FOREST, BOOSTING = "particletree", "CART", "random forest, 100 trees", "gradient boosting"
LEVEL = 0.9
OURS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "prior, 5 x 100": {
        "prior": TreePrior.paper(),
        "leaf": Gaussian(),
        "sampler": SMC.paper(n_particles=100, n_islands=5),
    },
    "optimal, 1 x 1": {
        "prior": TreePrior.paper(),
        "leaf": Gaussian(),
        "sampler": SMC.paper(n_particles=1, n_islands=1, proposal="optimal"),
    },
}


@dataclass(frozen=True)
class Result:
    """One method on one table."""

    data: str
    method: str
    seconds: float
    ratio: float  # to CART
    rmse: float
    log_density: float
    coverage: float | None  # of our intervals


def measure(settings: Settings) -> Iterator[Result]:
    """Compare on every table."""
    n_rounds = settings.choose(tiny=1, quick=3, full=9)
    for data in number_tables(settings):
        settings.say(data.name)
        yield from compare(data, n_rounds)


def compare(data: NumberSplit, n_rounds: int) -> Iterator[Result]:
    """Fit all methods in turn and compare times and test scores."""
    models: dict[str, Any] = {
        CART: DecisionTreeRegressor(min_samples_leaf=10, random_state=0),
        FOREST: RandomForestRegressor(100, n_jobs=1, random_state=0),
        BOOSTING: HistGradientBoostingRegressor(random_state=0),
    }
    models |= {name: BayesianTreeRegressor(**parts, n_jobs=1, random_state=0) for name, parts in OURS.items()}
    seconds = best_times(
        {name: partial(model.fit, data.X_train, data.y_train) for name, model in models.items()},
        dict.fromkeys(models, n_rounds) | {FOREST: 1, BOOSTING: 1},
        time.process_time,
    )
    for name, model in models.items():
        yield Result(
            data=data.name,
            method=name,
            seconds=seconds[name],
            ratio=seconds[name] / seconds[CART],
            rmse=float(np.sqrt(np.mean((model.predict(data.X_test) - data.y_test) ** 2))),
            log_density=float(log_densities(name, model, data).mean()),
            coverage=coverage(model, data) if name in OURS else None,
        )


def log_densities(name: str, model: Any, data: NumberSplit) -> Floats:
    """Return the log predictive density of each test row."""
    if name in OURS:
        return np.asarray(model.predict_log_density(data.X_test, data.y_test))
    if name == CART:
        return np.asarray(norm.logpdf(data.y_test, *leaf_normals(model, data)))
    errors = cross_val_predict(model, data.X_train, data.y_train, cv=3) - data.y_train
    return np.asarray(norm.logpdf(data.y_test, model.predict(data.X_test), np.std(errors)))


def leaf_normals(cart: DecisionTreeRegressor, data: NumberSplit) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the training rows in each test row's leaf, with a small minimum."""
    leaf = cart.apply(data.X_test)
    sd = np.sqrt(np.maximum(cart.tree_.impurity[leaf], (1e-3 * np.std(data.y_train)) ** 2))
    return cart.tree_.value[leaf, 0, 0], sd


def coverage(model: BayesianTreeRegressor, data: NumberSplit) -> float:
    """Return the share of test rows that lie in their 90% interval."""
    low, high = model.predict_interval(data.X_test, LEVEL).T
    return float(np.mean((low <= data.y_test) & (data.y_test <= high)))


def to_markdown(results: Sequence[Result]) -> str:
    """Return one row per table: the default estimator beside its rivals."""
    rows = []
    for data in dict.fromkeys(r.data for r in results):
        found = {r.method: r for r in results if r.data == data}
        four = [found[name] for name in (DEFAULT, CART, FOREST, BOOSTING)]
        held = found[DEFAULT].coverage
        rows.append(
            [
                data,
                markdown.ratio(found[DEFAULT].ratio),
                *(f"{r.rmse:.4g}" for r in four),
                *(f"{r.log_density:.3f}" for r in four),
                markdown.ABSENT if held is None else f"{held:.0%}",
            ]
        )
    rivals = ["CART", "forest", "boosting"]
    names = ["x CART", "RMSE", *rivals, "log density", *rivals, "held"]
    return markdown.table(["data"], names, rows)
