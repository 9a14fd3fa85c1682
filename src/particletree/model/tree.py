"""Trees as the samplers leave them: flat arrays, and a readable view of one tree.

A posterior holds hundreds of trees that have most of their blocks in common, because particles descend from common
ancestors. A :class:`Forest` therefore keeps two tables. One has a row for each node of each tree, tree after tree and
in preorder: a node comes before its left subtree, and that before its right subtree, so that the left child is simply
the next node. The other has a row for each distinct block: its class counts. The column `block` leads from the first
table to the second::

    x0 <= 1.5              node   feature  threshold  left  right  block
    ├── yes: leaf             0         0        1.5     1      2      0
    └── no: x1 <= 0.3         1        -1        nan    -1     -1      1
        ├── yes: leaf         2         1        0.3     3      4      2
        └── no: leaf          3        -1        nan    -1     -1      3
                              4        -1        nan    -1     -1      4

Whatever is computed for all trees (leaves, depths, importances) is computed on these columns, never tree by tree. A
:class:`Tree` is for people: one tree with the names of its features and classes, which prints as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree.model import drawing, same_trees, validity
from particletree.model.leaf import Categorical

NODE_COLUMNS = ("threshold", "gap_low", "gap_high", "feature", "left", "right", "block")  # wide numbers first: aligned
MAX_LINES = 100  # str(tree) shows at most about this many lines; to_text() shows everything


def goes_left(values: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows go to the left child: those whose value is at most the threshold."""
    return values <= thresholds


def log_lengths(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(high - low), also where the length is too large for a float."""
    with np.errstate(over="ignore"):
        length = high - low
    is_finite = np.isfinite(length)
    return np.log(np.where(is_finite, length, high / 2 - low / 2)) + np.where(is_finite, 0.0, np.log(2))


def node_depths(
    feature: NDArray[np.int32], right: NDArray[np.integer[Any]], roots: NDArray[np.integer[Any]]
) -> NDArray[np.int32]:
    """Return the depth of each node, a level of all trees at a time; `right` and `roots` count from the first node."""
    depth = np.zeros(feature.size, dtype=np.int32)
    is_split = feature >= 0
    parents = roots[is_split[roots]]
    level = 0
    while parents.size:
        level += 1
        children = np.concatenate((parents + 1, right.take(parents)))
        depth[children] = level
        parents = children.compress(is_split.take(children))
    return depth


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """Trees in flat arrays; trees share the statistics of the blocks that they have in common.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n_trees + 1,)
        The nodes of tree t are `offsets[t]:offsets[t + 1]`, in preorder, root first.
    feature : ndarray of int32, shape (all nodes,)
        The feature that the node cuts, -1 at a leaf.
    threshold : ndarray of float64, shape (all nodes,)
        A row goes left when its value is at most the threshold; nan at a leaf.
    gap_low, gap_high : ndarray of float64, shape (all nodes,)
        The two neighbouring values of the node's rows between which the threshold lies, `gap_low <= threshold <
        gap_high`: moving it within this gap changes nothing for them. nan at a leaf.
    left, right : ndarray of int32, shape (all nodes,)
        The children, counted from the tree's root; -1 at a leaf.
    block : ndarray of int32, shape (all nodes,)
        The row of `counts` that belongs to the node (splits have one too).
    counts : ndarray of float64, shape (n_blocks, n_classes)
        The weighted number of rows of each class in each distinct block.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.model import Forest
    >>> forest = Forest(
    ...     offsets=np.array([0, 3, 4]),
    ...     feature=np.array([0, -1, -1, -1], dtype=np.int32),
    ...     threshold=np.array([1.37, np.nan, np.nan, np.nan]),
    ...     gap_low=np.array([1.0, np.nan, np.nan, np.nan]),
    ...     gap_high=np.array([2.0, np.nan, np.nan, np.nan]),
    ...     left=np.array([1, -1, -1, -1], dtype=np.int32),
    ...     right=np.array([2, -1, -1, -1], dtype=np.int32),
    ...     block=np.array([0, 1, 2, 0], dtype=np.int32),
    ...     counts=np.array([[4.0, 3.0], [4.0, 0.0], [0.0, 3.0]]),
    ... )
    >>> forest
    Forest(2 trees, 4 nodes, 3 blocks, 2 classes)
    >>> forest.n_leaves, forest.depths
    (array([2, 1]), array([1, 0], dtype=int32))
    >>> print(forest.tree(0))
    x[0] <= 1.37
    ├── yes: class 0, p = 1.00 (4 rows: 4 of class 0)
    └── no: class 1, p = 1.00 (3 rows: 3 of class 1)
    """

    offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    gap_low: NDArray[np.float64]
    gap_high: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    block: NDArray[np.int32]
    counts: NDArray[np.float64]

    @classmethod
    def concatenate(cls, forests: Sequence[Forest]) -> Forest:
        """Put forests one after the other; the blocks of different forests stay apart."""
        if len(forests) == 1:
            return forests[0]
        first_node = np.cumsum([0] + [forest.feature.size for forest in forests])
        first_block = np.cumsum([0] + [forest.n_blocks for forest in forests])
        nodes = {name: [getattr(forest, name) for forest in forests] for name in NODE_COLUMNS}
        columns = dict(zip(nodes, _join(list(nodes.values())), strict=True))
        for start, begin, end in zip(first_block.tolist(), first_node[:-1], first_node[1:], strict=False):
            columns["block"][begin:end] += start
        ends = [forest.offsets[1:] + start for forest, start in zip(forests, first_node, strict=False)]
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), *ends])
        return cls(offsets=offsets, **columns, counts=np.concatenate([forest.counts for forest in forests]))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.offsets.size - 1

    @property
    def n_blocks(self) -> int:
        """Number of distinct blocks."""
        return int(self.counts.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.counts.shape[1])

    @property
    def n_nodes(self) -> NDArray[np.int64]:
        """Number of nodes of each tree."""
        return np.diff(self.offsets)

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree; each split has two children, so leaves are one more than splits."""
        return (self.n_nodes + 1) // 2

    @cached_property
    def depths(self) -> NDArray[np.int32]:
        """Depth of each tree: that of its deepest leaf, 0 for a tree that is only a root."""
        roots = self.offsets[:-1]
        depth = node_depths(self.feature, self.right + np.repeat(roots, self.n_nodes), roots)
        return np.maximum.reduceat(depth, roots) if roots.size else depth

    @property
    def log_gap_volumes(self) -> NDArray[np.float64]:
        r"""Log volume of the thresholds that can be moved within their gaps, for each tree; 0 for a root alone.

        .. math:: \log \prod_{\text{splits } j} (high_j - low_j) = \sum_j \log(high_j - low_j)

        A prior density times this volume is a prior probability, which does not depend on the units of the features.
        """
        tree, node, _, _ = self.splits()
        lengths = log_lengths(self.gap_low[node], self.gap_high[node])
        return np.bincount(tree, weights=lengths, minlength=self.n_trees).astype(np.float64)

    def splits(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (tree, node, left child, right child) of each split of each tree, nodes counted from the first."""
        node = np.flatnonzero(self.feature >= 0)
        tree = np.searchsorted(self.offsets, node, side="right") - 1
        root = self.offsets[tree]
        return tree, node, root + self.left[node], root + self.right[node]

    def select(self, indices: ArrayLike) -> Forest:
        """Return the forest of the trees with these numbers, in this order, with only the blocks that they use."""
        chosen = np.asarray(indices, dtype=np.int64)
        nodes, offsets = self._nodes_of(chosen)
        block = self.block.take(nodes)
        used = np.zeros(self.n_blocks, dtype=np.bool_)
        used[block] = True
        new_number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        return Forest(
            offsets=offsets,
            feature=self.feature.take(nodes),
            threshold=self.threshold.take(nodes),
            gap_low=self.gap_low.take(nodes),
            gap_high=self.gap_high.take(nodes),
            left=self.left.take(nodes),
            right=self.right.take(nodes),
            block=new_number.take(block),
            counts=self.counts[used],
        )

    def distinct(self, *hints: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first tree of each kind, and for each tree the place of its kind among these.

        Two trees are the same if they have the same cuts. The hints are numbers, one for each tree, that same trees
        have in common (such as the likelihood): trees that differ in one are not compared, so that usually none are.
        """
        suspects = same_trees.sharing(same_trees.mix(self.n_nodes, *hints))
        first = np.arange(self.n_trees)
        if suspects.size:
            nodes, offsets = self._nodes_of(suspects)
            first[suspects] = suspects[same_trees.firsts(offsets, self.feature.take(nodes), self.threshold.take(nodes))]
        is_first = first == np.arange(self.n_trees)
        return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[first]

    def _nodes_of(self, trees: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes of these trees, one tree after the other, and where each tree's begin, and their number."""
        lengths = self.n_nodes[trees]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        return np.arange(offsets[-1]) + np.repeat(self.offsets[trees] - offsets[:-1], lengths), offsets

    def tree(
        self,
        index: int,
        feature_names: Sequence[str] | None = None,
        classes: NDArray[Any] | None = None,
        leaf: Categorical | None = None,
    ) -> Tree:
        """Return a view of one tree, with names for people and the leaf model that turns counts into probabilities."""
        index = range(self.n_trees)[index]
        nodes = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        return Tree(
            feature=_read_only(self.feature[nodes]),
            threshold=_read_only(self.threshold[nodes]),
            gap_low=_read_only(self.gap_low[nodes]),
            gap_high=_read_only(self.gap_high[nodes]),
            left=_read_only(self.left[nodes]),
            right=_read_only(self.right[nodes]),
            block=_read_only(self.block[nodes]),
            block_counts=_read_only(self.counts[:]),
            feature_names=feature_names,
            classes=classes,
            leaf=leaf,
        )

    def check(self, n_features: int | None = None) -> None:
        """Raise a `ValueError` that names the rule if the arrays do not describe a forest (`model/validity.py`)."""
        validity.check_forest(self, n_features)

    def __repr__(self) -> str:
        return (
            f"Forest({self.n_trees} trees, {self.feature.size} nodes, {self.n_blocks} blocks, {self.n_classes} classes)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A read-only view of one tree of a forest, with the names of features and classes; `print(tree)` draws it.

    Attributes
    ----------
    feature, threshold, gap_low, gap_high, left, right, block : ndarray, shape (n_nodes,)
        The tree's part of the columns of its :class:`Forest`, in preorder.
    block_counts : ndarray of float64, shape (n_blocks, n_classes)
        The forest's table of class counts.
    feature_names : sequence of str or None
        Names of the features, for the text.
    classes : ndarray or None
        Labels of the classes, for the text.
    leaf : Categorical or None
        Leaf model that turns class counts into probabilities; without one, a leaf's probabilities are the shares of its
        rows.
    is_rounded : bool
        Whether the thresholds were rounded (see `rounded`) rather than drawn.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    gap_low: NDArray[np.float64]
    gap_high: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    block: NDArray[np.int32]
    block_counts: NDArray[np.float64]
    feature_names: Sequence[str] | None = None
    classes: NDArray[Any] | None = None
    leaf: Categorical | None = None
    is_rounded: bool = False

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.feature.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (self.n_nodes + 1) // 2

    @cached_property
    def node_depths(self) -> NDArray[np.int32]:
        """Depth of each node; the root has depth 0."""
        return node_depths(self.feature, self.right, np.zeros(1, dtype=np.int64))

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.node_depths.max())

    @property
    def counts(self) -> NDArray[np.float64]:
        """Class counts of each node, shape (n_nodes, n_classes)."""
        return self.block_counts[self.block]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Class probabilities of each node (as if it were a leaf), shape (n_nodes, n_classes)."""
        if self.leaf is not None:
            return self.leaf.predictive(self.counts)
        counts = self.counts
        return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the leaf (node number in this tree) that each row of X falls into."""
        values = np.asarray(X, dtype=np.float64)
        n_needed = int(self.feature.max()) + 1
        if values.ndim != 2 or values.shape[1] < n_needed:
            raise ValueError(
                f"X must be a table with a column for each feature (this tree cuts x[{n_needed - 1}]), "
                f"got shape {values.shape}."
            )
        node = np.zeros(values.shape[0], dtype=np.int64)
        rows = np.arange(node.size) if self.feature[0] >= 0 else np.zeros(0, dtype=np.int64)
        while rows.size:
            at = node[rows]
            is_left = goes_left(values[rows, self.feature[at]], self.threshold[at])
            node[rows] = np.where(is_left, self.left[at], self.right[at])
            rows = rows[self.feature[node[rows]] >= 0]
        return node

    def rounded(self) -> Tree:
        """Return a tree with the roundest threshold in each gap, for people to read; it applies what it shows.

        A threshold is drawn uniformly between two neighbouring values of the data, so most of its digits carry no
        information. Rounded within that gap, every row of the training data stays in its leaf; a new row whose value
        lies in the gap may go to another.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_.best_tree()
        >>> float(tree.threshold[0]), float(tree.rounded().threshold[0])
        (1.7398981003180498, 1.75)
        >>> bool((tree.apply(X) == tree.rounded().apply(X)).all())
        True
        """
        threshold = self.threshold.copy()
        for node in np.flatnonzero(self.feature >= 0):
            ends = float(self.gap_low[node]), float(self.gap_high[node])
            threshold[node] = drawing.round_within(*ends, near=float(threshold[node]))
        return replace(self, threshold=_read_only(threshold), is_rounded=True)

    def to_text(self, max_depth: int | None = None) -> str:
        """Draw the tree as text, down to `max_depth` (None: all of it); cut-off parts say how many leaves they hide."""
        return drawing.draw(self, max_depth)

    def __str__(self) -> str:
        """Draw the tree, as deep as about a hundred lines allow."""
        n_shown = np.cumsum(np.bincount(self.node_depths))
        return self.to_text(int(np.searchsorted(n_shown, MAX_LINES, side="right")) - 1)

    def __repr__(self) -> str:
        return f"Tree({self.n_leaves} leaves, depth {self.depth})"


@dataclass(frozen=True, eq=False, repr=False)
class Trees(Sequence[Tree]):
    """The trees of a forest as a sequence that makes each :class:`Tree` when it is asked for."""

    forest: Forest
    feature_names: Sequence[str] | None = None
    classes: NDArray[Any] | None = None
    leaf: Categorical | None = None
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
        return self.forest.tree(self._chosen[index], self.feature_names, self.classes, self.leaf)

    def __iter__(self) -> Iterator[Tree]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"Trees({len(self)} trees)"


def _read_only(view: NDArray[Any]) -> NDArray[Any]:
    view.flags.writeable = False
    return view


def _join(columns: list[list[NDArray[Any]]]) -> list[NDArray[Any]]:
    """Concatenate the parts of each column, all columns in one piece of memory.

    A large piece comes from the system in large pages, several times as fast as many pieces of a middling size.
    """
    sizes = [sum(part.nbytes for part in parts) for parts in columns]
    memory = np.split(np.empty(sum(sizes), dtype=np.uint8), np.cumsum(sizes)[:-1])
    return [np.concatenate(parts, out=m.view(parts[0].dtype)) for parts, m in zip(columns, memory, strict=True)]
