"""Posteriors whose pictures are known beforehand."""

import numpy as np

from particletree._model import Categorical, ClassLabels, Forest, TreePrior
from particletree._posterior import Island, Posterior

NAN = np.nan


def small_forest():
    """Return x0 <= 1.5 with x1 <= 0.5 below on the right; x0 <= 1.5 alone; and a root."""
    return Forest.from_preorder(
        offsets=[0, 5, 8, 9],
        feature=[0, -1, 1, -1, -1, 0, -1, -1, -1],
        threshold=[1.5, NAN, 0.5, NAN, NAN, 1.5, NAN, NAN, NAN],
        gap_low=[1.0, NAN, 0.0, NAN, NAN, 1.0, NAN, NAN, NAN],
        gap_high=[2.0, NAN, 1.0, NAN, NAN, 2.0, NAN, NAN, NAN],
        right=[2, -1, 4, -1, -1, 2, -1, -1, -1],
        block=[0, 1, 2, 3, 4, 0, 1, 2, 0],
        statistics=np.array([[4.0, 4.0], [4.0, 0.0], [0.0, 4.0], [0.0, 3.0], [0.0, 1.0]]),
        row_hashes=np.arange(5, dtype=np.uint64),
    )


def small_posterior(weights=((0.5, 0.3, 0.2),), log_evidences=None):
    """Return a posterior of one island or more over the small forest."""
    numbers = log_evidences or [-5.0] * len(weights)
    made = [
        Island(
            small_forest(), np.array(each), np.array([-1.0, -2.0, -5.0]), np.array([-3.0, -2.0, -1.0]), e, np.empty(0)
        )
        for each, e in zip(weights, numbers, strict=True)
    ]
    model = {"leaf": Categorical(2.0), "prior": TreePrior.paper(), "target": ClassLabels(np.arange(2))}
    rows = np.array([[1.0, 0.0], [2.0, 0.0]])
    return Posterior.from_islands(made, n_features=3, feature_names=["a", "b", "c"], kept_rows=rows, **model)
