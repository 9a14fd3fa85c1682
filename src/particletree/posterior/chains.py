"""The time order of Markov chains: the trees of their kept iterations."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree.posterior.traces import visit_shares

if TYPE_CHECKING:
    from particletree.posterior.posterior import Posterior


def along_chains(posterior: Posterior, values: ArrayLike) -> list[NDArray[Any]]:
    """Return, for each chain, the values of the trees of its kept iterations, in order."""
    _require_chains(posterior, "along_chains()")
    by_tree = np.asarray(values)
    return [by_tree[trace["tree"]] for trace in posterior.trace]


def until(posterior: Posterior, iteration: int) -> Posterior:
    """Return the posterior of the first iterations of each chain."""
    _require_chains(posterior, "until()")
    if not isinstance(iteration, numbers.Integral) or isinstance(iteration, bool) or iteration < 1:
        raise ValueError(f"iteration must be an integer of at least 1, got {iteration!r}.")
    traces = [trace[trace["iteration"] <= iteration] for trace in posterior.trace]
    if min(trace.size for trace in traces) == 0:
        raise ValueError(f"No iteration is kept among the first {iteration}; ask for more than the burn-in.")
    visited = np.unique(np.concatenate([trace["tree"] for trace in traces]))
    for trace in traces:
        trace["tree"] = np.searchsorted(visited, trace["tree"])
    return replace(
        posterior,
        forest=posterior.forest.select(visited),
        log_likelihoods=posterior.log_likelihoods[visited],
        log_priors=posterior.log_priors[visited],
        island_weights=visit_shares(traces, visited.size),
        trace=traces,
    )


def _require_chains(posterior: Posterior, question: str) -> None:
    if not posterior.is_chain:
        raise ValueError(f"Islands of particles have no order in time; {question} is for MCMC.")
