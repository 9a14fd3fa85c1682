"""A tree as dictionaries and lists that JSON can hold: rules with names, statistics and predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from particletree.model.plain_rule import CUT, SET, plain_rule
from particletree.model.target import ClassLabels, Target

if TYPE_CHECKING:
    from particletree.model.tree import Tree


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return the whole tree as a dictionary; `Tree.to_dict` explains its contents."""
    return {
        "target": _describe_target(tree.target),
        "leaf_model": repr(tree.leaf),
        "is_rounded": tree.is_rounded,
        "n_leaves": tree.n_leaves,
        "depth": tree.depth,
        "nodes": _describe_nodes(tree),
    }


def _describe_target(target: Target) -> dict[str, Any]:
    if isinstance(target, ClassLabels):
        return {"kind": "classes", "classes": target.classes.tolist()}
    return {"kind": "numbers", "names": None if target.names is None else list(target.names)}


def _describe_nodes(tree: Tree) -> list[dict[str, Any]]:
    columns = {  # each is computed once, for all nodes
        "depth": tree.node_depths.tolist(),
        "n_rows": tree.n_rows.tolist(),
        "statistics": tree.node_statistics.tolist(),
        "prediction": tree.means.tolist(),
    }
    nodes = []
    for node in range(tree.n_nodes):
        about = {"node": node} | {name: column[node] for name, column in columns.items()}
        if tree.feature[node] >= 0:
            about["rule"] = _describe_rule(tree, node)
            about["left"], about["right"] = int(tree.left[node]), int(tree.right[node])
        nodes.append(about)
    return nodes


def _describe_rule(tree: Tree, node: int) -> dict[str, Any]:
    rule = plain_rule(tree, node)
    about: dict[str, Any] = {"text": tree.rules[node], "kind": rule.kind, "feature": rule.feature, "name": rule.name}
    about["missing"] = _side(rule.is_missing_left)
    if rule.kind == CUT:
        gap = [float(tree.gap_low[node]), float(tree.gap_high[node])]
        return about | {"threshold": rule.threshold, "gap": gap}
    if rule.kind == SET:
        sides = {"left_levels": list(rule.left), "right_levels": list(rule.right)}
        return about | sides | {"unseen": _side(rule.is_unseen_left)}
    return about


def _side(is_left: bool) -> str:
    return "left" if is_left else "right"
