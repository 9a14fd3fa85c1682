"""The result of one run of a sampler, before the runs are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from particletree._model.forest import Forest


@dataclass(frozen=True, eq=False)
class Island:
    """The result of one run of a sampler (an island of particles, a chain).

    Attributes
    ----------
    forest : Forest
        The trees.
    weights : ndarray, shape (n_trees,)
        Their weights, which sum to 1.
    log_likelihoods, log_priors : ndarray, shape (n_trees,)
        Log likelihood of the targets, and log density of the prior, for each tree.
    log_evidence : float or None
        Estimate of the log evidence, None if the sampler gives none.
    trace : structured ndarray
        One record per stage or kept iteration, for diagnostics.
    genealogy : structured ndarray or None
        The lineages of particles (``genealogy.py``), if the sampler records them.
    """

    forest: Forest
    weights: NDArray[np.float64]
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]
    log_evidence: float | None
    trace: NDArray[Any]
    genealogy: NDArray[Any] | None = None


def renumbered_traces(traces: list[NDArray[Any]], number: NDArray[np.int64], first: list[int]) -> list[NDArray[Any]]:
    """Return the traces with the field `tree`, if they have it, as an index of the merged trees of all chains."""
    renumbered = []
    for trace, start in zip(traces, first, strict=False):
        copy = trace.copy()
        if "tree" in (trace.dtype.names or ()):
            copy["tree"] = number[start + trace["tree"]]
        renumbered.append(copy)
    return renumbered


def island_shares(n_islands: int, log_evidences: NDArray[np.float64] | None, weighting: str) -> NDArray[np.float64]:
    """Return the weights of the islands: equal, or in proportion to their evidences."""
    if weighting == "uniform":
        return np.full(n_islands, 1.0 / n_islands)
    if weighting != "evidence":
        raise ValueError(f"island_weighting must be one of uniform, evidence, got {weighting!r}.")
    if log_evidences is None:
        raise ValueError("island_weighting='evidence' needs a sampler that estimates the evidence; use 'uniform'.")
    return np.asarray(softmax(log_evidences), dtype=np.float64)
