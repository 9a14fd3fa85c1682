"""What the chains of sums of trees recorded: a table of numbers per kept draw, and how often moves were accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.posterior.convergence import MoveCount

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
    """What the chains of one sum recorded, in the order of its draws.

    Attributes
    ----------
    trace : ndarray of `SUM_TRACE`, shape (n_draws,)
        Of each kept draw: the sweep of its chain, the standard deviation of the noise (of scaled numbers), the log
        likelihood, the leaves of all trees together, and the seconds since the chain began.
    n_proposed, n_accepted : ndarray of uint64, shape (6,)
        How often each of `SUM_MOVES` was proposed and accepted, in all chains.
    """

    trace: NDArray[Any]
    n_proposed: NDArray[np.uint64]
    n_accepted: NDArray[np.uint64]

    @property
    def moves(self) -> tuple[MoveCount, ...]:
        """How often the moves that were proposed at all were accepted."""
        counts = zip(SUM_MOVES, self.n_proposed.tolist(), self.n_accepted.tolist(), strict=True)
        return tuple(MoveCount(name, proposed, accepted) for name, proposed, accepted in counts if proposed > 0)

    @staticmethod
    def join(parts: Sequence[SumRecord]) -> SumRecord:
        """Return what several runs recorded as one, in their order."""
        return SumRecord(
            np.concatenate([part.trace for part in parts]),
            np.sum([part.n_proposed for part in parts], axis=0, dtype=np.uint64),
            np.sum([part.n_accepted for part in parts], axis=0, dtype=np.uint64),
        )
