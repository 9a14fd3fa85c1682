"""Summary of a posterior of sums of trees: size, noise, use of the features, convergence of the chains, and a verdict.

The trees of a sum are exchangeable, so single trees cannot be compared; the noise and the function must have converged.
So R-hat and effective sample sizes are those of the noise's standard deviation and of the sum at some rows. The rule is
that of ``convergence.py``, for the noise and for the rows. A row in ten may be worse: the largest of a hundred R-hats
is too large by chance.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from particletree._model.text import one_line, to_html
from particletree._posterior.base import NO_ROWS
from particletree._posterior.runs.convergence import (
    RHAT_BAD,
    RHAT_GOOD,
    ChainConvergence,
    Convergence,
    convergence,
    split_rhat_and_bulk_ess,
)
from particletree._posterior.runs.traces import SUM_MOVES, MoveCount
from particletree._posterior.sums_of_trees import SumsOfTrees

Floats = NDArray[np.float64]
MANY_ROWS = 100
ENOUGH = 0.9  # share of the rows that the rule must hold for
LINE_WIDTH = 100
N_FEATURES_SHOWN = 10


@dataclass(frozen=True)
class SumConvergence(ChainConvergence):
    """Convergence diagnostics of Markov chains over sums of trees.

    Attributes
    ----------
    noise : Convergence or None
        Diagnostics of the standard deviation of the noise; None for classes, which have no noise.
    rhat_of_rows : ndarray, shape (n_rows, n_sums)
        R-hat of each sum at each row.
    ess_of_rows : ndarray, shape (n_rows, n_sums)
        Bulk effective sample size of each sum at each row.
    """

    noise: Convergence | None
    rhat_of_rows: Floats
    ess_of_rows: Floats

    @property
    def share_settled(self) -> float:
        """Share of the sums at the rows that have an R-hat below 1.05."""
        known = self.rhat_of_rows[~np.isnan(self.rhat_of_rows)]
        return float((known < RHAT_BAD).mean()) if known.size else float("nan")

    @property
    def quantities(self) -> dict[str, tuple[float, float]]:
        """R-hat and bulk effective sample size of the noise and of the predictions, the latter at 90% of the rows."""
        of_noise = {} if self.noise is None else {"the noise": (self.noise.rhat, self.noise.ess_bulk)}
        if self.rhat_of_rows.size == 0:
            return of_noise
        at_most = _quantile(self.rhat_of_rows, ENOUGH), _quantile(self.ess_of_rows, 1 - ENOUGH)
        return of_noise | {"the predictions": at_most}

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
        if self.has_converged:
            return (
                f"The chains agree: R-hat is below {RHAT_GOOD} and the effective sample size above "
                f"{self.ess_needed:,.0f} for {' and '.join(self.quantities)}."
            )
        moved = np.sqrt(2 / self.ess)
        return (
            f"The chains agree roughly: {self._describe(0)}. Another seed would move these by about {moved:.2g} "
            f"of their posterior standard deviation. R-hat below {RHAT_GOOD} needs more iterations (n_iterations, or "
            "warm_start=True)."
        )

    def _describe(self, least: float) -> str:
        """Return the quantities with at least this R-hat, in words."""
        shown = [
            f"{rhat:.3f} for {name} (effective sample size {ess:,.0f})"
            for name, (rhat, ess) in self.quantities.items()
            if rhat >= least
        ]
        return f"R-hat is {' and '.join(shown)}"


def measure_convergence(posterior: SumsOfTrees, rows: Floats) -> SumConvergence:
    """Compare the chains at rows that have been checked."""
    found = [split_rhat_and_bulk_ess(_along_chains(posterior, sums.draws(rows))) for sums in posterior.sums]
    table = np.array(found).reshape(-1, 2, len(rows))
    noise = None if posterior.is_classes else convergence(_along_chains(posterior, posterior.noise_sd[None])[0])
    return SumConvergence(posterior.n_chains, posterior.n_iterations, noise, table[:, 0].T, table[:, 1].T)


def _along_chains(posterior: SumsOfTrees, values: Floats) -> Floats:
    """Return the values of draws by chain, (n_rows, n_chains, n), in order; longer chains lose their first draws."""
    chains = [values[:, posterior.chain == number] for number in range(posterior.n_chains)]
    shortest = min(chain.shape[1] for chain in chains)
    return np.stack([chain[:, chain.shape[1] - shortest :] for chain in chains], axis=1)


def _quantile(values: Floats, q: float) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, q)) if known.size else float("nan")


@dataclass(frozen=True)
class BARTSummary:
    """Summary of a posterior of sums of trees; `print` it.

    Attributes
    ----------
    n_draws, n_chains, n_sums, n_trees, n_bytes : int
        Number of draws, chains, sums (K - 1 for K classes) and trees per sum, and memory of the draws.
    n_iterations, n_burn_in : int
        Sweeps per chain, and discarded sweeps.
    leaves_per_tree : float
        Mean number of leaves of a tree.
    noise : tuple of three floats, or None
        Mean of the noise's standard deviation, and the ends of its 90% interval; None for classes.
    moves : tuple of MoveCount
        Proposals and acceptances.
    seconds : float
        Time of the longest chain of one sum.
    features : tuple of (name, importance, share in the splits)
        The most important features; importances are nan if no rows were kept.
    convergence : SumConvergence or None
        Convergence diagnostics; None if no rows were kept.
    verdict : str
        Whether the chains have converged, and what to do, as text.
    prior : str
        What the first fit has fixed of the prior; empty for a prior that depends on the rows.
    """

    n_draws: int
    n_chains: int
    n_sums: int
    n_trees: int
    n_bytes: int
    n_iterations: int
    n_burn_in: int
    leaves_per_tree: float
    noise: tuple[float, float, float] | None
    moves: tuple[MoveCount, ...]
    seconds: float
    features: tuple[tuple[str, float, float], ...]
    convergence: SumConvergence | None
    verdict: str
    prior: str = ""

    def __str__(self) -> str:
        return "\n".join(
            [
                *self._size_lines(),
                *self._noise_lines(),
                *self._convergence_lines(),
                *self._feature_lines(),
                textwrap.fill(self.verdict, LINE_WIDTH),
            ]
        )

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        return to_html(str(self))

    def _size_lines(self) -> list[str]:
        sums = "" if self.n_sums == 1 else f"{self.n_sums} sums of "
        moves = ", ".join(f"{move.name} {move.rate:.0%}" for move in self.moves)
        return [
            f"Posterior of sums of trees: {self.n_draws:,} draws of {sums}{self.n_trees} trees from "
            f"{self.n_chains} chain{'s' if self.n_chains > 1 else ''}",
            f"  sweeps        {self.n_iterations:,} in each chain, the first {self.n_burn_in:,} left out; "
            f"{self.seconds:.1f} s per chain",
            f"  trees         {self.leaves_per_tree:.2f} leaves on average, {self.n_bytes / 1e6:.1f} MB in all",
            f"  accepted      {moves or 'no move was proposed'}",
            *([f"  prior         {self.prior}"] if self.prior else []),
        ]

    def _noise_lines(self) -> list[str]:
        if self.noise is None:
            return []
        mean, low, high = self.noise
        found = self.convergence.noise if self.convergence else None
        settled = "" if found is None else f"; R-hat {found.rhat:.3f}, bulk ESS {found.ess_bulk:,.0f}"
        return [f"  noise         standard deviation {mean:.4g}, 90% between {low:.4g} and {high:.4g}{settled}"]

    def _convergence_lines(self) -> list[str]:
        if self.convergence is None or self.convergence.rhat_of_rows.size == 0:
            return []
        rhat, ess = self.convergence.quantities["the predictions"]
        return [f"  predictions   R-hat below {rhat:.3f} and bulk ESS above {ess:,.0f} at {ENOUGH:.0%} of the rows"]

    def _feature_lines(self) -> list[str]:
        if not self.features:
            return ["  features      no tree splits on any"]
        lines, width = ["Most important features:"], max(len(one_line(name)[:30]) for name, _, _ in self.features)
        for name, importance, share in self.features:
            explained = " n.a." if np.isnan(importance) else f"{importance:5.1%}"
            lines.append(
                f"  {one_line(name)[:30]:<{width}}  {explained} of the variance explained, {share:5.1%} of the splits"
            )
        return lines


def summarize(posterior: SumsOfTrees, convergence: SumConvergence | None, importances: Floats | None) -> BARTSummary:
    """Return the summary of a posterior; convergence and importances are None if no rows were kept."""
    noise, leaves = None, [record.trace["n_leaves"].mean() for record in posterior.records]
    if not posterior.is_classes:
        low, high = np.quantile(posterior.noise_sd, (0.05, 0.95))
        noise = float(posterior.noise_sd.mean()), float(low), float(high)
    return BARTSummary(
        n_draws=posterior.n_draws,
        n_chains=posterior.n_chains,
        n_sums=len(posterior.sums),
        n_trees=posterior.n_trees,
        n_bytes=posterior.n_bytes,
        n_iterations=posterior.n_iterations,
        n_burn_in=posterior.n_burn_in,
        leaves_per_tree=float(np.mean(leaves) / posterior.n_trees) if leaves else 1.0,
        noise=noise,
        moves=_moves(posterior),
        seconds=max((float(record.trace["seconds"].max()) for record in posterior.records), default=0.0),
        features=_features(posterior, importances),
        convergence=convergence,
        verdict=NO_ROWS if convergence is None else convergence.verdict(),
        prior=posterior.prior.describe(),
    )


def _moves(posterior: SumsOfTrees) -> tuple[MoveCount, ...]:
    """Return the counts of all sums together, without the grow-from-root start, which is always accepted."""
    counts: dict[str, tuple[int, int]] = {}
    for move in (move for record in posterior.records for move in record.moves if move.name != SUM_MOVES[-1]):
        proposed, accepted = counts.get(move.name, (0, 0))
        counts[move.name] = (proposed + move.n_proposed, accepted + move.n_accepted)
    return tuple(MoveCount(name, *both) for name, both in counts.items())


def _features(posterior: SumsOfTrees, importances: Floats | None) -> tuple[tuple[str, float, float], ...]:
    shares = posterior.variable_use()[0]
    known = np.full(posterior.n_features, np.nan) if importances is None else importances
    names = posterior.feature_names or [f"x[{feature}]" for feature in range(posterior.n_features)]
    best = np.argsort(-(shares if importances is None else importances), kind="stable")[:N_FEATURES_SHOWN]
    return tuple((names[f], float(known[f]), float(shares[f])) for f in best if shares[f] > 0)
