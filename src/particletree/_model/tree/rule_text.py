"""The rules of a tree as text; rows for which the rule is true go left.

    petal length <= 2                    a cut
    income <= 40 or missing              a cut that sends missing values left
    income is present                    missing or not
    island in {Biscoe, Dream}            a set of levels; `not in` where that lists fewer
    island not in {Torgersen} or missing

Missing values are mentioned only if the training data had some. A set lists only the levels that can reach its node,
those that no set above sends elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model import rule
from particletree._model.columns import Columns
from particletree._model.text import format_number, one_line

MOST_LEVELS = 8  # listed in the text of a rule

Numbers = NDArray[np.int64]


def rule_texts(nodes: NDArray[Any], feature_names: Sequence[str] | None, columns: Columns) -> list[str]:
    """Return the text of each node's rule, empty for a leaf."""
    texts = [""] * nodes.size
    pending: list[tuple[int, dict[int, Numbers]]] = [(0, {})]  # a node, and for each feature the levels that reach it
    while pending:
        node, known = pending.pop()
        feature = int(nodes["feature"][node])
        if feature < 0:
            continue
        left, right = known, known
        name = f"x[{feature}]" if feature_names is None else one_line(feature_names[feature])
        if rule.is_set(nodes[node]):
            numbers = known.get(feature, _all_numbers(columns, feature))
            is_left = rule.left_levels(nodes[node], numbers)
            left, right = known | {feature: numbers[is_left]}, known | {feature: numbers[~is_left]}
            texts[node] = _describe_set(name, numbers, is_left, columns, feature)
        else:
            texts[node] = _describe_cut(name, nodes[node], feature in columns.missing)
        pending += [(int(nodes["left"][node]), left), (int(nodes["right"][node]), right)]
    return texts


def _describe_cut(name: str, node: Any, has_missing: bool) -> str:
    if rule.is_presence(node):
        return f"{name} is present"
    or_missing = " or missing" if has_missing and node["kind"] == rule.CUT_MISSING_LEFT else ""
    return f"{name} <= {format_number(float(node['threshold']))}{or_missing}"


def _all_numbers(columns: Columns, feature: int) -> Numbers:
    """Return the numbers of the levels of the training data, and that of missing values if there were any."""
    return np.arange(len(columns.levels[feature]) + (feature in columns.missing))


def _describe_set(name: str, numbers: Numbers, is_left: NDArray[np.bool_], columns: Columns, feature: int) -> str:
    levels = columns.levels[feature]
    is_level = numbers < len(levels)
    left, right = numbers[is_left & is_level], numbers[~is_left & is_level]
    is_missing_left = bool((is_left & ~is_level).any())
    if left.size == 0:
        return f"{name} is missing"
    if right.size == 0 and not is_missing_left:
        return f"{name} is present"
    listed, word = (right, "not in") if 0 < right.size < left.size else (left, "in")
    return f"{name} {word} {{{_list_levels(levels, listed)}}}" + (" or missing" if is_missing_left else "")


def _list_levels(levels: tuple[Any, ...], numbers: Numbers) -> str:
    shown = [one_line(levels[number]) for number in numbers[:MOST_LEVELS]]
    more = [f"... {numbers.size - MOST_LEVELS} more"] if numbers.size > MOST_LEVELS else []
    return ", ".join(shown + more)
