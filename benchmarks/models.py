"""The models: our classifier with a name for its settings, and the random forest for comparison.

CART is in ``_commands/cart.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from particletree._estimators import BayesianTreeClassifier
from particletree._model import Categorical, TreePrior
from particletree.inference import MCMC, SMC, ParticleGibbs

FOREST_TREES = 100
STANDARD = {
    "prior, 5 x 100": SMC.paper(n_particles=100, n_islands=5),
    "prior, 1 x 2000": SMC.paper(n_particles=2000, n_islands=1),
    "optimal, 1 x 1": SMC.paper(n_particles=1, n_islands=1, proposal="optimal"),
}


def describe(sampler: SMC) -> str:
    """Return a short text with a particle filter's proposal, islands and particles per island.

    Examples
    --------
    >>> from particletree import SMC
    >>> describe(SMC.paper(n_particles=100, n_islands=5))
    'prior, 5 x 100'
    """
    return f"{sampler.proposal}, {sampler.n_islands} x {sampler.n_particles}"


def bayesian_tree(sampler: SMC | MCMC | ParticleGibbs, seed: int = 0, n_jobs: int = 1) -> BayesianTreeClassifier:
    """Return our classifier with the paper's model, by default on one thread."""
    return BayesianTreeClassifier(TreePrior.paper(), Categorical.paper(), sampler, n_jobs=n_jobs, random_state=seed)


def random_forest(n_trees: int = FOREST_TREES, **settings: Any) -> RandomForestClassifier:
    """Return scikit-learn's random forest, by default on one thread."""
    return RandomForestClassifier(n_trees, **({"n_jobs": 1, "random_state": 0} | settings))


def bounded_probabilities(forest: RandomForestClassifier, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a forest's class probabilities, none below half a vote: a class without votes would have log 0."""
    probabilities = np.maximum(forest.predict_proba(X), 0.5 / len(forest.estimators_))
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True), dtype=np.float64)
