"""A tree as an SQL expression: `CASE WHEN "petal width" <= 0.8 THEN 'setosa' ELSE ... END`.

The columns have the names of the features, in double quotes; a missing value is `NULL`. A comparison with `NULL` is
neither true nor false and goes to `ELSE`, the right side, so missing values that go left need an `IS NULL`. A level
that the training data did not have goes to the side that the tree drew for it: left by `NOT IN` (the levels that go
right), right by `IN` (those that go left). The expression is equivalent to the tree, except that a float `NaN` that is
not `NULL` is not handled. Lines are indented by their depth, but not beyond `DEEPEST_INDENT`, so that the length of the
text is proportional to the size of the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from particletree.model.plain_rule import CUT, PRESENT, PlainRule, plain_rule
from particletree.model.target import ClassLabels, class_labels

if TYPE_CHECKING:
    from particletree.model.tree import Tree

OUTPUTS = ("prediction", "probability", "leaf")
DEEPEST_INDENT = 20  # levels


def to_sql(tree: Tree, output: str, of: object) -> str:
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
            written.append(f"CASE WHEN {condition(plain_rule(tree, part))} THEN")
            written.append(" " if tree.feature[left] < 0 else f"{line}  ")
            pending += [f"{line}END", right, f"{line}  ELSE ", left]
    return "".join(written)


def _answers(tree: Tree, output: str, of: object) -> Callable[[int], Any]:
    """Return a function from a leaf to its output."""
    if output == "leaf":
        return lambda node: node
    means = tree.means  # of all nodes, computed once
    if output == "probability":
        place = _place(class_labels(tree.target).tolist(), of)
        return lambda node: float(means[node, place])
    if output != "prediction":
        raise ValueError(f"output must be one of {', '.join(OUTPUTS)}, got {output!r}.")
    if isinstance(tree.target, ClassLabels):
        labels = tree.target.classes.tolist()
        return lambda node: labels[int(np.argmax(means[node]))]
    target = _place(list(range(tree.target.n_outputs)), 0 if of is None else of)
    return lambda node: float(means[node, target])


def _place(known: list[Any], of: object) -> int:
    if of not in known:
        raise ValueError(f"of must be one of {known}, got {of!r}.")
    return known.index(of)


def condition(rule: PlainRule) -> str:
    """Return the condition that is true for the rows that go left, and false or unknown for the others."""
    name = identifier(rule.name)
    if rule.kind == PRESENT:
        return f"{name} IS NOT NULL"
    test = f"{name} <= {literal(rule.threshold)}" if rule.kind == CUT else _membership(name, rule)
    return f"({test} OR {name} IS NULL)" if rule.is_missing_left else test


def _membership(name: str, rule: PlainRule) -> str:
    """Return the condition for the levels that go left, without an empty list, which SQL forbids."""
    listed = ", ".join(literal(level) for level in (rule.right if rule.is_unseen_left else rule.left))
    if rule.is_unseen_left:
        return f"{name} NOT IN ({listed})" if listed else f"{name} IS NOT NULL"
    return f"{name} IN ({listed})" if listed else "1 = 0"


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
