"""Summary of a posterior of sums of trees: size, noise, convergence, use of the features, and a verdict."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from particletree._model.text import one_line, to_html
from particletree._posterior.runs.convergence import MoveCount
from particletree._posterior.runs.sum_convergence import ENOUGH, SumConvergence
from particletree._posterior.runs.sum_records import SUM_MOVES
from particletree._posterior.state.description import NO_ROWS

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior

LINE_WIDTH = 100
N_FEATURES_SHOWN = 10


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
        if self.convergence is None or self.convergence.rhat.size == 0:
            return []
        rhat, ess = self.convergence.quantities["the predictions"]
        return [f"  predictions   R-hat below {rhat:.3f} and bulk ESS above {ess:,.0f} at {ENOUGH:.0%} of the rows"]

    def _feature_lines(self) -> list[str]:
        if not self.features:
            return ["  features      no tree splits on any"]
        width = max(len(one_line(name)[:30]) for name, _, _ in self.features)
        return [
            "Most important features:",
            *(
                f"  {one_line(name)[:30]:<{width}}  {_percent(importance)} of the variance explained, "
                f"{share:5.1%} of the splits"
                for name, importance, share in self.features
            ),
        ]


def summarize(posterior: BARTPosterior) -> BARTSummary:
    """Return the summary of a posterior."""
    found = None if posterior.kept_rows is None else posterior.convergence()
    return BARTSummary(
        n_draws=posterior.n_draws,
        n_chains=posterior.n_chains,
        n_sums=len(posterior.sums),
        n_trees=posterior.n_trees,
        n_bytes=posterior.n_bytes,
        n_iterations=posterior.n_iterations,
        n_burn_in=posterior.n_burn_in,
        leaves_per_tree=_leaves_per_tree(posterior),
        noise=_noise(posterior),
        moves=_moves(posterior),
        seconds=max((float(record.trace["seconds"].max()) for record in posterior.records), default=0.0),
        features=_features(posterior),
        convergence=found,
        verdict=NO_ROWS if found is None else found.verdict(),
        prior=posterior.prior.describe(),
    )


def _leaves_per_tree(posterior: BARTPosterior) -> float:
    if not posterior.records:
        return 1.0
    return float(np.mean([record.trace["n_leaves"].mean() for record in posterior.records]) / posterior.n_trees)


def _noise(posterior: BARTPosterior) -> tuple[float, float, float] | None:
    if posterior.is_classes:
        return None
    low, high = np.quantile(posterior.noise_sd, (0.05, 0.95))
    return float(posterior.noise_sd.mean()), float(low), float(high)


def _moves(posterior: BARTPosterior) -> tuple[MoveCount, ...]:
    """Return the counts of all sums together, without the grow-from-root start, which is always accepted."""
    counts: dict[str, tuple[int, int]] = {}
    for move in (move for record in posterior.records for move in record.moves if move.name != SUM_MOVES[-1]):
        proposed, accepted = counts.get(move.name, (0, 0))
        counts[move.name] = (proposed + move.n_proposed, accepted + move.n_accepted)
    return tuple(MoveCount(name, *both) for name, both in counts.items())


def _features(posterior: BARTPosterior) -> tuple[tuple[str, float, float], ...]:
    shares = posterior.variable_use()[0]
    importances = None if posterior.kept_rows is None else posterior.feature_importances()
    known = np.full(posterior.n_features, np.nan) if importances is None else importances
    names = posterior.feature_names or [f"x[{feature}]" for feature in range(posterior.n_features)]
    best = np.argsort(-(shares if importances is None else importances), kind="stable")[:N_FEATURES_SHOWN]
    return tuple((names[f], float(known[f]), float(shares[f])) for f in best if shares[f] > 0)


def _percent(share: float) -> str:
    return " n.a." if np.isnan(share) else f"{share:5.1%}"
