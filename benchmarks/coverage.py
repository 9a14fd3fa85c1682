"""The question: how often do 90% intervals hold the true class probability.

The truth is known because the labels are drawn from it. Where it is a tree drawn from the prior, with leaves drawn from
theirs, the model is right and intervals must hold it in 90% of the cases. A smooth function is no tree: a leaf averages
over it, so that intervals are centred on a step function near it, and hold it less often. Each figure is the mean over
data sets of the share of new points whose interval holds the truth, with its standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks import markdown
from benchmarks.models import bayesian_tree
from benchmarks.settings import Settings
from particletree import SMC, Flat, TreePrior
from particletree.data import make_training_data

LEVEL = 0.9
PAPER_CONCENTRATION = 5.0
N_POINTS = 500
Floats = NDArray[np.float64]
Truth = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Result:
    """One kind of truth and one number of rows."""

    truth: str
    n_rows: int
    n_data_sets: int
    coverage: float
    error: float
    width: float


def measure(settings: Settings) -> Iterator[Result]:
    """Measure trees and smooth functions for several numbers of rows."""
    n_data_sets = settings.choose(tiny=2, quick=10, full=40)
    for n_rows in settings.choose(tiny=[50], quick=[200, 1000], full=[200, 1000, 5000]):
        for name, draw_truth in TRUTHS.items():
            settings.say(f"{name}, {n_rows} rows")
            shares = [measure_one(draw_truth, n_rows, seed) for seed in range(n_data_sets)]
            coverage, width = np.mean(shares, axis=0)
            error = np.std(shares, axis=0, ddof=1)[0] / np.sqrt(n_data_sets)
            yield Result(name, n_rows, n_data_sets, float(coverage), float(error), float(width))


def measure_one(draw_truth: Callable[[Floats, np.random.Generator], Truth], n_rows: int, seed: int) -> Floats:
    """Return the share of new points whose interval holds the truth, and the mean width, for one data set."""
    rng = np.random.default_rng(seed)
    X, points = rng.normal(size=(n_rows, 2)), rng.normal(size=(N_POINTS, 2))
    truth = draw_truth(X, rng)
    y = (rng.random(n_rows) < truth(X)).astype(int)
    model = bayesian_tree(SMC(), seed=seed).fit(X, y)
    if len(model.classes_) < 2:  # a data set of one class: its interval says nothing of the other
        return np.array([1.0, 1.0])
    low, high = model.predict_interval(points, level=LEVEL)[:, 1].T
    held = (low <= truth(points)) & (truth(points) <= high)
    return np.array([held.mean(), (high - low).mean()])


def draw_tree(X: Floats, rng: np.random.Generator) -> Truth:
    """Draw a tree from the default prior on these rows, and the probability of class 1 in each leaf."""
    data = make_training_data(X, np.zeros(len(X), dtype=int), 2)
    seed = np.random.SeedSequence(int(rng.integers(2**32)))
    prior = SMC(n_particles=1, n_islands=1).run(data, TreePrior(), Flat(), seed=seed)
    (tree,) = prior.sample(1)
    share = PAPER_CONCENTRATION / 2
    probability = rng.beta(share, share, size=tree.n_nodes)
    return lambda points: probability[tree.apply(points)]


def draw_smooth(X: Floats, rng: np.random.Generator) -> Truth:
    """Draw a logistic function of two waves."""
    phase, slope = rng.uniform(0, 2 * np.pi, size=2), rng.normal(0, 1.5, size=2)
    return lambda points: expit(np.sin(2 * points + phase) @ slope)


TRUTHS = {"a tree from the prior": draw_tree, "a smooth function": draw_smooth}


def to_markdown(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    return markdown.table(
        ["truth"],
        ["rows", "data sets", "held by the 90% interval", "mean width"],
        [
            [
                r.truth,
                f"{r.n_rows:,}",
                str(r.n_data_sets),
                f"{r.coverage:.0%} ± {r.error:.1%}",
                f"{r.width:.2f}",
            ]
            for r in results
        ],
    )
