"""Neighbours of a row: rows in the same leaf, with the posterior probability of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.explanation.conditions import plain_values
from particletree._posterior.predictions.batches import by_batches, rows_per_batch_of_intervals

if TYPE_CHECKING:
    from particletree._posterior.posterior import Posterior

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbour:
    """A row that may be in the same leaf.

    Attributes
    ----------
    row : int
        Its number in the table that was fitted or, if rows were given, among those; counted from 0.
    probability : float
        Posterior probability that it is in the same leaf.
    values : tuple
        Its values: numbers, levels, None for missing.
    """

    row: int
    probability: float
    values: tuple[Any, ...]


def find_neighbours(
    posterior: Posterior, row: Floats, candidates: Floats, n: int, numbers: NDArray[np.int64] | None = None
) -> tuple[Neighbour, ...]:
    """Return the n candidates that are most probably in the row's leaf, of those that are in some tree.

    `numbers` are those by which users know the candidates; None if they are their places.
    """
    names = np.arange(len(candidates)) if numbers is None else numbers
    probabilities = sharing_probabilities(posterior, row, candidates)
    order = np.argsort(-probabilities, kind="stable")[: max(n, 0)]
    return tuple(
        Neighbour(int(names[i]), min(float(probabilities[i]), 1.0), plain_values(candidates[i], posterior.columns))
        for i in order
        if probabilities[i] > 0
    )


def sharing_probabilities(posterior: Posterior, row: Floats, candidates: Floats) -> Floats:
    """Return the posterior probability that each candidate is in the leaf of `row`, of shape (1, n_features)."""
    own = posterior.leaf_blocks(row)  # the leaves of a tree are disjoint, so the same block is the same leaf

    def answer(part: slice) -> Floats:
        return np.asarray((posterior.leaf_blocks(candidates[part]) == own) @ posterior.weights, dtype=np.float64)

    step = rows_per_batch_of_intervals(len(candidates), posterior.forest.n_trees, None)
    return by_batches(answer, len(candidates), (), step, None)
