"""A tree in plain Python values, for other tools: its rules, SQL, and dictionaries for JSON.

**SQL** is an expression such as `CASE WHEN "petal width" <= 0.8 THEN 'setosa' ELSE ... END`. The columns have the names
of the features, in double quotes; a missing value is `NULL`. A comparison with `NULL` is neither true nor false and
goes to `ELSE`, the right side, so missing values that go left need an `IS NULL`. A level that the training data did not
have goes to the side that the tree drew for it: left by `NOT IN` (the levels that go right), right by `IN` (those that
go left). The expression is equivalent to the tree, except that a float `NaN` that is not `NULL` is not handled. Lines
are indented by their depth, but not beyond `DEEPEST_INDENT`, so that the length of the text is proportional to the size
of the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from particletree._model import rule
from particletree._model.columns import Level
from particletree._model.target import ClassLabels, class_labels
from particletree._model.tree.arrays import TreeArrays

CUT, PRESENT, SET = "cut", "present", "set"


@dataclass(frozen=True)
class RuleValues:
    """The rule of one node.

    Attributes
    ----------
    kind : {"cut", "present", "set"}
        Whether values up to `threshold` go left, or all values that are not missing, or the levels `left`.
    feature : int
        The index of the feature.
    name : str
        Its name; `x[0]` and so on if the data had no names.
    is_missing_left, is_unseen_left : bool
        Whether a missing value goes left, and a level that the training data did not have.
    threshold : float or None
        The threshold of a cut.
    left, right : tuple
        For a set: the levels of the training data that go left and right.
    """

    kind: str
    feature: int
    name: str
    is_missing_left: bool
    is_unseen_left: bool = False
    threshold: float | None = None
    left: tuple[Level, ...] = ()
    right: tuple[Level, ...] = ()


def rule_values(tree: TreeArrays, node: int) -> RuleValues:
    """Return the rule of a node that splits."""
    record = tree.nodes[node]
    feature = int(record["feature"])
    name = f"x[{feature}]" if tree.feature_names is None else str(tree.feature_names[feature])
    if rule.is_set(record):
        levels = tree.columns.levels[feature]
        numbers = np.arange(len(levels) + 2)  # of the levels, of missing values and of unseen levels
        *is_left, is_missing_left, is_unseen_left = rule.left_levels(record, numbers).tolist()
        left = tuple(level for level, goes_left in zip(levels, is_left, strict=True) if goes_left)
        right = tuple(level for level, goes_left in zip(levels, is_left, strict=True) if not goes_left)
        return RuleValues(SET, feature, name, is_missing_left, is_unseen_left, left=left, right=right)
    if rule.is_presence(record):
        return RuleValues(PRESENT, feature, name, is_missing_left=False)
    is_missing_left = bool(record["kind"] == rule.CUT_MISSING_LEFT)
    return RuleValues(CUT, feature, name, is_missing_left, threshold=float(record["threshold"]))


# SQL

OUTPUTS = ("prediction", "probability", "leaf")
DEEPEST_INDENT = 20  # levels


def to_sql(tree: TreeArrays, output: str, of: object) -> str:
    """Return the SQL expression; `Tree.to_sql` explains the arguments."""
    answer = _answers(tree, output, of)
    written: list[str] = []
    pending: list[str | int] = [0]  # texts and nodes, the next one last
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            written.append(part)
        elif tree.feature[part] < 0:
            written.append(literal(answer(part)))
        else:
            left, right = int(tree.left[part]), int(tree.right[part])
            line = "\n" + "  " * min(int(tree.node_depths[part]), DEEPEST_INDENT)
            written.append(f"CASE WHEN {condition(rule_values(tree, part))} THEN")
            written.append(" " if tree.feature[left] < 0 else f"{line}  ")
            pending += [f"{line}END", right, f"{line}  ELSE ", left]
    return "".join(written)


def _answers(tree: TreeArrays, output: str, of: object) -> Callable[[int], Any]:
    """Return a function from a leaf to its output."""
    if output == "leaf":
        return lambda node: node
    if output not in OUTPUTS:
        raise ValueError(f"output must be one of {', '.join(OUTPUTS)}, got {output!r}.")
    means = tree.means  # of all nodes, computed once
    if output == "prediction" and isinstance(tree.target, ClassLabels):
        labels = tree.target.classes.tolist()
        return lambda node: labels[int(np.argmax(means[node]))]
    if output == "probability":
        known = class_labels(tree.target).tolist()
    else:
        known, of = list(range(tree.target.n_outputs)), 0 if of is None else of
    if of not in known:
        raise ValueError(f"of must be one of {known}, got {of!r}.")
    column = known.index(of)
    return lambda node: float(means[node, column])


def condition(rule: RuleValues) -> str:
    """Return the condition that is true for the rows that go left, and false or unknown for the others."""
    name = identifier(rule.name)
    if rule.kind == PRESENT:
        return f"{name} IS NOT NULL"
    if rule.kind == CUT:
        test = f"{name} <= {literal(rule.threshold)}"
    else:  # SQL forbids empty lists
        listed = ", ".join(literal(level) for level in (rule.right if rule.is_unseen_left else rule.left))
        if rule.is_unseen_left:
            test = f"{name} NOT IN ({listed})" if listed else f"{name} IS NOT NULL"
        else:
            test = f"{name} IN ({listed})" if listed else "1 = 0"
    return f"({test} OR {name} IS NULL)" if rule.is_missing_left else test


def identifier(name: str) -> str:
    """Quote the name of a column.

    Examples
    --------
    >>> print(identifier('the "inner" width'))
    "the ""inner"" width"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a value as an SQL literal: text in single quotes, numbers with all their digits.

    Examples
    --------
    >>> print(literal("it's"), literal(0.1), literal(True), literal(3))
    'it''s' 0.1 TRUE 3
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


# JSON


def to_dict(tree: TreeArrays) -> dict[str, Any]:
    """Return the whole tree as a dictionary; `Tree.to_dict` explains its contents."""
    if isinstance(tree.target, ClassLabels):
        target: dict[str, Any] = {"kind": "classes", "classes": tree.target.classes.tolist()}
    else:
        target = {"kind": "numbers", "names": None if tree.target.names is None else list(tree.target.names)}
    columns = {  # each is computed once, for all nodes
        "node": range(tree.n_nodes),
        "depth": tree.node_depths.tolist(),
        "n_rows": tree.n_rows.tolist(),
        "statistics": tree.node_statistics.tolist(),
        "prediction": tree.means.tolist(),
    }
    nodes: list[dict[str, Any]] = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        nodes[node] |= {
            "rule": _rule_to_dict(tree, node),
            "left": int(tree.left[node]),
            "right": int(tree.right[node]),
        }
    return {
        "target": target,
        "leaf_model": repr(tree.leaf),
        "is_rounded": tree.is_rounded,
        "n_leaves": tree.n_leaves,
        "depth": tree.depth,
        "nodes": nodes,
    }


def _rule_to_dict(tree: TreeArrays, node: int) -> dict[str, Any]:
    rule, sides = rule_values(tree, node), ("right", "left")
    about: dict[str, Any] = {"text": tree.rules[node], "kind": rule.kind, "feature": rule.feature, "name": rule.name}
    about["missing"] = sides[rule.is_missing_left]
    if rule.kind == CUT:
        gap = [float(tree.gap_low[node]), float(tree.gap_high[node])]
        return about | {"threshold": rule.threshold, "gap": gap}
    if rule.kind == SET:
        levels = {"left_levels": list(rule.left), "right_levels": list(rule.right)}
        return about | levels | {"unseen": sides[rule.is_unseen_left]}
    return about
