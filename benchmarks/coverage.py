"""The question: how often do 90% intervals hold the true class probability.

The truth is known because the labels are drawn from it. Where it is a tree drawn from the prior of the fit, with leaves
drawn from theirs, the model is right and intervals must hold it in 90% of the cases. A smooth function is no tree: a
leaf averages over it, so that intervals are centred on a step function near it, and hold it less often. Each figure is
the mean over data sets of the share of new points whose interval holds the truth, with its standard error; for the
default estimator and for the paper's settings.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks import markdown
from benchmarks.settings import Settings
from particletree import SMC, BayesianTreeClassifier, Categorical, Flat, TreePrior
from particletree.data import make_training_data
from particletree.inference.defaults import ALPHA, BETA

LEVEL = 0.9
N_POINTS = 500
Floats = NDArray[np.float64]
Truth = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Model:
    """The settings of a fit; None as the sampler means the default."""

    prior: TreePrior
    concentration: float
    sampler: SMC | None


DrawTruth = Callable[[Model, Floats, np.random.Generator], Truth]


@dataclass(frozen=True)
class Result:
    """One kind of true function and one number of rows."""

    settings: str
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
        for (kind, model), (name, draw_truth) in itertools.product(MODELS.items(), TRUTHS.items()):
            settings.say(f"{kind}, {name}, {n_rows} rows")
            shares = [measure_one(model, draw_truth, n_rows, seed) for seed in range(n_data_sets)]
            coverage, width = np.mean(shares, axis=0)
            error = np.std(shares, axis=0, ddof=1)[0] / np.sqrt(n_data_sets)
            yield Result(kind, name, n_rows, n_data_sets, float(coverage), float(error), float(width))


def measure_one(settings: Model, draw_truth: DrawTruth, n_rows: int, seed: int) -> Floats:
    """Return the coverage of intervals at new points, and their mean width, for one data set."""
    rng = np.random.default_rng(seed)
    X, points = rng.normal(size=(n_rows, 2)), rng.normal(size=(N_POINTS, 2))
    truth = draw_truth(settings, X, rng)
    y = (rng.random(n_rows) < truth(X)).astype(int)
    leaf = Categorical(settings.concentration)
    model = BayesianTreeClassifier(settings.prior, leaf, settings.sampler, n_jobs=1, random_state=seed).fit(X, y)
    if len(model.classes_) < 2:  # with one class there is no interval for the other
        return np.array([1.0, 1.0])
    low, high = model.predict_interval(points, level=LEVEL)[:, 1].T
    held = (low <= truth(points)) & (truth(points) <= high)
    return np.array([held.mean(), (high - low).mean()])


def draw_tree(settings: Model, X: Floats, rng: np.random.Generator) -> Truth:
    """Draw a tree from the prior of the fit on these rows, and the probability of class 1 in each leaf."""
    data = make_training_data(X, np.zeros(len(X), dtype=int), 2)
    seed = np.random.SeedSequence(int(rng.integers(2**32)))
    prior = SMC(n_particles=1, n_islands=1).run(data, settings.prior, Flat(), seed=seed)
    (tree,) = prior.sample(1)
    share = settings.concentration / 2
    probability = rng.beta(share, share, size=tree.n_nodes)
    return lambda points: probability[tree.apply(points)]


def draw_smooth(settings: Model, X: Floats, rng: np.random.Generator) -> Truth:
    """Draw a logistic function of two sine waves."""
    phase, slope = rng.uniform(0, 2 * np.pi, size=2), rng.normal(0, 1.5, size=2)
    return lambda points: expit(np.sin(2 * points + phase) @ slope)


MODELS = {
    "default": Model(TreePrior(ALPHA, BETA), 0.3, None),
    "the paper's": Model(TreePrior(), 5.0, SMC()),
}
TRUTHS = {"a tree from the prior": draw_tree, "a smooth function": draw_smooth}


def to_markdown(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    return markdown.table(
        ["settings", "truth"],
        ["rows", "data sets", "held by the 90% interval", "mean width"],
        [
            [
                r.settings,
                r.truth,
                f"{r.n_rows:,}",
                str(r.n_data_sets),
                f"{r.coverage:.0%} ± {r.error:.1%}",
                f"{r.width:.2f}",
            ]
            for r in results
        ],
    )
