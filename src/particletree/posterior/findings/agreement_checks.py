"""Checks of what independent runs, islands or chains, agree on; the numbers are those of the summary's verdict."""

from __future__ import annotations

import numpy as np

from particletree.posterior.findings.advice import ADVICE
from particletree.posterior.findings.case import Case
from particletree.posterior.findings.finding import GOOD, NOTE, WARNING, Finding
from particletree.posterior.verdict import (
    EVIDENCE_LIMITS,
    EXACT,
    IMPORTANCES_LIMITS,
    ONE_ISLAND,
    PREDICTIONS_LIMITS,
    degree,
    describe_bound,
    describe_evidence,
    describe_importances,
    describe_predictions,
    stabilise,
)

LEVEL_OF_DEGREE = (GOOD, NOTE, WARNING)
LARGEST_SHARE = 0.9


def exact(case: Case) -> Finding | None:
    """Evidence and predictions are sums over all trees.

    Good, whenever the sampler is `Exact`: there is nothing of the sampling to check.
    """
    return Finding(GOOD, "exact", EXACT, None, None, "") if case.posterior.is_exact else None


def one_island(case: Case) -> Finding | None:
    """There is one island, so nothing shows how far the result depends on the seed.

    Warning below 2 islands: a comparison needs two.
    """
    if case.posterior.is_chain or case.posterior.is_exact or case.posterior.n_islands > 1:
        return None
    return Finding(WARNING, "one_island", ONE_ISLAND.partition(":")[0] + ".", 1.0, 2.0, ADVICE["one_island"])


def predictions(case: Case) -> Finding | None:
    """How far another seed would move the predictions.

    Note above 0.02, warning above 0.05, in total variation of class probabilities or standard deviations of the target:
    below, the first decimal of a probability hardly depends on the seed; above, it does. For chains the advice names
    n_chains.
    """
    agreement = case.posterior.agreement
    if agreement.n_runs == 1:
        return None
    text = f"Of the {agreement.n_runs} {case.runs}, {describe_predictions(agreement, case.posterior.leaf)}."
    distance = agreement.predictions_between_seeds
    if np.isnan(distance):
        return Finding(NOTE, "predictions", text, None, PREDICTIONS_LIMITS[0], ADVICE["rows_needed"])
    return _graded("predictions", text, distance, PREDICTIONS_LIMITS, stabilise("predictions", case.runs))


def importances(case: Case) -> Finding | None:
    """How much of the feature importances another seed would move to other features.

    Note above 0.1 of the total; above 0.25 the order of the features is the seed's. No warning: of features that carry
    the same information each island uses some, and predictions do not depend on which.
    """
    agreement = case.posterior.agreement
    if agreement.n_runs == 1:
        return None
    text = f"Of the {agreement.n_runs} {case.runs}, {describe_importances(agreement)}."
    distance = agreement.importances_between_seeds
    return _graded("importances", text, distance, IMPORTANCES_LIMITS, stabilise("importances", case.runs), NOTE)


def evidence(case: Case) -> Finding | None:
    """The standard error of the log evidence, from the spread of the islands.

    It allows for the tendency of few islands to be too low, but not for trees that all of them have missed; two errors
    hold the exact value in 86 to 90% of small tables by default. Note above 0.5 nats, warning above 2 nats, where the
    evidence was used, to weight islands or to choose settings: models that differ by less than about two errors cannot
    be distinguished, and 3 nats are what is called strong evidence (Kass & Raftery 1995). Where it was not used,
    nothing else depends on it, and only an agreement is reported; `summary()` has the error for those who compare
    models by their evidence.
    """
    error = case.evidence.error
    is_used = case.setting("island_weighting") == "evidence" or case.posterior.choice is not None
    if case.posterior.is_exact or np.isnan(error) or not (is_used or degree(error, EVIDENCE_LIMITS) == 0):
        return None
    text = f"Of the {case.posterior.n_islands} islands, {describe_evidence(error)}."
    return _graded("evidence", text, error, EVIDENCE_LIMITS, ADVICE["evidence"])


def evidence_bound(case: Case) -> Finding | None:
    """The trees found prove a higher evidence than is estimated.

    Warning wherever the bound is above the estimate, by more than 0: the estimate is then wrong.
    """
    found = case.evidence
    if case.posterior.is_exact or not found.is_too_low:
        return None
    advice = ADVICE["evidence_bound"]
    return Finding(WARNING, "evidence_bound", describe_bound(found), found.bound - found.estimate, 0.0, advice)


def island_share(case: Case) -> Finding | None:
    """Of islands that are weighted by evidence, one has nearly all the weight.

    Warning above a share of 0.9: the other islands then have next to no part in any answer.
    """
    shares = case.posterior.island_shares
    largest = float(shares.max())
    if shares.size == 1 or largest <= LARGEST_SHARE:
        return None
    text = f"One of the {shares.size} {case.runs} has {largest:.0%} of the weight; the others hardly count."
    return Finding(WARNING, "island_share", text, largest, LARGEST_SHARE, ADVICE["island_share"])


def _graded(
    name: str, text: str, number: float, limits: tuple[float, float], advice: str, worst: str = WARNING
) -> Finding:
    """Return a finding by the two limits that the verdict has; with `worst` "note" by the first alone."""
    grade = min(degree(number, limits), LEVEL_OF_DEGREE.index(worst))
    threshold = limits[max(grade - 1, 0)]
    return Finding(LEVEL_OF_DEGREE[grade], name, text, number, threshold, advice if grade > 0 else "")


CHECKS = (exact, one_island, predictions, importances, evidence, evidence_bound, island_share)
