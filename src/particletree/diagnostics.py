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
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from particletree.posterior import Posterior

FEATURES_SHOWN = 5
LINE_WIDTH = 100
EVIDENCE_SD_GOOD = 1.0  # nats; the usual aim for a particle filter whose evidence is to be used
EVIDENCE_SD_BAD = 3.0
SHARE_BETWEEN_GOOD = 0.2
SHARE_BETWEEN_BAD = 0.5


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
        One sentence: whether the islands agree, what that means, and what to do.
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

    @property
    def log_evidence_sd(self) -> float:
        """Standard deviation of the islands' log evidences; nan for fewer than two."""
        return _sd(self.island_log_evidences)

    def __str__(self) -> str:
        return "\n".join(
            [
                *self._tree_lines(),
                *self._evidence_lines(),
                *self._island_lines(),
                *self._feature_lines(),
                textwrap.fill(self.verdict, LINE_WIDTH),
            ]
        )

    def _tree_lines(self) -> list[str]:
        return [
            f"Posterior over trees: {_count(self.n_trees, 'distinct tree')} from {_count(self.n_islands, 'island')}, "
            f"worth {self.effective_sample_size:.1f} equally weighted ones",
            f"  leaves        {self.leaves}",
            f"  depth         {self.depth}",
        ]

    def _evidence_lines(self) -> list[str]:
        if np.isnan(self.log_evidence):
            return []
        error = "" if np.isnan(self.log_evidence_se) else f" (standard error {self.log_evidence_se:.2g})"
        return [f"  log evidence  {self.log_evidence:.2f}{error}"]

    def _island_lines(self) -> list[str]:
        if self.n_islands == 1:
            return []
        leaves = f"mean leaves from {min(self.island_leaves):.1f} to {max(self.island_leaves):.1f}"
        if not self.island_log_evidences:
            return [f"  islands       {leaves}"]
        low, high = min(self.island_log_evidences), max(self.island_log_evidences)
        return [f"  islands       log evidence from {low:.2f} to {high:.2f} (sd {self.log_evidence_sd:.2g}), {leaves}"]

    def _feature_lines(self) -> list[str]:
        if not self.features:
            return ["  features      no tree cuts any"]
        width = min(max(len(use.name) for use in self.features), 30)
        lines = [
            f"  {use.name[:30]:<{width}}  in {use.inclusion:4.0%} of the trees, importance {use.importance:.2f}"
            for use in self.features
        ]
        return [f"Most important of {_count(self.n_features, 'feature')}:", *lines]


def summarize(posterior: Posterior) -> Summary:
    """Summarise a posterior: sizes of trees, evidence, features, and whether the islands agree.

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
        verdict=verdict(posterior.n_islands, _sd(log_evidences), between),
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
    has_evidence = not np.isnan(log_evidence_sd)
    remedy = 'use more particles, or proposal="optimal"' if has_evidence else "run longer chains"
    if _exceeds(log_evidence_sd, EVIDENCE_SD_BAD) or between > SHARE_BETWEEN_BAD:
        return (
            "The islands disagree: each has found trees of its own, so that the averaged predictions are usable but "
            f"the best tree, the importances and the evidence depend on the seed; {remedy}."
        )
    if _exceeds(log_evidence_sd, EVIDENCE_SD_GOOD) or between > SHARE_BETWEEN_GOOD:
        return (
            "The islands agree roughly: predictions are sound, but expect the evidence and the details of the trees to "
            f"change with the seed; for firmer answers {remedy}."
        )
    return "The islands agree: independent runs tell the same story, so the result does not hang on the seed."


def _exceeds(value: float, limit: float) -> bool:
    return not np.isnan(value) and value > limit


def _sd(values: tuple[float, ...]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
