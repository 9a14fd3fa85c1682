"""Forests made by hand and at random, for the tests of forests and of trees."""

from __future__ import annotations

import numpy as np

from particletree._model import Forest

NAN = np.nan


def make_forest() -> Forest:
    """Return three trees: two cuts, the root only, one cut; they share the root block and more.

    Nodes stand in the reverse of the preorder: tree 0 has the nodes 8 to 4, tree 1 the node 3, tree 2 the nodes 2 to 0.
    """
    return Forest.from_preorder(
        offsets=[0, 5, 6, 9],
        feature=[0, -1, 1, -1, -1, -1, 0, -1, -1],
        threshold=[1.5, NAN, 0.25, NAN, NAN, NAN, 1.5, NAN, NAN],
        gap_low=[1.0, NAN, 0.21, NAN, NAN, NAN, 1.0, NAN, NAN],
        gap_high=[2.0, NAN, 0.28, NAN, NAN, NAN, 2.0, NAN, NAN],
        right=[2, -1, 4, -1, -1, -1, 2, -1, -1],
        block=[0, 1, 2, 3, 4, 0, 0, 1, 2],
        statistics=np.array([[6.0, 5.0], [5.0, 1.0], [1.0, 4.0], [1.0, 0.0], [0.0, 4.0]]),
    )


def make_random_forest(rng: np.random.Generator, n_trees: int, n_leaves: int) -> Forest:
    """Return trees of random shapes in which every node has a block of its own, of the size of its subtree."""
    shapes = [_random_shape(rng, int(rng.integers(1, n_leaves + 1))) for _ in range(n_trees)]
    is_split = np.array([split for shape in shapes for split, _, _ in shape])
    threshold = np.where(is_split, rng.normal(size=is_split.size), NAN)
    return Forest.from_preorder(
        offsets=np.cumsum([0] + [len(shape) for shape in shapes]),
        feature=np.where(is_split, rng.integers(0, 4, is_split.size), -1),
        threshold=threshold,
        gap_low=threshold - 0.01,
        gap_high=threshold + 0.01,
        right=[child for shape in shapes for _, child, _ in shape],
        block=np.arange(is_split.size),
        statistics=np.array([[2.0 * size, 3.0 * size] for shape in shapes for _, _, size in shape]),
    )


def _random_shape(rng: np.random.Generator, n_leaves: int) -> list[tuple[bool, int, int]]:
    """Return (splits, right child, leaves below) of each node of a random tree, in preorder."""
    nodes: list[tuple[bool, int, int]] = []

    def grow(n: int) -> None:
        here = len(nodes)
        nodes.append((False, -1, n))
        if n > 1:
            n_left = int(rng.integers(1, n))
            grow(n_left)
            nodes[here] = (True, len(nodes), n)
            grow(n - n_left)

    grow(n_leaves)
    return nodes
