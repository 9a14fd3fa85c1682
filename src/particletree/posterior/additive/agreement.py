"""How far chains of sums of trees agree: on the noise, and on predictions at some rows.

Single trees of a sum are exchangeable, and say nothing; what must have settled is the noise and the function. So R-hat
and effective sample sizes (``convergence.py``) are those of the noise's standard deviation and of the sum at some rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from particletree.posterior.convergence import Convergence, convergence

if TYPE_CHECKING:
    from particletree.posterior.additive.posterior import AdditivePosterior

Floats = NDArray[np.float64]
GOOD_RHAT = 1.05  # of most rows, where predictions are averages over many trees and draws
MANY_ROWS = 100


@dataclass(frozen=True)
class SumConvergence:
    """How far chains agree.

    Attributes
    ----------
    noise : Convergence or None
        Of the standard deviation of the noise; None for classes, which have none.
    rhat : ndarray, shape (n_rows, n_sums)
        R-hat of each sum at each row.
    ess : ndarray, shape (n_rows, n_sums)
        Bulk effective sample sizes.
    """

    noise: Convergence | None
    rhat: Floats
    ess: Floats

    @property
    def share_settled(self) -> float:
        """Share of the rows' sums with an R-hat below 1.05."""
        known = self.rhat[~np.isnan(self.rhat)]
        return float((known < GOOD_RHAT).mean()) if known.size else float("nan")


def measure_convergence(posterior: AdditivePosterior, rows: Floats) -> SumConvergence:
    """Compare the chains at rows that have been checked."""
    found = [[convergence(_along_chains(posterior, of_row)) for of_row in sums.draws(rows)] for sums in posterior.sums]
    table = np.array([[(each.rhat, each.ess_bulk) for each in of_sum] for of_sum in found]).reshape(-1, len(rows), 2)
    noise = None if posterior.is_classes else convergence(_along_chains(posterior, posterior.noise_sd))
    return SumConvergence(noise, table[..., 0].T, table[..., 1].T)


def some_rows(rows: Floats, n: int = MANY_ROWS) -> Floats:
    """Return at most n rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.int64))]


def _along_chains(posterior: AdditivePosterior, values: Floats) -> Floats:
    """Return the values of draws by chain, shape (n_chains, n), in order; the longer ones are cut at the start."""
    chains = posterior.along_chains(values)
    shortest = min(len(chain) for chain in chains)
    return np.array([chain[len(chain) - shortest :] for chain in chains])
