"""Models whose pages are opened in a browser: text, holes, hostile names, numbers, many levels, classes and trees."""

import numpy as np
import pandas

from particletree import (
    MCMC,
    SMC,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exact,
    Exponential,
    Flat,
    GaussianKnownVariance,
    Poisson,
    TreePrior,
)

SCRIPT, IMAGE = "<script>window.broken = 1</script>", '"><img src=x onerror="window.broken = 1">'
CLOSING = "</script><script>window.broken = 1</script>"


def mixed_table(n_rows=240, seed=0, n_levels=3):
    """Return numbers, text with holes, a column with missing numbers, and three classes that depend on all of them."""
    rng = np.random.default_rng(seed)
    levels = np.array([f"level {i}" for i in range(n_levels)], dtype=object)
    colour = levels[rng.integers(n_levels, size=n_rows)]
    size, age = rng.normal(size=n_rows), rng.normal(50, 10, size=n_rows)
    score = size + (colour == "level 0") + 0.5 * np.isnan(np.where(rng.random(n_rows) < 0.2, np.nan, age))
    y = np.array(["low", "middle", "high"], dtype=object)[np.digitize(score, [-0.3, 0.9])]
    colour[rng.random(n_rows) < 0.1] = None
    size[rng.random(n_rows) < 0.1] = np.nan
    age[rng.random(n_rows) < 0.15] = np.nan
    return pandas.DataFrame({"size": size, "colour": colour, "age": age}), y


def mixed_model():
    X, y = mixed_table()
    return BayesianTreeClassifier(random_state=0).fit(X, y), X, y


def hostile_model():
    X, y = mixed_table()
    levels = {"level 0": SCRIPT, "level 1": IMAGE, "level 2": CLOSING}
    X = pandas.DataFrame({SCRIPT: X["size"], IMAGE: X["colour"].map(levels), CLOSING: X["age"]})
    y = np.array([{"low": SCRIPT, "middle": IMAGE, "high": CLOSING}[label] for label in y], dtype=object)
    return BayesianTreeClassifier(random_state=0).fit(X, y), X, y


def many_levels_model():
    X, y = mixed_table(400, seed=1, n_levels=90)
    return BayesianTreeClassifier(random_state=0).fit(X, y), X, y


def many_classes_model():
    rng = np.random.default_rng(2)
    y = rng.integers(26, size=520)
    X = rng.normal(size=(520, 35)) * 0.3
    X[:, 0] += y % 6
    X[:, 1] += y // 6
    names = [f"a rather long name of a measured quantity, number {i}" for i in range(35)]
    labels = np.array([f"class {chr(97 + i)} with a long name" for i in range(26)], dtype=object)[y]
    X = pandas.DataFrame(X, columns=names)
    return BayesianTreeClassifier(random_state=0).fit(X, labels), X, labels


def many_trees_model():
    """Return a posterior of 500 and more distinct trees."""
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(rng.normal(size=(600, 8)), columns=list("abcdefgh"))
    y = (X["a"] + X["b"] * X["c"] + rng.normal(size=600) > 0).map({True: "yes", False: "no"}).to_numpy()
    sampler = SMC.paper(n_particles=150, n_islands=8, proposal="prior", ess_threshold=0.05)
    return BayesianTreeClassifier(sampler=sampler, random_state=0).fit(X, y), X, y


LEAVES = {
    "gaussian": None,
    "known variance": GaussianKnownVariance(),
    "poisson": Poisson(),
    "exponential": Exponential(),
}


def number_model(leaf="gaussian"):
    X, _ = mixed_table(seed=4)
    rng = np.random.default_rng(5)
    mean = 5.0 + 4.0 * (X["size"].fillna(0) > 0) + 2.0 * (X["colour"] == "level 1")
    draws = {"poisson": lambda: rng.poisson(mean), "exponential": lambda: rng.exponential(mean)}
    y = np.asarray(draws.get(leaf, lambda: rng.normal(mean))(), dtype=float)
    return BayesianTreeRegressor(leaf=LEAVES[leaf], random_state=0).fit(X, y), X, y


def few_rows():
    X = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 3.0, np.nan], "b": [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]})
    return X, np.array([0, 0, 1, 1, 1, 0])


ODD = {
    "chains": BayesianTreeClassifier(sampler=MCMC(n_iterations=300, n_chains=2), random_state=0),
    "exact": BayesianTreeClassifier(sampler=Exact(), random_state=0),
    "roots alone": BayesianTreeClassifier(TreePrior.paper(max_depth=0), random_state=0),
    "one island": BayesianTreeClassifier(sampler=SMC.paper(n_particles=5, n_islands=1), random_state=0),
    "learns nothing": BayesianTreeClassifier(leaf=Flat(), random_state=0),
    "tiny numbers": BayesianTreeRegressor(random_state=0),
    "two numbers": BayesianTreeRegressor(random_state=0),
}


def odd_model(name):
    """Return a fit that a page may stumble over."""
    X, y = few_rows()
    targets = {"tiny numbers": 1e-9 * y, "two numbers": np.stack((y, -1e9 * y), axis=1).astype(float)}
    y = targets.get(name, y)
    return ODD[name].fit(X, y), X, y


def rate_model(n_rows=300):
    """Return claims over different numbers of miles, and the miles."""
    rng = np.random.default_rng(6)
    X = pandas.DataFrame({"age": rng.integers(18, 80, n_rows).astype(float), "city": rng.random(n_rows) < 0.5})
    miles = rng.uniform(1, 20, n_rows)
    y = rng.poisson(miles * np.where(X["age"] < 25, 1.5, 0.5)).astype(float)
    return BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(X, y, exposure=miles), X, y, miles


def exposed_model():
    """Return the same without the miles, as somebody would who has forgotten them."""
    return rate_model()[:3]
