"""Small posteriors made without any sampler: trees grown at random on data, with honest counts and shared blocks."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model import Categorical, ClassLabels, Forest, TreePrior
from particletree._model.tree.tree import Tree
from particletree._posterior import Island, Posterior

TRACE = np.dtype([("ess", "f8"), ("resampled", "?"), ("n_blocks", "i4"), ("log_evidence", "f8")])


class Grower:
    """Grows random trees on one data set; equal sets of rows become the same block."""

    def __init__(self, X: NDArray[np.float64], y: NDArray[np.int64], n_classes: int, rng: np.random.Generator) -> None:
        self.X, self.y, self.n_classes, self.rng = X, y, n_classes, rng
        self.blocks: dict[bytes, int] = {}
        self.counts: list[NDArray[np.float64]] = []

    def block(self, rows: NDArray[np.int64]) -> int:
        key = rows.tobytes()
        if key not in self.blocks:
            self.blocks[key] = len(self.counts)
            self.counts.append(np.bincount(self.y[rows], minlength=self.n_classes).astype(float))
        return self.blocks[key]

    def tree(self, split_probability: float) -> list[list[float]]:
        """Return the nodes (feature, threshold, its gap, right child, block) of one tree, in preorder."""
        nodes: list[list[float]] = []
        self._grow(nodes, np.arange(self.y.size), split_probability)
        return nodes

    def _grow(self, nodes: list[list[float]], rows: NDArray[np.int64], split_probability: float) -> None:
        here = len(nodes)
        nodes.append([-1, np.nan, np.nan, np.nan, -1, self.block(rows)])
        values = self.X[rows]
        varying = np.flatnonzero(values.min(axis=0) < values.max(axis=0))
        if varying.size == 0 or self.rng.random() > split_probability:
            return
        feature = int(self.rng.choice(varying))
        distinct = np.unique(values[:, feature])
        gap = self.rng.integers(distinct.size - 1)
        low, high = distinct[gap], distinct[gap + 1]
        threshold = (low + high) / 2
        is_left = values[:, feature] <= threshold
        self._grow(nodes, rows[is_left], 0.9 * split_probability)
        nodes[here][:5] = [feature, threshold, low, high, len(nodes)]
        self._grow(nodes, rows[~is_left], 0.9 * split_probability)

    def forest(self, n_trees: int, split_probability: float) -> Forest:
        trees = [self.tree(split_probability) for _ in range(n_trees)]
        columns = np.array([node for tree in trees for node in tree]).T.copy()
        feature, threshold, gap_low, gap_high, right, block = columns
        return Forest.from_preorder(
            offsets=np.cumsum([0] + [len(tree) for tree in trees]),
            feature=feature,
            threshold=threshold,
            gap_low=gap_low,
            gap_high=gap_high,
            right=right.astype(np.int64),
            block=block,
            statistics=np.array(self.counts),
            row_hashes=np.array([zlib.crc32(rows) for rows in self.blocks], dtype=np.uint64),
        )


def make_data(
    rng: np.random.Generator, n_rows: int = 60, n_features: int = 3, n_classes: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rows on a small grid, with labels that depend on the first features."""
    X = rng.integers(0, 5, size=(n_rows, n_features)).astype(float)
    noise = rng.integers(0, n_classes, size=n_rows)
    signal = (X[:, 0] > 2).astype(int) + (X[:, -1] > 3)
    return X, np.where(rng.random(n_rows) < 0.3, noise, signal) % n_classes


def make_island(grower: Grower, leaf: Categorical, n_trees: int = 20, split_probability: float = 0.9) -> Island:
    """Grow an island of random trees with random weights."""
    forest = grower.forest(n_trees, split_probability)
    log_marginal = leaf.log_marginal(forest.statistics)[forest.nodes["block"]]
    return Island(
        forest=forest,
        weights=grower.rng.dirichlet(np.ones(n_trees)),
        log_likelihoods=forest.sum_over_subtrees(np.where(forest.is_split, 0.0, log_marginal))[forest.roots],
        log_priors=0.5 - forest.n_leaves,
        log_evidence=float(grower.rng.normal(-50, 1)),
        trace=np.zeros(4, dtype=TRACE),
    )


def printed_thresholds(tree: Tree) -> NDArray[np.float64]:
    """Return the thresholds as the text of the tree shows them: its lines stand in the order of the nodes."""
    lines = tree.to_text().splitlines()[int(tree.is_rounded) :]
    rules = [line.rpartition(" <= ")[2] if " <= " in line else "nan" for line in lines]
    return np.array(rules, dtype=np.float64)


def make_posterior(
    seed: int = 0,
    n_islands: int = 3,
    n_classes: int = 3,
    n_features: int = 3,
    concentration: float = 3.0,
    n_trees: int = 20,
    classes: NDArray[Any] | None = None,
    **settings: Any,
) -> tuple[Posterior, NDArray[np.float64]]:
    """Return a posterior of random trees and the rows that they were grown on."""
    rng = np.random.default_rng(seed)
    X, y = make_data(rng, n_features=n_features, n_classes=n_classes)
    leaf = Categorical(concentration)
    islands = [make_island(Grower(X, y, n_classes, rng), leaf, n_trees) for _ in range(n_islands)]
    target = ClassLabels(np.arange(n_classes) if classes is None else classes)
    posterior = Posterior.from_islands(
        islands, leaf=leaf, prior=TreePrior.paper(), n_features=n_features, target=target, **settings
    )
    return posterior, X
