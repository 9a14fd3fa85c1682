r"""Feature importances: the gain in log marginal likelihood of the splits on each feature, and inclusion probabilities.

A split gains :math:`\log r = \log \ell(left) + \log \ell(right) - \log \ell(block)` nats of log marginal likelihood. A
feature's importance is the posterior mean of the total gain of the splits on it (zero if that is negative), divided by
the sum over features; all are zero if there is no gain. Noise features have importances near 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from particletree._posterior.posterior import Posterior


def feature_importances(posterior: Posterior) -> NDArray[np.float64]:
    """Return the importance of each feature, shape (n_features,)."""
    split = posterior.forest.is_split
    weights = posterior.forest.node_weights(posterior.weights)[split]
    gains = np.bincount(
        posterior.forest.feature[split],
        weights=weights * split_gains(posterior)[split],
        minlength=posterior.n_features,
    ).clip(min=0.0)
    total = gains.sum()
    return np.asarray(gains / total if total > 0 else gains, dtype=np.float64)


def split_gains(posterior: Posterior) -> NDArray[np.float64]:
    """Return the gain in log marginal likelihood of each node of the forest that splits; 0 at leaves."""
    forest = posterior.forest
    log_marginal = posterior.leaf.log_marginal(forest.statistics)[forest.nodes["block"]]
    gain = log_marginal[forest.left] + log_marginal[forest.right] - log_marginal
    return np.where(forest.is_split, gain, 0.0)


def inclusion_probabilities(posterior: Posterior) -> NDArray[np.float64]:
    """Return the posterior probability that a tree cuts each feature at least once, shape (n_features,)."""
    forest, weights = posterior.forest, posterior.weights
    inclusion = np.zeros(posterior.n_features)
    features = np.unique(forest.feature[forest.is_split])
    for first in range(0, features.size, 64):
        some = features[first : first + 64]
        bits = forest.trees_that_cut(some)
        inclusion[some] = [weights[bits >> np.uint64(i) & np.uint64(1) == 1].sum() for i in range(some.size)]
    return inclusion.clip(max=1.0)
