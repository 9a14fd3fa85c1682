r"""Convergence diagnostics of Markov chains: split R-hat, effective sample sizes, acceptance rates of moves.

A chain that has converged has the same distribution early and late, and as every other chain. So each of M chains is
split into halves (an odd draw in the middle is left out), and the :math:`2M` sequences of N draws of a quantity
:math:`\theta` are compared. With the mean W of their variances and the variance B/N of their means (denominators N - 1
and 2M - 1),

.. math:: \hat R = \sqrt{\frac{\mathrm{var}^+}{W}}, \qquad \mathrm{var}^+ = \frac{N-1}{N} W + \frac{B}{N},

which is 1 if halves and chains agree and grows as they differ (Gelman & Rubin 1992). Heavy tails can hide differences
of means and variances, so the draws are first rank-normalised: replaced by normal scores of their average ranks r among
all S draws, :math:`z = \Phi^{-1}((r - 3/8) / (S + 1/4))`. Chains that agree in location but not in spread are detected
by R-hat of the folded draws :math:`|\theta - \mathrm{median}(\theta)|`. The larger of the two is reported.

Successive draws of a chain are correlated; the effective sample size of S draws is

.. math:: S_\mathrm{eff} = S / \tau, \quad \tau = 1 + 2 \sum_{t \ge 1} \rho_t, \quad
    \rho_t = 1 - \frac{W - \frac{1}{2M} \sum_m \gamma_{m,t}}{\mathrm{var}^+},

with :math:`\gamma_{m,t}` the autocovariance of sequence m at lag t. The sum of noisy :math:`\rho_t` is truncated by
Geyer's rule: the sums of pairs :math:`\rho_{2k} + \rho_{2k+1}` of a reversible chain are positive and decreasing, so
pairs are added until the first that is not positive, none counted larger than the one before. The bulk size is that of
the normal scores; the tail size is the smaller of those of the indicators :math:`\theta \le q` at the 5% and the 95%
quantile.

*The rule* is the same for single trees and for sums of trees. A quantity has converged if R-hat is below 1.01 and the
bulk size above 100 for each chain (Vehtari et al. 2021). It has not settled if R-hat is 1.05 or more, where Stan warns
not to use the draws. In between, chains agree roughly. The limits say how far another seed moves the mean: because of
:math:`\hat R \approx \sqrt{1 + 2M / S_\mathrm{eff}}` (Vats & Knudsen 2021), with four chains 1.01 is an effective
sample size of 400 and 1.05 one of 80, and the means of two seeds differ by about :math:`\sqrt{2 / S_\mathrm{eff}}`
standard deviations of the posterior: 0.07 and 0.16.

Undefined values are nan: all of them for fewer than 4 draws per chain, or if all draws are equal (R-hat is infinite if
each sequence is constant but they differ). For a single chain, the two halves are compared.

References: Vehtari, Gelman, Simpson, Carpenter & Bürkner, *Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC*, Bayesian Analysis 16 (2021); Geyer, *Practical Markov chain Monte Carlo*,
Statistical Science 7 (1992); Vats & Knudsen, *Revisiting the Gelman-Rubin diagnostic*, Statistical Science 36 (2021).

>>> import numpy as np
>>> independent = np.random.default_rng(0).normal(size=(4, 1000))
>>> print(f"{split_rhat(independent):.3f}, {bulk_ess(independent):.0f}")
1.000, 3926
>>> walks = independent.cumsum(axis=1)
>>> print(f"{split_rhat(walks):.1f}, {bulk_ess(walks):.0f}")
2.1, 5
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from particletree._posterior.runs.traces import MoveCount

Floats = NDArray[np.float64]
RHAT_GOOD = 1.01  # below, and with enough independent draws, a quantity has converged
RHAT_BAD = 1.05  # from here on it has not settled
ESS_PER_CHAIN_GOOD = 100.0
MIN_DRAWS = 4  # per chain: two per half
TAILS = (0.05, 0.95)


@dataclass(frozen=True)
class Convergence:
    """Diagnostics of one quantity: rank-normalised split R-hat, and effective sample sizes of bulk and tails."""

    rhat: float
    ess_bulk: float
    ess_tail: float


@dataclass(frozen=True)
class ChainConvergence(ABC):
    """What is known of the convergence of any chains, of single trees or of sums.

    Attributes
    ----------
    n_chains, n_iterations : int
        Number of chains, and iterations (sweeps) of each, burn-in included.
    """

    n_chains: int
    n_iterations: int

    @property
    @abstractmethod
    def quantities(self) -> dict[str, tuple[float, float]]:
        """R-hat and bulk effective sample size of each quantity that must have converged, by its name."""

    @property
    def rhat(self) -> float:
        """The largest R-hat of the quantities; nan if none is defined."""
        return float(np.fmax.reduce([rhat for rhat, _ in self.quantities.values()], initial=np.nan))

    @property
    def ess(self) -> float:
        """The smallest bulk effective sample size of the quantities; nan if none is defined."""
        return float(np.fmin.reduce([ess for _, ess in self.quantities.values()], initial=np.nan))

    @property
    def ess_needed(self) -> float:
        """The effective sample size above which quantities have converged."""
        return ESS_PER_CHAIN_GOOD * self.n_chains

    @property
    def has_settled(self) -> bool:
        """Whether R-hat of every quantity is below 1.05."""
        return all(rhat < RHAT_BAD for rhat, _ in self.quantities.values())

    @property
    def has_converged(self) -> bool:
        """Whether R-hat of every quantity is below 1.01, and its effective sample size above 100 for each chain."""
        return all(rhat < RHAT_GOOD and ess > self.ess_needed for rhat, ess in self.quantities.values())


@dataclass(frozen=True)
class ConvergenceReport(ChainConvergence):
    """Convergence diagnostics of Markov chains over single trees.

    Attributes
    ----------
    n_kept : int
        Kept iterations of each chain.
    iterations_per_second : float
        Speed of one chain.
    moves : tuple of MoveCount
        Proposals and acceptances of grow, prune, change and swap in the kept iterations, and of regrow if it was
        proposed (accepted means that the subtree changed).
    log_posterior, leaves, depth : Convergence
        R-hat and effective sample sizes of log likelihood + log prior, of the number of leaves and of the depth.
    """

    n_kept: int
    iterations_per_second: float
    moves: tuple[MoveCount, ...]
    log_posterior: Convergence
    leaves: Convergence
    depth: Convergence

    @property
    def acceptance(self) -> float:
        """Share of all proposals that were accepted."""
        return sum(move.n_accepted for move in self.moves) / sum(move.n_proposed for move in self.moves)

    @property
    def quantities(self) -> dict[str, tuple[float, float]]:
        """R-hat and bulk effective sample size of log posterior, leaves and depth, but for those that never change.

        A posterior can be on trees of one depth, which have nothing to converge. If no R-hat is defined, all are here.
        """
        found = {name: (found.rhat, found.ess_bulk) for name, found in self._found.items()}
        return {name: each for name, each in found.items() if not np.isnan(each[0])} or found

    def lines(self) -> list[str]:
        """Return the report as text; ESS is the effective sample size."""
        moves = ", ".join(
            f"{m.name} {'none' if m.n_proposed == 0 else format(m.rate, '.0%')} of {m.n_proposed:,}" for m in self.moves
        )
        quantities = self._found.items()
        rhat = ", ".join(f"{name} {_number(q.rhat, '.3f')}" for name, q in quantities)
        bulk = ", ".join(f"{name} {_number(q.ess_bulk, ',.0f')}" for name, q in quantities)
        tail = ", ".join(f"{name} {_number(q.ess_tail, ',.0f')}" for name, q in quantities)
        return [
            f"  iterations    {self.n_iterations:,} in each chain, {self.n_kept:,} kept, "
            f"{_number(self.iterations_per_second, ',.0f')} a second",
            f"  accepted      {self.acceptance:.0%}: {moves}",
            f"  R-hat         {rhat}",
            f"  bulk ESS      {bulk}",
            f"  tail ESS      {tail}",
        ]

    @property
    def _found(self) -> dict[str, Convergence]:
        return {"log posterior": self.log_posterior, "leaves": self.leaves, "depth": self.depth}


def convergence(draws: ArrayLike) -> Convergence:
    """Return R-hat and the effective sample sizes of draws of one quantity, shape (n_chains, n_draws)."""
    chains = _check_draws(draws)
    return Convergence(split_rhat(chains), bulk_ess(chains), tail_ess(chains))


def split_rhat(draws: ArrayLike) -> float:
    """Return the rank-normalised split R-hat of draws, shape (n_chains, n_draws): the larger of bulk and folded."""
    return float(split_rhat_and_bulk_ess(_check_draws(draws)[None])[0][0])


def bulk_ess(draws: ArrayLike) -> float:
    """Return the effective sample size in the bulk, for means and medians; `draws` has shape (n_chains, n_draws)."""
    return float(split_rhat_and_bulk_ess(_check_draws(draws)[None])[1][0])


def split_rhat_and_bulk_ess(draws: Floats) -> tuple[Floats, Floats]:
    """Return R-hat and bulk effective sample sizes of many quantities; `draws` is (n_quantities, n_chains, n_draws)."""
    halves = _split(draws)
    if halves.shape[2] < MIN_DRAWS // 2:
        return np.full(len(draws), np.nan), np.full(len(draws), np.nan)
    with np.errstate(invalid="ignore"):  # infinite draws have no distance from the median, and no R-hat
        distances = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    scores = _normal_scores(halves)
    # If there are only two values, all draws can be equally far from the median: the folded R-hat is then nan.
    return np.fmax(_rhat(scores), _rhat(_normal_scores(distances))), _ess(scores)


def tail_ess(draws: ArrayLike) -> float:
    """Return the effective sample size in the tails, for 90% intervals; `draws` has shape (n_chains, n_draws).

    A tail that contains all draws or none, as can happen if there are few distinct values, is ignored.
    """
    chains = _check_draws(draws)
    if chains.shape[1] < MIN_DRAWS:
        return float("nan")
    halves = _split(chains)
    tails = np.array([halves <= quantile for quantile in np.quantile(chains, TAILS)], dtype=np.float64)
    return float(np.fmin.reduce(_ess(tails)))


def _number(value: float, form: str) -> str:
    return "undefined" if np.isnan(value) else format(value, form)


def _check_draws(draws: ArrayLike) -> Floats:
    chains = np.asarray(draws, dtype=np.float64)
    if chains.ndim != 2 or chains.shape[0] == 0:
        raise ValueError(f"Draws must have the shape (n_chains, n_draws) with at least one chain, got {chains.shape}.")
    return chains


# Below, the last two axes are those of one quantity: sequences, and their draws.


def _split(chains: Floats) -> Floats:
    """Return the first halves and the last halves of the chains as sequences."""
    half = chains.shape[-1] // 2
    return np.concatenate([chains[..., :half], chains[..., chains.shape[-1] - half :]], axis=-2)


def _says_nothing(sequences: Floats) -> NDArray[np.bool_]:
    """Tell whether the sequences of each quantity are too short, constant, or not finite."""
    if sequences.shape[-1] < MIN_DRAWS // 2:
        return np.ones(len(sequences), dtype=bool)
    is_constant = (sequences == sequences[:, :1, :1]).all(axis=(1, 2))
    return np.asarray(is_constant | ~np.isfinite(sequences).all(axis=(1, 2)))


def _normal_scores(values: Floats) -> Floats:
    flat = values.reshape(len(values), -1)
    scores = ndtri((rankdata(flat, method="average", axis=1) - 3 / 8) / (flat.shape[1] + 1 / 4))
    is_finite = np.isfinite(flat).all(axis=1, keepdims=True)
    return np.where(is_finite, scores, np.nan).reshape(values.shape)


def _variances(sequences: Floats) -> tuple[Floats, Floats]:
    """Return W and var+ of each quantity."""
    n_draws = sequences.shape[2]
    within = sequences.var(axis=2, ddof=1).mean(axis=1)
    return within, within * (n_draws - 1) / n_draws + sequences.mean(axis=2).var(axis=1, ddof=1)


def _rhat(sequences: Floats) -> Floats:
    says_nothing, result = _says_nothing(sequences), np.full(len(sequences), np.nan)
    # each sequence is constant: W is 0 up to rounding
    is_stuck = ~says_nothing & (sequences == sequences[:, :, :1]).all(axis=(1, 2))
    result[is_stuck] = np.inf
    is_defined = ~says_nothing & ~is_stuck
    if is_defined.any():
        within, pooled = _variances(sequences[is_defined])
        result[is_defined] = np.sqrt(pooled / within)
    return result


def _ess(sequences: Floats) -> Floats:
    is_defined, result = ~_says_nothing(sequences), np.full(len(sequences), np.nan)
    n_draws = sequences.shape[1] * sequences.shape[2]
    if is_defined.any():
        # Without a lower limit, anticorrelated chains could have an arbitrarily large effective sample size.
        shortest_time = 1.0 / np.log10(n_draws)
        rhos = _autocorrelations(sequences[is_defined])
        result[is_defined] = [n_draws / max(_autocorrelation_time(rho), shortest_time) for rho in rhos]
    return result


def _autocorrelations(sequences: Floats) -> Floats:
    """Return the correlations rho of each quantity at every lag, pooled over its sequences."""
    within, pooled = _variances(sequences)
    rho = 1.0 - (within[:, None] - _autocovariances(sequences).mean(axis=1)) / pooled[:, None]
    rho[:, 0] = 1.0
    return np.asarray(rho)


def _autocovariances(sequences: Floats) -> Floats:
    """Return the autocovariances of each sequence at every lag, all divided by N, by the fast Fourier transform."""
    n_draws = sequences.shape[-1]
    size = next_fast_len(2 * n_draws, real=True)  # zero padding, against circular correlation
    spectrum = np.abs(rfft(sequences - sequences.mean(axis=-1, keepdims=True), n=size, axis=-1)) ** 2
    return np.asarray(irfft(spectrum, n=size, axis=-1)[..., :n_draws] / n_draws)


def _autocorrelation_time(rho: Floats) -> float:
    """Return tau by Geyer's initial monotone sequence, plus the even lag of the first omitted pair if positive."""
    n_pairs = max((rho.size - 1) // 2, 1)  # the last lags are averages of too few products
    pairs = rho[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    is_end = pairs <= 0
    n_taken = int(is_end.argmax()) if is_end.any() else n_pairs - 1
    monotone = np.minimum.accumulate(pairs[:n_taken]).sum()
    return float(-1.0 + 2.0 * monotone + max(rho[2 * n_taken], 0.0))
