"""The methods of a cell: the particle filter, the Markov chain, CART and two ensembles, and draws from the prior.

Each method is a frozen dataclass of settings with the same two methods: `measure(data, seed)` fits the training rows
and scores the test rows, `cost(data)` estimates the seconds that this takes. Times are CPU seconds of the fit alone
(the paper does not count predictions either), on one thread; a fit of less than a fifth of a second is repeated three
times and its shortest time counts. A chain's times are those since its start, at the readings of `benchmarks.samplers`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.models import FOREST_TREES, bounded_probabilities, random_forest
from benchmarks.samplers import later_half, reading_points
from particletree._commands.cart import accuracy, mean_log_probability, smoothed_probabilities
from particletree._estimators import BayesianTreeClassifier
from particletree._model.leaves import Categorical, Flat
from particletree._model.prior import TreePrior
from particletree._posterior import Posterior
from particletree.datasets import Split
from particletree.inference import MCMC, SMC

Measures: TypeAlias = dict[str, Any]
MEASURES = "2"  # increased when a method's measurements change, so that old results are not reused
SHORT = 0.2  # seconds: a fit that takes less is timed again
LEAST_PROBABILITY = 1e-12  # for the log of ensembles' probabilities, which can be 0
DEPTHS = tuple(range(17))
NODE_LIMITS = (1, 3, 7, 15, 31, 63, 127)
OPTIMAL_SECONDS = {"pen-digits": 0.02, "MAGIC": 0.15, "Madelon": 0.4}  # per particle, to estimate the remaining time


@dataclass(frozen=True)
class Model:
    """The paper's three hyperparameters: alpha_s, beta_s and alpha, by our names."""

    alpha: float = 0.95
    beta: float = 0.5
    concentration: float = 5.0

    def classifier(self, sampler: SMC | MCMC, seed: int) -> BayesianTreeClassifier:
        """Return our classifier with these hyperparameters, on one thread."""
        prior, leaf = TreePrior(self.alpha, self.beta), Categorical(self.concentration)
        return BayesianTreeClassifier(prior, leaf, sampler, n_jobs=1, random_state=seed)


PAPERS_MODEL = Model()


@dataclass(frozen=True)
class Filter:
    """The particle filter; `n_particles` is in each island."""

    kind: ClassVar = "SMC"
    n_particles: int
    proposal: str = "prior"
    n_islands: int = 1
    expansion: str = "node"
    priority: str = "oldest"
    resampling: str = "multinomial"
    ess_threshold: float = 0.1
    model: Model = PAPERS_MODEL

    @property
    def total(self) -> int:
        """Total number of particles of all islands."""
        return self.n_particles * self.n_islands

    def measure(self, data: Split, seed: int) -> Measures:
        """Fit, and return scores, evidence, and the size of the trees."""
        sampler = SMC.paper(
            n_particles=self.n_particles,
            n_islands=self.n_islands,
            proposal=self.proposal,
            expansion=self.expansion,
            priority=self.priority,
            resampling=self.resampling,
            ess_threshold=self.ess_threshold,
            max_stages=5000,
        )
        model, seconds = timed_fit(lambda: self.model.classifier(sampler, seed), data)
        posterior = model.posterior_
        return {
            "seconds": seconds,
            **scores(model.predict_proba(data.X_test), model.classes_, data),
            "log_evidence": posterior.log_evidence,
            "depth": float(posterior.weights @ posterior.depths),
            "leaves": float(posterior.weights @ posterior.n_leaves),
            "row_depth": mean_row_depth(posterior),
        }

    def cost(self, data: str) -> float:
        """Return the estimated seconds."""
        if self.proposal == "optimal":
            n_apart = math.sqrt(1 + self.n_particles) if self.ess_threshold > 0.0 else self.n_particles
            return OPTIMAL_SECONDS.get(data, 0.02) * self.n_islands * n_apart
        return 0.05 + 5e-5 * self.total


@dataclass(frozen=True)
class Chain:
    """The Markov chain of Chipman, George and McCulloch; several chains are averaged, and their times added."""

    kind: ClassVar = "MCMC"
    n_iterations: int
    n_chains: int = 1
    n_kept: int = 1000  # trees of each chain
    model: Model = PAPERS_MODEL

    def measure(self, data: Split, seed: int) -> Measures:
        """Run, and return the scores of the mean over all iterations so far at each reading."""
        thin = max(1, self.n_iterations // self.n_kept)
        sampler = MCMC(n_iterations=self.n_iterations, n_chains=self.n_chains, burn_in=0, thin=thin)
        model = self.model.classifier(sampler, seed)
        wall, processor = time.perf_counter(), time.process_time()
        model.fit(data.X_train, data.y_train)
        share = (time.process_time() - processor) / (time.perf_counter() - wall)  # CPU share of this process
        posterior = model.posterior_
        kept = reading_points(self.n_iterations // thin)
        means = {k: posterior.until(k * thin).predictive(data.X_test) for k in kept}
        all_so_far = [scores(means[k], model.classes_, data) for k in kept]
        second_half = [scores(later_half(means, k), model.classes_, data) for k in kept]
        return {
            "iterations": [k * thin for k in kept],
            "seconds": [share * sum(float(t["seconds"][k - 1]) for t in posterior.trace) for k in kept],
            "log_probability": [s["log_probability"] for s in all_so_far],
            "accuracy": [s["accuracy"] for s in all_so_far],
            "log_probability_second_half": [s["log_probability"] for s in second_half],
            "leaves": float(posterior.weights @ posterior.n_leaves),
            "depth": float(posterior.weights @ posterior.depths),
        }

    def cost(self, data: str) -> float:
        """Return the estimated seconds."""
        return self.n_iterations * self.n_chains / (60_000 if data == "MAGIC" else 130_000)


@dataclass(frozen=True)
class Cart:
    """scikit-learn's CART, its leaves smoothed with the same concentration as ours (section 4.3)."""

    kind: ClassVar = "CART"
    criterion: str = "gini"
    min_samples_leaf: int = 10
    concentration: float = 5.0

    def measure(self, data: Split, seed: int) -> Measures:
        """Fit, and return scores and the size of the tree."""
        settings: dict[str, Any] = {"criterion": self.criterion, "min_samples_leaf": self.min_samples_leaf}
        model, seconds = timed_fit(lambda: DecisionTreeClassifier(**settings, random_state=seed), data)
        probabilities = smoothed_probabilities(model, data.X_test, self.concentration)
        return {
            "seconds": seconds,
            **scores(probabilities, model.classes_, data),
            "depth": float(model.get_depth()),
            "leaves": float(model.get_n_leaves()),
        }

    def cost(self, data: str) -> float:
        """Return the estimated seconds."""
        return 2.0 if data == "Madelon" else 0.5


@dataclass(frozen=True)
class RandomForest:
    """scikit-learn's random forest with 100 trees, for comparison; probabilities are at least half a vote."""

    kind: ClassVar = "random forest"
    n_trees: int = FOREST_TREES

    def measure(self, data: Split, seed: int) -> Measures:
        """Fit, and return scores."""
        model, seconds = timed_fit(lambda: random_forest(self.n_trees, random_state=seed), data)
        return {"seconds": seconds, **scores(bounded_probabilities(model, data.X_test), model.classes_, data)}

    def cost(self, data: str) -> float:
        """Return the estimated seconds."""
        return 3.0


@dataclass(frozen=True)
class Boosting:
    """scikit-learn's histogram gradient boosting with its defaults, for comparison."""

    kind: ClassVar = "gradient boosting"
    max_iter: int = 100

    def measure(self, data: Split, seed: int) -> Measures:
        """Fit, and return scores."""
        settings: dict[str, Any] = {"max_iter": self.max_iter, "random_state": seed}
        model, seconds = timed_fit(lambda: HistGradientBoostingClassifier(**settings), data)
        return {"seconds": seconds, **scores(model.predict_proba(data.X_test), model.classes_, data)}

    def cost(self, data: str) -> float:
        """Return the estimated seconds."""
        return 5.0


@dataclass(frozen=True)
class PriorDraws:
    """Trees from the prior: on unlimited data, where every block can split, or on the rows of a data set.

    The measurements are the means and the distributions of the depth and of the number of nodes.
    """

    kind: ClassVar = "prior draws"
    n_trees: int
    alpha: float = 0.95
    beta: float = 0.5

    def measure(self, data: Split | None, seed: int) -> Measures:
        """Draw trees, and return their sizes."""
        prior = TreePrior(self.alpha, self.beta)
        if data is None:
            depths, n_nodes = grow_on_unlimited_data(prior, self.n_trees, np.random.default_rng(seed))
            return sizes(depths, n_nodes, np.full(self.n_trees, 1.0 / self.n_trees))
        sampler = SMC.paper(n_particles=self.n_trees, n_islands=1, max_stages=5000)
        model = BayesianTreeClassifier(prior, Flat(), sampler, n_jobs=1, random_state=seed)
        posterior = model.fit(data.X_train, data.y_train).posterior_
        return sizes(posterior.depths, 2 * posterior.n_leaves - 1, posterior.weights)

    def cost(self, data: str) -> float:
        """Return the estimated seconds."""
        return 5e-5 * self.n_trees


Method: TypeAlias = Filter | Chain | Cart | RandomForest | Boosting | PriorDraws


def timed_fit(make: Callable[[], Any], data: Split) -> tuple[Any, float]:
    """Return a fitted model and the CPU seconds of the fit, the shortest of three if it is a short one."""
    best = float("inf")
    for _ in range(3):
        model = make()
        start = time.process_time()
        model.fit(data.X_train, data.y_train)
        best = min(best, time.process_time() - start)
        if best > SHORT:
            break
    return model, best


def scores(probabilities: NDArray[np.float64], classes: NDArray[Any], data: Split) -> dict[str, float]:
    """Return accuracy and mean log-probability of the test rows."""
    bounded = probabilities.clip(min=LEAST_PROBABILITY)
    return {
        "accuracy": accuracy(probabilities, classes, data.y_test),
        "log_probability": mean_log_probability(bounded, classes, data.y_test),
    }


def mean_row_depth(posterior: Posterior) -> float:
    """Return the mean depth of the leaf of a training row, over rows and trees."""
    forest = posterior.forest
    rows = forest.statistics.sum(axis=1)[forest.nodes["block"]]
    # A split puts each of its rows one level deeper.
    depths = forest.sum_over_subtrees(np.where(forest.is_split, rows, 0.0))[forest.roots] / rows[forest.roots]
    return float(posterior.weights @ depths)


def sizes(depths: NDArray[Any], n_nodes: NDArray[Any], weights: NDArray[np.float64]) -> Measures:
    """Return mean depth and nodes of weighted trees, and their distributions."""
    return {
        "depth": float(weights @ depths),
        "nodes": float(weights @ n_nodes),
        **{f"depth = {depth}": float(weights @ (depths == depth)) for depth in DEPTHS},
        **{f"nodes > {limit}": float(weights @ (n_nodes > limit)) for limit in NODE_LIMITS},
    }


def grow_on_unlimited_data(
    prior: TreePrior, n_trees: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw depths and numbers of nodes: a node at depth d has two children with probability s(d)."""
    alive = np.ones(n_trees, dtype=np.int64)  # nodes of the present generation, by tree
    depths, n_nodes = np.zeros(n_trees, dtype=np.int64), np.ones(n_trees, dtype=np.int64)
    generation = 0
    while alive.any():
        alive = 2 * generator.binomial(alive, prior.split_probability(generation))
        generation += 1
        n_nodes += alive
        depths[alive > 0] = generation
    return depths, n_nodes
