"""Draws of a sum of trees in five arrays: every distinct tree structure once, and the leaf values of each draw.

    nodes         records of nodes (_model/rule.py), structure after structure, each in preorder; `left` and `right` are
                  counted from the structure's first node, and `block` of a leaf is its number among the leaves
    starts        where each structure's nodes start, and where the last ones end
    structure_of  the structure of each tree of each draw
    values        the values of the leaves: draw by draw, tree by tree, leaf by leaf
    chain         the number of the chain that each draw comes from

A tree that a sweep does not change costs only its leaf values. For a mean over draws the kernel sends rows through each
structure once (``kernel/additive/sum_predict.h``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from particletree import _kernel
from particletree._model.rule import NODE
from particletree._posterior.predictions.batches import by_batches, rows_per_batch_of_intervals

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Draws of a sum of trees.

    Attributes
    ----------
    nodes : ndarray
        Records of the nodes, structure after structure, each in preorder.
    starts : ndarray of int
        Where each structure's nodes start, and where the last ones end.
    structure_of : ndarray of int, shape (n_draws, n_trees)
        The structure of each tree of each draw.
    values : ndarray
        The values of the leaves: draw by draw, tree by tree, leaf by leaf.
    chain : ndarray of int, shape (n_draws,)
        The number of the chain that each draw comes from.
    """

    nodes: NDArray[np.uint8]
    starts: NDArray[np.int64]
    structure_of: NDArray[np.int32]
    values: Floats
    chain: NDArray[np.int32]

    @property
    def n_draws(self) -> int:
        """Number of draws, of all chains together."""
        return int(self.structure_of.shape[0])

    @property
    def n_trees(self) -> int:
        """Number of trees of a sum."""
        return int(self.structure_of.shape[1])

    @property
    def n_structures(self) -> int:
        """Number of distinct tree structures, without leaf values."""
        return int(self.starts.size - 1)

    @property
    def n_bytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in (self.nodes, self.starts, self.structure_of, self.values, self.chain))

    def n_leaves_of_structures(self) -> NDArray[np.int64]:
        """Return the number of leaves of each structure: its number of splits plus one."""
        return np.asarray((np.diff(self.starts) + 1) // 2)

    @cached_property
    def checked(self) -> _kernel.SumDraws:
        """The trees for the kernel, which checks them once; so the arrays are made read-only."""
        arrays = (self.nodes, self.starts, self.structure_of, self.values)
        for array in arrays:
            array.flags.writeable = False
        return _kernel.SumDraws(*arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: the arrays."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def draws(self, rows: Floats) -> Floats:
        """Return the sum of the trees of each draw at each row, shape (n_rows, n_draws)."""
        return self.checked.predict(rows, 0, self.n_draws)

    def means(self, rows: Floats, n_jobs: int | None = None) -> Floats:
        """Return the mean over draws at each row, without storing all draws."""
        trees = self.checked

        def answer(part: slice) -> Floats:
            return trees.mean(rows[part])

        step = rows_per_batch_of_intervals(len(rows), 1, n_jobs)  # a number per row: few large batches
        return by_batches(answer, len(rows), (), step, n_jobs)

    def mean_values(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the leaf values of each structure, summed over the draws that have it and divided by all draws.

        The sum of all structures with these values is the mean over draws. The second array says where the leaves of
        each structure start.
        """
        n_leaves = self.n_leaves_of_structures()
        first_leaf = np.concatenate([[0], np.cumsum(n_leaves)])
        structure = self.structure_of.ravel()
        of_tree = n_leaves[structure]
        first_value = np.cumsum(of_tree) - of_tree
        leaf = np.arange(self.values.size) + np.repeat(first_leaf[structure] - first_value, of_tree)
        return np.bincount(leaf, self.values, first_leaf[-1]) / self.n_draws, first_leaf

    def split_counts(self, n_features: int) -> NDArray[np.int64]:
        """Return how often the trees of each draw split on each feature, shape (n_draws, n_features)."""
        feature = self.nodes.view(NODE)[:, 0]["feature"]
        structure = np.repeat(np.arange(self.n_structures), np.diff(self.starts))
        is_split = feature >= 0
        ones = np.ones(int(is_split.sum()), dtype=np.int64)
        of_structure = csr_array(
            (ones, (structure[is_split], feature[is_split])), shape=(self.n_structures, n_features)
        )
        draw = np.repeat(np.arange(self.n_draws), self.n_trees)
        has = csr_array(
            (np.ones(draw.size, dtype=np.int64), (draw, self.structure_of.ravel())),
            shape=(self.n_draws, self.n_structures),
        )
        return np.asarray((has @ of_structure).toarray(), dtype=np.int64)

    @staticmethod
    def join(parts: Sequence[TreeSums]) -> TreeSums:
        """Concatenate the draws of several runs."""
        n_nodes = np.cumsum([0] + [len(part.nodes) for part in parts])
        n_structures = np.cumsum([0] + [part.n_structures for part in parts])
        starts = [part.starts[:-1] + first for part, first in zip(parts, n_nodes[:-1], strict=True)]
        structure_of = [part.structure_of + first for part, first in zip(parts, n_structures[:-1], strict=True)]
        return TreeSums(
            nodes=np.concatenate([part.nodes for part in parts]),
            starts=np.append(np.concatenate(starts), n_nodes[-1]).astype(np.int64),
            structure_of=np.concatenate(structure_of).astype(np.int32),
            values=np.concatenate([part.values for part in parts]),
            chain=np.concatenate([part.chain for part in parts]),
        )
