"""A tree as text, for people: box lines, names, and what each leaf says.

A leaf shows its prediction and its rows, in the words of the leaf model. For classes these are the most probable one
with its probability, then the (weighted) number of rows and the largest classes among them::

    thresholds rounded between neighbouring values of the training data:
    petal length <= 2
    ├── yes: setosa, p = 0.94 (50 rows: 50 setosa)
    └── no: petal width <= 1.75
        ├── yes: versicolor, p = 0.86 (54 rows: 49 versicolor, 5 virginica)
        └── no: virginica, p = 0.91 (46 rows: 45 virginica, 1 versicolor)

Labels that are no words are called classes: `class 1, p = 0.97 (236 rows: 231 of class 1, 5 of class 0)`.

**The numbers in the rules** are the thresholds that the tree applies, with as many digits as tell them from any other
number. A threshold is drawn at random between two neighbouring values of the data, so most of these digits carry no
information. `tree.rounded()` is a tree of its own with the roundest number strictly inside each gap
(:func:`round_within`), and its text says so: it sends every row of the training data to the same leaf as the tree it
was made from, and predicts by the thresholds that it shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from particletree.model.text import format_number, one_line

if TYPE_CHECKING:
    from particletree.model.tree import Tree

ROUNDED = "thresholds rounded between neighbouring values of the training data:"
ENOUGH_DIGITS = 18  # one more than tells any two floats apart


def draw(tree: Tree, max_depth: int | None = None) -> str:
    """Draw a tree down to `max_depth`; deeper parts become one line that says how many leaves they have."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or at least 0, got {max_depth}.")
    statistics = tree.node_statistics
    lines = [ROUNDED] if tree.is_rounded else []

    def describe_rows(node: int) -> str:
        return tree.leaf.describe_rows(statistics[node], tree.target)

    # (node, end of its subtree, depth, what stands before its line, what stands before its children's lines)
    pending = [(0, tree.n_nodes, 0, "", "")]
    while pending:
        node, end, depth, lead, indent = pending.pop()
        if tree.feature[node] < 0:
            text = f"{tree.leaf.describe_prediction(statistics[node], tree.target)} ({describe_rows(node)})"
        elif depth == max_depth:
            text = f"... {(end - node + 1) // 2} leaves ({describe_rows(node)})"
        else:
            text = _describe_cut(tree, node)
            right = int(tree.right[node])
            pending.append((right, end, depth + 1, f"{indent}└── no: ", f"{indent}    "))
            pending.append((node + 1, right, depth + 1, f"{indent}├── yes: ", f"{indent}│   "))
        lines.append(lead + text)
    return "\n".join(lines)


def _describe_cut(tree: Tree, node: int) -> str:
    feature = tree.feature[node]
    name = f"x[{feature}]" if tree.feature_names is None else one_line(tree.feature_names[feature])
    return f"{name} <= {format_number(float(tree.threshold[node]))}"


def round_within(low: float, high: float, near: float) -> float:
    """Return the roundest number strictly between `low` and `high`; of several, the one next to `near`.

    The roundest is the one on the coarsest of the grids ..., 10, 5, 1, 0.5, 0.1, 0.05, ... So a cut between two whole
    numbers reads 2007.5: an end of the gap would be shorter, but hide where the gap is. Only if there is no float
    between the two is the answer `near` itself, which must lie in [low, high).

    Examples
    --------
    >>> round_within(2007.0, 2008.0, near=2007.76)
    2007.5
    >>> round_within(0.1278, 0.1342, near=0.13308)
    0.13
    """
    start = max(near, math.nextafter(low, high))
    if start == high:
        return near
    exact = Fraction(start)
    for step in _grids(max(abs(low), abs(high))):
        below = exact // step * step
        # The second look is at what a computer reads: a decimal inside the gap may be closest to the float at its end.
        numbers = [float(number) for number in (below, below + step) if low < number < high]
        inside = [number for number in numbers if low < number < high]
        if inside:
            return min(inside, key=lambda number: abs(number - near))
    return start


def _grids(largest: float) -> Iterator[Fraction]:
    """Yield the steps 10^k, 10^k / 2, 10^(k-1), ... from the first power of ten beyond the largest number."""
    first = math.floor(math.log10(largest)) + 1
    for exponent in range(first, first - ENOUGH_DIGITS - 1, -1):
        step = Fraction(10) ** exponent
        yield step
        yield step / 2
