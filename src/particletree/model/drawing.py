"""A tree drawn as text: box lines, the rules with names, and the prediction of each leaf.

A leaf shows its prediction and its rows, as text from the leaf model. For classes these are the most probable class
with its probability, then the (weighted) number of rows and the largest classes among them::

    thresholds rounded between neighbouring values of the training data:
    petal length <= 2
    ├── yes: setosa, p = 0.94 (50 rows: 50 setosa)
    └── no: petal width <= 1.75
        ├── yes: versicolor, p = 0.86 (54 rows: 49 versicolor, 5 virginica)
        └── no: virginica, p = 0.91 (46 rows: 45 virginica, 1 versicolor)

Labels that are not words are called classes: `class 1, p = 0.97 (236 rows: 231 of class 1, 5 of class 0)`.

**The numbers in the rules** are the thresholds that the tree applies, with the fewest digits that identify the float. A
threshold is drawn at random between two neighbouring values of the data, so most of these digits carry no information.
`tree.rounded()` is a new tree with the roundest number strictly inside each gap (``rounding.py``), and its text says
so: it sends every training row to the same leaf as the original tree, and predicts with the thresholds that it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from particletree.model.tree import Tree

ROUNDED = "thresholds rounded between neighbouring values of the training data:"


def draw(tree: Tree, max_depth: int | None = None) -> str:
    """Draw a tree down to `max_depth`; each deeper part is one line with its number of leaves."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or at least 0, got {max_depth}.")
    header = [ROUNDED] if tree.is_rounded else []
    return "\n".join([*header, *(lead + text for _, lead, text in lines(tree, max_depth))])


def lines(tree: Tree, max_depth: int | None = None) -> Iterator[tuple[int, str, str]]:
    """Yield the nodes that are shown, in preorder, each with the prefix of its line and the text."""
    statistics = tree.node_statistics

    def describe_rows(node: int) -> str:
        return tree.leaf.describe_rows(statistics[node], tree.target)

    # (node, end of its subtree, depth, prefix of its line, prefix of its children's lines)
    pending = [(0, tree.n_nodes, 0, "", "")]
    while pending:
        node, end, depth, lead, indent = pending.pop()
        if tree.feature[node] < 0:
            text = f"{tree.leaf.describe_prediction(statistics[node], tree.target)} ({describe_rows(node)})"
        elif depth == max_depth:
            text = f"... {(end - node + 1) // 2} leaves ({describe_rows(node)})"
        else:
            text = tree.rules[node]
            right = int(tree.right[node])
            pending.append((right, end, depth + 1, f"{indent}└── no: ", f"{indent}    "))
            pending.append((node + 1, right, depth + 1, f"{indent}├── yes: ", f"{indent}│   "))
        yield node, lead, text
