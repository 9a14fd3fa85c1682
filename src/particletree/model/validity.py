"""What makes flat arrays a forest: one small function a rule, each of which raises a `ValueError` that names its rule.

The kernel follows the numbers in a :class:`~particletree.model.tree.Forest` without looking back, so arrays from
outside (a file) must pass :func:`check_forest` first; the tests run it on what the samplers return. Each rule may rely
on the ones before it in `RULES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from particletree.model.tree import Forest

COUNT_TOLERANCE = 1e-6  # of the parent's total: weighted counts are sums in floating point
LARGEST_COUNT = 2e12  # data/weights.py allows half of that in all: beyond, the log marginal has no digits left


def check_forest(forest: Forest, n_features: int | None = None) -> None:
    """Check every rule; `n_features`, if given, bounds the features that a node may cut."""
    for rule in RULES:
        rule(forest)
    if n_features is not None:
        check_features_known(forest, n_features)


def check_shapes(forest: Forest) -> None:
    """Check that the node columns have one entry for each node and that counts are a table."""
    names = ("feature", "threshold", "gap_low", "gap_high", "left", "right", "block")
    columns = [getattr(forest, name) for name in names]
    _require(
        all(column.ndim == 1 and column.size == forest.feature.size for column in columns),
        "the columns of the nodes must be one-dimensional and of the same length",
    )
    _require(
        forest.counts.ndim == 2 and forest.counts.shape[1] >= 1,
        "counts must be a table of blocks by classes, with at least one class",
    )


def check_offsets(forest: Forest) -> None:
    """Check that offsets lead from 0 to the number of nodes, and that no tree is empty."""
    offsets = forest.offsets
    _require(
        offsets.ndim == 1 and offsets.size >= 1 and offsets[0] == 0 and offsets[-1] == forest.feature.size,
        "offsets must lead from 0 to the number of nodes",
    )
    # Compared in pairs, not subtracted: a difference of hostile numbers may overflow into a positive one.
    _forbid(offsets[1:] <= offsets[:-1], "offsets must increase, so that every tree has a node", "tree")


def check_leaves_marked(forest: Forest) -> None:
    """Check that a leaf has feature, left and right -1, and that a split has none of them negative."""
    for name in ("feature", "left", "right"):
        _forbid(getattr(forest, name) < -1, f"{name} must be -1 at a leaf and at least 0 at a split", "node")
    is_leaf = forest.feature == -1
    wrong = (is_leaf != (forest.left == -1)) | (is_leaf != (forest.right == -1))
    _forbid(wrong, "a node must be a leaf in all of feature, left and right, or in none", "node")


def check_left_is_next(forest: Forest) -> None:
    """Check that the left child of a split is the next node (preorder)."""
    position, _, is_split = _positions(forest)
    _forbid(is_split & (forest.left != position + 1), "the left child must be the next node", "node")


def check_right_inside(forest: Forest) -> None:
    """Check that the right child of a split lies in the same tree, after the left child."""
    position, size, is_split = _positions(forest)
    outside = (forest.right <= position + 1) | (forest.right >= size)
    _forbid(is_split & outside, "the right child must lie inside the tree, after the left child", "node")


def check_one_parent(forest: Forest) -> None:
    """Check that every node but the roots is the child of exactly one split."""
    _, _, left, right = forest.splits()
    n_parents = np.bincount(np.concatenate((left, right)), minlength=forest.feature.size)
    n_parents[forest.offsets[:-1]] += 1
    _forbid(n_parents != 1, "every node but the root must have exactly one parent", "node")


def check_preorder(forest: Forest) -> None:
    """Check that the right child of a split is the first node after its left subtree.

    Read a split as an opening bracket and a leaf as a closing one: the leaf that ends the left subtree closes the
    bracket of the split. At one level of nesting brackets open and close in turns, so listing both by level, in order,
    pairs them. The last leaf of a tree closes nothing.
    """
    is_split = forest.feature >= 0
    level = np.cumsum(np.where(is_split, 1, -1))
    closes = ~is_split
    closes[forest.offsets[1:] - 1] = False
    opening, closing = np.flatnonzero(is_split), np.flatnonzero(closes)
    opening = opening[np.argsort(level[opening], kind="stable")]
    closing = closing[np.argsort(level[closing], kind="stable")]
    root = forest.offsets[np.searchsorted(forest.offsets, opening, side="right") - 1]
    wrong = np.zeros(is_split.size, dtype=np.bool_)
    wrong[opening] = root + forest.right[opening] != closing + 1
    _forbid(wrong, "the right child must be the first node after the left subtree", "node")


def check_thresholds(forest: Forest) -> None:
    """Check that thresholds are finite at splits and nan at leaves."""
    is_split = forest.feature >= 0
    _forbid(is_split & ~np.isfinite(forest.threshold), "the threshold of a split must be finite", "node")
    _forbid(~is_split & ~np.isnan(forest.threshold), "the threshold of a leaf must be nan", "node")


def check_gaps(forest: Forest) -> None:
    """Check that the threshold of a split lies in its gap, gap_low <= threshold < gap_high; leaves have none."""
    is_split = forest.feature >= 0
    for name in ("gap_low", "gap_high"):
        ends = getattr(forest, name)
        _forbid(is_split & ~np.isfinite(ends), f"{name} of a split must be finite", "node")
        _forbid(~is_split & ~np.isnan(ends), f"{name} of a leaf must be nan", "node")
    outside = (forest.threshold < forest.gap_low) | (forest.threshold >= forest.gap_high)
    _forbid(is_split & outside, "a threshold must lie in its gap, gap_low <= threshold < gap_high", "node")


def check_blocks(forest: Forest) -> None:
    """Check that every node has a row in the table of counts."""
    outside = (forest.block < 0) | (forest.block >= forest.n_blocks)
    _forbid(outside, f"block must lie between 0 and {forest.n_blocks - 1}, the rows of counts", "node")


def check_counts(forest: Forest) -> None:
    """Check that counts are neither negative nor too large, and that no block is without rows."""
    wrong = (~np.isfinite(forest.counts) | (forest.counts < 0)).any(axis=1)
    _forbid(wrong, "counts must be finite numbers of at least 0", "block")
    _forbid((forest.counts > LARGEST_COUNT).any(axis=1), f"counts must be at most {LARGEST_COUNT:g}", "block")
    _forbid(~(forest.counts > 0).any(axis=1), "the counts of a block must have a positive, finite sum", "block")


def check_counts_add_up(forest: Forest) -> None:
    """Check that the counts of a split's children add up to its own."""
    _, node, left, right = forest.splits()
    # Trees share blocks, so the same three blocks meet in many trees: look at each meeting once.
    family = np.unique(np.stack([forest.block[nodes] for nodes in (node, left, right)]), axis=1)
    parent, first, second = (forest.counts[blocks] for blocks in family)
    error = np.abs(first + second - parent).max(axis=1)
    wrong = np.zeros(forest.n_blocks, dtype=np.bool_)
    wrong[family[0][error > COUNT_TOLERANCE * parent.sum(axis=1)]] = True
    _forbid(wrong, "the counts of a split's children must add up to its own", "block")


def check_features_known(forest: Forest, n_features: int) -> None:
    """Check that no split cuts a feature that the data do not have."""
    _forbid(forest.feature >= n_features, f"feature must be below {n_features}, the number of features", "node")


RULES = (
    check_shapes,
    check_offsets,
    check_leaves_marked,
    check_left_is_next,
    check_right_inside,
    check_one_parent,
    check_preorder,
    check_thresholds,
    check_gaps,
    check_blocks,
    check_counts,
    check_counts_add_up,
)


def _positions(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return each node's number within its tree, the size of its tree, and whether it splits."""
    sizes = forest.n_nodes
    position = np.arange(forest.feature.size) - np.repeat(forest.offsets[:-1], sizes)
    return position, np.repeat(sizes, sizes), forest.feature >= 0


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid forest: {rule}.")


def _forbid(wrong: Any, rule: str, what: str) -> None:
    """Raise with the rule and the first offender where `wrong` is true."""
    if wrong.any():
        raise ValueError(f"Not a valid forest: {rule}; {what} {int(np.argmax(wrong))} breaks this rule.")
