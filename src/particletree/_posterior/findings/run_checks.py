"""Checks of the runs: what islands or chains agree on, with the numbers of the summary's verdict, and of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from particletree._model.forest import Forest
from particletree._posterior.findings.finding import ADVICE, GOOD, NOTE, WARNING, Examined, Finding, Floats
from particletree._posterior.runs.convergence import RHAT_BAD, RHAT_GOOD
from particletree._posterior.structure.support import ROUNDING, TreeDecisions, credible_splits
from particletree._posterior.summary.verdict import (
    EVIDENCE_LIMITS,
    EXACT,
    GAIN_SHARES_LIMITS,
    ONE_ISLAND,
    PREDICTIONS_LIMITS,
    degree,
    describe_bound,
    describe_evidence,
    describe_gain_shares,
    describe_predictions,
    stabilise,
)
from particletree._posterior.weighted_trees import WeightedTrees

LEVEL_OF_DEGREE = (GOOD, NOTE, WARNING)
LARGEST_SHARE = 0.9


def exact(examined: Examined) -> Finding | None:
    """Evidence and predictions are sums over all trees.

    Good, whenever the sampler is `Exact`: there is nothing of the sampling to check.
    """
    return Finding(GOOD, "exact", EXACT, None, None, "") if examined.posterior.is_exact else None


def one_island(examined: Examined) -> Finding | None:
    """There is one island, so nothing shows how far the result depends on the seed.

    Warning below 2 islands: a comparison needs two.
    """
    if examined.posterior.is_chain or examined.posterior.is_exact or examined.posterior.n_islands > 1:
        return None
    return Finding(WARNING, "one_island", ONE_ISLAND.partition(":")[0] + ".", 1.0, 2.0, ADVICE["one_island"])


def predictions(examined: Examined) -> Finding | None:
    """How far another seed would move the predictions.

    Note above 0.02, warning above 0.05, in total variation of class probabilities or standard deviations of the target:
    below, the first decimal of a probability hardly depends on the seed; above, it does. For chains the advice names
    n_chains.
    """
    agreement = examined.agreement
    if agreement.n_runs == 1:
        return None
    text = f"Of the {agreement.n_runs} {examined.runs}, {describe_predictions(agreement, examined.posterior.leaf)}."
    distance = agreement.predictions_between_seeds
    if np.isnan(distance):
        return Finding(NOTE, "predictions", text, None, PREDICTIONS_LIMITS[0], ADVICE["rows_needed"])
    return _graded("predictions", text, distance, PREDICTIONS_LIMITS, stabilise("predictions", examined.runs))


def gain_shares(examined: Examined) -> Finding | None:
    """How much of the features' shares of the gain another seed would move to other features.

    Note above 0.1 of the total; above 0.25 the order of the features is the seed's. No warning: of features that carry
    the same information each island uses some, and predictions do not depend on which.
    """
    agreement = examined.agreement
    if agreement.n_runs == 1:
        return None
    text = f"Of the {agreement.n_runs} {examined.runs}, {describe_gain_shares(agreement)}."
    distance = agreement.gain_shares_between_seeds
    return _graded("gain_shares", text, distance, GAIN_SHARES_LIMITS, stabilise("gain shares", examined.runs), NOTE)


def evidence(examined: Examined) -> Finding | None:
    """The standard error of the log evidence, from the spread of the islands.

    It allows for the tendency of few islands to be too low, but not for trees that all of them have missed; two errors
    hold the exact value in 86 to 90% of small tables by default. Note above 0.5 nats, warning above 2 nats, where the
    evidence was used, to weight islands or to choose settings: models that differ by less than about two errors cannot
    be distinguished, and 3 nats are what is called strong evidence (Kass & Raftery 1995). Where it was not used,
    nothing else depends on it, and only an agreement is reported; `summary()` has the error for those who compare
    models by their evidence.
    """
    error = examined.evidence.error
    is_used = examined.setting("island_weighting") == "evidence" or examined.posterior.choice is not None
    if examined.posterior.is_exact or np.isnan(error) or not (is_used or degree(error, EVIDENCE_LIMITS) == 0):
        return None
    text = f"Of the {examined.posterior.n_islands} islands, {describe_evidence(error)}."
    return _graded("evidence", text, error, EVIDENCE_LIMITS, ADVICE["evidence"])


def evidence_bound(examined: Examined) -> Finding | None:
    """The trees found prove a higher evidence than is estimated.

    Warning wherever the bound is above the estimate, by more than 0: the estimate is then wrong.
    """
    found = examined.evidence
    if examined.posterior.is_exact or not found.is_too_low:
        return None
    advice = ADVICE["evidence_bound"]
    return Finding(WARNING, "evidence_bound", describe_bound(found), found.bound - found.estimate, 0.0, advice)


def island_share(examined: Examined) -> Finding | None:
    """Of islands that are weighted by evidence, one has nearly all the weight.

    Warning above a share of 0.9: the other islands then have next to no part in any answer.
    """
    shares = examined.posterior.island_shares
    largest = float(shares.max())
    if shares.size == 1 or largest <= LARGEST_SHARE:
        return None
    text = f"One of the {shares.size} {examined.runs} has {largest:.0%} of the weight; the others hardly count."
    return Finding(WARNING, "island_share", text, largest, LARGEST_SHARE, ADVICE["island_share"])


def _graded(
    name: str, text: str, number: float, limits: tuple[float, float], advice: str, worst: str = WARNING
) -> Finding:
    """Return a finding by the two limits that the verdict has; with `worst` "note" by the first alone."""
    grade = min(degree(number, limits), LEVEL_OF_DEGREE.index(worst))
    threshold = limits[max(grade - 1, 0)]
    return Finding(LEVEL_OF_DEGREE[grade], name, text, number, threshold, advice if grade > 0 else "")


AGREEMENT_CHECKS = (exact, one_island, predictions, gain_shares, evidence, evidence_bound, island_share)


# Checks of particle filters: whether enough particles were left, early and in the end.

FEW_TREES = 10.0
ONE_SPLIT, SEVERAL_SPLITS = 1.5, 2.0
HALF = 0.5
SPREAD_RATIO = 1.0


def few_trees(examined: Examined) -> Finding | None:
    """The weighted trees are worth few equally weighted ones.

    Note below an effective sample size of 10: a 90% interval then has less than one tree beyond either end.
    """
    size = examined.posterior.effective_sample_size
    if not examined.is_filter or size >= FEW_TREES:
        return None
    text = f"The {examined.posterior.forest.n_trees} distinct trees are worth {size:.1f} equally weighted ones."
    return Finding(NOTE, "few_trees", text, size, FEW_TREES, ADVICE["few_trees"])


def first_split(examined: Examined) -> Finding | None:
    """Each island is left with one first split, and the islands have different ones.

    Note where no first split has a support of 0.5, cuts in about the same place counted as one, and an island has on
    average at most 1.5 of them (an effective number): which split comes first then depends on the seed, and its
    probability rests on as many draws as there are islands. Predictions average over the islands.
    """
    posterior = examined.posterior
    if not examined.is_filter or not have_own_first_splits(posterior):
        return None
    at_the_root = TreeDecisions.of(posterior, posterior.forest.roots, np.arange(posterior.forest.n_trees))
    split = credible_splits(at_the_root, ROUNDING, posterior.best_tree().rounded())[0]
    if split.probability >= HALF:
        return None
    text = (
        f"The islands do not agree on the first split: the most frequent one, {split.rule}, has a support of "
        f"{split.probability:.0%} and is that of {split.n_runs} of {posterior.n_islands} islands. Probabilities of "
        f"splits and the spread of tree sizes rest on {posterior.n_islands} draws."
    )
    return Finding(NOTE, "first_split", text, split.probability, HALF, ADVICE["first_split"])


def sizes_between_islands(examined: Examined) -> Finding | None:
    """Islands differ in the number of leaves by more than the trees of an island do.

    Note where the standard deviation of the islands' mean number of leaves is more than 1 times that of the trees
    within an island: each island is overconfident about the number, because its trees descend from few early splits.
    Not reported where each island has a first split of its own, of which it is a part.
    """
    posterior = examined.posterior
    if not examined.is_filter or posterior.n_islands == 1 or have_own_first_splits(posterior):
        return None
    means = np.asarray(posterior.island_weights @ posterior.n_leaves)
    squares = np.asarray(posterior.island_weights @ posterior.n_leaves**2)
    within = float(np.sqrt(np.maximum(squares - means**2, 0.0).mean()))
    between = float(np.std(means, ddof=1))
    if between <= SPREAD_RATIO * within:
        return None
    text = (
        f"The islands' mean numbers of leaves have a standard deviation of {between:.1f}, the trees of an island one "
        f"of {within:.1f}: an island is overconfident about the size of trees, and their spread rests on {means.size} "
        "islands."
    )
    ratio = between / within if within > 0 else float("inf")
    return Finding(NOTE, "sizes_between_islands", text, ratio, SPREAD_RATIO, ADVICE["sizes_between_islands"])


def truncated(examined: Examined) -> Finding | None:
    """Islands used all of their stages, so that open blocks became leaves.

    Warning if more than 0 islands have as many stages as `max_stages` allows: their trees are not those of the
    posterior.
    """
    limit = examined.setting("max_stages")
    if not examined.is_filter or limit is None:
        return None
    n_ended = sum(trace.size >= limit for trace in examined.posterior.trace)
    if n_ended == 0:
        return None
    n_islands = examined.posterior.n_islands
    text = f"{n_ended} of {n_islands} islands ended at max_stages={limit}; blocks still open became leaves."
    return Finding(WARNING, "truncated", text, float(n_ended), 0.0, ADVICE["truncated"])


def have_own_first_splits(posterior: WeightedTrees) -> bool:
    """Tell whether each island has about one first split, and the islands different ones, by their rows."""
    if posterior.n_islands == 1:
        return False
    division = root_divisions(posterior.forest)
    within = float(effective_numbers(division, posterior.island_weights).mean())
    together = float(effective_numbers(division, csr_array(posterior.weights[None, :]))[0])
    return within <= ONE_SPLIT and together >= SEVERAL_SPLITS


def root_divisions(forest: Forest) -> NDArray[np.int64]:
    """Return a number for each tree, the same for trees whose roots divide the rows alike by the same feature."""
    roots = forest.nodes[forest.roots]
    is_split = roots["feature"] >= 0
    hashes = forest.row_hashes[forest.nodes["block"]]
    sides = np.stack([np.where(is_split, hashes[roots[side]], np.uint64(0)) for side in ("left", "right")])
    keys = np.stack([roots["feature"].astype(np.int64).view(np.uint64), sides.min(axis=0), sides.max(axis=0)])
    return np.asarray(np.unique(keys, axis=1, return_inverse=True)[1], dtype=np.int64).ravel()


def effective_numbers(kinds: NDArray[np.int64], weights: csr_array[Any]) -> Floats:
    """Return, for each row of weights, how many equally probable kinds would be as diverse: 1 / sum of squares.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> effective_numbers(np.array([0, 0, 1]), csr_array([[0.25, 0.25, 0.5], [0.0, 0.0, 1.0]])).tolist()
    [2.0, 1.0]
    """
    shares = weights @ csr_array((np.ones(kinds.size), (np.arange(kinds.size), kinds)))
    return np.asarray(shares.sum(axis=1) ** 2 / shares.power(2).sum(axis=1), dtype=np.float64)


FILTER_CHECKS = (few_trees, first_split, sizes_between_islands, truncated)


# Checks of Markov chains: whether they have settled, moved, and agree.

DRIFT = 2.0
DRAWS_FOR_DRIFT = 40


def one_chain(examined: Examined) -> Finding | None:
    """There is one chain, which cannot show what it has missed.

    Warning below 2 chains; 4 are usual (Vehtari et al. 2021).
    """
    if examined.report is None or examined.report.n_chains > 1:
        return None
    text = "There is one chain only, which can be compared with nothing but itself."
    return Finding(WARNING, "one_chain", text, 1.0, 2.0, ADVICE["one_chain"])


def rhat(examined: Examined) -> Finding | None:
    """The largest split R-hat of log posterior, leaves and depth.

    Good below 1.01 (Vehtari et al. 2021), warning from 1.05 on, where Stan warns too, a note between.
    Warning too where it is not defined: too few draws, or chains that never moved.
    """
    if examined.report is None:
        return None
    found = examined.report.rhat
    if np.isnan(found):
        text = "R-hat is not defined: there are too few draws, or all are the same."
        return Finding(WARNING, "rhat", text, None, RHAT_GOOD, ADVICE["rhat"])
    if found < RHAT_GOOD:
        return Finding(GOOD, "rhat", f"Chains agree: the largest R-hat is {found:.3f}.", found, RHAT_GOOD, "")
    where = "are in different places" if found >= RHAT_BAD else "agree roughly"
    level, limit = (WARNING, RHAT_BAD) if found >= RHAT_BAD else (NOTE, RHAT_GOOD)
    return Finding(level, "rhat", f"Chains {where}: the largest R-hat is {found:.3f}.", found, limit, ADVICE["rhat"])


def chain_ess(examined: Examined) -> Finding | None:
    """The smallest bulk effective sample size of log posterior, leaves and depth.

    Note up to 100 for each chain: below, R-hat itself is not reliable (Vehtari et al. 2021).
    """
    if examined.report is None or np.isnan(examined.report.ess):
        return None
    needed = examined.report.ess_needed
    text = f"The kept iterations are worth {examined.report.ess:,.0f} independent draws."
    if examined.report.ess > needed:
        return Finding(GOOD, "chain_ess", text, examined.report.ess, needed, "")
    return Finding(NOTE, "chain_ess", text, examined.report.ess, needed, ADVICE["chain_ess"])


def burn_in(examined: Examined) -> Finding | None:
    """The kept iterations begin before the chains had settled.

    Warning where the log posterior of the first tenth of the kept iterations is below that of the last half by more
    than 2 standard deviations of the latter, in the median chain. It needs 40 kept iterations.
    """
    if examined.report is None or examined.report.n_kept < DRAWS_FOR_DRIFT:
        return None
    posterior = examined.posterior
    chains = posterior.along_chains(posterior.log_likelihoods + posterior.log_priors)
    drift = float(np.median([_drift(draws) for draws in chains]))
    if not drift > DRIFT:
        return None
    text = f"The log posterior still rose after the burn-in, by {drift:.1f} standard deviations of its later values."
    return Finding(WARNING, "burn_in", text, drift, DRIFT, ADVICE["burn_in"])


def _drift(draws: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return by how many standard deviations of the last half the first tenth of some draws is below it."""
    early, late = draws[: draws.size // 10], draws[draws.size // 2 :]
    rise, deviation = float(late.mean() - early.mean()), float(late.std())
    return rise / deviation if deviation > 0 else float(np.sign(rise)) * np.inf if rise else 0.0


CHAIN_CHECKS = (one_chain, rhat, chain_ess, burn_in)
