"""The question: which single tree says best what the posterior says.

All are trees of one fit with our defaults: the most probable one (`best_tree`); the one with the highest product of the
posterior probabilities of its decisions; the medoid, whose partition of the training rows is nearest to those of the
others; the posterior's own tree that gives the highest log-probability to labels drawn from the posterior predictive;
and `consensus_tree`, the same score, less one for every split, maximised over all trees that can be put together from
the decisions of the posterior's trees, on the training rows and on those that a posterior keeps. Log-probability and
accuracy are those of test rows, distance is the total variation distance from the posterior's predictions there. The
consensus tree was chosen on other seeds, 0 to 54.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from benchmarks import markdown
from benchmarks.settings import Settings
from benchmarks.tables import CLASSES, split
from particletree import BayesianTreeClassifier, Posterior
from particletree._model import Tree
from particletree._model.leaf import total_variation
from particletree._posterior.structure.consensus import assemble, best_choices
from particletree.datasets import Split

Floats = NDArray[np.float64]
N_PAIRS = 5_000
FIRST_SEED = 100  # earlier seeds were used to choose the consensus tree
DIABETES = "diabetes > median"
TABLES = [
    *(DIABETES, "breast cancer", "wine", "digits", "penguins", "spam7", "two classes"),
    *("half relevant, 2,000 x 10, noisy", "moons, 1,000 x 2", "from a tree, 10,000 x 10"),
]
POSTERIOR, ALL = "all trees", "mean of all tables"


@dataclass(frozen=True)
class Result:
    """One tree on one table, the mean over seeds."""

    data: str
    tree: str
    log_probability: float
    accuracy: float
    distance: float
    n_leaves: float


def measure(settings: Settings) -> Iterator[Result]:
    """Fit every table, and compare the trees; the last are the means over tables."""
    seeds = range(FIRST_SEED, FIRST_SEED + settings.choose(tiny=1, quick=2, full=20))
    results = []
    for name in settings.choose(tiny=["iris"], quick=TABLES[:4], full=TABLES):
        splits = [table for seed in seeds if (table := load(name, settings, seed)) is not None]
        settings.say(name)
        results += [*compare(name, splits)] if splits else []
    yield from results
    for tree in dict.fromkeys(result.tree for result in results):
        yield mean_of([result for result in results if result.tree == tree])


def load(name: str, settings: Settings, seed: int) -> Split | None:
    """Return a table by its name, None if it is not installed."""
    if name != DIABETES:
        return CLASSES[name](settings, seed)
    X, y = load_diabetes(return_X_y=True)
    labels = (y > np.median(y)).astype(int)
    return split(name, X, labels, seed, stratify=labels)


def compare(name: str, splits: Sequence[Split]) -> Iterator[Result]:
    """Yield the mean figures of each tree on a table."""
    scores = [score(table, seed) for seed, table in enumerate(splits, FIRST_SEED)]
    for tree in scores[0]:
        yield Result(name, tree, *(float(mean) for mean in np.mean([figures[tree] for figures in scores], axis=0)))


def score(table: Split, seed: int) -> dict[str, tuple[float, ...]]:
    """Fit, and return log-probability, accuracy, distance from the posterior and leaves of each tree."""
    model = BayesianTreeClassifier(random_state=seed).fit(table.X_train, table.y_train)
    posterior, labels = model.posterior_, np.searchsorted(model.classes_, table.y_test)
    everything = model.predict_proba(table.X_test)
    n_leaves = float(posterior.weights @ posterior.n_leaves)
    figures: dict[str, tuple[float, ...]] = {POSTERIOR: (*quality(everything, labels), 0.0, n_leaves)}
    for name, choose in TREES.items():
        tree = choose(posterior, table.X_train)
        p = tree.means[tree.apply(table.X_test)]
        figures[name] = (*quality(p, labels), float(total_variation(p, everything).mean()), tree.n_leaves)
    return figures


def quality(p: Floats, labels: NDArray[Any]) -> tuple[float, float]:
    """Return mean log-probability and accuracy."""
    return float(np.log(p[np.arange(len(labels)), labels]).mean()), float((p.argmax(axis=1) == labels).mean())


def most_probable_assembly(posterior: Posterior, X: Floats) -> Tree:
    """Return the tree of the highest product of conditional probabilities."""
    graph = posterior.splits
    return assemble(graph, best_choices(graph, np.log(graph.conditional)), posterior.trees[0])


def medoid(posterior: Posterior, X: Floats) -> Tree:
    """Return the tree whose partition is nearest to those of the others, by weight."""
    one, other = np.random.default_rng(0).integers(len(X), size=(2, N_PAIRS))
    leaves = (tree.apply(X) for tree in posterior.trees)
    together = np.array([leaf[one] == leaf[other] for leaf in leaves], dtype=np.float64)
    return posterior.trees[int(np.abs(together - posterior.weights @ together).mean(axis=1).argmin())]


def nearest_tree(posterior: Posterior, X: Floats) -> Tree:
    """Return the posterior's tree with the highest expected log probability of labels from the posterior predictive."""
    mean = posterior.predictive(X)
    return max(posterior.trees, key=lambda tree: float((mean * np.log(tree.means[tree.apply(X)])).sum()))


TREES: dict[str, Callable[[Posterior, Floats], Tree]] = {
    "best_tree": lambda posterior, X: posterior.best_tree(),
    "highest product of probabilities": most_probable_assembly,
    "medoid": medoid,
    "nearest of its trees": nearest_tree,
    "consensus_tree": lambda posterior, X: posterior.consensus_tree(X),
    "consensus_tree, kept rows": lambda posterior, X: posterior.consensus_tree(),
}


def mean_of(results: Sequence[Result]) -> Result:
    """Return the mean over tables."""
    columns = [(r.log_probability, r.accuracy, r.distance, r.n_leaves) for r in results]
    return Result(ALL, results[0].tree, *(float(mean) for mean in np.mean(columns, axis=0)))


def to_markdown(results: Sequence[Result]) -> str:
    """Return one row per tree, the mean over all tables."""
    rows = [
        [r.tree, f"{r.log_probability:.3f}", f"{r.accuracy:.3f}", f"{r.distance:.3f}", f"{r.n_leaves:.1f}"]
        for r in results
        if r.data == ALL
    ]
    return markdown.table([ALL], ["log-probability", "accuracy", "distance", "leaves"], rows)
