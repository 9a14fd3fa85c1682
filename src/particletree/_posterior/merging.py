"""Merge posteriors of separate fits, for example on several machines or days.

Runs are independent, so the islands of all posteriors are joined as if one fit had returned them. Posteriors of
different models, of different data or of different kinds of samplers are refused, and so is the same run twice, which
would look like agreement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from particletree._model.rule import drawn_numbers
from particletree._posterior.runs.islands import Island

if TYPE_CHECKING:
    from particletree._posterior.posterior import Posterior

SUM_TOLERANCE = 1e-9  # relative, of sums of weights that should be equal


def independent_islands(parts: Sequence[Posterior]) -> list[Island]:
    """Return the islands of posteriors of the same model and data; an error says what differs."""
    for number, part in enumerate(parts[1:], start=1):
        _check_alike(parts[0], part, number)
    islands = [island for part in parts for island in islands_of(part)]
    _refuse_the_same_run_twice([len(part.trace) for part in parts], islands)
    return islands


def islands_of(posterior: Posterior) -> list[Island]:
    """Split a posterior into its islands or chains: the inverse of `Posterior.from_islands`.

    A tree that an island has several times occurs once, with the sum of the weights.

    Examples
    --------
    >>> from particletree import SMC, Categorical, TreePrior
    >>> from particletree._data import make_training_data
    >>> from particletree._posterior.merging import islands_of
    >>> import numpy as np
    >>> data = make_training_data([[0.0], [1.0], [2.0]], [0, 1, 1], n_classes=2)
    >>> model, seed = (TreePrior(), Categorical()), np.random.SeedSequence(0)
    >>> posterior = SMC(n_islands=3).run(data, *model, seed=seed)
    >>> [round(float(island.weights.sum()), 9) for island in islands_of(posterior)]
    [1.0, 1.0, 1.0]
    """
    return [_island(posterior, i) for i in range(posterior.n_islands)]


def _island(posterior: Posterior, i: int) -> Island:
    row, trace = posterior.island_weights[[i]], posterior.trace[i].copy()
    trees = np.unique(row.indices)
    if posterior.is_chain:
        trees = np.union1d(trees, trace["tree"])
        trace["tree"] = np.searchsorted(trees, trace["tree"])
    return Island(
        forest=posterior.forest.select(trees),
        weights=row.toarray()[0, trees],
        log_likelihoods=posterior.log_likelihoods[trees],
        log_priors=posterior.log_priors[trees],
        log_evidence=None if posterior.log_evidences is None else float(posterior.log_evidences[i]),
        trace=trace,
        genealogy=None if posterior.genealogy is None else posterior.genealogy[i],
    )


def check_posteriors(posteriors: Iterable[Posterior], kind: type[Posterior]) -> list[Posterior]:
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


def _check_alike(first: Posterior, other: Posterior, number: int) -> None:
    """Refuse a posterior of another model, other data, or another kind of sampler."""
    for what, mine, yours in (
        ("prior", first.prior, other.prior),
        ("leaf model", first.leaf, other.leaf),
        ("number of features", first.n_features, other.n_features),
        ("feature names", first.feature_names, other.feature_names),
        ("target", first.target, other.target),
        ("kind of runs", _kind(first), _kind(other)),
        ("number of kept iterations of each chain", _n_kept(first), _n_kept(other)),
    ):
        if mine != yours:
            raise _difference(what, mine, yours, number)
    ours, theirs = first.root_statistics, other.root_statistics
    if not np.allclose(ours, theirs, rtol=SUM_TOLERANCE, atol=SUM_TOLERANCE * np.abs(ours).max()):
        raise _difference("training data, by the statistics of all rows", ours.tolist(), theirs.tolist(), number)
    _check_same_data(first, other, number)
    if first.columns != other.columns:
        raise _difference("columns", first.columns, other.columns, number)


def _check_same_data(first: Posterior, other: Posterior, number: int) -> None:
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


def _difference(what: str, mine: Any, yours: Any, number: int) -> ValueError:
    return ValueError(
        f"Posteriors 0 and {number} cannot be merged, because they differ in the {what}: {mine!r} and {yours!r}. "
        "Merge posteriors of the same model, fitted to the same data."
    )


def _kind(posterior: Posterior) -> str:
    return "Markov chains" if posterior.is_chain else "islands of particles"


def _n_kept(posterior: Posterior) -> list[int]:
    if not posterior.is_chain:
        return []
    return sorted({trace.size for trace in posterior.trace})


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
