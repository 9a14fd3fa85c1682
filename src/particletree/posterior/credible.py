"""Credible sets of splits: the most probable decisions of a node, up to a given total probability.

Splits that are about the same count as one (``support.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.node import LEAF
from particletree.model.tree import Tree
from particletree.posterior.support import Decisions, groups_of, walk

STOP = "stop"
ROUNDING = 1e-12  # tolerance for sums of probabilities that should reach the level


@dataclass(frozen=True)
class CredibleSplit:
    """One possible decision of a node: a split, with all that are about the same, or to stop.

    Attributes
    ----------
    feature : int or None
        The feature of the split; None if the node stops.
    rule : str
        The rule as text, "stop" if the node stops; of several that are about the same, the middle one.
    probability : float
        The posterior probability of these decisions, of the trees that make about the same splits above the node.
    low, high : float
        The range of their thresholds, low <= threshold < high; nan if the rule is not a cut of numbers.
    n_runs : int
        The number of islands or chains in which a tree decides so; 0 for an exact posterior, which has none.
    """

    feature: int | None
    rule: str
    probability: float
    low: float
    high: float
    n_runs: int


def credible_splits(everything: Decisions, level: float, tree: Tree, node: int = 0) -> list[CredibleSplit]:
    """Return the smallest set of decisions at a node whose probabilities sum to at least `level`."""
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"node must be one of the tree's, from 0 to {tree.n_nodes - 1}, got {node}.")
    decisions, present = next(
        (decisions, present) for at, decisions, _, present in walk(tree, everything, tree.columns) if at == node
    )
    found: list[CredibleSplit] = []
    for middle, group in groups_of(decisions, tree.columns, present):
        if sum(split.probability for split in found) >= level - ROUNDING:
            break
        probability = float(decisions.weights[group].sum() / decisions.weights.sum())
        record, n_runs = decisions.nodes[middle], decisions.n_runs(group)
        if record["feature"] < 0:
            found.append(CredibleSplit(None, STOP, probability, np.nan, np.nan, n_runs))
            continue
        low, high = float(decisions.nodes["gap_low"][group].min()), float(decisions.nodes["gap_high"][group].max())
        question = _question(tree, node, record)
        found.append(CredibleSplit(int(record["feature"]), question, probability, low, high, n_runs))
    return found


def _question(tree: Tree, node: int, record: Any) -> str:
    """Return the text of a rule as it would read at a node of a tree."""
    n_nodes = tree.n_nodes
    nodes: NDArray[Any] = np.concatenate((tree.nodes, np.full(2, LEAF)))
    nodes[node] = record
    nodes["left"][node], nodes["right"][node] = n_nodes, n_nodes + 1
    changed = replace(tree, nodes=nodes)
    return (changed.rounded() if tree.is_rounded else changed).rules[node]
