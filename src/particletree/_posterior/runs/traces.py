"""Traces of runs: the records that samplers keep, the counts of their moves, and their validity checks.

A posterior has one trace per island or chain: an array of records, one per stage or kept iteration. There are three
layouts, one per kind of run (``provenance.py``): `FILTER_RECORD` (SMC), `CHAIN_RECORD` (MCMC and particle Gibbs), and
`NO_RECORD`, for draws without a history (Exact, trees assembled by hand), whose traces are empty.

`along_chains`, `until` and R-hat read the trees of a chain from its trace, in order. So the number of iterations at
each tree must match the chain's weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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


def require(holds: bool, rule: str) -> None:
    """Raise a `ValueError` that names a rule of posteriors, unless it holds."""
    if not holds:
        raise ValueError(f"Not a valid posterior: {rule}.")


def check_traces(traces: Sequence[NDArray[Any]], island_weights: csr_array[Any]) -> None:
    """Raise a `ValueError` that names the rule if the traces are invalid or do not match these weights."""
    n_islands, n_trees = island_weights.shape
    require(len(traces) == n_islands, "there must be a trace for each island")
    check_layouts(traces)
    for trace in traces:
        for name in trace.dtype.names or ():  # other bytes than 0 and 1 make NumPy count wrongly, out of bounds
            valid = trace.dtype[name] != np.bool_ or bool((trace[name].view(np.uint8) <= 1).all())
            require(valid, f"the field {name} of a trace must be true or false")
    if traces[0].dtype != CHAIN_RECORD:
        return
    for trace in traces:
        _check_chain(trace, n_trees)
    n_kept = {trace.size for trace in traces}
    require(len(n_kept) == 1 and n_kept != {0}, "chains must keep the same number of iterations")
    difference = abs(visit_shares(traces, n_trees) - island_weights)
    agree = difference.nnz == 0 or bool(difference.max() <= WEIGHT_TOLERANCE)
    require(agree, "a chain's weights must be the shares of its kept iterations at each tree")


def check_layouts(traces: Sequence[NDArray[Any]]) -> None:
    """Raise a `ValueError` unless all traces have the same layout of records."""
    for trace in traces:
        known = trace.ndim == 1 and trace.dtype in RECORDS
        require(
            known, f"a trace must consist of the records of SMC, of Markov chains or of Exact, got dtype {trace.dtype}"
        )
    require(len({trace.dtype for trace in traces}) == 1, "all traces must be of the same sampler")
    empty = traces[0].dtype != NO_RECORD or all(trace.size == 0 for trace in traces)
    require(empty, "a trace that is not of SMC or MCMC must be empty")


def _check_chain(trace: NDArray[Any], n_trees: int) -> None:
    iteration, tree, seconds = trace["iteration"], trace["tree"], trace["seconds"]
    increases = bool((iteration[1:] > iteration[:-1]).all() and (iteration[:1] > 0).all())
    require(increases, "a chain's iterations must be numbered from 1 and increase")
    require(bool((tree >= 0).all()), "a chain's trees must be numbered from 0")
    require(bool((tree < n_trees).all()), "a chain's trace names a tree that is not there")
    require(bool((trace["move"] < len(MOVES)).all()), f"a chain's moves must be numbered below {len(MOVES)}")
    require(bool((np.isfinite(seconds) & (seconds >= 0)).all()), "a chain's seconds must be finite, and at least 0")


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


# How often chains propose and accept each move, and how fast they are.


@dataclass(frozen=True)
class MoveCount:
    """How often a move was proposed and accepted."""

    name: str
    n_proposed: int
    n_accepted: int

    @property
    def rate(self) -> float:
        """Share of the proposals that were accepted; nan if there were none."""
        return self.n_accepted / self.n_proposed if self.n_proposed > 0 else float("nan")


def count_moves(traces: Sequence[NDArray[Any]]) -> tuple[MoveCount, ...]:
    """Count proposals and acceptances of each move over the kept iterations of all chains."""
    move = np.concatenate([trace["move"] for trace in traces])
    accepted = np.concatenate([trace["accepted"] for trace in traces])
    n_proposed = np.bincount(move, minlength=len(MOVES))
    n_accepted = np.bincount(move[accepted], minlength=len(MOVES))
    return tuple(
        MoveCount(name, int(n_proposed[m]), int(n_accepted[m]))
        for m, name in enumerate(MOVES)
        if name != "regrow" or n_proposed[m] > 0  # only particle Gibbs has it
    )


def iterations_per_second(traces: Sequence[NDArray[Any]]) -> float:
    """Return the mean speed of a chain; nan if no time has passed."""
    n_iterations = sum(int(trace["iteration"][-1]) for trace in traces if trace.size > 0)
    seconds = sum(float(trace["seconds"][-1]) for trace in traces if trace.size > 0)
    return n_iterations / seconds if seconds > 0 else float("nan")


# The chains of sums of trees keep the draws themselves; their records have one entry per kept draw.

SUM_MOVES = ("grow", "prune", "change", "swap", "regrow", "grow from root")
SUM_TRACE = np.dtype(
    [
        ("iteration", np.uint32),
        ("noise_sd", np.float64),
        ("log_likelihood", np.float64),
        ("n_leaves", np.uint32),
        ("seconds", np.float32),
    ]
)


@dataclass(frozen=True, eq=False)
class SumRecord:
    """The records of the chains of one sum, in the order of its draws.

    Attributes
    ----------
    trace : ndarray of `SUM_TRACE`, shape (n_draws,)
        For each kept draw: the sweep of its chain, the standard deviation of the noise (in scaled units), the log
        likelihood, the number of leaves of all trees, and the seconds since the start of the chain.
    n_proposed, n_accepted : ndarray of uint64, shape (6,)
        How often each of `SUM_MOVES` was proposed and accepted, in all chains.
    """

    trace: NDArray[Any]
    n_proposed: NDArray[np.uint64]
    n_accepted: NDArray[np.uint64]

    @property
    def moves(self) -> tuple[MoveCount, ...]:
        """Proposals and acceptances of the moves that were proposed at least once."""
        counts = zip(SUM_MOVES, self.n_proposed.tolist(), self.n_accepted.tolist(), strict=True)
        return tuple(MoveCount(name, proposed, accepted) for name, proposed, accepted in counts if proposed > 0)

    @staticmethod
    def join(parts: Sequence[SumRecord]) -> SumRecord:
        """Concatenate the records of several runs."""
        return SumRecord(
            np.concatenate([part.trace for part in parts]),
            np.sum([part.n_proposed for part in parts], axis=0, dtype=np.uint64),
            np.sum([part.n_accepted for part in parts], axis=0, dtype=np.uint64),
        )
