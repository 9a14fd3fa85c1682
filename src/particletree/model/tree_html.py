"""A tree as HTML for notebooks: its text with a bar at each leaf, inline styles, no script, for light and dark themes.

For class labels the bar is divided by the class probabilities, in the order of the target; for numbers its length is
the mean of the first target, scaled between the lowest and the highest leaf. All text from the data is escaped.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from particletree.model import drawing
from particletree.model.target import ClassLabels

if TYPE_CHECKING:
    from particletree.model.tree import Tree

# The colour-blind-safe palette of Okabe and Ito, without black and yellow.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
BAR = "display:inline-block;width:5em;height:.75em;margin-right:.6em;background:rgba(128,128,128,.25);line-height:0"
PIECE = "display:inline-block;height:100%;width:{:.4g}%;background:{}"
LEAST = 0.005  # smallest share of a bar that is drawn


def to_html(tree: Tree, max_depth: int | None = None) -> str:
    """Return the tree as HTML, down to `max_depth`.

    Examples
    --------
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
    >>> tree = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_.consensus_tree()
    >>> to_html(tree).count("width:5em"), tree.n_leaves
    (2, 2)
    """
    shares = _shares(tree)
    lines = [html.escape(drawing.ROUNDED)] if tree.is_rounded else []
    for node, lead, text in drawing.lines(tree, max_depth):
        bar = _bar(shares[node]) if tree.feature[node] < 0 else ""
        lines.append(html.escape(lead) + bar + html.escape(text))
    return f'<pre style="line-height:1.35">{"<br>".join(lines)}</pre>'


def _shares(tree: Tree) -> NDArray[np.float64]:
    """Return the segments of each node's bar as shares of its full length."""
    if isinstance(tree.target, ClassLabels):
        return tree.means
    means = tree.means[:, :1]
    low, high = (f(means[tree.feature < 0]) for f in (np.min, np.max))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(np.clip((means - low) / (high - low), 0.0, 1.0), nan=1.0)


def _bar(shares: NDArray[np.float64]) -> str:
    pieces = [
        f'<span style="{PIECE.format(100 * share, COLOURS[place % len(COLOURS)])}"></span>'
        for place, share in enumerate(shares.tolist())
        if share >= LEAST
    ]
    return f'<span style="{BAR}">{"".join(pieces)}</span>'
