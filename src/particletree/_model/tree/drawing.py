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
`tree.rounded()` is a new tree with the roundest number strictly inside each gap (``rule.py``), and its text says
so: it sends every training row to the same leaf as the original tree, and predicts with the thresholds that it shows.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

import numpy as np

from particletree._model.target import ClassLabels
from particletree._model.tree.arrays import TreeArrays

ROUNDED = "thresholds rounded between neighbouring values of the training data:"


def draw(tree: TreeArrays, max_depth: int | None = None) -> str:
    """Draw a tree down to `max_depth`; each deeper part is one line with its number of leaves."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or at least 0, got {max_depth}.")
    header = [ROUNDED] if tree.is_rounded else []
    return "\n".join([*header, *(lead + text for _, lead, text in lines(tree, max_depth))])


def lines(tree: TreeArrays, max_depth: int | None = None) -> Iterator[tuple[int, str, str]]:
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


# A tree as HTML for notebooks: its text with a bar at each leaf, inline styles, no script, for light and dark themes.
#
# For class labels the bar is divided by the class probabilities, in the order of the target; for numbers its length is
# the mean of the first target, scaled between the lowest and the highest leaf. All text from the data is escaped.

# The colour-blind-safe palette of Okabe and Ito, without black and yellow.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
BAR = "display:inline-block;width:5em;height:.75em;margin-right:.6em;background:rgba(128,128,128,.25);line-height:0"
PIECE = "display:inline-block;height:100%;width:{:.4g}%;background:{}"
LEAST = 0.005  # smallest share of a bar that is drawn


def to_html(tree: TreeArrays, max_depth: int | None = None) -> str:
    """Return the tree as HTML, down to `max_depth`.

    Examples
    --------
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
    >>> tree = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_.consensus_tree()
    >>> to_html(tree).count("width:5em"), tree.n_leaves
    (2, 2)
    """
    if isinstance(tree.target, ClassLabels):
        shares = tree.means  # of each segment of a node's bar in its full length
    else:
        means = tree.means[:, :1]
        low, high = (f(means[tree.feature < 0]) for f in (np.min, np.max))
        with np.errstate(over="ignore", invalid="ignore"):
            shares = np.nan_to_num(np.clip((means - low) / (high - low), 0.0, 1.0), nan=1.0)
    shown = [html.escape(ROUNDED)] if tree.is_rounded else []
    for node, lead, text in lines(tree, max_depth):
        bar = ""
        if tree.feature[node] < 0:
            pieces = [
                f'<span style="{PIECE.format(100 * share, COLOURS[place % len(COLOURS)])}"></span>'
                for place, share in enumerate(shares[node].tolist())
                if share >= LEAST
            ]
            bar = f'<span style="{BAR}">{"".join(pieces)}</span>'
        shown.append(html.escape(lead) + bar + html.escape(text))
    return f'<pre style="line-height:1.35">{"<br>".join(shown)}</pre>'
