"""The exact probability of every decision on every state, from the solved recursion (``recursion.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree._inference.exact.recursion import ExactRecursion, Level
from particletree._inference.exact.rule_table import RuleTable
from particletree._model.rule import LEAF
from particletree._posterior.structure.splits import SplitGraph

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
STOP = -1


class Decisions(NamedTuple):
    """Some decisions at one depth: the rule of each (`STOP` for none), and its probability."""

    block: Numbers
    rule: Numbers
    probability: Floats


def exact_splits(recursion: ExactRecursion) -> SplitGraph:
    """Return the graph of all decisions; each division is represented by a rule drawn among those that make it."""
    parts = list(_decisions_by_depth(recursion))
    depth = np.repeat(np.arange(len(parts)), [part.block.size for part in parts])
    block, rule, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    left, right = (_children(side, rule) for side in (recursion.rules.left, recursion.rules.right))
    nodes = _nodes(recursion.rules, rule, block)
    return SplitGraph.from_entries(depth, block.astype(np.uint64), left, right, nodes, weights)


def _decisions_by_depth(recursion: ExactRecursion) -> Iterator[Decisions]:
    reach = np.zeros(recursion.n_blocks)
    reach[0] = 1.0
    for level in recursion.levels:
        decisions = _decisions(level, reach[level.blocks])
        yield decisions
        reach = _reach_below(recursion, decisions)


def _decisions(level: Level, here: Floats) -> Decisions:
    """Return the decisions of a level whose states have the probabilities `here`."""
    block = np.concatenate((level.blocks, level.blocks[level.parents])).astype(np.int64)
    rule = np.concatenate((np.full(level.blocks.size, STOP), level.rules)).astype(np.int64)
    return Decisions(block, rule, np.concatenate((here * level.p_stop, here[level.parents] * level.p_rule)))


def _reach_below(recursion: ExactRecursion, decisions: Decisions) -> Floats:
    """Return the probability that a tree has each block one level down."""
    is_split = decisions.rule != STOP
    rule, mass = decisions.rule[is_split], decisions.probability[is_split]
    sides = (recursion.rules.left[rule], recursion.rules.right[rule])
    return np.asarray(sum(np.bincount(side, mass, minlength=recursion.n_blocks) for side in sides))


def _children(side: NDArray[Any], rule: Numbers) -> NDArray[np.uint64]:
    return np.array([0 if number == STOP else side[number] for number in rule.tolist()], dtype=np.uint64)


def _nodes(rules: RuleTable, rule: Numbers, block: Numbers) -> NDArray[Any]:
    """Return a node for each decision, with a rule of each division drawn with a fixed seed."""
    rng = np.random.default_rng(0)
    drawn = {number: rules.draw_rule(number, rng) for number in np.unique(rule[rule != STOP]).tolist()}
    nodes = np.full(rule.size, LEAF)
    nodes["block"] = block
    for name, place in (("threshold", 0), ("kind", 1), ("gap_low", 2), ("gap_high", 3), ("feature", 4)):
        nodes[name] = [nodes[name][i] if n == STOP else drawn[n][place] for i, n in enumerate(rule.tolist())]
    return nodes
