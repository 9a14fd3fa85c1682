"""Traces of runs: the records that samplers keep, and their validity checks.

A posterior has one trace per island or chain: an array of records, one per stage or kept iteration. There are three
layouts, one per kind of run (``provenance.py``): `FILTER_RECORD` (SMC), `CHAIN_RECORD` (MCMC and particle Gibbs), and
`NO_RECORD`, for draws without a history (Exact, trees assembled by hand), whose traces are empty.

`along_chains`, `until` and R-hat read the trees of a chain from its trace, in order. So the number of iterations at
each tree must match the chain's weights.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from particletree._posterior.posterior import Posterior

MOVES = ("grow", "prune", "change", "swap", "regrow")
FILTER_RECORD = np.dtype(
    [("ess", np.float64), ("resampled", np.bool_), ("n_blocks", np.int32), ("log_evidence", np.float64)]
)
CHAIN_RECORD = np.dtype(
    [
        ("iteration", np.uint32),  # counted from 1, burn-in included; only those that are kept have a record
        ("tree", np.int32),  # the state after the iteration
        ("move", np.uint8),  # index in MOVES
        ("accepted", np.bool_),
        ("seconds", np.float32),  # since the start of the chain
        ("rows", np.uint32),  # rows of the node that the move changed
        ("visits", np.uint32),  # number of row reads of the move
    ]
)
NO_RECORD = np.dtype(np.float64)
RECORDS = (FILTER_RECORD, CHAIN_RECORD, NO_RECORD)
WEIGHT_TOLERANCE = 1e-8  # of a chain's weights, which are relative frequencies


def check_traces(traces: Sequence[NDArray[Any]], island_weights: csr_array[Any]) -> None:
    """Raise a `ValueError` that names the rule if the traces are invalid or do not match these weights."""
    n_islands, n_trees = island_weights.shape
    _require(len(traces) == n_islands, "there must be a trace for each island")
    check_layouts(traces)
    for trace in traces:
        _check_truth_values(trace)
    if traces[0].dtype == CHAIN_RECORD:
        for trace in traces:
            _check_chain(trace, n_trees)
        _check_kept(traces)
        _check_weights(traces, island_weights)


def check_layouts(traces: Sequence[NDArray[Any]]) -> None:
    """Raise a `ValueError` unless all traces have the same layout of records."""
    for trace in traces:
        known = trace.ndim == 1 and trace.dtype in RECORDS
        _require(known, f"a trace must consist of the records of SMC, MCMC or Exact, got dtype {trace.dtype}")
    _require(len({trace.dtype for trace in traces}) == 1, "all traces must be of the same sampler")
    empty = traces[0].dtype != NO_RECORD or all(trace.size == 0 for trace in traces)
    _require(empty, "a trace that is not of SMC or MCMC must be empty")


def _check_truth_values(trace: NDArray[Any]) -> None:
    """Check that every boolean is 0 or 1: others make NumPy count wrongly, and then index out of bounds."""
    for name in trace.dtype.names or ():
        valid = trace.dtype[name] != np.bool_ or bool((trace[name].view(np.uint8) <= 1).all())
        _require(valid, f"the field {name} of a trace must be true or false")


def _check_chain(trace: NDArray[Any], n_trees: int) -> None:
    iteration, tree, seconds = trace["iteration"], trace["tree"], trace["seconds"]
    increases = bool((iteration[1:] > iteration[:-1]).all() and (iteration[:1] > 0).all())
    _require(increases, "a chain's iterations must be numbered from 1 and increase")
    _require(bool((tree >= 0).all()), "a chain's trees must be numbered from 0")
    _require(bool((tree < n_trees).all()), "a chain's trace names a tree that is not there")
    _require(bool((trace["move"] < len(MOVES)).all()), f"a chain's moves must be numbered below {len(MOVES)}")
    _require(bool((np.isfinite(seconds) & (seconds >= 0)).all()), "a chain's seconds must be finite, and at least 0")


def _check_kept(traces: Sequence[NDArray[Any]]) -> None:
    n_kept = {trace.size for trace in traces}
    _require(len(n_kept) == 1 and n_kept != {0}, "chains must keep the same number of iterations")


def _check_weights(traces: Sequence[NDArray[Any]], island_weights: csr_array[Any]) -> None:
    difference = abs(visit_shares(traces, island_weights.shape[1]) - island_weights)
    agree = difference.nnz == 0 or bool(difference.max() <= WEIGHT_TOLERANCE)
    _require(agree, "a chain's weights must be the shares of its kept iterations at each tree")


def visit_shares(traces: Sequence[NDArray[Any]], n_trees: int) -> csr_array[Any]:
    """Return, for each chain, the share of its kept iterations at each tree.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._posterior.runs.traces import CHAIN_RECORD, visit_shares
    >>> trace = np.zeros(4, dtype=CHAIN_RECORD)
    >>> trace["tree"] = [0, 2, 2, 2]
    >>> visit_shares([trace], n_trees=3).toarray()
    array([[0.25, 0.  , 0.75]])
    """
    kept = [trace["tree"] for trace in traces]
    sizes = [trees.size for trees in kept]
    chain, tree = np.repeat(np.arange(len(kept)), sizes), np.concatenate(kept)
    shares = csr_array((np.ones(tree.size), (chain, tree)), shape=(len(kept), n_trees))  # adds up a tree's visits
    shares.data /= np.repeat(sizes, np.diff(shares.indptr))
    return shares


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid posterior: {rule}.")


# The time order of Markov chains: the trees of their kept iterations.


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
