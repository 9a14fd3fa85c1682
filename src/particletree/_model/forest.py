"""Many trees with shared subtrees: every distinct subtree is stored once.

A posterior holds hundreds of trees that agree in most of their parts, because particles descend from common ancestors.
A :class:`Forest` stores each distinct subtree as one node, children before their parent, and a tree is the index of its
root. The two trees ::

    x0 <= 1.5                   x0 <= 1.5               node   feature  threshold  left  right
    ├── yes: leaf a             ├── yes: leaf a            0        -1                           leaf a
    └── no: x1 <= 0.3           └── no: leaf d             1        -1                           leaf b
        ├── yes: leaf b                                    2        -1                           leaf c
        └── no: leaf c                                     3        -1                           leaf d
                                                           4         1        0.3     1      2
                                                           5         0        1.5     0      4   first tree
                                                           6         0        1.5     0      3   second tree

are seven nodes instead of eight; large posteriors have 6 to 18 times fewer. Two nodes are the same if their blocks hold
the same rows (the same `row_hashes`) and, where they split, their rules and children are the same.

Sums over the nodes of a tree (number of leaves, likelihood, volume of gaps) are computed for all subtrees in one pass
over the nodes, from the leaves up (:meth:`Forest.sum_over_subtrees`). Averages over trees need the probability that a
node is part of a tree, which is computed from the roots down (:meth:`Forest.node_weights`). Nodes are processed in
batches without dependencies inside a batch; ordered by height, as samplers return them, there is one batch per level
of the highest tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.columns import Columns
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Categorical
from particletree._model.rule import LEAF, NODE, coins, log_gaps
from particletree._model.target import ClassLabels, Target
from particletree._model.tree.tree import Tree

Indices = NDArray[np.int32]
Floats = NDArray[np.float64]


class Shares(Categorical):
    """Class counts without a prior: the probabilities of a leaf are the class shares of its rows."""

    def pseudo_counts(self, statistics: ArrayLike) -> Floats:
        """Return the counts as they are."""
        return np.asarray(statistics, dtype=np.float64)


SHARES = Shares()


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees with shared nodes; the statistics of a block are shared by all trees that have it.

    Attributes
    ----------
    nodes : structured ndarray, shape (n_nodes,)
        Records of `NODE`, children before their parent.
    roots : ndarray of int32, shape (n_trees,)
        The root node of each tree.
    statistics : ndarray of float64, shape (n_blocks, n_statistics)
        The leaf model's statistics of the rows of each distinct block; class counts for `Categorical`.
    row_hashes : ndarray of uint64, shape (n_blocks,)
        Hash of the set of rows of each block.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.results import Forest
    >>> forest = Forest.from_preorder(
    ...     offsets=[0, 3, 4],
    ...     feature=[0, -1, -1, -1],
    ...     threshold=[1.37, np.nan, np.nan, np.nan],
    ...     gap_low=[1.0, np.nan, np.nan, np.nan],
    ...     gap_high=[2.0, np.nan, np.nan, np.nan],
    ...     right=[2, -1, -1, -1],
    ...     block=[0, 1, 2, 0],
    ...     statistics=np.array([[4.0, 3.0], [4.0, 0.0], [0.0, 3.0]]),
    ... )
    >>> forest
    Forest(2 trees, 4 nodes, 3 blocks)
    >>> forest.n_leaves, forest.depths
    (array([2, 1]), array([1, 0]))
    >>> print(forest.tree(0))
    x[0] <= 1.37
    ├── yes: class 0, p = 1.00 (4 rows: 4 of class 0)
    └── no: class 1, p = 1.00 (3 rows: 3 of class 1)
    """

    nodes: NDArray[Any]
    roots: Indices
    statistics: Floats
    row_hashes: NDArray[np.uint64]

    @classmethod
    def from_preorder(
        cls,
        *,
        offsets: ArrayLike,
        right: ArrayLike,
        statistics: Floats,
        row_hashes: NDArray[np.uint64] | None = None,
        **columns: ArrayLike,
    ) -> Forest:
        """Return the forest of concatenated trees, each in preorder, without shared nodes yet.

        Parameters
        ----------
        offsets : array-like, shape (n_trees + 1,)
            The nodes of tree t are `offsets[t]:offsets[t + 1]`: a node, its left subtree, its right subtree.
        right : array-like
            The right child of each node, as an index relative to the root of its tree; -1 at a leaf.
        statistics, row_hashes
            As in the class; without hashes every block counts as a different set of rows.
        **columns : array-like
            The other columns of `NODE` but the left child, which is the next node. Without kinds, the side of missing
            values is derived from the threshold.
        """
        starts = np.asarray(offsets, dtype=np.int64)
        n_nodes = int(starts[-1])
        nodes = np.full(n_nodes, LEAF)
        for name, values in columns.items():
            nodes[name] = values
        # In reverse order, children come before their parent.
        place = np.arange(n_nodes)
        root = np.repeat(starts[:-1], np.diff(starts))
        is_split = nodes["feature"] >= 0
        if "kind" not in columns:
            nodes["kind"] = np.where(is_split, coins(nodes["threshold"]), np.uint64(0))
        nodes["left"] = np.where(is_split, n_nodes - 2 - place, -1)
        nodes["right"] = np.where(is_split, n_nodes - 1 - root - np.asarray(right), -1)
        hashes = np.arange(len(statistics), dtype=np.uint64) if row_hashes is None else row_hashes
        return cls(nodes[::-1].copy(), (n_nodes - 1 - starts[:-1]).astype(np.int32), statistics, hashes)

    @classmethod
    def concatenate(cls, forests: Sequence[Forest]) -> Forest:
        """Concatenate forests; common subtrees are not merged."""

        def starts(sizes: list[int]) -> Indices:
            """Return where each part starts when parts of these sizes stand one after the other."""
            return np.cumsum([0, *sizes[:-1]], dtype=np.int32)

        n_nodes = [forest.nodes.size for forest in forests]
        # As bytes: NumPy compares the fields of records pair by pair, which takes most of the time with many forests.
        nodes = np.concatenate([forest.nodes.view(np.void) for forest in forests]).view(NODE)
        first_node = starts(n_nodes)
        shift = np.repeat(first_node, n_nodes)
        for side in ("left", "right"):
            nodes[side] += np.where(nodes["feature"] >= 0, shift, np.int32(0))
        nodes["block"] += np.repeat(starts([forest.n_blocks for forest in forests]), n_nodes)
        return cls(
            nodes,
            np.concatenate([forest.roots + first for forest, first in zip(forests, first_node, strict=True)]),
            np.concatenate([forest.statistics for forest in forests]),
            np.concatenate([forest.row_hashes for forest in forests]),
        )

    def take(self, kept: Indices, number: Indices, kept_blocks: Indices, block_number: Indices) -> Forest:
        """Return the forest of the nodes `kept` and the blocks `kept_blocks`; the other two are the new numbers."""
        nodes = self.nodes[kept]
        is_split = nodes["feature"] >= 0
        for side in ("left", "right"):
            nodes[side] = np.where(is_split, number[nodes[side]], -1)
        nodes["block"] = block_number[nodes["block"]]
        return Forest(nodes, number[self.roots], self.statistics[kept_blocks], self.row_hashes[kept_blocks])

    def select(self, trees: ArrayLike) -> Forest:
        """Return the forest of the trees with these indices, in this order, with only the nodes that they use."""
        roots = self.roots[np.asarray(trees, dtype=np.int64)]
        levels = [np.unique(roots)]  # of the subtrees, from the roots down: the time is that of their nodes only
        while levels[-1].size:
            split = levels[-1][self.is_split[levels[-1]]]
            levels.append(np.unique(np.concatenate((self.left[split], self.right[split]))))
        kept = np.unique(np.concatenate(levels))
        nodes = self.nodes[kept]
        blocks, nodes["block"] = np.unique(nodes["block"], return_inverse=True)
        for side in ("left", "right"):
            nodes[side] = np.where(nodes["feature"] >= 0, np.searchsorted(kept, nodes[side]), -1)
        number = np.searchsorted(kept, roots).astype(np.int32)
        return Forest(nodes, number, self.statistics[blocks], self.row_hashes[blocks])

    def as_bytes(self) -> NDArray[np.uint8]:
        """Return the nodes for the kernel: one row of bytes per node, in memory that is aligned for 8-byte numbers.

        Arrays from another process, or views of a larger buffer, need not be aligned: NumPy does not align records.
        """
        nodes = np.ascontiguousarray(self.nodes)
        if nodes.ctypes.data % np.dtype(np.float64).alignment:
            nodes = nodes.copy()
        return nodes.view(np.uint8).reshape(nodes.size, nodes.itemsize)

    @property
    def root_statistics(self) -> Floats:
        """The statistics of all rows, those of the root of every tree."""
        return np.asarray(self.statistics[self.nodes["block"][self.roots[0]]])

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.roots.size

    @property
    def n_blocks(self) -> int:
        """Number of distinct blocks."""
        return int(self.statistics.shape[0])

    @cached_property
    def feature(self) -> Indices:
        """The feature that each node cuts, -1 at a leaf."""
        return np.ascontiguousarray(self.nodes["feature"])

    @cached_property
    def left(self) -> Indices:
        """The left child of each node, -1 at a leaf."""
        return np.ascontiguousarray(self.nodes["left"])

    @cached_property
    def right(self) -> Indices:
        """The right child of each node, -1 at a leaf."""
        return np.ascontiguousarray(self.nodes["right"])

    @cached_property
    def is_split(self) -> NDArray[np.bool_]:
        """Whether each node splits."""
        return self.feature >= 0

    @cached_property
    def _batches(self) -> list[slice]:
        """Slices of nodes whose children all come before the slice, without the leaves at the start."""
        last_child = np.maximum.accumulate(np.maximum(self.left, self.right))
        starts = [0]
        while starts[-1] < last_child.size:
            starts.append(int(np.searchsorted(last_child, starts[-1])))
        return [slice(start, stop) for start, stop in pairwise(starts[1:])]

    def sum_over_subtrees(self, own: NDArray[Any]) -> NDArray[Any]:
        """Return, for each node, the sum of `own` over its subtree; a node that occurs in it twice counts twice."""
        return self.fold(own, np.add)

    def node_weights(self, tree_weights: Floats) -> Floats:
        """Return, for each node, the mean number of its occurrences in a tree under these weights of the trees."""
        weights: Floats = np.bincount(self.roots, weights=tree_weights, minlength=self.nodes.size).astype(np.float64)
        for batch in reversed(self._batches):
            split = self.is_split[batch]
            for children in (self.left[batch][split], self.right[batch][split]):
                np.add.at(weights, children, weights[batch][split])
        return weights

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """Height of each node: the number of splits on the longest path down to a leaf."""
        heights = np.zeros(self.nodes.size, dtype=np.int64)
        for batch in self._batches:
            children = np.maximum(heights[self.left[batch]], heights[self.right[batch]])
            heights[batch] = np.where(self.is_split[batch], 1 + children, 0)
        return heights

    @cached_property
    def n_leaves_of_nodes(self) -> NDArray[np.int64]:
        """Number of leaves of each subtree."""
        return np.asarray(self.sum_over_subtrees((~self.is_split).astype(np.int64)), dtype=np.int64)

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree."""
        return self.n_leaves_of_nodes[self.roots]

    @property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each tree: that of its deepest leaf, 0 for a tree that is only a root."""
        return self.heights[self.roots]

    @cached_property
    def log_gap_volumes(self) -> Floats:
        r"""Log volume of the gaps of each tree's thresholds; 0 for a single leaf.

        .. math:: \log \prod_{\text{splits } j} (high_j - low_j) = \sum_j \log(high_j - low_j)

        A prior density times this volume is a prior probability, which does not depend on the units of the features.
        """
        return np.asarray(self.sum_over_subtrees(log_gaps(self.nodes))[self.roots], dtype=np.float64)

    def trees_that_cut(self, features: NDArray[Any]) -> NDArray[np.uint64]:
        """Return, for each tree, which of at most 64 features it cuts: one bit per feature, the lowest first."""
        bits = np.zeros(self.nodes.size, dtype=np.uint64)
        for place, feature in enumerate(features.tolist()):
            bits[self.feature == feature] = np.uint64(1 << place)
        return np.asarray(self.fold(bits, np.bitwise_or)[self.roots], dtype=np.uint64)

    def fold(self, own: NDArray[Any], combine: np.ufunc) -> NDArray[Any]:
        """Combine the values of each node's subtree, from the leaves up."""
        values = own.copy()
        for batch in self._batches:
            both = combine(combine(values[self.left[batch]], values[self.right[batch]]), own[batch])
            values[batch] = np.where(self.is_split[batch], both, own[batch])
        return values

    def preorder(self, index: int) -> Indices:
        """Return the nodes of a tree in preorder: a node, its left subtree, its right subtree."""
        sizes = 2 * self.n_leaves_of_nodes - 1
        nodes, places = self.roots[index : index + 1], np.zeros(1, dtype=np.int64)
        order = np.empty(int(sizes[nodes[0]]), dtype=np.int32)
        while nodes.size:
            order[places] = nodes
            split = self.is_split[nodes]
            nodes, places = nodes[split], places[split] + 1
            left, right = self.left[nodes], self.right[nodes]
            nodes, places = np.concatenate((left, right)), np.concatenate((places, places + sizes[left]))
        return order

    def tree(
        self,
        index: int,
        target: Target | None = None,
        leaf: LeafModel = SHARES,
        feature_names: Sequence[str] | None = None,
        columns: Columns | None = None,
    ) -> Tree:
        """Return one tree in preorder, with the leaf model for its predictions and names for its text.

        Without a target and a leaf model, statistics are class counts, and predictions are the class shares.
        """
        order = self.preorder(index)
        nodes = self.nodes[order]
        place = np.arange(order.size)
        split = nodes["feature"] >= 0
        sizes = 2 * self.n_leaves_of_nodes - 1
        nodes["right"] = np.where(split, place + 1 + sizes[nodes["left"]], -1)
        nodes["left"] = np.where(split, place + 1, -1)
        known = ClassLabels(np.arange(self.statistics.shape[1])) if target is None else target
        return Tree(
            nodes, self.statistics, known, leaf, feature_names, columns or Columns(0), row_hashes=self.row_hashes
        )

    def __repr__(self) -> str:
        return f"Forest({self.n_trees} trees, {self.nodes.size} nodes, {self.n_blocks} blocks)"


# The trees of a forest as a lazy sequence.


@dataclass(frozen=True, eq=False, repr=False)
class Trees(Sequence[Tree]):
    """The trees of a forest as a lazy sequence: each :class:`Tree` is made when it is accessed."""

    forest: Forest
    target: Target
    leaf: LeafModel
    feature_names: Sequence[str] | None = None
    columns: Columns | None = None
    indices: range | None = None

    @property
    def _chosen(self) -> range:
        return range(self.forest.n_trees) if self.indices is None else self.indices

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Trees: ...
    def __getitem__(self, index: int | slice) -> Tree | Trees:
        if isinstance(index, slice):
            return replace(self, indices=self._chosen[index])
        return self.forest.tree(self._chosen[index], self.target, self.leaf, self.feature_names, self.columns)

    def __iter__(self) -> Iterator[Tree]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"Trees({len(self)} trees)"
