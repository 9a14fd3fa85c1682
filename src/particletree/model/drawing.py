"""A tree as text, for people: box lines, names, and what each leaf says.

A leaf shows its most probable class with that class's probability, then the (weighted) number of its rows and the
largest classes among them::

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

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from particletree.model.tree import Tree

CLASSES_SHOWN = 3
ROUNDED = "thresholds rounded between neighbouring values of the training data:"
ENOUGH_DIGITS = 18  # one more than tells any two floats apart


def draw(tree: Tree, max_depth: int | None = None) -> str:
    """Draw a tree down to `max_depth`; deeper parts become one line that says how many leaves they have."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be None or at least 0, got {max_depth}.")
    labels = Labels(tree)
    counts, probabilities = tree.counts, tree.probabilities
    lines = [ROUNDED] if tree.is_rounded else []
    # (node, end of its subtree, depth, what stands before its line, what stands before its children's lines)
    pending = [(0, tree.n_nodes, 0, "", "")]
    while pending:
        node, end, depth, lead, indent = pending.pop()
        if tree.feature[node] < 0:
            text = f"{labels.best(probabilities[node])} ({labels.count(counts[node])})"
        elif depth == max_depth:
            text = f"... {(end - node + 1) // 2} leaves ({labels.count(counts[node])})"
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
    return f"{name} <= {_format_number(float(tree.threshold[node]))}"


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


class Labels:
    """The classes of a tree in words: bare if every label is a word, as `class 1` if one is a number or the like."""

    def __init__(self, tree: Tree) -> None:
        labels = range(tree.statistics.shape[1]) if tree.classes is None else tree.classes
        are_words = all(isinstance(label, str) and not _is_number(label) for label in labels)
        self._names = [one_line(label) if are_words else f"class {one_line(label)}" for label in labels]
        self._of = "" if are_words else "of "

    def best(self, probabilities: NDArray[np.float64]) -> str:
        """Return the most probable class with its probability."""
        best = int(np.argmax(probabilities))
        return f"{self._names[best]}, p {_format_probability(float(probabilities[best]))}"

    def count(self, counts: NDArray[np.float64]) -> str:
        """Return the number of rows, and how many of them the largest classes have."""
        order = np.argsort(-counts, kind="stable")
        present = order[counts[order] > 0]
        parts = [f"{_format_count(counts[k])} {self._of}{self._names[k]}" for k in present[:CLASSES_SHOWN]]
        n_hidden = present.size - CLASSES_SHOWN
        if n_hidden > 0:
            parts.append("1 more class" if n_hidden == 1 else f"{n_hidden} more classes")
        rows = _format_count(counts.sum())
        return f"{rows} {'row' if rows == '1' else 'rows'}: {', '.join(parts)}"


def one_line(name: object) -> str:
    r"""Return a name as it can stand in a line: a line break or the like is written as Python writes it.

    Examples
    --------
    >>> print(one_line("width\n(cm)"))
    width\n(cm)
    """
    text = str(name)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) if text else "''"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip() == ""
    return True


def _format_number(number: float) -> str:
    """Write a number with the fewest digits that read back as the same number."""
    return repr(number + 0.0).removesuffix(".0")


def _format_probability(p: float) -> str:
    """Two decimals, but a probability below one never reads as one."""
    return "> 0.99" if 0.995 <= p < 1 else f"= {p:.2f}"


def _format_count(count: float) -> str:
    return f"{count:.0f}" if float(count).is_integer() else f"{count:.4g}"
