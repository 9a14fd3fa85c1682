"""The trees in the form of the page's scripts: a table of shared nodes, roots, and weights.

A node has its feature and its rule: 0, a cut that sends missing values right; 1, one that sends them left; 2, whether
there is a value; 3, a set of levels. A set is the index of an entry of `sets`: hexadecimal digits whose bits, the first
for level 0, encode which levels go left; after the levels come the bits of missing values and of unseen levels
(``_model/rule.py``). So the scripts need no 64-bit words and hashes.

The trees that are shown separately have the support of each node (``_posterior/structure/support.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model import rule
from particletree._model.columns import Columns
from particletree._model.distributions import Lomax, NegativeBinomial, Normal, StudentT
from particletree._model.forest import Forest
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Categorical
from particletree._model.text import exact_json_numbers, json_numbers
from particletree._model.tree.tree import Tree
from particletree._posterior import Posterior
from particletree._posterior.structure.support import TOLERANCE

PRESENT, SET = 2, 3
SUPPORT_DIGITS = 5

Floats = NDArray[np.float64]
Singled = tuple[str, str, Tree]  # heading, remark, tree


def trees_section(posterior: Posterior, singled: Sequence[Singled], max_trees: int) -> tuple[dict[str, Any], Floats]:
    """Return the trees by weight and those that are shown separately, and the statistics of their nodes.

    Parameters
    ----------
    posterior : Posterior
        Its trees; those with the largest weights if there are more than `max_trees`.
    singled : sequence of (heading, remark, Tree)
        Single trees that need not be among them, with the texts of the page about each.
    max_trees : int
        Maximal number of trees in the page.
    """
    order = np.argsort(-posterior.weights, kind="stable")[:max_trees]
    forest, weights = posterior.forest.select(order), posterior.weights[order]
    trees = [tree for _, _, tree in singled]
    first = np.cumsum([forest.nodes.size, *(tree.n_nodes for tree in trees)]).tolist()
    nodes, statistics = joined(forest, trees, first)
    section = {
        "nodes": nodes_table(nodes, posterior.columns),
        "roots": forest.roots.tolist(),
        "weights": json_numbers(weights / weights.sum()),
        "held": json_numbers(weights.sum()),
        "total": posterior.forest.n_trees,
        "leaves": forest.n_leaves.tolist(),
        "depths": forest.depths.tolist(),
        "singled": [
            {"name": heading, "remark": remark, "root": root, "leaves": tree.n_leaves, "depth": tree.depth}
            for (heading, remark, tree), root in zip(singled, first, strict=False)
        ],
        "support": support_section(posterior, trees, first),
    }
    return section, statistics


def joined(forest: Forest, trees: Sequence[Tree], first: list[int]) -> tuple[NDArray[Any], Floats]:
    """Return the nodes of a forest and of further trees, numbered consecutively, and their statistics."""
    nodes, statistics = [forest.nodes], [forest.statistics]
    for tree, begin in zip(trees, first, strict=False):
        moved = tree.nodes.copy()
        moved["block"] = np.arange(tree.n_nodes) + sum(map(len, statistics))
        for side in ("left", "right"):
            moved[side] += np.where(tree.feature >= 0, np.int32(begin), np.int32(0))
        nodes.append(moved)
        statistics.append(tree.node_statistics)
    return np.concatenate(nodes), np.concatenate(statistics)


def nodes_table(nodes: NDArray[Any], columns: Columns) -> dict[str, Any]:
    """Return the columns of the nodes; thresholds and the ends of gaps have all their digits."""
    is_set = rule.is_set(nodes) & (nodes["feature"] >= 0)
    kinds = np.where(is_set, SET, np.where(rule.is_presence(nodes), PRESENT, nodes["kind"]))
    sets, places = level_sets(nodes, is_set, columns)
    table: dict[str, Any] = {name: nodes[name].tolist() for name in ("feature", "left", "right", "block")}
    table |= {"rule": kinds.astype(np.int64).tolist(), "set": places.tolist(), "sets": sets}
    table |= {"threshold": exact_json_numbers(np.where(is_set, np.nan, nodes["threshold"]))}
    return table | {"low": exact_json_numbers(nodes["gap_low"]), "high": exact_json_numbers(nodes["gap_high"])}


def level_sets(nodes: NDArray[Any], is_set: NDArray[np.bool_], columns: Columns) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct sets of levels, and the index of each node's set, -1 if it has none."""
    numbers: dict[str, int] = {}
    places = np.full(nodes.size, -1)
    for node in np.flatnonzero(is_set).tolist():
        n_numbers = len(columns.levels[int(nodes["feature"][node])]) + 2
        sides = rule.left_levels(nodes[node], np.arange(n_numbers))
        places[node] = numbers.setdefault(np.packbits(sides).tobytes().hex(), len(numbers))
    return list(numbers), places


def support_section(posterior: Posterior, trees: Sequence[Tree], first: list[int]) -> dict[str, Any]:
    """Return the support of each node of the trees that are shown separately, and the runs that it rests on."""
    found = [posterior.node_probabilities(tree) for tree in trees]
    nodes = [np.arange(tree.n_nodes) + begin for tree, begin in zip(trees, first, strict=False)]
    return {
        "node": np.concatenate(nodes).tolist(),
        "support": json_numbers(np.concatenate([each.support for each in found]), SUPPORT_DIGITS),
        "n_runs": np.concatenate([each.n_runs for each in found]).tolist(),
        "all_runs": 0 if posterior.is_exact else posterior.n_islands,
        "run": "chain" if posterior.is_chain else "island",
        "tolerance": TOLERANCE,
    }


# The statistics of the nodes, from which the page's scripts compute predictions and intervals.
#
# For classes a node has its nonzero class counts, as pairs of class and count; with the pseudo-count of the leaf model
# they give probabilities, and the parameters of Beta distributions. For numbers it has the number of rows, mean,
# standard deviation and the parameters of the distribution of a new observation.

FAMILIES = {StudentT: "student", Normal: "normal", NegativeBinomial: "negative binomial", Lomax: "lomax"}


def class_blocks(counts: Floats, leaf: LeafModel) -> dict[str, Any]:
    """Return class counts, with the pseudo-count per class or, if there is none, the probabilities."""
    pseudo = pseudo_count(counts, leaf)
    classes = [np.flatnonzero(row) for row in counts]
    pairs = [np.stack((some, row[some]), axis=1).ravel() for some, row in zip(classes, counts, strict=True)]
    return {
        "counts": [list(json_numbers(each)) for each in pairs],  # class, count, class, count, ...
        "pseudo": pseudo,
        "means": None if pseudo is not None else json_numbers(leaf.mean(counts)),
    }


def pseudo_count(counts: Floats, leaf: LeafModel) -> float | None:
    """Return the pseudo-count of every class; None for a leaf model whose probabilities have no common one."""
    if not isinstance(leaf, Categorical):
        return None
    nothing = np.zeros((1, counts.shape[1]))
    added = leaf.pseudo_counts(nothing)
    return float(added[0, 0]) if np.allclose(leaf.pseudo_counts(counts) - counts, added, atol=1e-6) else None


def number_blocks(statistics: Floats, leaf: LeafModel, n_outputs: int) -> dict[str, Any]:
    """Return the rows and, per target, the mean, standard deviation and distribution of a new observation."""
    deviations = np.hypot(*leaf.deviations(statistics))
    distributions = [leaf.predictive_distributions(statistics, output) for output in range(n_outputs)]
    return {
        "rows": json_numbers(leaf.n_rows(statistics)),
        "means": json_numbers(leaf.mean(statistics).T),
        "deviations": json_numbers(deviations.T),
        "family": FAMILIES.get(type(distributions[0])),
        "distributions": [
            [json_numbers(parameter) for parameter in distribution.parameters] for distribution in distributions
        ],
    }
