"""A rule in plain Python values, for exports: which levels go left, and the sides of missing and unseen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from particletree.model import rule
from particletree.model.columns import Level

if TYPE_CHECKING:
    from particletree.model.tree import Tree

CUT, PRESENT, SET = "cut", "present", "set"


@dataclass(frozen=True)
class PlainRule:
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


def plain_rule(tree: Tree, node: int) -> PlainRule:
    """Return the rule of a node that splits."""
    record = tree.nodes[node]
    feature = int(record["feature"])
    name = f"x[{feature}]" if tree.feature_names is None else str(tree.feature_names[feature])
    if rule.is_set(record):
        return _plain_set(tree, node, feature, name)
    if rule.is_presence(record):
        return PlainRule(PRESENT, feature, name, is_missing_left=False)
    is_missing_left = bool(record["kind"] == rule.CUT_MISSING_LEFT)
    return PlainRule(CUT, feature, name, is_missing_left, threshold=float(record["threshold"]))


def _plain_set(tree: Tree, node: int, feature: int, name: str) -> PlainRule:
    levels = tree.columns.levels[feature]
    *sides, is_missing_left, is_unseen_left = rule.left_levels(tree.nodes[node], np.arange(len(levels) + 2)).tolist()
    left, right = (
        tuple(v for v, side in zip(levels, sides, strict=True) if side is wanted) for wanted in (True, False)
    )
    return PlainRule(SET, feature, name, is_missing_left, is_unseen_left, left=left, right=right)
