"""The arrays of a single tree, what they predict, and the rules as text.

They are an independent copy of one tree of a :class:`~particletree._model.forest.Forest`, in which trees share their
nodes. The nodes are in preorder: a node, its left subtree, its right subtree.

Rows for which the text of a rule is true go left:

    petal length <= 2                    a cut
    income <= 40 or missing              a cut that sends missing values left
    income is present                    missing or not
    island in {Biscoe, Dream}            a set of levels; `not in` where that lists fewer
    island not in {Torgersen} or missing

Missing values are mentioned only if the training data had some. A set lists only the levels that can reach its node,
those that no set above sends elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from particletree._model import rule
from particletree._model.columns import Columns
from particletree._model.leaf import LeafModel
from particletree._model.target import ClassLabels, Target, class_labels
from particletree._model.text import format_number, one_line

MOST_LEVELS = 8  # listed in the text of a rule

Levels = NDArray[np.int64]  # numbers of levels


def rule_texts(nodes: NDArray[Any], feature_names: Sequence[str] | None, columns: Columns) -> list[str]:
    """Return the text of each node's rule, empty for a leaf."""
    texts = [""] * nodes.size
    pending: list[tuple[int, dict[int, Levels]]] = [(0, {})]  # a node, and for each feature the levels that reach it
    while pending:
        node, known = pending.pop()
        feature = int(nodes["feature"][node])
        if feature < 0:
            continue
        left, right = known, known
        name = f"x[{feature}]" if feature_names is None else one_line(feature_names[feature])
        if rule.is_set(nodes[node]):
            # The numbers of the levels of the training data, and that of missing values if there were any.
            all_numbers = np.arange(len(columns.levels[feature]) + (feature in columns.missing))
            numbers = known.get(feature, all_numbers)
            is_left = rule.left_levels(nodes[node], numbers)
            left, right = known | {feature: numbers[is_left]}, known | {feature: numbers[~is_left]}
            texts[node] = _describe_set(name, numbers, is_left, columns, feature)
        elif rule.is_presence(nodes[node]):
            texts[node] = f"{name} is present"
        else:
            or_missing = feature in columns.missing and bool(nodes["kind"][node] == rule.CUT_MISSING_LEFT)
            texts[node] = f"{name} <= {format_number(float(nodes['threshold'][node]))}{' or missing' * or_missing}"
        pending += [(int(nodes["left"][node]), left), (int(nodes["right"][node]), right)]
    return texts


def _describe_set(name: str, numbers: Levels, is_left: NDArray[np.bool_], columns: Columns, feature: int) -> str:
    levels = columns.levels[feature]
    is_level = numbers < len(levels)
    left, right = numbers[is_left & is_level], numbers[~is_left & is_level]
    is_missing_left = bool((is_left & ~is_level).any())
    if left.size == 0:
        return f"{name} is missing"
    if right.size == 0 and not is_missing_left:
        return f"{name} is present"
    listed, word = (right, "not in") if 0 < right.size < left.size else (left, "in")
    shown = [one_line(levels[number]) for number in listed[:MOST_LEVELS]]
    more = [f"... {listed.size - MOST_LEVELS} more"] if listed.size > MOST_LEVELS else []
    return f"{name} {word} {{{', '.join(shown + more)}}}" + (" or missing" if is_missing_left else "")


@dataclass(frozen=True, eq=False, repr=False)
class TreeArrays:
    """One tree, read-only, with the names of features and target: structure and predictions (``tree.py`` shows it).

    Attributes
    ----------
    nodes : structured ndarray, shape (n_nodes,)
        Records of `NODE` in preorder; left and right are indices of nodes, and the root is node 0.
    statistics : ndarray of float64, shape (n_blocks, n_statistics)
        The forest's table of statistics.
    target : ClassLabels or Numbers
        The type of what is predicted.
    leaf : LeafModel
        The leaf model, which computes predictions from statistics.
    feature_names : sequence of str or None
        Names of the features, for the text.
    columns : Columns
        The kinds of the features: numbers or levels.
    is_rounded : bool
        Whether the thresholds were rounded (see `rounded`) rather than drawn.
    row_hashes : ndarray of uint64, shape (n_blocks,), or None
        Hash of the rows of each block, with which a posterior identifies the node.
    """

    nodes: NDArray[Any]
    statistics: NDArray[np.float64]
    target: Target
    leaf: LeafModel
    feature_names: Sequence[str] | None = None
    columns: Columns = field(default_factory=lambda: Columns(0))
    is_rounded: bool = False
    row_hashes: NDArray[np.uint64] | None = None

    def __post_init__(self) -> None:
        self.nodes.flags.writeable = False

    @property
    def feature(self) -> NDArray[np.int32]:
        """The feature that each node cuts, -1 at a leaf."""
        return np.asarray(self.nodes["feature"])

    @property
    def threshold(self) -> NDArray[np.float64]:
        """The threshold of each cut, nan at a leaf and a set; a row goes left if its value is at most the threshold.

        It is infinite if the rule is whether the value is missing.
        """
        thresholds = np.where(rule.is_set(self.nodes), np.nan, self.nodes["threshold"])
        thresholds.flags.writeable = False
        return thresholds

    @cached_property
    def rules(self) -> list[str]:
        """The rule of each node as text, empty at a leaf; rows for which it is true go left."""
        return rule_texts(self.nodes, self.feature_names, self.columns)

    @property
    def gap_low(self) -> NDArray[np.float64]:
        """The largest value of the node's rows that goes left, nan if the node does not cut numbers."""
        return np.asarray(self.nodes["gap_low"])

    @property
    def gap_high(self) -> NDArray[np.float64]:
        """The smallest value of the node's rows that goes right, nan if the node does not cut numbers."""
        return np.asarray(self.nodes["gap_high"])

    @property
    def left(self) -> NDArray[np.int32]:
        """The left child of each node, -1 at a leaf."""
        return np.asarray(self.nodes["left"])

    @property
    def right(self) -> NDArray[np.int32]:
        """The right child of each node, -1 at a leaf."""
        return np.asarray(self.nodes["right"])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.nodes.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (self.n_nodes + 1) // 2

    @cached_property
    def node_depths(self) -> NDArray[np.int64]:
        """Depth of each node; the root has depth 0."""
        depths = np.zeros(self.n_nodes, dtype=np.int64)
        parents: NDArray[Any] = np.flatnonzero(self.feature[:1] >= 0)
        while parents.size:
            children = np.concatenate((self.left[parents], self.right[parents]))
            depths[children] = depths[parents[0]] + 1
            parents = children[self.feature[children] >= 0]
        return depths

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.node_depths.max())

    @property
    def node_statistics(self) -> NDArray[np.float64]:
        """The statistics of the rows of each node (class counts), shape (n_nodes, n_statistics)."""
        return np.asarray(self.statistics[self.nodes["block"]])

    @property
    def means(self) -> NDArray[np.float64]:
        """The prediction of each node as if it were a leaf (class probabilities), shape (n_nodes, n_outputs)."""
        return self.leaf.mean(self.node_statistics)

    @property
    def n_rows(self) -> NDArray[np.float64]:
        """The (weighted) number of training rows of each node."""
        return self.leaf.n_rows(self.node_statistics)

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the leaf (index of the node in this tree) of each row of X.

        X is a table of numbers, with nan for missing values; a categorical feature has the numbers of its levels
        (`columns`).
        """
        values = _numbers(X)
        n_needed = int(self.feature.max()) + 1
        if values.ndim != 2 or values.shape[1] < n_needed:
            raise ValueError(
                f"X must be a table with a column for each feature (this tree cuts x[{n_needed - 1}]), "
                f"got shape {values.shape}."
            )
        node = np.zeros(values.shape[0], dtype=np.int64)
        rows = np.arange(node.size) if self.feature[0] >= 0 else np.zeros(0, dtype=np.int64)
        while rows.size:
            at = self.nodes[node[rows]]
            is_left = rule.goes_left(values[rows, at["feature"]], at)
            node[rows] = np.where(is_left, at["left"], at["right"])
            rows = rows[self.feature[node[rows]] >= 0]
        return node

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class probabilities under this tree alone, shape (n_rows, n_classes); X is as in `apply`."""
        class_labels(self.target)
        return np.asarray(self.means[self.apply(X)])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row, or its predictive mean, under this tree alone.

        Parameters
        ----------
        X : array-like, shape (n_rows, n_features)
            Numbers, as in `apply`; `posterior.as_numbers` converts a frame with categories.

        Returns
        -------
        ndarray
            Labels, or means of shape (n_rows,), or (n_rows, n_targets) for several targets.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_.consensus_tree()
        >>> tree.predict(X[::60])
        array([0, 1, 2])
        """
        means = self.means[self.apply(X)]
        if isinstance(self.target, ClassLabels):
            return np.asarray(self.target.classes[means.argmax(axis=1)])
        return means[:, 0] if self.target.n_outputs == 1 else means

    def decision_path(self, X: ArrayLike) -> csr_array[Any]:
        """Return the path of each row from the root to its leaf, as a sparse indicator matrix (n_rows, n_nodes).

        The path of row i is `path.indices[path.indptr[i] : path.indptr[i + 1]]`, the root first.
        """
        leaf, number = self.apply(X), np.arange(self.n_nodes)
        ends = number + 1  # the index after the last node of each subtree, which is a range of the preorder
        for node in np.flatnonzero(self.feature >= 0)[::-1]:
            ends[node] = ends[self.right[node]]
        paths = {node: np.flatnonzero((number <= node) & (node < ends)) for node in np.unique(leaf).tolist()}
        indices = np.concatenate([paths[node] for node in leaf.tolist()] or [np.zeros(0, dtype=np.int64)])
        starts = np.cumsum([0, *(self.node_depths[leaf] + 1)])
        return csr_array((np.ones(indices.size, dtype=np.int8), indices, starts), shape=(leaf.size, self.n_nodes))


def _numbers(X: ArrayLike) -> NDArray[np.float64]:
    """Return a table as numbers; refuse text."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A tree takes a table of numbers ({error}). posterior.as_numbers(X) makes one of a table with text or "
            "categories."
        ) from error
