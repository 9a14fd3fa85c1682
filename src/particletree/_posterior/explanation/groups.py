r"""Groups of trees that disagree about a row, and the condition that distinguishes each group from the others.

For a group of trees and a condition such as "at most", each tree has the tightest bound b on its path (infinite if
there is none). The probabilities of :math:`b \le s` in the group and in the other trees are two distribution functions
of s; the condition and the s with the largest excess of the group's (the one-sided Kolmogorov-Smirnov distance)
distinguish the group. Both probabilities are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.leaves.categorical import class_names
from particletree._model.rule import round_within
from particletree._model.target import ClassLabels, Target
from particletree._posterior.explanation.conditions import (
    AT_MOST,
    KINDS,
    Conditions,
    describe_condition,
    threshold_range,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SAME = 1e-9  # relative tolerance for equal predictions


@dataclass(frozen=True)
class Parting:
    """The condition that distinguishes a group of trees from the others.

    Attributes
    ----------
    feature : int
        Index of its feature.
    kind : {"at most", "above", "present", "missing", "level"}
        The kind of condition.
    limit : float
        The path confines the row to at most, or above, this value or a tighter one; nan for the other kinds.
    text : str
        The condition as text.
    in_group, in_others : float
        Probability that a tree of the group, and another tree, has this condition.
    """

    feature: int
    kind: str
    limit: float
    text: str
    in_group: float
    in_others: float


@dataclass(frozen=True)
class TreeGroup:
    """Trees with similar predictions for the row.

    Attributes
    ----------
    weight : float
        Their posterior probability; the groups' weights sum to 1.
    label : str or None
        The class that they predict, None for numbers.
    mean, low, high : float
        Their predictions of the explained output: weighted mean, smallest and largest.
    trees : tuple of int
        Their indices in the posterior.
    parting : Parting or None
        The condition that distinguishes them from the others; None if there is none.
    """

    weight: float
    label: str | None
    mean: float
    low: float
    high: float
    trees: tuple[int, ...]
    parting: Parting | None


def group_trees(
    conditions: Conditions,
    weights: Floats,
    tree_predictions: Floats,
    output: int,
    target: Target,
    names: Sequence[str],
    values: Sequence[Any],
) -> tuple[TreeGroup, ...]:
    """Group the trees by their predictions for the row, shape (n_trees, n_outputs), by decreasing weight."""
    predicted = tree_predictions.argmax(axis=1)
    explained = tree_predictions[:, output]
    by_class = isinstance(target, ClassLabels) and np.unique(predicted).size > 1
    number = predicted if by_class else (explained > best_cut(explained, weights)).astype(np.int64)
    labels = class_names(target)[0] if isinstance(target, ClassLabels) else None
    groups = []
    for each in np.unique(number):
        is_in = number == each
        own, predictions = weights[is_in], explained[is_in]
        group = TreeGroup(
            weight=float(own.sum()),
            label=None if labels is None else labels[int(predicted[is_in][0])],
            mean=float(own @ predictions / own.sum()),
            low=float(predictions.min()),
            high=float(predictions.max()),
            trees=tuple(np.flatnonzero(is_in).tolist()),
            parting=find_parting(conditions, weights, is_in, names, values),
        )
        groups.append(group)
    return tuple(sorted(groups, key=lambda group: -group.weight))


def best_cut(numbers: Floats, weights: Floats) -> float:
    """Return the number up to which to cut for the least variance within both parts; the largest if all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> best_cut(np.array([0.9, 0.1, 0.2]), np.array([0.5, 0.3, 0.2]))
    0.2
    """
    values, place = np.unique(numbers, return_inverse=True)
    if values[-1] - values[0] <= SAME * np.abs(values).max():
        return float(values[-1])
    mass = np.bincount(place, weights=weights, minlength=values.size)
    centred = values - weights @ numbers / weights.sum()
    below, moment = np.cumsum(mass)[:-1], np.cumsum(mass * centred)[:-1]
    between = moment**2 / (below * (mass.sum() - below))  # up to a factor, the variance between the parts
    return float(values[int(np.argmax(between))])


def find_parting(
    conditions: Conditions, weights: Floats, is_in: NDArray[np.bool_], names: Sequence[str], values: Sequence[Any]
) -> Parting | None:
    """Return the condition that distinguishes a group; None if no condition is more probable in the group."""
    met = None if is_in.all() or conditions.key.size == 0 else _entries_that_part(conditions, weights, is_in)
    if met is None:
        return None
    trees = conditions.tree[met]
    feature, kind = divmod(int(conditions.key[met[0]]), len(KINDS))
    limit, low, high = _limits(conditions, weights, met, kind)
    return Parting(
        feature=feature,
        kind=KINDS[kind],
        limit=limit,
        text=describe_condition(names[feature], kind, values[feature], low, high),
        in_group=float(weights[trees[is_in[trees]]].sum() / weights[is_in].sum()),
        in_others=float(weights[trees[~is_in[trees]]].sum() / weights[~is_in].sum()),
    )


def _entries_that_part(conditions: Conditions, weights: Floats, is_in: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    """Return the entries of the condition at the bound where the two distribution functions differ most."""
    share = np.where(is_in, weights / weights[is_in].sum(), -weights / weights[~is_in].sum())
    order = np.lexsort((conditions.bound, conditions.key))
    key, bound, step = conditions.key[order], conditions.bound[order], share[conditions.tree[order]]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    before = np.repeat(np.r_[0.0, np.cumsum(step)][starts], np.diff(np.r_[starts, key.size]))
    difference = np.cumsum(step) - before
    is_last = np.r_[(key[1:] != key[:-1]) | (bound[1:] != bound[:-1]), True]  # of entries with the same bound
    best = int(np.argmax(np.where(is_last, difference, -np.inf)))
    start = starts[np.searchsorted(starts, best, side="right") - 1]
    return order[start : best + 1] if difference[best] > SAME else None


def _limits(conditions: Conditions, weights: Floats, met: NDArray[np.intp], kind: int) -> tuple[float, float, float]:
    """Return the limit of the condition, and the range of bounds to show.

    If other trees have the condition with looser bounds, the limit is a round number between these bounds and those of
    the group; otherwise it is the loosest bound, and the range is that of all bounds.
    """
    low, high = threshold_range(conditions.bound[met], weights[conditions.tree[met]], kind)
    if np.isnan(low):
        return low, low, high
    sign = 1.0 if kind == AT_MOST else -1.0
    last = float(conditions.bound[met[-1]])
    of_key = conditions.bound[conditions.key == conditions.key[met[0]]]
    looser = of_key[of_key > last]
    if looser.size == 0:
        return sign * last, low, high
    ends = sorted((sign * last, sign * float(looser.min())))
    limit = round_within(ends[0], ends[1], near=ends[0])
    return limit, limit, limit
