"""Trees of a forest in the oracle's words: what the columns of a node mean is written here once more."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oracle
from oracle import Leaf, SetSplit, Split, Tree
from particletree._model import Forest

ALL_BITS = 2**64 - 1


def is_scattered_left(word: int, number: int) -> bool:
    """Return the first bit of a hash of word and number (the last steps of SplitMix64)."""
    x = (word + (number + 1) * 0x9E3779B97F4A7C15) & ALL_BITS
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & ALL_BITS
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & ALL_BITS
    return bool((x ^ x >> 31) >> 63)


def read_rule(node: Any, n_levels: Sequence[int]) -> Split | SetSplit:
    """Read the rule of a split: a cut, missing values right (0) or left (1), a set (2), a scattered one (3)."""
    feature, kind, threshold = int(node["feature"]), int(node["kind"]), float(node["threshold"])
    if kind <= 1:
        assert not oracle.is_categorical(n_levels, feature)
        return Split(feature, threshold, threshold, missing_left=float(kind))
    numbers = range(n_levels[feature] + 2)
    assert kind == (2 if len(numbers) <= 64 else 3)
    (word,) = struct.unpack("<Q", np.float64(node["threshold"]).tobytes())
    left = frozenset(i for i in numbers if (word >> i & 1 if kind == 2 else is_scattered_left(word, i)))
    return SetSplit(feature, left, frozenset(numbers) - left)


def read_tree(forest: Forest, t: int, X: NDArray[np.float64], n_levels: Sequence[int]) -> Tree:
    """Read one tree, by sending the raw rows down; no side may be empty."""

    def read(number: int, rows: tuple[int, ...]) -> Tree:
        node = forest.nodes[number]
        if node["feature"] < 0:
            return Leaf(rows)
        rule = read_rule(node, n_levels)
        left, right = oracle.divide(X, rule, rows)
        assert left, "a rule leaves rows on the left"
        assert right, "a rule leaves rows on the right"
        return replace(rule, left=read(int(node["left"]), left), right=read(int(node["right"]), right))

    return read(int(forest.roots[t]), tuple(range(len(X))))


def up_to_coins(tree: Tree, X: NDArray[np.float64]) -> Tree:
    """Return the listed tree that a tree belongs to: gaps for thresholds, and no side of what a block does not have."""
    if isinstance(tree, Leaf):
        return tree
    rows = [row for leaf, _ in oracle.leaves(tree) for row in leaf.rows]
    given, sides = X[rows, tree.feature], [up_to_coins(child, X) for child in (tree.left, tree.right)]
    if isinstance(tree, SetSplit):
        levels = frozenset(given.astype(int).tolist())
        return SetSplit(tree.feature, tree.left_levels & levels, tree.right_levels & levels, *sides)
    values, has_missing = given[~np.isnan(given)], bool(np.isnan(given).any())
    if tree.low == math.inf:
        return Split(tree.feature, math.inf, math.inf, *sides, missing_left=0.0)
    low, high = float(values[values <= tree.low].max()), float(values[values > tree.low].min())
    return Split(tree.feature, low, high, *sides, missing_left=tree.missing_left if has_missing else 0.5)
