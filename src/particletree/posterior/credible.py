"""Credible sets of splits: the most probable decisions of a node, up to a given total probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.node import LEAF
from particletree.model.tree import Tree
from particletree.posterior.splits import SplitGraph

STOP = "stop"
ROUNDING = 1e-12  # tolerance for sums of probabilities that should reach the level


@dataclass(frozen=True)
class CredibleSplit:
    """One possible decision of a node.

    Attributes
    ----------
    feature : int or None
        The feature of the split; None if the node stops.
    rule : str
        The rule as text, "stop" if the node stops.
    probability : float
        Its posterior probability, given that a tree has the block of the node at its depth.
    low, high : float
        The range of thresholds that make this division of the rows, low <= threshold < high; nan if the rule is not a
        cut of numbers.
    """

    feature: int | None
    rule: str
    probability: float
    low: float
    high: float


def credible_splits(graph: SplitGraph, level: float, tree: Tree, node: int = 0) -> list[CredibleSplit]:
    """Return the smallest set of decisions on a node's block whose probabilities sum to at least `level`."""
    all_of_state = graph.alternatives(tree, node)
    probabilities = graph.conditional[all_of_state]
    n_needed = int(np.searchsorted(np.cumsum(probabilities), level - ROUNDING)) + 1
    records = graph.nodes[all_of_state][:n_needed]
    return [_describe(tree, node, record, float(p)) for record, p in zip(records, probabilities, strict=False)]


def _describe(tree: Tree, node: int, record: Any, probability: float) -> CredibleSplit:
    feature = int(record["feature"])
    if feature < 0:
        return CredibleSplit(None, STOP, probability, np.nan, np.nan)
    low, high = float(record["gap_low"]), float(record["gap_high"])
    return CredibleSplit(feature, _question(tree, node, record), probability, low, high)


def _question(tree: Tree, node: int, record: Any) -> str:
    """Return the text of a rule as it would read at a node of a tree."""
    n_nodes = tree.n_nodes
    nodes: NDArray[Any] = np.concatenate((tree.nodes, np.full(2, LEAF)))
    nodes[node] = record
    nodes["left"][node], nodes["right"][node] = n_nodes, n_nodes + 1
    changed = replace(tree, nodes=nodes)
    return (changed.rounded() if tree.is_rounded else changed).rules[node]
