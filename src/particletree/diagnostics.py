"""How far a posterior can be trusted, and what it says at a glance.

One run of a filter cannot tell what it has missed. Several islands can: they are independent, so what they disagree
about is what the number of particles was too small to settle. Two things are compared:

- The log evidences. Each island estimates the same number; a standard deviation of about 1 nat is what a filter in good
  order gives, and tens of nats mean that each island has found trees of its own, some far better than others.
- The number of leaves. Its variance under the posterior is the mean of the variances within the islands plus the
  variance of the islands' means; the share of the second part is 0 if the islands agree and 1 if they have nothing in
  common.

Predictions average the islands and so remain useful when the islands disagree, often better than any one of them; the
evidence, the best tree and the importances then depend on the seed. The verdict says so in plain words.

Markov chains are compared by split R-hat and effective sample sizes (``chains.py``) of the log posterior, the number of
leaves and the depth. Trees are told apart by more than these three: chains that agree on them may still hold different
trees, chains that do not agree certainly do.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree.chains import ChainReport, convergence, count_moves, iterations_per_second
from particletree.model.drawing import one_line

if TYPE_CHECKING:
    from particletree.posterior import Posterior

FEATURES_SHOWN = 5
LINE_WIDTH = 100
EXACT = (
    "Evidence, predictions and intervals are exact; the trees, leaves and importances are those of independent draws."
)
EVIDENCE_SD_GOOD = 1.0  # nats; the usual aim for a particle filter whose evidence is to be used
EVIDENCE_SD_BAD = 3.0
SHARE_BETWEEN_GOOD = 0.2
SHARE_BETWEEN_BAD = 0.5
RHAT_GOOD = 1.01  # Vehtari et al. (2021), section 4
RHAT_BAD = 1.1
ESS_PER_CHAIN_GOOD = 100.0


@dataclass(frozen=True)
class Spread:
    """A number under the posterior: mean, standard deviation, and the range from the 5% to the 95% quantile."""

    mean: float
    sd: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"mean {self.mean:.1f}, sd {self.sd:.1f}, 90% between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class FeatureUse:
    """How much the trees use one feature: probability of being cut at all, and share in the evidence earned."""

    name: str
    inclusion: float
    importance: float


@dataclass(frozen=True)
class Summary:
    """The posterior at a glance; `print` it to read it.

    Attributes
    ----------
    n_trees, n_islands : int
        Number of distinct trees, and of islands (or chains).
    effective_sample_size : float
        How many equally weighted distinct trees would be as informative.
    leaves, depth : Spread
        Size of the trees.
    log_evidence, log_evidence_se : float
        Log evidence with its standard error; nan where there is none.
    island_log_evidences : tuple of float
        Each island's estimate, empty if the sampler gives none.
    island_leaves : tuple of float
        Mean number of leaves in each island.
    share_between : float
        Share of the variance of the number of leaves that lies between islands; nan for one island.
    features : tuple of FeatureUse
        The features that are used most, the most important first.
    n_features : int
        Number of features of the data.
    verdict : str
        In plain words: whether the islands or chains agree, what that means, and what to do.
    chains : ChainReport or None
        How the chains moved and agree; None for islands of particles.
    """

    n_trees: int
    n_islands: int
    effective_sample_size: float
    leaves: Spread
    depth: Spread
    log_evidence: float
    log_evidence_se: float
    island_log_evidences: tuple[float, ...]
    island_leaves: tuple[float, ...]
    share_between: float
    features: tuple[FeatureUse, ...]
    n_features: int
    verdict: str
    chains: ChainReport | None = None

    @property
    def log_evidence_sd(self) -> float:
        """Standard deviation of the islands' log evidences; nan for fewer than two."""
        return _sd(self.island_log_evidences)

    def __str__(self) -> str:
        return "\n".join(
            [
                *self._tree_lines(),
                *self._evidence_lines(),
                *self._run_lines(),
                *(self.chains.lines() if self.chains else []),
                *self._feature_lines(),
                textwrap.fill(self.verdict, LINE_WIDTH),
            ]
        )

    def _tree_lines(self) -> list[str]:
        # What a chain's trees are worth depends on their order, which its effective sample sizes tell.
        worth = "" if self.chains else f", worth {self.effective_sample_size:.1f} equally weighted ones"
        return [
            f"Posterior over trees: {_count(self.n_trees, 'distinct tree')} from "
            f"{_count(self.n_islands, 'chain' if self.chains else 'island')}{worth}",
            f"  leaves        {self.leaves}",
            f"  depth         {self.depth}",
        ]

    def _evidence_lines(self) -> list[str]:
        if np.isnan(self.log_evidence):
            return []
        error = "" if np.isnan(self.log_evidence_se) else f" (standard error {self.log_evidence_se:.2g})"
        return [f"  log evidence  {self.log_evidence:.2f}{error}"]

    def _run_lines(self) -> list[str]:
        if self.n_islands == 1:
            return []
        name = "chains" if self.chains else "islands"
        leaves = f"mean leaves from {min(self.island_leaves):.1f} to {max(self.island_leaves):.1f}"
        if not self.island_log_evidences:
            return [f"  {name:<12}  {leaves}"]
        low, high = min(self.island_log_evidences), max(self.island_log_evidences)
        return [f"  {name:<12}  log evidence from {low:.2f} to {high:.2f} (sd {self.log_evidence_sd:.2g}), {leaves}"]

    def _feature_lines(self) -> list[str]:
        if not self.features:
            return ["  features      no tree cuts any"]
        names = [one_line(use.name)[:30] for use in self.features]
        width = max(len(name) for name in names)
        lines = [
            f"  {name:<{width}}  in {use.inclusion:4.0%} of the trees, importance {use.importance:.2f}"
            for name, use in zip(names, self.features, strict=True)
        ]
        return [f"Most important of {_count(self.n_features, 'feature')}:", *lines]


def summarize(posterior: Posterior) -> Summary:
    """Summarise a posterior: sizes of trees, evidence, features, and whether the islands or chains agree.

    Parameters
    ----------
    posterior : Posterior
        What a sampler returned.

    Returns
    -------
    Summary
        Plain numbers, and a text for `print`.
    """
    weights, n_leaves = posterior.weights, posterior.n_leaves
    log_evidences = () if posterior.log_evidences is None else tuple(posterior.log_evidences.tolist())
    between = share_between(posterior)
    chains = report_chains(posterior) if posterior.is_chain else None
    islands_verdict = verdict(posterior.n_islands, _sd(log_evidences), between)
    return Summary(
        n_trees=posterior.forest.n_trees,
        n_islands=posterior.n_islands,
        effective_sample_size=posterior.effective_sample_size,
        leaves=spread(n_leaves, weights),
        depth=spread(posterior.depths, weights),
        log_evidence=posterior.log_evidence,
        log_evidence_se=posterior.log_evidence_se,
        island_log_evidences=log_evidences,
        island_leaves=tuple(float(mean) for mean in posterior.island_weights @ n_leaves),
        share_between=between,
        features=most_used_features(posterior),
        n_features=posterior.n_features,
        verdict=EXACT if posterior.is_exact else chain_verdict(chains) if chains else islands_verdict,
        chains=chains,
    )


def report_chains(posterior: Posterior) -> ChainReport:
    """Return how the chains of an MCMC posterior moved and how well they agree."""
    log_posterior = posterior.along_chains(posterior.log_likelihoods + posterior.log_priors)
    return ChainReport(
        n_chains=posterior.n_islands,
        n_iterations=max(trace.size for trace in posterior.trace),
        n_kept=max(draws.size for draws in log_posterior),
        iterations_per_second=iterations_per_second(posterior.trace),
        moves=count_moves(posterior.trace),
        log_posterior=convergence(log_posterior),
        leaves=convergence(posterior.along_chains(posterior.n_leaves)),
        depth=convergence(posterior.along_chains(posterior.depths)),
    )


def spread(values: ArrayLike, weights: NDArray[np.float64]) -> Spread:
    """Return mean, standard deviation and the 5% and 95% quantiles of weighted values."""
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(weights @ numbers)
    order = np.argsort(numbers, kind="stable")
    cumulative = np.cumsum(weights[order])
    low, high = np.searchsorted(cumulative, np.array([0.05, 0.95]) * cumulative[-1])
    return Spread(
        mean=mean,
        sd=float(np.sqrt(weights @ (numbers - mean) ** 2)),
        low=float(numbers[order[low]]),
        high=float(numbers[order[high]]),
    )


def share_between(posterior: Posterior) -> float:
    """Return the share of the variance of the number of leaves that lies between islands; nan for one island."""
    if posterior.n_islands == 1:
        return float("nan")
    n_leaves, shares = posterior.n_leaves.astype(np.float64), posterior.island_shares
    means = posterior.island_weights @ n_leaves
    total_mean = shares @ means
    between = shares @ (means - total_mean) ** 2
    total = posterior.weights @ (n_leaves - total_mean) ** 2
    return float(between / total) if total > 0 else 0.0


def most_used_features(posterior: Posterior, n: int = FEATURES_SHOWN) -> tuple[FeatureUse, ...]:
    """Return the n features of highest importance (then of highest inclusion probability) that trees use at all."""
    importance, inclusion = posterior.feature_importances(), posterior.inclusion_probabilities()
    order = np.lexsort((-inclusion, -importance))[:n]
    names = posterior.feature_names
    return tuple(
        FeatureUse(f"x[{f}]" if names is None else names[f], float(inclusion[f]), float(importance[f]))
        for f in order
        if inclusion[f] > 0
    )


def verdict(n_islands: int, log_evidence_sd: float, between: float) -> str:
    """Say in one sentence whether the islands agree, what that means and what to do.

    Parameters
    ----------
    n_islands : int
        Number of islands.
    log_evidence_sd : float
        Standard deviation of their log evidences, nan if there are none.
    between : float
        Share of the variance of the number of leaves that lies between islands.
    """
    if n_islands == 1:
        return "There is one island only, so nothing shows how far the result depends on the seed: run two or more."
    if _exceeds(log_evidence_sd, EVIDENCE_SD_BAD) or between > SHARE_BETWEEN_BAD:
        return (
            "The islands disagree: each has found trees of its own, so that the best tree, the importances and the "
            "evidence (which tends to come out too low) depend on the seed. Predictions average over all of them, good "
            'and poor: use more particles, or try island_weighting="evidence" and compare on rows that were held out.'
        )
    if _exceeds(log_evidence_sd, EVIDENCE_SD_GOOD) or between > SHARE_BETWEEN_GOOD:
        return (
            "The islands agree roughly: predictions are sound, but expect the evidence and the details of the trees to "
            "change with the seed; for firmer answers use more particles."
        )
    return "The islands agree: independent runs tell the same story, so the result does not hang on the seed."


def chain_verdict(report: ChainReport) -> str:
    """Say in plain words whether the chains agree, what that means and what to do.

    They agree if the largest R-hat is below 1.01 and the smallest bulk effective sample size above 100 for each chain;
    above 1.1 they are in different places.
    """
    if np.isnan(report.rhat):
        return (
            "Nothing shows whether the chains have settled: there are too few draws, or log posterior, leaves and "
            "depth are the same in all of them (a posterior on one tree, or chains that never moved); run longer."
        )
    if report.rhat > RHAT_BAD:
        return _different_places(report)
    if report.rhat >= RHAT_GOOD or report.ess <= ESS_PER_CHAIN_GOOD * report.n_chains:
        return (
            f"{_agreement(report.n_chains)} roughly: predictions are sound, but the best tree, the importances and "
            f"the sizes of trees rest on about {report.ess:.0f} independent draws and will change with the seed; run "
            'longer, or start with initial="smc".'
        )
    if report.n_chains == 1:
        return (
            "The chain agrees with itself, early and late, but a single one cannot tell what it has missed: run two or "
            "more."
        )
    return (
        "The chains agree: independent runs tell the same story about log posterior, leaves and depth, so averages "
        "over them do not hang on the seed."
    )


def _different_places(report: ChainReport) -> str:
    if report.n_chains == 1:
        return (
            "The chain has not settled: its early and its late trees differ, so that predictions, best tree and "
            'importances depend on when it was stopped; run longer, with a burn-in, several chains, initial="smc", or '
            "use SMC."
        )
    return (
        "The chains are in different places: each stays among trees of its own. Predictions average over the chains, "
        "each counted the same however probable its trees are; they are usable, often better than any one chain's, but "
        "not yet the posterior's. The best tree is the best that any chain met, and it and the importances depend on "
        'the seed. Run more iterations or more chains, start with initial="smc", or use SMC.'
    )


def _agreement(n_chains: int) -> str:
    return "The chain agrees with itself" if n_chains == 1 else "The chains agree"


def _exceeds(value: float, limit: float) -> bool:
    return not np.isnan(value) and value > limit


def _sd(values: tuple[float, ...]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
