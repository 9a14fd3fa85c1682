r"""Posterior probabilities of splits: of every decision of a node, given the rows of the node.

A *state* is a block (a set of training rows) at a depth. A *decision* on it is to stop, or a *division*: a feature and
the two sets of rows that it makes. Given the division the subtrees are independent, and what happens below a node
depends on its rows and its depth alone, so these conditional probabilities determine the whole posterior
(``_inference/exact/recursion.py``); phylogenetics calls it the conditional clade distribution (Höhna & Drummond 2012,
Larget 2013). Weighted trees estimate them by frequencies,

.. math::
    P(\text{decision} \mid B, d) = \frac{\sum_t w_t \, [\text{tree } t \text{ has } B \text{ at depth } d \text{ and
    decides so}]}{\sum_t w_t \, [\text{tree } t \text{ has } B \text{ at depth } d]},

which pools all trees that have the block, whatever their splits above it. The product over the nodes of a tree is an
estimate of the tree's posterior probability that is also valid for trees that no particle has.

- The depth is part of a state because the prior probability of a split depends on it: without it, frequencies of a
  block at several depths would be mixed, and would not converge to the posterior.
- Thresholds within a gap make the same division, and so do different sides of values that the block does not have.
- Thresholds with a row between them are different decisions here, however close they are; ``support.py`` counts those
  that are about the same as one, and is what people are shown.
- Sets of levels have mirror images (`island in {A}`, `island in {B, C}`) with left and right exchanged; they divide the
  rows in the same way and are one division.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree._model.forest import Forest
from particletree._model.tree.tree import Tree

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Indices = NDArray[np.int64]
Key = tuple[int, int, int, int, int]  # depth, block, feature, and the hashes of the two sides, the smaller first


class NodeProbabilities(NamedTuple):
    """Posterior probabilities of each node of a tree, in the order of the tree's nodes.

    Attributes
    ----------
    conditional : ndarray, shape (n_nodes,)
        The probability of the node's decision (its division, or to stop), given that a tree has its block at its depth.
    marginal : ndarray, shape (n_nodes,)
        The probability that a tree has this block at this depth with this decision, whatever its other nodes.
    path : ndarray, shape (n_nodes,)
        The probability that a tree takes the same decisions at all nodes from the root down to this one.
    support : ndarray, shape (n_nodes,)
        The probability that a tree takes about the same decisions from the root down to this one: the number that plots
        and reports show (``support.py``). The other three count thresholds with a row between them as different.
    n_runs : ndarray of int, shape (n_nodes,)
        The number of islands or chains in which a tree does so; 0 for an exact posterior, which has none.
    """

    conditional: Floats
    marginal: Floats
    path: Floats
    support: Floats
    n_runs: Indices

    @property
    def log_tree(self) -> float:
        """Log probability of the whole tree, up to thresholds within gaps: the sum over its nodes."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.conditional).sum())


@dataclass(frozen=True, eq=False, repr=False)
class SplitGraph:
    """The decisions on all states, grouped by state, the most probable first.

    Attributes
    ----------
    depth, block : ndarray, shape (n_decisions,)
        The state: depth, and hash of the rows.
    left, right : ndarray, shape (n_decisions,)
        Hashes of the rows of the children by the rule in `nodes`; 0 if the decision is to stop.
    nodes : structured ndarray, shape (n_decisions,)
        A node with this decision and its rule; the feature is -1 if it stops.
    marginal : ndarray, shape (n_decisions,)
        Probability that a tree has the state with this decision.
    """

    depth: Indices
    block: Hashes
    left: Hashes
    right: Hashes
    nodes: NDArray[Any]
    marginal: Floats

    @classmethod
    def from_forest(cls, forest: Forest, weights: Floats) -> SplitGraph:
        """Return the decisions of weighted trees, each with its frequency."""
        depth, node, weight = _nodes_by_depth(forest, weights)
        hashes = forest.row_hashes[forest.nodes["block"]]
        is_split = forest.is_split[node]
        left, right = (np.where(is_split, hashes[child[node]], np.uint64(0)) for child in (forest.left, forest.right))
        return cls.from_entries(depth, hashes[node], left, right, forest.nodes[node], weight)

    @classmethod
    def from_entries(
        cls, depth: Indices, block: Hashes, left: Hashes, right: Hashes, nodes: NDArray[Any], weights: Floats
    ) -> SplitGraph:
        """Return the graph of decisions, of which entries may occur several times; their `weights` are added.

        The node of a decision is that of its first entry with the largest weight. Entries of weight 0 are left out.
        """
        one, other = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((-weights, other, one, nodes["feature"], block, depth))
        order = order[weights[order] > 0]
        first = np.flatnonzero(_changes(*(key[order] for key in (depth, block, nodes["feature"], one, other))))
        total, kept = np.add.reduceat(weights[order], first), order[first]
        by_state = np.lexsort((-total, block[kept], depth[kept]))
        kept = kept[by_state]
        return cls(depth[kept], block[kept], left[kept], right[kept], nodes[kept], total[by_state])

    @cached_property
    def first(self) -> Indices:
        """The first decision of each state."""
        return np.flatnonzero(_changes(self.depth, self.block))

    @cached_property
    def state(self) -> Indices:
        """The number of each decision's state."""
        return np.cumsum(_changes(self.depth, self.block)) - 1

    @cached_property
    def conditional(self) -> Floats:
        """The probability of each decision given its state."""
        return np.asarray(self.marginal / np.add.reduceat(self.marginal, self.first)[self.state])

    @cached_property
    def by_depth(self) -> list[slice]:
        """The slice of the decisions of each depth."""
        ends = np.searchsorted(self.depth, np.arange(int(self.depth[-1]) + 2)).tolist()
        return [slice(first, end) for first, end in pairwise(ends)]

    @cached_property
    def children(self) -> Indices:
        """The states of the left and right child of each decision, shape (2, n_decisions); -1 if it stops."""
        below = (self.depth + 1).tolist()
        sides = (zip(below, side.tolist(), strict=True) for side in (self.left, self.right))
        states = np.array([[self._number_of.get(state, -1) for state in side] for side in sides])
        return np.where(self.nodes["feature"] >= 0, states, -1)

    @cached_property
    def _number_of(self) -> dict[tuple[int, int], int]:
        """The index of each state."""
        states = zip(self.depth[self.first].tolist(), self.block[self.first].tolist(), strict=True)
        return {state: number for number, state in enumerate(states)}

    def decisions_of(self, depth: int, block: int) -> slice:
        """Return the slice of the decisions on a state, the most probable first; empty if no tree has the state."""
        number = self._number_of.get((depth, block))
        if number is None:
            return slice(0, 0)
        return slice(int(self.first[number]), int(np.append(self.first, self.depth.size)[number + 1]))

    @cached_property
    def _decisions(self) -> dict[Key, int]:
        """The index of each decision."""
        keys = _keys(self.depth, self.block, self.nodes["feature"], self.left, self.right)
        return {key: place for place, key in enumerate(keys)}

    def probabilities(self, tree: Tree) -> tuple[Floats, Floats, Floats]:
        """Return the conditional, marginal and path probability of each node of a tree."""
        if tree.row_hashes is None or tree.row_hashes[tree.nodes["block"][0]] != self.block[0]:
            raise ValueError("The tree is not one of this posterior: its root has other rows. Ask its own posterior.")
        hashes = tree.row_hashes[tree.nodes["block"]]
        is_split = tree.feature >= 0
        left, right = (np.where(is_split, hashes[child], np.uint64(0)) for child in (tree.left, tree.right))
        keys = _keys(tree.node_depths, hashes, tree.feature, left, right)
        place = np.array([self._decisions.get(key, -1) for key in keys])  # -1 for a decision that no tree takes
        conditional, marginal = (np.where(place >= 0, p[place], 0.0) for p in (self.conditional, self.marginal))
        path = conditional.copy()
        for node in np.flatnonzero(is_split):  # in preorder a node comes before its children
            for child in (tree.left[node], tree.right[node]):
                path[child] = path[node] * conditional[child]
        return conditional, np.minimum(marginal, 1.0), path


def _nodes_by_depth(forest: Forest, weights: Floats) -> tuple[Indices, Indices, Floats]:
    """Return all pairs of a depth and a node at that depth, with the weight of the trees that have the node there."""
    levels: list[tuple[Indices, Indices, Floats]] = []
    nodes, weight = _summed(forest.roots, weights)
    while nodes.size:
        levels.append((np.full(nodes.size, len(levels)), nodes, weight))
        split = forest.is_split[nodes]
        children = np.concatenate((forest.left[nodes[split]], forest.right[nodes[split]]))
        nodes, weight = _summed(children, np.tile(weight[split], 2))
    depth, node, total = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    return depth, node, total


def _summed(nodes: NDArray[Any], weights: Floats) -> tuple[Indices, Floats]:
    distinct, place = np.unique(nodes, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights, minlength=distinct.size)
    return distinct.astype(np.int64), total.astype(np.float64)


def _changes(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where sorted keys differ from the previous ones."""
    differs = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.concatenate(([True], differs))


def _keys(depth: Indices, block: Hashes, feature: NDArray[Any], left: Hashes, right: Hashes) -> list[Key]:
    columns = (depth, block, feature, np.minimum(left, right), np.maximum(left, right))
    return list(zip(*(column.tolist() for column in columns), strict=True))
