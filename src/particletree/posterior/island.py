"""What one run of a sampler leaves behind, before the runs are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.forest import Forest


@dataclass(frozen=True, eq=False)
class Island:
    """What one run of a sampler (an island of particles, a chain) returns.

    Attributes
    ----------
    forest : Forest
        The trees.
    weights : ndarray, shape (n_trees,)
        Their weights, which sum to 1.
    log_likelihoods, log_priors : ndarray, shape (n_trees,)
        Log likelihood of the labels, and log density of the prior, for each tree.
    log_evidence : float or None
        Estimate of the log evidence, None if the sampler gives none.
    trace : structured ndarray
        One record for each stage, for those who want to look.
    """

    forest: Forest
    weights: NDArray[np.float64]
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]
    log_evidence: float | None
    trace: NDArray[Any]
