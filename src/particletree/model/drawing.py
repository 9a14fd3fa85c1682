"""A tree as text, for people: box lines, names, and what each leaf says.

A leaf shows its most probable class with that class's probability, then the (weighted) number of its rows and the
largest classes among them::

    petal length <= 2.45
    ├── yes: setosa 0.94 (n = 50: setosa 50)
    └── no: petal width <= 1.75
        ├── yes: versicolor 0.86 (n = 54: versicolor 49, virginica 5)
        └── no: virginica 0.91 (n = 46: virginica 45, versicolor 1)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from particletree.model.tree import Tree

CLASSES_SHOWN = 3
MIN_DIGITS = 4


def draw(tree: Tree, max_depth: int | None = None) -> str:
    """Draw a tree down to `max_depth`; deeper parts become one line that says how many leaves they have."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or at least 0, got {max_depth}.")
    cuts = _describe_cuts(tree)
    counts, probabilities = tree.counts, tree.probabilities
    lines = []
    # (node, end of its subtree, depth, what stands before its line, what stands before its children's lines)
    pending = [(0, tree.n_nodes, 0, "", "")]
    while pending:
        node, end, depth, lead, indent = pending.pop()
        if tree.feature[node] < 0:
            text = f"{_describe_best(tree, probabilities[node])} ({_describe_counts(tree, counts[node])})"
        elif depth == max_depth:
            text = f"... {(end - node + 1) // 2} leaves ({_describe_counts(tree, counts[node])})"
        else:
            text = cuts[node]
            right = int(tree.right[node])
            pending.append((right, end, depth + 1, f"{indent}└── no: ", f"{indent}    "))
            pending.append((node + 1, right, depth + 1, f"{indent}├── yes: ", f"{indent}│   "))
        lines.append(lead + text)
    return "\n".join(lines)


def _describe_cuts(tree: Tree) -> dict[int, str]:
    """Return `name <= threshold` for each split; thresholds of one feature that differ also differ in print."""
    cuts = {}
    for feature in np.unique(tree.feature[tree.feature >= 0]):
        name = f"x[{feature}]" if tree.feature_names is None else str(tree.feature_names[feature])
        nodes = np.flatnonzero(tree.feature == feature)
        for node, number in zip(nodes, format_apart(tree.threshold[nodes]), strict=True):
            cuts[int(node)] = f"{name} <= {number}"
    return cuts


def format_apart(numbers: NDArray[np.float64]) -> list[str]:
    """Write numbers with the fewest digits (from 4) that keep different numbers different.

    Thresholds are drawn at random between two values of the data, so that most of their digits carry no information.
    """
    n_distinct = np.unique(numbers).size
    texts: list[str] = []
    for digits in range(MIN_DIGITS, 18):
        texts = [_format(float(number), digits) for number in numbers]
        if len(set(texts)) == n_distinct:
            break
    return texts


def _format(number: float, digits: int) -> str:
    """Write a number with this many significant digits, and never with fewer than it has before the point."""
    if 1 <= abs(number) < 1e9:
        digits = max(digits, math.floor(math.log10(abs(number))) + 1)
    return f"{number:.{digits}g}"


def _describe_best(tree: Tree, probabilities: NDArray[np.float64]) -> str:
    best = int(np.argmax(probabilities))
    return f"{_label(tree, best)} {_format_probability(float(probabilities[best]))}"


def _describe_counts(tree: Tree, counts: NDArray[np.float64]) -> str:
    order = np.argsort(-counts, kind="stable")
    present = order[counts[order] > 0]
    parts = [f"{_label(tree, int(k))} {_format_count(counts[k])}" for k in present[:CLASSES_SHOWN]]
    n_hidden = present.size - CLASSES_SHOWN
    if n_hidden > 0:
        parts.append("1 more class" if n_hidden == 1 else f"{n_hidden} more classes")
    return f"n = {_format_count(counts.sum())}: {', '.join(parts)}"


def _label(tree: Tree, k: int) -> str:
    return str(k) if tree.classes is None else str(tree.classes[k])


def _format_probability(p: float) -> str:
    """Two decimals, but a probability below one never reads as one."""
    return ">0.99" if 0.995 <= p < 1 else f"{p:.2f}"


def _format_count(count: float) -> str:
    return f"{count:.0f}" if float(count).is_integer() else f"{count:.4g}"
