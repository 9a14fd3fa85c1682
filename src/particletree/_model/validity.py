"""Validity checks of nodes and forests: one small function per rule, which raises a `ValueError` that names the rule.

The kernel follows the indices in a :class:`~particletree._model.forest.Forest` without bounds checks, so arrays from a
file must pass :func:`check_forest` first; the tests run it on what the samplers return. Each check may rely on the ones
before it in `RULES`. What holds for each node by itself, of single trees and of sums, is in :func:`check_nodes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model import rule
from particletree._model.columns import Columns
from particletree._model.forest import Forest
from particletree._model.leaf import LeafModel
from particletree._model.rule import NODE

SUM_TOLERANCE = 1e-6  # relative, because statistics are sums in floating point


def check_forest(forest: Forest, n_features: int | None = None) -> None:
    """Check every rule; `n_features`, if given, is the number of features that a node may cut."""
    for check in RULES:
        check(forest)
    if n_features is not None:
        check_features_known(forest.nodes, n_features)


def check_shapes(forest: Forest) -> None:
    """Check that nodes are records of `NODE`, roots a list, and the statistics a table with a hash for each block."""
    _require(forest.nodes.ndim == 1 and forest.nodes.dtype == NODE, "the nodes must be a list of records of nodes")
    _require(forest.roots.ndim == 1, "the roots must be a list")
    _require(
        forest.statistics.ndim == 2 and forest.statistics.shape[1] >= 1,
        "statistics must be a table of blocks by numbers, with at least one number",
    )
    _require(forest.row_hashes.shape == (forest.n_blocks,), "there must be a hash of the rows for each block")


def check_roots(forest: Forest) -> None:
    """Check that every tree has a root among the nodes."""
    outside = (forest.roots < 0) | (forest.roots >= forest.nodes.size)
    _forbid(outside, f"a root must lie between 0 and {forest.nodes.size - 1}, the last node", "tree")


def check_nodes(nodes: NDArray[Any], has_gaps: bool = True) -> None:
    """Check that leaves and splits are marked as such, and that splits have a rule and leaves none."""
    for name in ("feature", "left", "right"):
        _forbid(nodes[name] < -1, f"{name} must be -1 at a leaf and at least 0 at a split", "node")
    is_leaf = nodes["feature"] == -1
    wrong = (is_leaf != (nodes["left"] == -1)) | (is_leaf != (nodes["right"] == -1))
    _forbid(wrong, "a node must be a leaf in all of feature, left and right, or in none", "node")
    for fault, what in rule.faults(nodes, has_gaps):
        _forbid(fault, what, "node")


def check_features_known(nodes: NDArray[Any], n_features: int) -> None:
    """Check that no split cuts a feature that the data do not have."""
    _forbid(nodes["feature"] >= n_features, f"feature must be below {n_features}, the number of features", "node")


def check_columns(nodes: NDArray[Any], columns: Columns) -> None:
    """Check that each rule suits its feature, which must be known: sets of levels or cuts."""
    for wrong, what in rule.column_faults(nodes, columns):
        _forbid(wrong, what, "node")


def check_children_first(forest: Forest) -> None:
    """Check that children come before their parent, so that no path is infinite."""
    wrong = np.maximum(forest.left, forest.right) >= np.arange(forest.nodes.size)
    _forbid(wrong, "the children of a split must come before it", "node")


def check_sizes(forest: Forest) -> None:
    """Check that no tree has more leaves than there are distinct ones.

    The leaves of a tree hold different rows, so that no node occurs in a tree twice. Otherwise, a few nodes that are
    both children of their parent could make a tree too large for memory.
    """
    n_leaves = forest.sum_over_subtrees((~forest.is_split).astype(np.float64))  # floats cannot overflow silently
    too_large = n_leaves[forest.roots] > np.count_nonzero(~forest.is_split)
    _forbid(too_large, "a tree must not have more leaves than there are distinct ones", "tree")


def check_blocks(forest: Forest) -> None:
    """Check that every node has a row in the table of statistics."""
    outside = (forest.nodes["block"] < 0) | (forest.nodes["block"] >= forest.n_blocks)
    _forbid(outside, f"block must lie between 0 and {forest.n_blocks - 1}, the rows of statistics", "node")


def check_row_hashes(forest: Forest) -> None:
    """Check that all blocks have different hashes: equal ones would count as one block when posteriors are merged."""
    _require(np.unique(forest.row_hashes).size == forest.n_blocks, "every block must have a hash of its own")


def check_statistics_finite(forest: Forest) -> None:
    """Check that statistics are finite."""
    _forbid(~np.isfinite(forest.statistics).all(axis=1), "statistics must be finite numbers", "block")


def check_statistics_add_up(forest: Forest) -> None:
    """Check that the statistics of a split's children add up to its own."""
    split, block = np.flatnonzero(forest.is_split), forest.nodes["block"]
    parent, first, second = (
        forest.statistics[block[nodes]] for nodes in (split, forest.left[split], forest.right[split])
    )
    error = np.abs(first + second - parent).max(axis=1, initial=0.0)
    size = (np.abs(first) + np.abs(second) + np.abs(parent)).sum(axis=1) / 2
    wrong = np.zeros(forest.nodes.size, dtype=np.bool_)
    wrong[split[error > SUM_TOLERANCE * size]] = True
    _forbid(wrong, "the statistics of a split's children must add up to its own", "node")


def check_statistics_of(forest: Forest, leaf: LeafModel) -> None:
    """Check that the statistics are those of a leaf model."""
    for wrong, what in leaf.faults(forest.statistics):
        _forbid(wrong, what, "block")


RULES = (
    check_shapes,
    check_roots,
    lambda forest: check_nodes(forest.nodes),
    check_children_first,
    check_sizes,
    check_blocks,
    check_row_hashes,
    check_statistics_finite,
    check_statistics_add_up,
)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid forest: {rule}.")


def _forbid(wrong: Any, rule: str, what: str) -> None:
    """Raise an error with the rule and the first index where `wrong` is true, if any."""
    if wrong.any():
        raise ValueError(f"Not a valid forest: {rule}; {what} {int(np.argmax(wrong))} breaks this rule.")
