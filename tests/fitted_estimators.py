"""Estimators of every kind, fitted to a table with names, missing values, levels and weights of 0."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from particletree import (
    MCMC,
    SMC,
    BARTClassifier,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Poisson,
)

SHORT = {"n_trees": 5, "n_iterations": 60, "n_chains": 2, "random_state": 0}
FEW = {"sampler": SMC(n_islands=3), "random_state": 0}
ESTIMATORS = {
    "classes": BayesianTreeClassifier(**FEW),
    "numbers": BayesianTreeRegressor(**FEW),
    "counts": BayesianTreeRegressor(leaf=Poisson(), **FEW),
    "chains of 3 classes": BayesianTreeClassifier(sampler=MCMC(n_iterations=60, n_chains=2), random_state=0),
    "sums": BARTRegressor(**SHORT),
    "sums of 2 classes": BARTClassifier(**SHORT),
    "sums of 3 classes": BARTClassifier(**SHORT),
}


@cache
def table(name):
    """Return rows with names, missing values and, for some, levels; some of them have weight 0, and a target."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=90), "age": rng.uniform(0, 9, 90)})
    X.loc[::7, "age"] = np.nan
    score = X["size"] + 0.3 * X["age"].fillna(0)
    if name == "counts" or "sums" in name:
        X["colour"] = pd.Categorical(rng.choice(["red", "blue", "green"], 90))
        score += 2.0 * (X["colour"] == "red")
    if "classes" in name:
        y = np.array(["high", "low", "mid"])[np.digitize(score, [1.5] if "2" in name else [1.0, 2.5])]
    else:
        y = rng.poisson(np.exp(score / 2)) if name == "counts" else score + rng.normal(size=90)
    weights = np.ones(90)
    weights[::9] = 0.0
    return X, y, weights, {"exposure": rng.uniform(1, 2, 90)} if name == "counts" else {}


@cache
def fitted(name):
    X, y, weights, more = table(name)
    return ESTIMATORS[name].fit(X, y, sample_weight=weights, **more)
