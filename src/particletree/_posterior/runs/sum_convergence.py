"""Convergence of the chains of sums of trees: R-hat and effective sample sizes of the noise and of predictions.

The trees of a sum are exchangeable, so single trees cannot be compared; the noise and the function must have converged.
So R-hat and effective sample sizes are those of the noise's standard deviation and of the sum at some rows. The rule is
that of ``convergence.py``, for the noise and for the rows. A row in ten may be worse: the largest of a hundred R-hats
is too large by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.runs.convergence import (
    ESS_PER_CHAIN_GOOD,
    RHAT_BAD,
    RHAT_GOOD,
    Convergence,
    convergence,
    split_rhat_and_bulk_ess,
)

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior

Floats = NDArray[np.float64]
MANY_ROWS = 100
ENOUGH = 0.9  # share of the rows that the rule must hold for


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
    n_chains, n_iterations : int
        Number of chains, and sweeps of each, burn-in included.
    """

    noise: Convergence | None
    rhat: Floats
    ess: Floats
    n_chains: int
    n_iterations: int

    @property
    def share_settled(self) -> float:
        """Share of the sums at the rows that have an R-hat below 1.05."""
        known = self.rhat[~np.isnan(self.rhat)]
        return float((known < RHAT_BAD).mean()) if known.size else float("nan")

    @property
    def quantities(self) -> dict[str, tuple[float, float]]:
        """R-hat and bulk effective sample size of the noise and of the predictions, the latter at 90% of the rows."""
        of_noise = {} if self.noise is None else {"the noise": (self.noise.rhat, self.noise.ess_bulk)}
        if self.rhat.size == 0:
            return of_noise
        return of_noise | {"the predictions": (_quantile(self.rhat, ENOUGH), _quantile(self.ess, 1 - ENOUGH))}

    @property
    def has_settled(self) -> bool:
        """Whether R-hat is below 1.05 for the noise and at 90% of the rows."""
        return all(rhat < RHAT_BAD for rhat, _ in self.quantities.values())

    def verdict(self) -> str:
        """Return text: whether the chains have converged, what that means and what to do."""
        if any(np.isnan(rhat) for rhat, _ in self.quantities.values()):
            return f"The chains are too short to be compared: use a larger n_iterations than {self.n_iterations:,}."
        if not self.has_settled:
            return (
                f"The chains have not settled: {self._describe(RHAT_BAD)}; it should be below {RHAT_BAD}. Predictions "
                f"and intervals depend on the seed. Use a larger n_iterations than {self.n_iterations:,}, or continue "
                "these chains: set_params(warm_start=True), and fit again to the same data."
            )
        if all(rhat < RHAT_GOOD and ess > self._ess_needed for rhat, ess in self.quantities.values()):
            return (
                f"The chains agree: R-hat is below {RHAT_GOOD} and the effective sample size above "
                f"{self._ess_needed:,.0f} for {' and '.join(self.quantities)}."
            )
        moved = np.sqrt(2 / min(ess for _, ess in self.quantities.values()))
        return (
            f"The chains agree roughly: {self._describe(0)}. Another seed would move these by about {moved:.2g} "
            f"of their posterior standard deviation. R-hat below {RHAT_GOOD} needs more iterations (n_iterations, or "
            "warm_start=True)."
        )

    @property
    def _ess_needed(self) -> float:
        return ESS_PER_CHAIN_GOOD * self.n_chains

    def _describe(self, least: float) -> str:
        """Return the quantities with at least this R-hat, in words."""
        shown = [
            f"{rhat:.3f} for {name} (effective sample size {ess:,.0f})"
            for name, (rhat, ess) in self.quantities.items()
            if rhat >= least
        ]
        return f"R-hat is {' and '.join(shown)}"


def measure_convergence(posterior: BARTPosterior, rows: Floats) -> SumConvergence:
    """Compare the chains at rows that have been checked."""
    found = [split_rhat_and_bulk_ess(_along_chains(posterior, sums.draws(rows))) for sums in posterior.sums]
    table = np.array(found).reshape(-1, 2, len(rows))
    noise = None if posterior.is_classes else convergence(_along_chains(posterior, posterior.noise_sd[None])[0])
    return SumConvergence(noise, table[:, 0].T, table[:, 1].T, posterior.n_chains, posterior.n_iterations)


def some_rows(rows: Floats, n: int = MANY_ROWS) -> Floats:
    """Return at most n rows, evenly spaced."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.int64))]


def _along_chains(posterior: BARTPosterior, values: Floats) -> Floats:
    """Return the values of draws by chain, (n_rows, n_chains, n), in order; longer chains lose their first draws."""
    chains = [values[:, posterior.chain == number] for number in range(posterior.n_chains)]
    shortest = min(chain.shape[1] for chain in chains)
    return np.stack([chain[:, chain.shape[1] - shortest :] for chain in chains], axis=1)


def _quantile(values: Floats, q: float) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, q)) if known.size else float("nan")
