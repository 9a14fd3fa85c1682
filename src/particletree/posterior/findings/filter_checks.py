"""Checks of particle filters: whether enough particles were left, early and in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from particletree.model.forest import Forest
from particletree.posterior.findings.advice import ADVICE
from particletree.posterior.findings.case import Case, Floats
from particletree.posterior.findings.finding import NOTE, WARNING, Finding
from particletree.posterior.support import ROUNDING

if TYPE_CHECKING:
    from particletree.posterior.posterior import Posterior

FEW_TREES = 10.0
ONE_SPLIT, SEVERAL_SPLITS = 1.5, 2.0
HALF = 0.5
SPREAD_RATIO = 1.0


def few_trees(case: Case) -> Finding | None:
    """The weighted trees are worth few equally weighted ones.

    Note below an effective sample size of 10: a 90% interval then has less than one tree beyond either end.
    """
    size = case.posterior.effective_sample_size
    if not case.is_filter or size >= FEW_TREES:
        return None
    text = f"The {case.posterior.forest.n_trees} distinct trees are worth {size:.1f} equally weighted ones."
    return Finding(NOTE, "few_trees", text, size, FEW_TREES, ADVICE["few_trees"])


def first_split(case: Case) -> Finding | None:
    """Each island is left with one first split, and the islands have different ones.

    Note where no first split has a support of 0.5, cuts in about the same place counted as one, and an island has on
    average at most 1.5 of them (an effective number): which split comes first then depends on the seed, and its
    probability rests on as many draws as there are islands. Predictions average over the islands.
    """
    posterior = case.posterior
    if not case.is_filter or not have_own_first_splits(posterior):
        return None
    split = posterior.credible_splits(ROUNDING, posterior.best_tree().rounded())[0]
    if split.probability >= HALF:
        return None
    text = (
        f"The islands do not agree on the first split: the most frequent one, {split.rule}, has a support of "
        f"{split.probability:.0%} and is that of {split.n_runs} of {posterior.n_islands} islands. Probabilities of "
        f"splits and the spread of tree sizes rest on {posterior.n_islands} draws."
    )
    return Finding(NOTE, "first_split", text, split.probability, HALF, ADVICE["first_split"])


def sizes_between_islands(case: Case) -> Finding | None:
    """Islands differ in the number of leaves by more than the trees of an island do.

    Note where the standard deviation of the islands' mean number of leaves is more than 1 times that of the trees
    within an island: each island is overconfident about the number, because its trees descend from few early splits.
    Not reported where each island has a first split of its own, of which it is a part.
    """
    posterior = case.posterior
    if not case.is_filter or posterior.n_islands == 1 or have_own_first_splits(posterior):
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


def truncated(case: Case) -> Finding | None:
    """Islands used all of their stages, so that open blocks became leaves.

    Warning if more than 0 islands have as many stages as `max_stages` allows: their trees are not those of the
    posterior.
    """
    limit = case.setting("max_stages")
    if not case.is_filter or limit is None:
        return None
    n_ended = sum(trace.size >= limit for trace in case.posterior.trace)
    if n_ended == 0:
        return None
    text = (
        f"{n_ended} of {case.posterior.n_islands} islands ended at max_stages={limit}; blocks still open became leaves."
    )
    return Finding(WARNING, "truncated", text, float(n_ended), 0.0, ADVICE["truncated"])


def have_own_first_splits(posterior: Posterior) -> bool:
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


CHECKS = (few_trees, first_split, sizes_between_islands, truncated)
