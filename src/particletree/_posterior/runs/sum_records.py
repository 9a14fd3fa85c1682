"""The records of the chains of sums of trees: a trace with one entry per kept draw, and acceptance counts of moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.runs.convergence import MoveCount

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
