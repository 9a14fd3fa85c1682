"""Convergence of the chains of sums of trees: R-hat and effective sample sizes of the noise and of predictions.

The trees of a sum are exchangeable, so single trees cannot be compared; the noise and the function must have converged.
So R-hat and effective sample sizes (``convergence.py``) are those of the noise's standard deviation and of the sum at
some rows.
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
GOOD_RHAT = 1.05  # for most rows; less strict than 1.01 because predictions average over many trees and draws
MANY_ROWS = 100


@dataclass(frozen=True)
class SumConvergence:
    """Convergence diagnostics of the chains.

    Attributes
    ----------
    noise : Convergence or None
        Diagnostics of the standard deviation of the noise; None for classes, which have no noise.
    rhat : ndarray, shape (n_rows, n_sums)
        R-hat of each sum at each row.
    ess : ndarray, shape (n_rows, n_sums)
        Bulk effective sample size of each sum at each row.
    """

    noise: Convergence | None
    rhat: Floats
    ess: Floats

    @property
    def share_settled(self) -> float:
        """Share of the sums at the rows that have an R-hat below 1.05."""
        known = self.rhat[~np.isnan(self.rhat)]
        return float((known < GOOD_RHAT).mean()) if known.size else float("nan")


def measure_convergence(posterior: AdditivePosterior, rows: Floats) -> SumConvergence:
    """Compare the chains at rows that have been checked."""
    found = [[convergence(_along_chains(posterior, of_row)) for of_row in sums.draws(rows)] for sums in posterior.sums]
    table = np.array([[(each.rhat, each.ess_bulk) for each in of_sum] for of_sum in found]).reshape(-1, len(rows), 2)
    noise = None if posterior.is_classes else convergence(_along_chains(posterior, posterior.noise_sd))
    return SumConvergence(noise, table[..., 0].T, table[..., 1].T)


def some_rows(rows: Floats, n: int = MANY_ROWS) -> Floats:
    """Return at most n rows, evenly spaced."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.int64))]


def _along_chains(posterior: AdditivePosterior, values: Floats) -> Floats:
    """Return the values of draws by chain, shape (n_chains, n), in order; longer chains lose their first draws."""
    chains = posterior.along_chains(values)
    shortest = min(len(chain) for chain in chains)
    return np.array([chain[len(chain) - shortest :] for chain in chains])
