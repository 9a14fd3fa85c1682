"""The layout of a tree in a figure: leaves evenly spaced, parents midway between their children.

The root is on the left and every depth is a column, so that a leaf is one line of text. Two nodes of a column are at
least one line apart, and nothing is to the right of a leaf on its line. If a tree has too many leaves, its deeper parts
are folded: a folded split shows only its number of leaves.

The support of a node is the posterior probability that a tree makes about the same splits down to it
(``_posterior/structure/support.py``). Phylogenetics writes the same number at the clades of a tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import format_probability, format_rows, shorten
from particletree._model.tree.tree import Tree
from particletree._plots.names import output_names
from particletree._posterior import Posterior
from particletree._posterior.predictions.leaf_mixtures import LeafMixtures, parameter_interval

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
N_POINTS = 60  # of a density curve
TAIL = 0.02  # probability beyond either end of the axis, in the leaf with the widest density


@dataclass(frozen=True, eq=False)
class TreeLayout:
    """The nodes of a tree that are shown, in preorder.

    Attributes
    ----------
    nodes : ndarray of int
        Their indices in the tree.
    depth, line : ndarray
        Position of each node: its column, and its line counted from the top (a half between two).
    parent : ndarray of int
        The index of its parent among those shown, -1 for the root.
    is_left : ndarray of bool
        Whether it is the left child, for rows for which the rule is true.
    n_leaves : ndarray of int
        Leaves of its subtree: 1 for a leaf, more for a split and a folded part.
    is_split : ndarray of bool
        Whether its rule and its children are shown.
    rules : tuple of str
        The rule of each split that is shown, with a rounded threshold; empty for the others.
    n_rows : ndarray
        (Weighted) number of training rows.
    means : ndarray, shape (n, n_outputs)
        Class probabilities or means.
    intervals : ndarray, shape (n, n_outputs, 2)
        Credible intervals of the class probabilities or means, given the tree.
    support : ndarray or None
        Posterior probability that a tree makes about the same splits from the root down to the node; nan for a folded
        part. None if no posterior was given.
    is_of_one_run : ndarray of bool or None
        Whether only one of several islands or chains has a tree that does so.
    """

    nodes: Indices
    depth: Indices
    line: Floats
    parent: Indices
    is_left: NDArray[np.bool_]
    n_leaves: Indices
    is_split: NDArray[np.bool_]
    rules: tuple[str, ...]
    n_rows: Floats
    means: Floats
    intervals: Floats
    support: Floats | None = None
    is_of_one_run: NDArray[np.bool_] | None = None

    @property
    def n_lines(self) -> int:
        """Number of lines: leaves and folded parts that are shown."""
        return int((~self.is_split).sum())


def tree_layout(tree: Tree, max_leaves: int = 30, level: float = 0.9, posterior: Posterior | None = None) -> TreeLayout:
    """Return the positions of the nodes of a tree, with their rules, predictions and probabilities.

    Parameters
    ----------
    tree : Tree
        For example `posterior.best_tree()`.
    max_leaves : int, default 30
        Maximal number of leaves and folded parts; deeper parts are folded until that holds.
    level : float, default 0.9
        Posterior probability of the credible intervals.
    posterior : Posterior, optional
        The posterior of the tree, for the probabilities of the nodes.

    Returns
    -------
    TreeLayout
        For each node that is shown its place (`depth`, `line`, `parent`), its rule (`rules`), its prediction (`means`,
        `intervals`) and its `support`, among others.
    """
    if max_leaves < 1:
        raise ValueError(f"max_leaves must be at least 1, got {max_leaves!r}.")
    n_leaves = np.ones(tree.n_nodes, dtype=np.int64)  # of each subtree; in preorder, children come after their parent
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:
        n_leaves[node] = n_leaves[tree.left[node]] + n_leaves[tree.right[node]]
    # The largest depth such that the tree, truncated there, has at most `max_leaves` leaves.
    n_splits = np.bincount(tree.node_depths[tree.feature >= 0], minlength=1)
    n_shown = 1 + np.concatenate(([0], np.cumsum(n_splits)))  # leaves of the tree truncated at each depth
    deepest = int(np.flatnonzero(n_shown <= max_leaves)[-1])
    nodes = np.flatnonzero(tree.node_depths <= deepest)
    is_split = (tree.feature[nodes] >= 0) & (tree.node_depths[nodes] < deepest)
    parent, is_left = parents(tree, nodes, is_split)
    statistics, rules = tree.node_statistics[nodes], tree.rounded().rules
    numbers = np.arange(nodes.size)[:, None]  # the intervals are those of each node as if it were a leaf
    intervals = parameter_interval(LeafMixtures(np.ones(numbers.shape), numbers, statistics), tree.leaf, level)
    found = None if posterior is None else posterior.node_probabilities(tree)
    is_folded = (tree.feature[nodes] >= 0) & ~is_split
    return TreeLayout(
        nodes=nodes,
        depth=tree.node_depths[nodes],
        line=lines(parent, is_split),
        parent=parent,
        is_left=is_left,
        n_leaves=n_leaves[nodes],
        is_split=is_split,
        rules=tuple(rules[node] if split else "" for node, split in zip(nodes, is_split, strict=True)),
        n_rows=tree.n_rows[nodes],
        means=tree.means[nodes],
        intervals=intervals.reshape(nodes.size, tree.target.n_outputs, 2),
        support=None if found is None else np.where(is_folded, np.nan, found.support[nodes]),
        is_of_one_run=None
        if found is None or posterior is None
        else (found.n_runs[nodes] == 1) & (posterior.n_islands > 1),
    )


@dataclass(frozen=True, eq=False)
class LeafDensities:
    """The distribution of a new observation in each leaf.

    Attributes
    ----------
    values : ndarray, shape (m,)
        The points of the densities, the same for all leaves; integers for counts.
    log_density : ndarray, shape (n, m)
        Log density, or log probability of a count, at each value, for each node that is shown.
    """

    values: Floats
    log_density: Floats


def leaf_densities(tree: Tree, layout: TreeLayout, output: int = 0) -> LeafDensities:
    """Return the predictive densities of the nodes that are shown, over a range that is the same for all leaves.

    Parameters
    ----------
    tree : Tree
        A tree that predicts numbers.
    layout : TreeLayout
        Its nodes that are shown.
    output : int, default 0
        Index of the target.
    """
    distributions = tree.leaf.predictive_distributions(tree.node_statistics[layout.nodes], output)
    leaves = distributions.select(~layout.is_split)
    low, high = float(leaves.quantile(TAIL).min()), float(leaves.quantile(TAIL, upper=True).max())
    values = np.linspace(low, high, N_POINTS)
    if distributions.is_discrete:
        values = np.unique(values.round())
    n, m = layout.nodes.size, values.size
    log_density = distributions.select(np.repeat(np.arange(n), m)).log_density(np.tile(values, n))
    return LeafDensities(values, log_density.reshape(n, m))


def parents(tree: Tree, nodes: Indices, is_split: NDArray[np.bool_]) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the index of each node's parent among those shown, and whether the node is its left child."""
    place = np.full(tree.n_nodes, -1)
    place[nodes] = np.arange(nodes.size)
    parent, is_left = np.full(nodes.size, -1), np.zeros(nodes.size, dtype=np.bool_)
    left, right = place[tree.left[nodes[is_split]]], place[tree.right[nodes[is_split]]]
    parent[left] = parent[right] = np.flatnonzero(is_split)
    is_left[left] = True
    return parent, is_left


def lines(parent: Indices, is_split: NDArray[np.bool_]) -> Floats:
    """Return the line of each node: one line per leaf, a parent midway between its children."""
    line = np.where(is_split, 0.0, np.cumsum(~is_split) - 1.0)
    for node in range(parent.size - 1, 0, -1):  # in preorder, children come after their parent
        line[parent[node]] += line[node] / 2
    return line


def has_classes(tree: Tree) -> bool:
    """Tell whether a tree predicts classes."""
    return isinstance(tree.target, ClassLabels)


# The texts in the figure of a tree: rules in boxes, notes beside leaves, probabilities of splits.

RULE_WIDTH = 18  # characters of a line in a box
NAME_WIDTH = 18  # characters of a class in a leaf


def wrap_rule(rule: str, width: int = RULE_WIDTH) -> str:
    r"""Break a rule after the name if it is too long for one line, and shorten both parts if necessary.

    Examples
    --------
    >>> from particletree._plots.tree_layout import wrap_rule
    >>> wrap_rule("worst concave points <= 0.14")
    'worst con…e points\n≤ 0.14'
    """
    name, rest = split_rule(rule)
    if len(name) + len(rest) < width:
        return f"{name} {rest}".strip()
    is_number = rest.startswith("≤")  # not shortened: its digits are needed to separate the rows
    return f"{shorten(name, width)}\n{rest if is_number else shorten(rest, width)}"


def split_rule(rule: str) -> tuple[str, str]:
    """Return the name of a rule's feature, and the rest of the rule."""
    for sign in (" <= ", " not in {", " in {", " is "):
        name, found, value = rule.rpartition(sign)
        if found:
            return name, f"{sign.strip()}{' ' * sign.endswith(' ')}{value}".replace("<=", "≤")
    return rule, ""


def leaf_notes(tree: Tree, layout: TreeLayout, output: int) -> list[str]:
    """Return the text beside each leaf or folded part, empty for the splits.

    It is the most probable class with its probability, or the mean with its interval; below it, the number of rows, and
    of the leaves that are folded.
    """
    notes = []
    for node, is_split in enumerate(layout.is_split.tolist()):
        if is_split:
            notes.append("")
            continue
        if has_classes(tree):
            best = int(layout.means[node].argmax())
            probability = format_probability(float(layout.means[node, best]))
            prediction = f"{shorten(output_names(tree.target)[best], NAME_WIDTH)} p {probability}"
        else:
            low, high = layout.intervals[node, output]
            prediction = f"{layout.means[node, output]:.3g} [{low:.3g}, {high:.3g}]"
        folded = f", {layout.n_leaves[node]} leaves" if layout.n_leaves[node] > 1 else ""
        notes.append(f"{prediction}\n{format_rows(float(layout.n_rows[node]))}{folded}")
    return notes


def longest_line(text: str) -> int:
    """Return the number of characters of the longest line."""
    return max(map(len, text.split("\n")))


def percent(probability: float) -> str:
    """Return a probability in percent; only exactly 0 and 1 are shown as 0% and 100%.

    Examples
    --------
    >>> from particletree._plots.tree_layout import percent
    >>> percent(0.004), percent(0.62), percent(0.999), percent(1.0)
    ('<1%', '62%', '>99%', '100%')
    """
    if 0 < probability < 0.01:
        return "<1%"
    return ">99%" if 0.99 < probability < 1 - 1e-9 else f"{probability:.0%}"
