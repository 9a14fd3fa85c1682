r"""The paths of one row through all trees, as conditions that the row meets from the root to its leaf.

In each tree the row meets one condition per split: `petal width <= 1.7`, `petal width > 0.8`, `island is Dream`. Trees
have different thresholds, so conditions are merged by feature and direction: there are at most three per feature (at
most, above, present). If a condition occurs several times on a path, the last is the tightest, and this *bound* is
kept: the path confines the row to values up to it (or above it).

A split changes the prediction from the mean m(B) of its block to that of the child that the row goes to. The sum of
these changes from the root to the leaf is the difference of leaf and root, so that for every tree t

.. math:: m(\text{leaf}_t) = m(\text{root}) + \sum_{\text{splits } j \text{ of the path}} [m(\text{child}_j) - m(B_j)],

and, averaged over the weighted trees, the posterior's prediction is the mean at the root plus the effect of each
condition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree._model.columns import Columns
from particletree._model.forest import Forest
from particletree._model.rule import goes_left, is_presence, is_set
from particletree._model.text import one_line
from particletree._posterior.summary.trees import spread

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

KINDS = ("at most", "above", "present", "missing", "level")
AT_MOST, ABOVE, PRESENT, MISSING, LEVEL = range(5)


@dataclass(frozen=True, eq=False)
class Steps:
    """The splits on a row's paths in all trees, one entry per tree and split.

    Attributes
    ----------
    tree, node, child : ndarray of int, shape (n_steps,)
        The tree, the node that splits, and the child that the row goes to.
    leaf : ndarray of int, shape (n_trees,)
        The row's leaf in each tree.
    """

    tree: Indices
    node: Indices
    child: Indices
    leaf: Indices


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions that the row meets, merged within each tree: one entry per tree and condition.

    Attributes
    ----------
    key : ndarray of int
        The condition: its feature times the number of kinds, plus its kind.
    tree : ndarray of int
        The tree.
    change : ndarray of float
        The change of the tree's prediction by the condition.
    bound : ndarray of float
        The tightest threshold, with its sign changed for "above", so that smaller is always tighter; 0 for the other
        kinds.
    """

    key: Indices
    tree: Indices
    change: Floats
    bound: Floats

    @property
    def feature(self) -> Indices:
        """The feature of each entry."""
        return self.key // len(KINDS)


def walk(forest: Forest, row: Floats) -> Steps:
    """Follow a row, which must be checked, through all trees at once, level by level.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model import Forest
    >>> from particletree._posterior.explanation.conditions import walk
    >>> forest = Forest.from_preorder(
    ...     offsets=[0, 3], feature=[0, -1, -1], threshold=[1.5, np.nan, np.nan], right=[2, -1, -1], block=[0, 1, 2],
    ...     gap_low=[1.0, np.nan, np.nan], gap_high=[2.0, np.nan, np.nan], statistics=np.ones((3, 2)),
    ... )
    >>> steps = walk(forest, np.array([7.0]))
    >>> steps.node.tolist(), steps.child.tolist()
    ([2], [0])
    """
    at, leaf = np.asarray(forest.roots, dtype=np.int64), np.array(forest.roots, dtype=np.int64)
    tree = np.arange(at.size)
    levels: list[tuple[Indices, Indices, Indices]] = []
    while True:
        splits = forest.is_split[at]
        tree, at = tree[splits], at[splits]
        if tree.size == 0:
            break
        is_left = goes_left(row[forest.feature[at]], forest.nodes[at])
        child = np.where(is_left, forest.left[at], forest.right[at]).astype(np.int64)
        levels.append((tree, at, child))
        leaf[tree], at = child, child
    none = np.zeros(0, dtype=np.int64)
    trees, nodes, children = zip(*levels, strict=True) if levels else ((none,), (none,), (none,))
    return Steps(np.concatenate(trees), np.concatenate(nodes), np.concatenate(children), leaf)


def merge_conditions(forest: Forest, row: Floats, steps: Steps, node_means: Floats, columns: Columns) -> Conditions:
    """Merge the splits of each tree's path by feature and direction.

    Parameters
    ----------
    forest : Forest
        The trees.
    row : ndarray, shape (n_features,)
        The row.
    steps : Steps
        Its paths through the trees.
    node_means : ndarray, shape (n_nodes,)
        The prediction of each node as if it were a leaf.
    columns : Columns
        The kinds of the features.
    """
    kind = condition_kinds(forest, row, steps, columns)
    key = forest.feature[steps.node].astype(np.int64) * len(KINDS) + kind
    threshold = forest.nodes["threshold"][steps.node]
    bound = np.select([kind == AT_MOST, kind == ABOVE], [threshold, -threshold], 0.0)
    pairs, place = np.unique(key * forest.n_trees + steps.tree, return_inverse=True)
    change = np.bincount(place, weights=node_means[steps.child] - node_means[steps.node], minlength=pairs.size)
    tightest = np.full(pairs.size, np.inf)
    np.minimum.at(tightest, place, bound)
    return Conditions(pairs // forest.n_trees, pairs % forest.n_trees, change.astype(np.float64), tightest)


def condition_kinds(forest: Forest, row: Floats, steps: Steps, columns: Columns) -> Indices:
    """Return the kind of condition that the row meets at each step."""
    nodes = forest.nodes[steps.node]
    went_left = steps.child == forest.left[steps.node]
    kind = np.where(went_left, AT_MOST, ABOVE)
    kind = np.where(is_presence(nodes), PRESENT, kind)
    kind = np.where(is_set(nodes), LEVEL, kind)
    return np.where(is_value_missing(row, columns)[nodes["feature"]], MISSING, kind)


def separated_levels(forest: Forest, row: Floats, steps: Steps, columns: Columns) -> dict[int, NDArray[np.bool_]]:
    """Return, for each categorical feature, which of its levels each tree's path separates from the row's value.

    Returns
    -------
    dict
        Arrays of shape (n_trees, n_levels), by the index of the feature.
    """
    separated = {}
    for feature, levels in columns.levels.items():
        at = forest.feature[steps.node] == feature
        nodes = forest.nodes[steps.node[at]]
        sides = goes_left(np.arange(float(len(levels)))[None, :], nodes[:, None])
        is_apart = sides != (steps.child == forest.left[steps.node])[at][:, None]
        found = np.zeros((forest.n_trees, len(levels)), dtype=np.bool_)
        np.logical_or.at(found, steps.tree[at], is_apart)
        separated[feature] = found
    return separated


def is_value_missing(row: Floats, columns: Columns) -> NDArray[np.bool_]:
    """Tell which values of a row are missing: nan, or for a categorical feature the number after the last level."""
    numbers = np.array([len(columns.levels[f]) if f in columns.levels else -1 for f in range(row.size)])
    return np.asarray(np.isnan(row) | (row == numbers))


# The rules that affect one row: each condition that it meets, with its effect and its posterior probability.

LEVELS_SHOWN = 3
MOST_DIGITS = 1e6  # a range wider than this, or narrower than its inverse, is written with exponents


class LevelApart(NamedTuple):
    """A level that trees separate from the row's, and the posterior probability that a tree's path does so."""

    level: Any
    probability: float


@dataclass(frozen=True)
class RowRule:
    """A condition that the row meets in some trees.

    Attributes
    ----------
    feature : int
        Index of the feature.
    name : str
        Its name.
    kind : {"at most", "above", "present", "missing", "level"}
        The kind of condition.
    effect : float
        The change of the prediction by the condition, in the units of the prediction, averaged over all trees; trees
        without it count 0.
    probability : float
        Posterior probability that the condition is on the row's path in a tree.
    low, high : float
        The 5% and 95% quantiles of the (tightest) thresholds of the trees that have the condition; nan if there is no
        threshold.
    apart : tuple of LevelApart
        For the kind "level": the levels that the trees' paths separate from the row's, the most probable first.
    text : str
        The condition as text.
    """

    feature: int
    name: str
    kind: str
    effect: float
    probability: float
    low: float
    high: float
    apart: tuple[LevelApart, ...]
    text: str


def row_rules(
    conditions: Conditions,
    weights: Floats,
    names: Sequence[str],
    values: Sequence[Any],
    apart: Mapping[int, Sequence[LevelApart]],
) -> tuple[RowRule, ...]:
    """Return the conditions with their effects, the largest first; `apart` has the levels that sets separate."""
    rules = []
    for key in np.unique(conditions.key).tolist():
        places = np.flatnonzero(conditions.key == key)
        feature, kind = divmod(key, len(KINDS))
        own = weights[conditions.tree[places]]
        low, high = threshold_range(conditions.bound[places], own, kind)
        levels = tuple(apart.get(feature, ())) if kind == LEVEL else ()
        text = describe_condition(names[feature], kind, values[feature], low, high)
        rule = RowRule(
            feature=feature,
            name=names[feature],
            kind=KINDS[kind],
            effect=float(own @ conditions.change[places]),
            probability=min(float(own.sum()), 1.0),
            low=low,
            high=high,
            apart=levels,
            text=text + describe_apart(levels, float(own.sum())),
        )
        rules.append(rule)
    return tuple(sorted(rules, key=lambda rule: -abs(rule.effect)))


def levels_apart(separated: NDArray[np.bool_], weights: Floats, levels: Sequence[Any]) -> tuple[LevelApart, ...]:
    """Return the levels that some tree separates from the row, the most probable first, for one feature."""
    shares = weights @ separated
    order = np.argsort(-shares, kind="stable")
    return tuple(LevelApart(levels[i], min(float(shares[i]), 1.0)) for i in order if shares[i] > 0)


def describe_apart(levels: Sequence[LevelApart], asked: float) -> str:
    """Return text about the levels that most trees with the condition separate from the row, a few by name.

    Examples
    --------
    >>> describe_apart([LevelApart("blue", 0.5), LevelApart("green", 0.1)], asked=0.6)
    ', not blue'
    """
    usual = [one_line(level.level) for level in levels if level.probability > asked / 2]
    more = f" and {len(usual) - LEVELS_SHOWN} more" if len(usual) > LEVELS_SHOWN else ""
    return f", not {', '.join(usual[:LEVELS_SHOWN])}{more}" if usual else ""


def threshold_range(bound: Floats, weights: Floats, kind: int) -> tuple[float, float]:
    """Return the 5% and 95% quantiles of the thresholds of some trees; nan if the kind has none."""
    if kind not in (AT_MOST, ABOVE):
        return float("nan"), float("nan")
    thresholds = bound if kind == AT_MOST else -bound
    found = spread(thresholds, weights / weights.sum())
    return found.low, found.high


def describe_condition(name: str, kind: int, value: Any, low: float, high: float) -> str:
    """Return a condition as text.

    Examples
    --------
    >>> describe_condition("width", AT_MOST, 0.5, 1.62, 1.74)
    'width <= 1.62 to 1.74'
    >>> describe_condition("colour", LEVEL, "red", np.nan, np.nan)
    'colour is red'
    """
    shown = one_line(name)
    if kind in (AT_MOST, ABOVE):
        return f"{shown} {'<=' if kind == AT_MOST else '>'} {describe_range(low, high)}"
    if kind == PRESENT:
        return f"{shown} is present"
    return f"{shown} is {describe_value(value) if kind == LEVEL else 'missing'}"


def describe_range(low: float, high: float) -> str:
    """Return a range as text, with as many digits as its width makes meaningful.

    Examples
    --------
    >>> describe_range(-0.0086964, 0.047989), describe_range(2007.21, 2007.93), describe_range(1.65, 1.65)
    ('-0.009 to 0.048', '2007.21 to 2007.93', '1.65')
    """
    width = high - low
    if not MOST_DIGITS**-1 < width < MOST_DIGITS:
        return f"{low:.5g}" if f"{low:.5g}" == f"{high:.5g}" else f"{low:.5g} to {high:.5g}"
    decimals = max(0, 1 - math.floor(math.log10(width)))
    return f"{low + 0.0:.{decimals}f} to {high + 0.0:.{decimals}f}"


# Values of a row for display: numbers, names of levels, and None for missing values.

UNSEEN = "a level not in the training data"


def plain_values(row: NDArray[np.float64], columns: Columns) -> tuple[Any, ...]:
    """Return the original values of a row, before levels were encoded as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model.columns import Columns
    >>> plain_values(np.array([1.5, 1.0, np.nan]), Columns(3, levels={1: ("blue", "red")}))
    (1.5, 'red', None)
    """
    plain: list[Any] = []
    for feature, value in enumerate(row.tolist()):
        levels = columns.levels.get(feature)
        if levels is None:
            plain.append(None if math.isnan(value) else value)
        elif value < len(levels):
            plain.append(levels[int(value)])
        else:
            plain.append(None if value == len(levels) else UNSEEN)
    return tuple(plain)


def describe_value(value: Any) -> str:
    """Return a value in a few characters."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}"
    return one_line(value)
