r"""A weighted mean of trees as a sum of fewer and smaller trees, for export to tree ensembles.

The mean over trees t of weight :math:`w_t` is a sum of trees whose leaf values are multiplied by :math:`w_t`. Written
like this, a decision that a hundred trees share occurs a hundred times. But trees that begin with the same rule can be
added below it::

    w1 * (x0 <= 1.5 ? a : (x1 <= 0.3 ? b : c))          x0 <= 1.5 ? w1 a + w2 a
    + w2 * (x0 <= 1.5 ? a : d)                    =               : (x1 <= 0.3 ? w1 b + w2 d : w1 c + w2 d)

A *part* is the set of nodes of the forest that a row can be in after some decisions, each with the weight of the trees
that have it there. The values of leaves among them are added to all leaves below. Of the rules of the other nodes, the
one with the largest subtrees is applied next; the nodes with other rules are left for a later tree, which repeats the
decisions on the path to them, contains as many such parts as fit without conflicts, and has the value 0 elsewhere. The
sum has about as many nodes as the forest, in which equal subtrees are stored once: on pen-digits and MAGIC 4 to 15
times fewer than the separate trees.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from particletree._model.forest import Forest
from particletree._model.rule import words

Floats = NDArray[np.float64]
Path: TypeAlias = tuple[tuple[int, bool], ...]  # nodes of the forest, and whether the row went left


@dataclass(frozen=True)
class SummedTree:
    """A tree of the sum, the root first.

    Attributes
    ----------
    rule : list of int
        The node of the forest whose rule each node applies, -1 at a leaf.
    left, right : list of int
        The children of each node, -1 at a leaf.
    values : list of ndarray
        The value of each leaf, for every output; unused for a node that splits.
    """

    rule: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)

    def add_leaf(self, value: Floats) -> int:
        """Append a leaf, and return its index."""
        for column, entry in ((self.rule, -1), (self.left, -1), (self.right, -1)):
            column.append(entry)
        self.values.append(value)
        return len(self.rule) - 1

    def split(self, leaf: int, rule: int) -> tuple[int, int]:
        """Split a leaf by the rule of a node of the forest, and return its children, with the value 0."""
        zeros = np.zeros_like(self.values[leaf])
        self.rule[leaf] = rule
        self.left[leaf], self.right[leaf] = self.add_leaf(zeros), self.add_leaf(zeros)
        return self.left[leaf], self.right[leaf]


class Part(NamedTuple):
    """The nodes that a row can be in, with their weights; the sum of the leaves above, and the path to the part."""

    weights: dict[int, float]
    said: Floats
    path: Path


Growing = dict[int, Part]  # leaves of a tree of the sum, and the parts that will grow there


class TreeSum:
    """Builds the sum of trees from a weighted mean."""

    def __init__(self, forest: Forest, weights: Floats, values: Floats) -> None:
        self._forest, self._values = forest, values[forest.nodes["block"]]
        self._nothing = np.zeros(values.shape[1])
        rule = (forest.feature, forest.nodes["kind"], words(forest.nodes))
        self._rules = list(zip(*(column.tolist() for column in rule), strict=True))
        roots: dict[int, float] = defaultdict(float)
        for root, weight in zip(forest.roots.tolist(), weights.tolist(), strict=True):
            roots[root] += weight
        self._pending = [Part(roots, self._nothing, ())]

    def trees(self) -> list[SummedTree]:
        """Return the trees of the sum."""
        found = []
        while self._pending:
            found.append(self._next_tree())
        return found

    def _next_tree(self) -> SummedTree:
        """Return a tree with as many of the pending parts as fit into it without conflicts."""
        tree, growing, later = SummedTree(), Growing(), []
        tree.add_leaf(self._nothing)
        for part in sorted(self._pending, key=lambda part: -len(part.path)):
            leaf = self._find_place(tree, part.path, growing)
            if leaf is None:
                later.append(part)
            else:
                growing[leaf] = part
        self._pending = later
        while growing:
            self._grow(tree, growing)
        return tree

    def _find_place(self, tree: SummedTree, path: Path, taken: Growing) -> int | None:
        """Repeat the decisions of a path in a tree, and return its leaf; None if the tree has other decisions."""
        leaf = 0
        for node, is_left in path:
            if leaf in taken or (tree.rule[leaf] >= 0 and self._rules[tree.rule[leaf]] != self._rules[node]):
                return None
            if tree.rule[leaf] < 0:
                tree.split(leaf, node)
            leaf = tree.left[leaf] if is_left else tree.right[leaf]
        return None if leaf in taken or tree.rule[leaf] >= 0 else leaf

    def _grow(self, tree: SummedTree, growing: Growing) -> None:
        """Split one of the growing leaves, unless it is complete; nodes with other rules are left for a later tree."""
        leaf, part = growing.popitem()
        said, groups = self._by_rule(part)
        tree.values[leaf] = said
        if not groups:
            return
        group, *others = groups
        self._pending += [Part(other, self._nothing, part.path) for other in others]
        rule = next(iter(group))
        for child, is_left in zip(tree.split(leaf, rule), (True, False), strict=True):
            growing[child] = Part(self._below(group, is_left), said, (*part.path, (rule, is_left)))

    def _by_rule(self, part: Part) -> tuple[Floats, list[dict[int, float]]]:
        """Return the sum of leaf values, including this part's leaves, and the other nodes by rule, largest first."""
        said, groups = part.said, defaultdict[tuple[int, ...], dict[int, float]](dict)
        for node, weight in part.weights.items():
            if self._forest.feature[node] < 0:
                said = said + weight * self._values[node]
            else:
                groups[self._rules[node]][node] = weight
        n_leaves = self._forest.n_leaves_of_nodes
        return said, sorted(groups.values(), key=lambda group: int(n_leaves[list(group)].sum()), reverse=True)

    def _below(self, group: dict[int, float], is_left: bool) -> dict[int, float]:
        """Return the children of nodes on one side; the weights of equal ones are added."""
        children, weights = self._forest.left if is_left else self._forest.right, defaultdict[int, float](float)
        for node, weight in group.items():
            weights[int(children[node])] += weight
        return weights


def sum_of_trees(forest: Forest, weights: Floats, values: Floats) -> list[SummedTree]:
    """Return trees whose sum is the weighted mean over a forest.

    Parameters
    ----------
    forest : Forest
        The trees.
    weights : ndarray, shape (n_trees,)
        Their weights.
    values : ndarray, shape (n_blocks, n_outputs)
        The value of a leaf with each block.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model import Forest
    >>> nan = np.nan
    >>> forest = Forest.from_preorder(
    ...     offsets=[0, 3, 4],
    ...     feature=[0, -1, -1, -1],
    ...     threshold=[1.5, nan, nan, nan],
    ...     gap_low=[1.0, nan, nan, nan],
    ...     gap_high=[2.0, nan, nan, nan],
    ...     right=[2, -1, -1, -1],
    ...     block=[0, 1, 2, 0],
    ...     statistics=np.zeros((3, 1)),
    ... )
    >>> (tree,) = sum_of_trees(forest, np.array([0.75, 0.25]), np.array([[8.0], [4.0], [12.0]]))
    >>> [value.tolist() for value in tree.values[1:]]  # 0.75 * 4 + 0.25 * 8 and 0.75 * 12 + 0.25 * 8
    [[5.0], [11.0]]
    """
    return TreeSum(forest, weights, values).trees()
