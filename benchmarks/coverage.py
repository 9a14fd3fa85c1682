"""The question: how often do 90% intervals hold the true class probability.

The truth is known because the labels are drawn from it. Where it is a tree drawn from the prior of the fit, the model
is right and intervals must hold it in 90% of the cases. A smooth function is not a tree: intervals are centred on a
step function near it, and hold it less often. Each figure is the mean over data sets of the share of new points whose
interval holds the truth, with its standard error; on fewer data sets for the paper's settings, whose fits take ten
times as long. The smooth function depends on two features; the tree may cut all. Data sets whose labels are all of one
class are left out: they have no interval for the other class.
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
from particletree._data import make_training_data
from particletree._inference.defaults import ALPHA, BETA

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
    n_data_sets: int  # at full scale


DrawTruth = Callable[[Model, Floats, np.random.Generator], Truth]


@dataclass(frozen=True)
class Result:
    """One kind of true function, one number of rows and one of features."""

    settings: str
    truth: str
    n_rows: int
    n_features: int
    n_data_sets: int  # with two classes; others are left out
    coverage: float
    error: float
    width: float


def measure(settings: Settings) -> Iterator[Result]:
    """Measure trees and smooth functions for several numbers of rows and features."""
    rows = settings.choose(tiny=[50], quick=[200], full=[200, 1000, 5000])
    features = settings.choose(tiny=[2, 5], quick=[2, 5, 10, 20], full=[2, 5, 10, 20])
    for n_rows, n_features in itertools.product(rows, features):
        for (kind, model), (name, draw_truth) in itertools.product(MODELS.items(), TRUTHS.items()):
            settings.say(f"{kind}, {name}, {n_rows} rows, {n_features} features")
            seeds = range(settings.choose(tiny=5, quick=20, full=model.n_data_sets))
            measured = [measure_one(model, draw_truth, n_rows, n_features, seed) for seed in seeds]
            yield summarise(kind, name, n_rows, n_features, [each for each in measured if each is not None])


def summarise(kind: str, truth: str, n_rows: int, n_features: int, measured: Sequence[Floats]) -> Result:
    """Return the mean over data sets of coverage and width, and the standard error of the coverage."""
    coverage, width = np.mean(measured, axis=0)
    error = np.std(measured, axis=0, ddof=1)[0] / np.sqrt(len(measured))
    return Result(kind, truth, n_rows, n_features, len(measured), float(coverage), float(error), float(width))


def measure_one(settings: Model, draw_truth: DrawTruth, n_rows: int, n_features: int, seed: int) -> Floats | None:
    """Return the coverage of intervals at new points and their mean width for one data set; None for one class."""
    rng = np.random.default_rng(seed)
    X, points = rng.normal(size=(n_rows, n_features)), rng.normal(size=(N_POINTS, n_features))
    truth = draw_truth(settings, X, rng)
    y = (rng.random(n_rows) < truth(X)).astype(int)
    if len(np.unique(y)) < 2:
        return None
    leaf = Categorical(settings.concentration)
    model = BayesianTreeClassifier(settings.prior, leaf, settings.sampler, n_jobs=1, random_state=seed).fit(X, y)
    low, high = model.predict_interval(points, level=LEVEL)[:, 1].T
    held = (low <= truth(points)) & (truth(points) <= high)
    return np.array([held.mean(), (high - low).mean()])


def draw_tree(settings: Model, X: Floats, rng: np.random.Generator) -> Truth:
    """Draw a tree from the prior of the fit on these rows, and the probability of class 1 in each leaf."""
    data = make_training_data(X, np.zeros(len(X), dtype=int), 2)
    seed = np.random.SeedSequence(int(rng.integers(2**32)))
    prior = SMC.paper(n_particles=1, n_islands=1).run(data, settings.prior, Flat(), seed=seed)
    (tree,) = prior.sample(1)
    share = settings.concentration / 2
    probability = rng.beta(share, share, size=tree.n_nodes)
    return lambda points: probability[tree.apply(points)]


def draw_smooth(settings: Model, X: Floats, rng: np.random.Generator) -> Truth:
    """Draw a logistic function of two sine waves, of the first two features."""
    phase, slope = rng.uniform(0, 2 * np.pi, size=2), rng.normal(0, 1.5, size=2)
    return lambda points: expit(np.sin(2 * points[:, :2] + phase) @ slope)


MODELS = {
    "default": Model(TreePrior(ALPHA, BETA), 0.3, None, n_data_sets=100),
    "the paper's": Model(TreePrior.paper(), 5.0, SMC.paper(), n_data_sets=20),
}
TRUTHS = {"a tree from the prior": draw_tree, "a smooth function": draw_smooth}


def to_markdown(results: Sequence[Result]) -> str:
    """Return the share of intervals that hold the truth, one column per number of features."""
    features = sorted({r.n_features for r in results})
    shares = {(r.settings, r.truth, r.n_rows, r.n_features): f"{r.coverage:.0%} ± {r.error:.0%}" for r in results}
    rows = []
    for key in dict.fromkeys((r.settings, r.truth, r.n_rows) for r in results):
        settings, truth, n_rows = key
        rows.append([settings, truth, f"{n_rows:,}", *(shares.get((*key, n), markdown.ABSENT) for n in features)])
    return markdown.table(["settings", "truth"], ["rows", *(f"{n} features" for n in features)], rows)
