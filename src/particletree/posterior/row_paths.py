r"""The paths of one row through all trees, as conditions that the row meets from the root to its leaf.

In each tree the row meets one condition per split: `petal width <= 1.7`, `petal width > 0.8`, `island is Dream`. Trees
have different thresholds, so conditions are merged by feature and direction: there are at most three per feature (at
most, above, present). If a condition occurs several times on a path, the last is the tightest, and this *bound* is
kept: the path confines the row to values up to it (or above it).

A split changes the prediction from the mean m(B) of its block to that of the child that the row goes to. The sum of
these changes from the root to the leaf is the difference of leaf and root, so that for every tree t

.. math:: m(\text{leaf}_t) = m(\text{root}) + \sum_{\text{splits } j \text{ of the path}} [m(\text{child}_j) - m(B_j)],

and, averaged over the weighted trees, the posterior's prediction is the mean at the root plus the effect of each
condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from particletree.model.columns import Columns
from particletree.model.rule import goes_left, is_presence, is_set

if TYPE_CHECKING:
    from particletree.model.forest import Forest

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

KINDS = ("at most", "above", "present", "missing", "level")
AT_MOST, ABOVE, PRESENT, MISSING, LEVEL = range(5)


@dataclass(frozen=True, eq=False)
class Steps:
    """The splits on a row's paths in all trees, one entry per tree and split.

    Attributes
    ----------
    tree, node, child : ndarray of int, shape (n_steps,)
        The tree, the node that splits, and the child that the row goes to.
    leaf : ndarray of int, shape (n_trees,)
        The row's leaf in each tree.
    """

    tree: Numbers
    node: Numbers
    child: Numbers
    leaf: Numbers


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions that the row meets, merged within each tree: one entry per tree and condition.

    Attributes
    ----------
    key : ndarray of int
        The condition: its feature times the number of kinds, plus its kind.
    tree : ndarray of int
        The tree.
    change : ndarray of float
        The change of the tree's prediction by the condition.
    bound : ndarray of float
        The tightest threshold, with its sign changed for "above", so that smaller is always tighter; 0 for the other
        kinds.
    """

    key: Numbers
    tree: Numbers
    change: Floats
    bound: Floats

    @cached_property
    def keys(self) -> Numbers:
        """The distinct conditions."""
        return np.unique(self.key)

    @property
    def feature(self) -> Numbers:
        """The feature of each entry."""
        return self.key // len(KINDS)


def walk(forest: Forest, row: Floats) -> Steps:
    """Follow a row, which must be checked, through all trees at once, level by level.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.model import Forest
    >>> from particletree.posterior.row_paths import walk
    >>> forest = Forest.from_preorder(
    ...     offsets=[0, 3], feature=[0, -1, -1], threshold=[1.5, np.nan, np.nan], right=[2, -1, -1], block=[0, 1, 2],
    ...     gap_low=[1.0, np.nan, np.nan], gap_high=[2.0, np.nan, np.nan], statistics=np.ones((3, 2)),
    ... )
    >>> steps = walk(forest, np.array([7.0]))
    >>> steps.node.tolist(), steps.child.tolist()
    ([2], [0])
    """
    at, leaf = np.asarray(forest.roots, dtype=np.int64), np.array(forest.roots, dtype=np.int64)
    tree = np.arange(at.size)
    levels: list[tuple[Numbers, Numbers, Numbers]] = []
    while True:
        splits = forest.is_split[at]
        tree, at = tree[splits], at[splits]
        if tree.size == 0:
            break
        is_left = goes_left(row[forest.feature[at]], forest.nodes[at])
        child = np.where(is_left, forest.left[at], forest.right[at]).astype(np.int64)
        levels.append((tree, at, child))
        leaf[tree], at = child, child
    none = np.zeros(0, dtype=np.int64)
    trees, nodes, children = zip(*levels, strict=True) if levels else ((none,), (none,), (none,))
    return Steps(np.concatenate(trees), np.concatenate(nodes), np.concatenate(children), leaf)


def merge_conditions(forest: Forest, row: Floats, steps: Steps, node_means: Floats, columns: Columns) -> Conditions:
    """Merge the splits of each tree's path by feature and direction.

    Parameters
    ----------
    forest : Forest
        The trees.
    row : ndarray, shape (n_features,)
        The row.
    steps : Steps
        Its paths through the trees.
    node_means : ndarray, shape (n_nodes,)
        The prediction of each node as if it were a leaf.
    columns : Columns
        The kinds of the features.
    """
    kind = condition_kinds(forest, row, steps, columns)
    key = forest.feature[steps.node].astype(np.int64) * len(KINDS) + kind
    threshold = forest.nodes["threshold"][steps.node]
    bound = np.select([kind == AT_MOST, kind == ABOVE], [threshold, -threshold], 0.0)
    pairs, place = np.unique(key * forest.n_trees + steps.tree, return_inverse=True)
    change = np.bincount(place, weights=node_means[steps.child] - node_means[steps.node], minlength=pairs.size)
    tightest = np.full(pairs.size, np.inf)
    np.minimum.at(tightest, place, bound)
    return Conditions(pairs // forest.n_trees, pairs % forest.n_trees, change.astype(np.float64), tightest)


def condition_kinds(forest: Forest, row: Floats, steps: Steps, columns: Columns) -> Numbers:
    """Return the kind of condition that the row meets at each step."""
    nodes = forest.nodes[steps.node]
    went_left = steps.child == forest.left[steps.node]
    kind = np.where(went_left, AT_MOST, ABOVE)
    kind = np.where(is_presence(nodes), PRESENT, kind)
    kind = np.where(is_set(nodes), LEVEL, kind)
    return np.where(is_value_missing(row, columns)[nodes["feature"]], MISSING, kind)


def separated_levels(forest: Forest, row: Floats, steps: Steps, columns: Columns) -> dict[int, NDArray[np.bool_]]:
    """Return, for each categorical feature, which of its levels each tree's path separates from the row's value.

    Returns
    -------
    dict
        Arrays of shape (n_trees, n_levels), by the index of the feature.
    """
    separated = {}
    for feature, levels in columns.levels.items():
        at = forest.feature[steps.node] == feature
        nodes = forest.nodes[steps.node[at]]
        sides = goes_left(np.arange(float(len(levels)))[None, :], nodes[:, None])
        is_apart = sides != (steps.child == forest.left[steps.node])[at][:, None]
        found = np.zeros((forest.n_trees, len(levels)), dtype=np.bool_)
        np.logical_or.at(found, steps.tree[at], is_apart)
        separated[feature] = found
    return separated


def is_value_missing(row: Floats, columns: Columns) -> NDArray[np.bool_]:
    """Tell which values of a row are missing: nan, or for a categorical feature the number after the last level."""
    numbers = np.array([len(columns.levels[f]) if f in columns.levels else -1 for f in range(row.size)])
    return np.asarray(np.isnan(row) | (row == numbers))
