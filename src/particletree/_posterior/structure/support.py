r"""The support of the splits of a tree: the probability that a tree makes about the same splits.

A tree *supports* a node of another one if it makes about the same splits from the root down to this node, and there the
same decision. Two splits are about the same if they ask the same of the same feature, and at most :data:`TOLERANCE` of
the rows of a node change sides between them:

- cuts of numbers send missing values, if the feature has any, to the same side, and the shares of the rows that go left
  differ by at most the tolerance;
- sets of levels, which have no order, divide the same rows in the same way, or else all levels; a level that a split
  above has sent elsewhere does not count.

Values that no row of a node has, of levels or missing, go left or right by chance. Splits that divide the same rows in
the same way are the same whatever they do with those; of nodes with other rows it is not known, and the support is then
rather too low.

The **support** of a node is the posterior probability of the trees that support it: for weighted trees the sum of their
weights, for an exact posterior the sum over all trees. It never grows from a node to its children, and it is the number
that plots and reports show. The number of runs, islands or chains, that have a supporting tree says what it rests on: a
split that one run alone has found may be an accident of this run. (Phylogenetics writes the support of a clade at each
node of a tree in the same way.)

A tolerance is needed because thresholds that hardly any row lies between are different splits to the sampler: without
it, 7 islands whose first cut is in about the same place have 7 first splits, of 14% each. ``splits.py`` has these
probabilities of exact decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model import rule
from particletree._model.columns import Columns
from particletree._model.rule import LEAF
from particletree._model.tree.tree import Tree
from particletree._posterior.structure.splits import SplitGraph
from particletree._posterior.weighted_trees import WeightedTrees

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Present = dict[int, Flags]  # the levels, and missing, of a categorical feature that the splits above have left over

TOLERANCE = 0.1
"""The largest share of a node's rows that two splits may send to different sides and count as about the same."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Decisions(ABC):
    """What the trees of a posterior decide at one node of a tree, of those that make about the same splits above it.

    Attributes
    ----------
    nodes : structured ndarray, shape (n_decisions,)
        A node with the rule of each decision; the feature is -1 if it stops.
    blocks : ndarray, shape (n_decisions,)
        Hash of the rows of each node.
    sides : ndarray, shape (2, n_decisions)
        Hashes of the rows of its children; 0 if it stops.
    shares : ndarray, shape (n_decisions,)
        The share of its rows that go left; 0 if it stops.
    weights : ndarray, shape (n_decisions,)
        The posterior probability of each decision.
    """

    nodes: NDArray[Any]
    blocks: Hashes
    sides: Hashes
    shares: Floats
    weights: Floats

    @abstractmethod
    def below(self, chosen: Indices, is_right: Flags) -> Decisions:
        """Return the decisions at the left or right child of each of the chosen ones."""

    @abstractmethod
    def n_runs(self, chosen: Indices) -> int:
        """Return the number of runs in which the chosen decisions occur; 0 where there are no runs."""


@dataclass(frozen=True, eq=False)
class TreeDecisions(Decisions):
    """The decisions of weighted trees: one entry for each tree, numbered by `trees`."""

    posterior: WeightedTrees
    trees: Indices

    @classmethod
    def of(cls, posterior: WeightedTrees, nodes: NDArray[Any], trees: Indices) -> TreeDecisions:
        """Return the decisions of trees at the given nodes of the forest, one node for each."""
        forest, is_split = posterior.forest, posterior.forest.is_split[nodes]
        records = forest.nodes[nodes]
        blocks = [forest.nodes["block"][np.where(is_split, side[nodes], nodes)] for side in (forest.left, forest.right)]
        n_rows = posterior.leaf.n_rows(forest.statistics)
        return cls(
            records,
            forest.row_hashes[records["block"]],
            np.where(is_split, forest.row_hashes[np.stack(blocks)], np.uint64(0)),
            np.where(is_split, n_rows[blocks[0]] / n_rows[records["block"]], 0.0),
            posterior.weights[trees],
            posterior,
            trees,
        )

    def below(self, chosen: Indices, is_right: Flags) -> TreeDecisions:
        """Return the decisions of the chosen trees at the left or right child."""
        records = self.nodes[chosen]
        return self.of(self.posterior, np.where(is_right, records["right"], records["left"]), self.trees[chosen])

    def n_runs(self, chosen: Indices) -> int:
        """Return the number of islands or chains that have one of the chosen trees."""
        is_chosen = np.zeros(self.posterior.forest.n_trees)
        is_chosen[self.trees[chosen]] = 1.0
        return int((self.posterior.island_weights @ is_chosen > 0).sum())


@dataclass(frozen=True, eq=False)
class GraphDecisions(Decisions):
    """The decisions of all trees, from an exact graph: entries of the graph, numbered by `places`."""

    graph: SplitGraph
    n_rows: Floats  # of each block, by its hash, which is its number
    places: Indices

    @classmethod
    def of(cls, graph: SplitGraph, n_rows: Floats, places: Indices, weights: Floats) -> GraphDecisions:
        """Return the decisions at the given places of the graph."""
        nodes, sides = graph.nodes[places], np.stack((graph.left[places], graph.right[places]))
        shares = np.where(nodes["feature"] < 0, 0.0, n_rows[sides[0]] / n_rows[graph.block[places]])
        return cls(nodes, graph.block[places], sides, shares, weights, graph, n_rows, places)

    def below(self, chosen: Indices, is_right: Flags) -> GraphDecisions:
        """Return the decisions on the states of the left or right children."""
        graph = self.graph
        reached = np.bincount(
            graph.children[is_right.astype(int), self.places[chosen]], self.weights[chosen], graph.first.size
        )
        weights = reached[graph.state] * graph.conditional
        places = np.flatnonzero(weights)
        return self.of(graph, self.n_rows, places, weights[places])

    def n_runs(self, chosen: Indices) -> int:
        """Return 0: there are no runs."""
        return 0


def supports(tree: Tree, everything: Decisions, columns: Columns) -> tuple[Floats, Indices]:
    """Return the support of each node of a tree, and the number of runs that have a tree which supports it."""
    support, n_runs = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes, dtype=np.int64)
    for node, decisions, same, _ in walk(tree, everything, columns):
        support[node], n_runs[node] = decisions.weights[same].sum(), decisions.n_runs(same)
    return np.minimum(support, 1.0), n_runs


def walk(tree: Tree, everything: Decisions, columns: Columns) -> Iterator[tuple[int, Decisions, Indices, Present]]:
    """Yield each node of a tree with the decisions there, the indices of those about like its own, and the levels left.

    Parameters
    ----------
    tree : Tree
        A tree on the same training rows.
    everything : Decisions
        The decisions at the root.
    columns : Columns
        The kinds of the features.
    """
    present: Present = {
        feature: np.ones(len(levels) + (feature in columns.missing), dtype=np.bool_)  # the last one is missing
        for feature, levels in columns.levels.items()
    }
    pending = [(0, everything, present)]
    while pending:
        node, decisions, present = pending.pop()
        same, is_mirrored = same_as(tree, node, decisions, columns, present)
        yield node, decisions, same, present
        feature = int(tree.feature[node])
        if feature < 0:
            continue
        for is_right, child in ((True, tree.right[node]), (False, tree.left[node])):
            pending.append(
                (int(child), decisions.below(same, is_mirrored ^ is_right), _kept(tree, node, present, is_right))
            )


def _kept(tree: Tree, node: int, present: Present, is_right: bool) -> Present:
    """Return the levels that a split leaves over on one of its sides; all if it leaves none."""
    feature = int(tree.feature[node])
    if feature not in present:
        return present
    levels = np.flatnonzero(present[feature])
    kept = np.zeros_like(present[feature])
    kept[levels[rule.left_levels(tree.nodes[node], levels) != is_right]] = True
    return present | {feature: kept} if kept.any() else present


def same_as(tree: Tree, node: int, decisions: Decisions, columns: Columns, present: Present) -> tuple[Indices, Flags]:
    """Return the indices of the decisions that are about that of a node, and which of them exchange left and right."""
    with_own = append_own(tree, node, decisions)
    family, is_mirrored = families(with_own, columns, present)
    is_near = np.abs(with_own.shares - with_own.shares[-1]) <= TOLERANCE + ROUNDING
    is_near |= rule.is_set(with_own.nodes) & (with_own.nodes["feature"] >= 0)
    same = np.flatnonzero((family == family[-1])[:-1] & is_near[:-1])
    return same, is_mirrored[same] ^ is_mirrored[-1]


def append_own(tree: Tree, node: int, decisions: Decisions) -> Decisions:
    """Return the decisions and, as the last one, that of a node of a tree, with weight 0."""
    own, hashes = tree.nodes[node : node + 1], tree.row_hashes
    if hashes is None:
        raise ValueError("The tree has no hashes of its rows: take one of the posterior's own trees.")
    is_split = tree.feature[node] >= 0
    children = [tree.left[node], tree.right[node]]
    share = tree.n_rows[children[0]] / tree.n_rows[node] if is_split else 0.0
    sides = hashes[tree.nodes["block"][children]] if is_split else np.zeros(2, dtype=np.uint64)
    return replace(
        decisions,
        nodes=np.concatenate((decisions.nodes, own)),
        blocks=np.append(decisions.blocks, hashes[own["block"]]),
        sides=np.column_stack((decisions.sides, sides)),
        shares=np.append(decisions.shares, share),
        weights=np.append(decisions.weights, 0.0),
    )


def families(decisions: Decisions, columns: Columns, present: Present) -> tuple[Indices, Flags]:
    """Return a number for each decision, and whether it exchanges left and right compared with its family.

    Decisions of a family differ by nothing but the place of a cut: all that stop, that cut a feature with missing
    values on the same side, that ask whether it is present, or that divide the levels in the same way.
    """
    left, right = decisions.sides
    feature = decisions.nodes["feature"].astype(np.int64)
    divisions = np.stack((feature.view(np.uint64), decisions.blocks, np.minimum(left, right), np.maximum(left, right)))
    division = np.unique(divisions, axis=1, return_inverse=True)[1].ravel()
    last = np.zeros(feature.size, dtype=np.int64)
    last[division] = np.arange(feature.size)
    like = last[division]  # the same rows divided in the same way: what the rule does with others does not matter
    nodes, is_mirrored = decisions.nodes[like], left != left[like]
    question = np.where(
        np.isin(feature, list(columns.missing)), nodes["kind"].astype(np.int64) + 4 * rule.is_presence(nodes), 0
    )
    keys = np.stack((feature, question, np.zeros_like(feature)))
    for each in set(feature.tolist()) & set(columns.levels):
        some = np.flatnonzero(feature == each)
        levels = levels_left(nodes[some], present[each])
        is_mirrored[some] ^= levels[:, 0]
        keys[2, some] = np.unique(levels ^ levels[:, :1], axis=0, return_inverse=True)[1].ravel()
    return np.unique(keys, axis=1, return_inverse=True)[1].ravel().astype(np.int64), is_mirrored


def levels_left(nodes: NDArray[Any], present: Flags) -> Flags:
    """Tell which of the levels that are present each node sends left, shape (n_nodes, n_present)."""
    return np.stack([rule.left_levels(node, np.flatnonzero(present)) for node in nodes])


def groups_of(decisions: Decisions, columns: Columns, present: Present) -> Iterator[tuple[int, Indices]]:
    """Yield groups of decisions that are about the same, the most probable first: the middle one, and all of them.

    The first group is the set of most weight among those within the tolerance of one decision; its middle is that
    decision. The next groups are found in the same way among the rest, so that every decision is in one group.
    """
    family, _ = families(decisions, columns, present)
    position = 2.0 * family + np.where(rule.is_set(decisions.nodes), 0.0, decisions.shares)
    order = np.lexsort((-decisions.weights, position))
    while order.size:
        place, weight = position[order], np.concatenate(([0.0], np.cumsum(decisions.weights[order])))
        first = np.searchsorted(place, place - TOLERANCE - ROUNDING)
        end = np.searchsorted(place, place + TOLERANCE + ROUNDING, side="right")
        total = weight[end] - weight[first]
        best = np.flatnonzero(total >= total.max() - ROUNDING)
        middle = int(best[np.argmax(decisions.weights[order[best]])])
        yield int(order[middle]), order[first[middle] : end[middle]]
        order = np.delete(order, np.arange(first[middle], end[middle]))


# Credible sets of splits: the most probable decisions of a node, up to a given total probability.
#
# Splits that are about the same count as one (``support.py``).

STOP = "stop"
SUMS_TO_LEVEL = 1e-12  # tolerance for sums of probabilities that should reach the level


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
        if sum(split.probability for split in found) >= level - SUMS_TO_LEVEL:
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
