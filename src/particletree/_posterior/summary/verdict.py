"""The verdict of a summary: text about what independent runs agree on, what not, and what to do.

The text claims no more than the numbers show. Runs that agree may all have missed the same trees, so a verdict states
what agrees and by which measure (``agreement.py``, ``evidence.py``, ``convergence.py``), and that this is not a proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from particletree._model.leaf import LeafModel
from particletree._posterior.runs.convergence import ConvergenceReport
from particletree._posterior.summary.agreement import Agreement
from particletree._posterior.weighted_trees import WeightedTrees

EXACT = (
    "Evidence, predictions and intervals are exact; the trees, leaves and gain shares are those of independent draws."
)
ONE_ISLAND = "There is one island only, so nothing shows how far the result depends on the seed: run two or more."
CLOSER_EVIDENCES = (
    "The evidence tends to come out too low where islands differ; more particles (n_particles), or more candidates "
    '(n_candidates, with proposal="lookahead"), bring them closer together.'
)
FIND_MISSED = (
    'More particles or candidates find them, or chains that start where the filter ended (MCMC, initial="smc").'
)
# Limits of the expected distance from another seed: below the first, runs agree; above the second, they do not.
PREDICTIONS_LIMITS = (0.02, 0.05)
GAIN_SHARES_LIMITS = (0.1, 0.25)
EVIDENCE_LIMITS = (0.5, 2.0)  # nats of standard error


@dataclass(frozen=True)
class Evidence:
    """The estimated log evidence, its standard error, and the lower bound from the trees; nan if unknown."""

    estimate: float
    error: float
    bound: float

    @classmethod
    def of(cls, posterior: WeightedTrees) -> Evidence:
        """Return the evidence of a posterior."""
        if posterior.log_evidences is None:
            return cls(math.nan, math.nan, posterior.log_evidence_bound)
        return cls(posterior.log_evidence, posterior.log_evidence_se, posterior.log_evidence_bound)

    @property
    def is_too_low(self) -> bool:
        """Whether the lower bound from the trees is above the estimate."""
        return self.bound > self.estimate


def island_verdict(agreement: Agreement, evidence: Evidence, leaf: LeafModel) -> str:
    """Return text: what the islands agree on, what that means and what to do."""
    if agreement.n_runs == 1:
        sentences = [ONE_ISLAND]
    else:
        and_evidence = "" if np.isnan(evidence.error) else f" and {describe_evidence(evidence.error)}"
        sentences = [
            f"Of the {agreement.n_runs} islands, {describe_predictions(agreement, leaf)}, "
            f"{describe_gain_shares(agreement)}{and_evidence}.",
            "Agreement cannot show what all islands have missed.",
            *_advice(agreement, evidence.error),
        ]
    return " ".join([*sentences, *([describe_bound(evidence), FIND_MISSED] if evidence.is_too_low else [])])


def chain_verdict(report: ConvergenceReport, agreement: Agreement, leaf: LeafModel) -> str:
    """Return text: whether the chains have converged, what that means and what to do.

    They have converged if the largest R-hat is below 1.01 and the smallest bulk effective sample size above 100 per
    chain; with an R-hat of 1.05 or more they explore different regions (``convergence.py`` has the rule).
    """
    if agreement.n_runs == 1:
        return _convergence(report)
    return (
        f"{_convergence(report)} Of the {agreement.n_runs} chains, {describe_predictions(agreement, leaf)}, and "
        f"{describe_gain_shares(agreement)}. Agreement cannot show what all chains have missed."
    )


def degree(value: float, limits: tuple[float, float]) -> int:
    """Return 0 if runs agree, 1 if they agree roughly, 2 if they do not."""
    return int(value > limits[0]) + int(value > limits[1])


def describe_predictions(agreement: Agreement, leaf: LeafModel) -> str:
    """Return text: whether the runs agree on predictions, and by how much another seed would change them."""
    distance = agreement.predictions_between_seeds
    if np.isnan(distance):
        return "predictions were not compared"
    verb = ("agree", "agree roughly", "differ")[degree(distance, PREDICTIONS_LIMITS)]
    return f"predictions {verb} (another seed would move {leaf.describe_distance(distance)})"


def describe_gain_shares(agreement: Agreement) -> str:
    """Return text: whether the runs agree on gain shares, and by how much another seed would change them."""
    distance = agreement.gain_shares_between_seeds
    verb = ("agree", "agree roughly", "differ")[degree(distance, GAIN_SHARES_LIMITS)]
    return f"gain shares {verb} (about {distance:.0%} of the total would move to other features)"


def describe_evidence(error: float) -> str:
    """Return text: whether the islands agree on the evidence, and its standard error."""
    words = ("evidences agree", "evidences agree roughly", "evidences differ")[degree(error, EVIDENCE_LIMITS)]
    return f"{words} (the log of their mean has a standard error of {error:.2g})"


def _advice(agreement: Agreement, error: float) -> list[str]:
    """Return advice: more islands for quantities averaged over islands, more particles for each island's own search."""
    unstable = [
        name
        for name, distance, limits in (
            ("predictions", agreement.predictions_between_seeds, PREDICTIONS_LIMITS),
            ("gain shares", agreement.gain_shares_between_seeds, GAIN_SHARES_LIMITS),
        )
        if degree(distance, limits) > 0
    ]
    advice = [stabilise(" and ".join(unstable))] if unstable else []
    return [*advice, CLOSER_EVIDENCES] if degree(error, EVIDENCE_LIMITS) > 0 else advice


def stabilise(what: str, runs: str = "islands") -> str:
    """Return advice on how to reduce the variation of a quantity that is averaged over islands or chains."""
    return f"More {runs} (n_{runs}) stabilise {what}."


def describe_bound(evidence: Evidence) -> str:
    """Return text: the lower bound from the trees is above the estimated evidence."""
    return (
        f"The trees found prove that the log evidence is at least {evidence.bound:.2f}: the estimate of "
        f"{evidence.estimate:.2f} is too low, because the filter has missed trees that explain the targets better."
    )


def _convergence(report: ConvergenceReport) -> str:
    if np.isnan(report.rhat):
        return (
            "Nothing shows whether the chains have settled: there are too few draws, or log posterior, leaves and "
            "depth are the same in all of them (a posterior on one tree, or chains that never moved); run longer."
        )
    if not report.has_settled:
        return _different_places(report)
    if not report.has_converged:
        subject = "The chain agrees with itself" if report.n_chains == 1 else "The chains agree"
        return (
            f"{subject} roughly on log posterior, leaves and depth: the best tree and the sizes of "
            f"trees rest on an effective sample size of about {report.ess:.0f} and will change with the seed; run "
            'longer, or start with initial="smc".'
        )
    if report.n_chains == 1:
        return (
            "The chain agrees with itself, early and late, but a single one cannot tell what it has missed: run two or "
            "more."
        )
    return "The chains agree on log posterior, leaves and depth."


def _different_places(report: ConvergenceReport) -> str:
    if report.n_chains == 1:
        return (
            "The chain has not settled: its early and its late trees differ, so that predictions, best tree and "
            'gain shares depend on when it was stopped; run longer, with several chains, initial="smc", or use SMC.'
        )
    return (
        "The chains are in different places: each explores different trees. Predictions average over the chains, "
        "each counted the same however probable its trees are; they are usable, often better than any one chain's, but "
        "not yet the posterior's. The best tree is the best that any chain met, and it and the gain shares depend on "
        'the seed. Run more iterations or more chains, start with initial="smc", or use SMC.'
    )
