"""Runs joined to one posterior: the islands of one fit, or those of several fits, on several machines or days.

Runs are independent, so all islands are joined as if one fit had returned them. A tree that occurs in several runs is
kept once, and every distinct subtree is stored once (the kernel finds them in one pass, ``kernel/sharing.h``).

Posteriors of different models, of different data or of different kinds of samplers are not merged, and neither is the
same run twice, which would look like agreement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import softmax

from particletree import _kernel
from particletree._model.forest import Forest
from particletree._model.rule import drawn_numbers
from particletree._posterior.weighted_trees import WeightedTrees

SUM_TOLERANCE = 1e-9  # relative, of sums of weights that should be equal

AnyPosterior = TypeVar("AnyPosterior", bound=WeightedTrees)


@dataclass(frozen=True, eq=False)
class Island:
    """The result of one run of a sampler (an island of particles, a chain), before the runs are joined.

    Attributes
    ----------
    forest : Forest
        The trees.
    weights : ndarray, shape (n_trees,)
        Their weights, which sum to 1.
    log_likelihoods, log_priors : ndarray, shape (n_trees,)
        Log likelihood of the targets, and log density of the prior, for each tree.
    log_evidence : float or None
        Estimate of the log evidence, None if the sampler gives none.
    trace : structured ndarray
        One record per stage or kept iteration, for diagnostics.
    genealogy : structured ndarray or None
        The lineages of particles (``genealogy.py``), if the sampler records them.
    """

    forest: Forest
    weights: NDArray[np.float64]
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]
    log_evidence: float | None
    trace: NDArray[Any]
    genealogy: NDArray[Any] | None = None


def join_islands(islands: Sequence[Island], island_weighting: str) -> dict[str, Any]:
    """Return the fields of a posterior that come from its runs; equal trees are kept once."""
    forest = join([island.forest for island in islands])
    kept, number = distinct_trees(forest)
    n_trees = [island.forest.n_trees for island in islands]
    row = np.repeat(np.arange(len(islands)), n_trees)
    weights = np.concatenate([island.weights for island in islands])
    evidences = [island.log_evidence for island in islands if island.log_evidence is not None]
    log_evidences = np.array(evidences) if len(evidences) == len(islands) else None
    genealogies = [island.genealogy for island in islands if island.genealogy is not None]
    traces = [island.trace.copy() for island in islands]
    for trace, numbers in zip(traces, np.split(number, np.cumsum(n_trees)[:-1]), strict=True):
        if "tree" in (trace.dtype.names or ()):
            trace["tree"] = numbers[trace["tree"]]
    return {
        "forest": replace(forest, roots=forest.roots[kept]),
        "log_likelihoods": np.concatenate([island.log_likelihoods for island in islands])[kept],
        "log_priors": np.concatenate([island.log_priors for island in islands])[kept],
        "island_weights": csr_array((weights, (row, number)), shape=(len(islands), kept.size)),
        "island_shares": island_shares(len(islands), log_evidences, island_weighting),
        "log_evidences": log_evidences,
        "trace": traces,
        "genealogy": genealogies if len(genealogies) == len(islands) else None,
    }


def join(forests: Sequence[Forest]) -> Forest:
    """Return one forest with the trees of several, in order, in which every distinct subtree is stored once.

    Examples
    --------
    Equal trees have the same root:

    >>> import numpy as np
    >>> from particletree._model import Forest
    >>> from particletree._posterior.joining import join
    >>> leaf = Forest.from_preorder(
    ...     offsets=[0, 1], feature=[-1], right=[-1], block=[0], statistics=np.array([[4.0, 3.0]])
    ... )
    >>> join([leaf, leaf]).roots
    array([0, 0], dtype=int32)
    """
    everything = forests[0] if len(forests) == 1 else Forest.concatenate(forests)
    return everything.take(*_kernel.share_nodes(everything.as_bytes(), everything.row_hashes))


def distinct_trees(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each set of equal trees in a forest of shared nodes, and the index of each tree's set."""
    roots, first, kind = np.unique(forest.roots, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(roots.size, dtype=np.int64)
    place[order] = np.arange(roots.size)
    return first[order], place[kind.reshape(-1)]


def island_shares(n_islands: int, log_evidences: NDArray[np.float64] | None, weighting: str) -> NDArray[np.float64]:
    """Return the weights of the islands: equal, or in proportion to their evidences."""
    if weighting == "uniform":
        return np.full(n_islands, 1.0 / n_islands)
    if weighting != "evidence":
        raise ValueError(f"island_weighting must be one of uniform, evidence, got {weighting!r}.")
    if log_evidences is None:
        raise ValueError("island_weighting='evidence' needs a sampler that estimates the evidence; use 'uniform'.")
    return np.asarray(softmax(log_evidences), dtype=np.float64)


# Posteriors of several fits: back to their islands, if nothing forbids it.


def islands_of(posterior: WeightedTrees) -> list[Island]:
    """Split a posterior into its islands or chains: the inverse of `Posterior.from_islands`.

    A tree that an island has several times occurs once, with the sum of the weights.

    Examples
    --------
    >>> from particletree import SMC, Categorical, TreePrior
    >>> from particletree._data import make_training_data
    >>> from particletree._posterior.joining import islands_of
    >>> import numpy as np
    >>> data = make_training_data([[0.0], [1.0], [2.0]], [0, 1, 1], n_classes=2)
    >>> model, seed = (TreePrior(), Categorical()), np.random.SeedSequence(0)
    >>> posterior = SMC(n_islands=3).run(data, *model, seed=seed)
    >>> [round(float(island.weights.sum()), 9) for island in islands_of(posterior)]
    [1.0, 1.0, 1.0]
    """
    islands = []
    for i in range(posterior.n_islands):
        row, trace = posterior.island_weights[[i]], posterior.trace[i].copy()
        trees = np.unique(row.indices)
        if posterior.is_chain:
            trees = np.union1d(trees, trace["tree"])
            trace["tree"] = np.searchsorted(trees, trace["tree"])
        island = Island(
            forest=posterior.forest.select(trees),
            weights=row.toarray()[0, trees],
            log_likelihoods=posterior.log_likelihoods[trees],
            log_priors=posterior.log_priors[trees],
            log_evidence=None if posterior.log_evidences is None else float(posterior.log_evidences[i]),
            trace=trace,
            genealogy=None if posterior.genealogy is None else posterior.genealogy[i],
        )
        islands.append(island)
    return islands


def check_posteriors(posteriors: Iterable[AnyPosterior], kind: type[AnyPosterior]) -> list[AnyPosterior]:
    """Return the posteriors as a list: at least one, all of this type, and none of them exact."""
    if isinstance(posteriors, kind):
        raise TypeError("merge() takes a list of posteriors, got a single one; write Posterior.merge([a, b]).")
    parts = list(posteriors)
    if not parts:
        raise ValueError("There is nothing to merge: the list of posteriors is empty.")
    for number, part in enumerate(parts):
        if not isinstance(part, kind):
            raise TypeError(
                f"merge() takes posteriors, but number {number} is of type {type(part).__name__}; of a fitted "
                "estimator give the attribute posterior_."
            )
        if part.is_exact:
            raise TypeError(
                f"Posterior {number} is exact: a sum over all trees, to which nothing can be added. Use it alone, or "
                "merge its draws() for what they are worth as an island."
            )
    return parts


def independent_islands(parts: Sequence[WeightedTrees]) -> list[Island]:
    """Return the islands of posteriors of the same model and data; an error says what differs."""
    for number, part in enumerate(parts[1:], start=1):
        _check_alike(parts[0], part, number)
    islands = [island for part in parts for island in islands_of(part)]
    _refuse_the_same_run_twice([len(part.trace) for part in parts], islands)
    return islands


def _check_alike(first: WeightedTrees, other: WeightedTrees, number: int) -> None:
    """Refuse a posterior of another model, other data, or another kind of sampler."""

    def refuse(what: str, mine: Any, yours: Any) -> None:
        raise ValueError(
            f"Posteriors 0 and {number} cannot be merged, because they differ in the {what}: {mine!r} and {yours!r}. "
            "Merge posteriors of the same model, fitted to the same data."
        )

    kinds = ["Markov chains" if each.is_chain else "islands of particles" for each in (first, other)]
    n_kept = [sorted({trace.size for trace in each.trace}) if each.is_chain else [] for each in (first, other)]
    pairs: dict[str, Sequence[Any]] = {
        "prior": (first.prior, other.prior),
        "leaf model": (first.leaf, other.leaf),
        "number of features": (first.n_features, other.n_features),
        "feature names": (first.feature_names, other.feature_names),
        "target": (first.target, other.target),
        "kind of runs": kinds,
        "number of kept iterations of each chain": n_kept,
    }
    for what, (mine, yours) in pairs.items():
        if mine != yours:
            refuse(what, mine, yours)
    ours, theirs = first.root_statistics, other.root_statistics
    if not np.allclose(ours, theirs, rtol=SUM_TOLERANCE, atol=SUM_TOLERANCE * np.abs(ours).max()):
        refuse("training data, by the statistics of all rows", ours.tolist(), theirs.tolist())
    _check_same_data(first, other, number)
    if first.columns != other.columns:
        refuse("columns", first.columns, other.columns)


def _check_same_data(first: WeightedTrees, other: WeightedTrees, number: int) -> None:
    """Refuse a posterior of other data; without fingerprints, only the statistics of all rows are compared."""
    mine, yours = first.fingerprint, other.fingerprint
    if mine is None and yours is None:
        return
    if mine is None or yours is None:
        raise ValueError(
            f"Posteriors 0 and {number} cannot be merged, because posterior {0 if mine is None else number} does not "
            "say which data it was fitted to (it has no fingerprint, because it was made by hand). Fit it again."
        )
    if difference := mine.difference(yours, first.feature_names):
        raise ValueError(
            f"Posteriors 0 and {number} cannot be merged, because they were fitted to different data; they differ in "
            f"{difference}. Merge posteriors of the same model, fitted to the same data."
        )


def _refuse_the_same_run_twice(n_islands: list[int], islands: list[Island]) -> None:
    """Refuse runs with the same seed: thresholds are continuous, so independent runs have no tree in common.

    Trees without a split have no threshold, so an island with only such trees cannot be checked.
    """
    owner = np.repeat(np.arange(len(n_islands)), n_islands)
    seen: dict[bytes, int] = {}
    for part, island in zip(owner.tolist(), islands, strict=True):
        drawn = drawn_numbers(island.forest.nodes).tobytes()
        if drawn and seen.setdefault(drawn, part) != part:
            raise ValueError(
                f"Posteriors {seen[drawn]} and {part} hold the same run, tree by tree: it would be counted twice, "
                "and look like agreement. Give each fit a random_state of its own, and merge each posterior once."
            )
