r"""Explanation of a prediction: the path of one row through all trees, effects of conditions, groups, and neighbours.

**Effects.** Each split on the row's path changes the prediction from the mean of its block to that of the child
(``conditions.py``). Summed by condition (feature and direction), and averaged over the weighted trees, these changes
add up exactly:

.. math:: \text{prediction} = \text{mean of all training rows} + \sum_{\text{conditions}} \text{effect}.

This is path attribution (Palczewska, Palczewski, Robinson & Neagu, *Interpreting random forest classification models
using a feature contribution method*, 2013; also known as Saabas' method). It shows how these trees arrive at the
prediction. The effects are not Shapley values: a feature is credited with what it adds after those above it, so splits
low in a tree get more than their share if features interact (Lundberg, Erion & Lee, *Consistent individualized feature
attribution for tree ensembles*, 2018). Nor are they causal effects.

**Groups of trees that disagree.** Trees are grouped by the class that they predict for the row; if all predict the
same, or the target is a number, they are divided in two by the prediction, at the cut with the least variance within
the groups. A group is characterised by the condition that differs most from the other trees: the largest difference
between the probabilities, in the group and in the others, that the path confines the row to at most (or above) a value.

**Neighbours.** Training rows in the same leaf as the row, by the posterior probability of that,
:math:`\sum_t w_t [\text{same leaf in tree } t]`; these are the rows from which the prediction is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data.containers import as_one_row_table
from particletree._model.leaves.categorical import class_names
from particletree._model.leaves.numbers import target_names
from particletree._model.target import ClassLabels, Target
from particletree._model.text import format_probability, format_share, one_line, shorten, to_html, to_json
from particletree._posterior.base import NO_ROWS
from particletree._posterior.explanation.conditions import (
    RowRule,
    describe_value,
    levels_apart,
    merge_conditions,
    plain_values,
    row_rules,
    separated_levels,
    walk,
)
from particletree._posterior.explanation.groups import Parting, TreeGroup, group_trees
from particletree._posterior.predictions.batches import by_batches, rows_per_batch_of_intervals
from particletree._posterior.predictions.trees import check_level
from particletree._posterior.summary.trees import Spread, spread
from particletree._posterior.weighted_trees import WeightedTrees

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbour:
    """A row that may be in the same leaf.

    Attributes
    ----------
    row : int
        Its number in the table that was fitted or, if rows were given, among those; counted from 0.
    probability : float
        Posterior probability that it is in the same leaf.
    values : tuple
        Its values: numbers, levels, None for missing.
    """

    row: int
    probability: float
    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanation of the prediction for one row; `print` it to read it.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    values : tuple
        The row's values: numbers, levels, None for missing.
    output : int
        Index of the class or target that is explained.
    output_name : str
        Its name.
    is_class : bool
        Whether it is a class, so that predictions are its probability.
    prediction : float
        The posterior mean, of the class's probability or the target.
    interval : tuple of float
        Credible interval of that probability or mean.
    observation_interval : tuple of float or None
        Interval of a new observation; None for a class.
    level : float
        Posterior probability of the intervals.
    base : float
        The prediction of the root, which contains all training rows.
    contributions : ndarray, shape (n_features,)
        The effect of the splits on each feature; `base` plus their sum plus `remainder` is the prediction.
    remainder : float
        0, except for an `Exact` posterior: the difference between the sum over all trees and the drawn trees, which
        are explained.
    rules : tuple of RowRule
        The conditions that the row meets, the largest effect first; their effects sum to the contributions.
    groups : tuple of TreeGroup
        Groups of trees by their prediction, the one with the largest weight first; one group if all predict the same.
    leaf_rows : Spread
        Number of training rows in the row's leaves.
    neighbours : tuple of Neighbour
        Rows that may be in the same leaf, the most probable first.
    neighbours_note : str
        The source of the neighbours, or why there are none.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    output: int
    output_name: str
    is_class: bool
    prediction: float
    interval: tuple[float, float]
    observation_interval: tuple[float, float] | None
    level: float
    base: float
    contributions: Floats
    remainder: float
    rules: tuple[RowRule, ...]
    groups: tuple[TreeGroup, ...]
    leaf_rows: Spread
    neighbours: tuple[Neighbour, ...]
    neighbours_note: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON; numbers that are not finite become None."""
        return dict(to_json(self))

    def __str__(self) -> str:
        return "\n".join([*_prediction_lines(self), *_rule_lines(self), *_group_lines(self), *_neighbour_lines(self)])

    def _repr_html_(self) -> str:
        """Show the explanation in a notebook."""
        return to_html(str(self))

    __repr__ = __str__  # so that it is readable without `print`


def explain(
    posterior: WeightedTrees,
    x: Any,
    *,
    of: object = None,
    level: float = 0.9,
    X: ArrayLike | None = None,
    n_neighbours: int = 5,
) -> Explanation:
    """Explain the prediction for one row: the effect of each condition, trees that disagree, and similar rows.

    Parameters
    ----------
    x : mapping, Series, frame of one row, list or array
        The row: by feature name in a mapping or a Series, in the order of the features in a list or an array.
    of : object, default None
        The class to explain, or the name or number of the target; None means the most probable class, or the first
        target.
    level : float, default 0.9
        Posterior probability of the intervals, strictly between 0 and 1.
    X : array-like or data frame, shape (n_rows, n_features), default None
        Rows among which neighbours are searched; None means the training rows that the posterior has kept, at most
        1,000.
    n_neighbours : int, default 5
        Maximal number of neighbours.

    Returns
    -------
    Explanation
        Numbers, with a text for `print`. The effects of the conditions and the mean of all training rows add up to the
        prediction; they are neither Shapley values nor causal effects.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = BayesianTreeClassifier(random_state=0).fit(X, y)
    >>> why = clf.explain(X.iloc[70])
    >>> why.output_name, round(why.prediction, 2)
    ('class 2', 0.76)
    >>> bool(abs(why.base + why.contributions.sum() - why.prediction) < 1e-12)
    True
    """
    check_level(level)
    rows = posterior.as_numbers(as_one_row_table(x, posterior.n_features, posterior.feature_names))
    predictions = posterior.predictions.means(rows)[0]
    output = _find_output(of, posterior.target, predictions)
    names, values = feature_names(posterior), plain_values(rows[0], posterior.columns)
    neighbours, note = _neighbours(posterior, rows, X, n_neighbours)
    base, on_the_way = _explain_paths(posterior, rows[0], output, names, values)
    explained = base + float(on_the_way["contributions"].sum())
    is_class, ends = isinstance(posterior.target, ClassLabels), ((1 - float(level)) / 2, (1 + float(level)) / 2)
    return Explanation(
        names=names,
        values=values,
        output=output,
        output_name=output_names(posterior.target)[output],
        is_class=is_class,
        prediction=float(predictions[output]),
        interval=_ends(posterior.predictions.intervals(rows, float(level))[0, output]),
        observation_interval=None if is_class else _ends(posterior.predictions.quantiles(rows, ends)[0, output]),
        level=float(level),
        base=base,
        remainder=float(predictions[output]) - explained if posterior.is_exact else 0.0,
        neighbours=neighbours,
        neighbours_note=note,
        **on_the_way,
    )


def _explain_paths(
    posterior: WeightedTrees, row: Floats, output: int, names: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[float, dict[str, Any]]:
    """Return the prediction of the root, and the fields that depend on the paths from the root to the leaves."""
    forest, weights, block = posterior.forest, posterior.weights, posterior.forest.nodes["block"]
    means = posterior.leaf.mean(forest.statistics)[block]
    steps = walk(forest, row)
    conditions = merge_conditions(forest, row, steps, means[:, output], posterior.columns)
    effects = weights[conditions.tree] * conditions.change
    separated = separated_levels(forest, row, steps, posterior.columns)
    apart = {f: levels_apart(parts, weights, posterior.columns.levels[f]) for f, parts in separated.items()}
    return float(means[forest.roots[0], output]), {
        "contributions": np.bincount(conditions.feature, effects, minlength=row.size).astype(np.float64),
        "rules": row_rules(conditions, weights, names, values, apart),
        "groups": group_trees(conditions, weights, means[steps.leaf], output, posterior.target, names, values),
        "leaf_rows": spread(posterior.leaf.n_rows(forest.statistics)[block[steps.leaf]], weights),
    }


def feature_names(posterior: WeightedTrees) -> tuple[str, ...]:
    """Return the names of the features; `x[0]` and so on if the data had no names."""
    return tuple(posterior.feature_names or [f"x[{f}]" for f in range(posterior.n_features)])


def output_names(target: Target) -> list[str]:
    """Return the names of the classes or targets."""
    return class_names(target)[0] if isinstance(target, ClassLabels) else target_names(target)


def _find_output(of: object, target: Target, predictions: Floats) -> int:
    if isinstance(target, ClassLabels):
        known: list[Any] = target.classes.tolist()
        default = int(np.argmax(predictions))
    else:
        known, default = list(range(target.n_outputs)), 0
        if target.names is not None and of in target.names:
            return target.names.index(str(of))
    if of is None:
        return default
    if of not in known:
        named = "" if isinstance(target, ClassLabels) or target.names is None else f" or {list(target.names)}"
        raise ValueError(f"of must be one of {known}{named}, or None, got {of!r}.")
    return known.index(of)


def _ends(interval: Floats) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


def _neighbours(
    posterior: WeightedTrees, rows: Floats, X: ArrayLike | None, n: int
) -> tuple[tuple[Neighbour, ...], str]:
    """Return the n rows that are most probably in the row's leaf, of those that are in some tree, and their source."""
    if X is not None:
        candidates, numbers, source = posterior.as_numbers(X), None, "rows of X"
    elif posterior.kept_rows is not None:
        candidates, numbers = posterior.kept_rows, posterior.kept_row_numbers
        source = "training rows that the posterior has kept"
    else:
        return (), NO_ROWS
    names = np.arange(len(candidates)) if numbers is None else numbers
    probabilities = sharing_probabilities(posterior, rows, candidates)
    order = np.argsort(-probabilities, kind="stable")[: max(n, 0)]
    found = tuple(
        Neighbour(int(names[i]), min(float(probabilities[i]), 1.0), plain_values(candidates[i], posterior.columns))
        for i in order
        if probabilities[i] > 0
    )
    return found, f"among {len(candidates):,} {source}"


def sharing_probabilities(posterior: WeightedTrees, row: Floats, candidates: Floats) -> Floats:
    """Return the posterior probability that each candidate is in the leaf of `row`, of shape (1, n_features)."""
    own = posterior.leaf_blocks(row)  # the leaves of a tree are disjoint, so the same block is the same leaf

    def answer(part: slice) -> Floats:
        return np.asarray((posterior.leaf_blocks(candidates[part]) == own) @ posterior.weights, dtype=np.float64)

    step = rows_per_batch_of_intervals(len(candidates), posterior.forest.n_trees, None)
    return by_batches(answer, len(candidates), (), step, None)


# An explanation as text.

RULES_SHOWN = 6
GROUPS_SHOWN = 4
FEATURES_SHOWN = 4  # per neighbour
NAME_WIDTH = 48
APART = 0.05  # difference of class probabilities from which groups of trees are said to disagree
CLEAR = 0.2  # difference of probabilities from which a condition is said to characterise a group


def _prediction_lines(why: Explanation) -> list[str]:
    interval = f"({why.level:.0%} interval of the {'probability' if why.is_class else 'mean'})"
    lines = [f"Explanation of one row: {_predicted(why, why.prediction)}"]
    lines.append(f"  between       {_range(why, why.interval)} {interval}")
    if why.observation_interval is not None:
        lines.append(f"  observation   {_range(why, why.observation_interval)} ({why.level:.0%} interval of a new one)")
    return [*lines, f"  values        {_values(why, why.values)}", f"  rows in leaf  {why.leaf_rows}"]


def _rule_lines(why: Explanation) -> list[str]:
    base = _line("all training rows", _number(why, why.base))
    if not why.rules:
        return ["No tree splits: the prediction is that of all training rows.", base]
    shown, hidden = why.rules[:RULES_SHOWN], why.rules[RULES_SHOWN:]
    lines = [
        _line(_condition(why, rule, NAME_WIDTH), _signed(why, rule.effect))
        + f"  in {format_share(rule.probability):>4} of the trees"
        for rule in shown
    ]
    if hidden:
        lines.append(_line(f"{len(hidden)} more", _signed(why, sum(rule.effect for rule in hidden))))
    if why.remainder:
        lines.append(_line("drawn trees against all trees", _signed(why, why.remainder)))
    total = _line("this row", _number(why, why.prediction))
    return ["What the conditions on its way to a leaf add, on average over the trees:", base, *lines, total]


def _line(text: str, number: str) -> str:
    return f"  {text:<{NAME_WIDTH}}  {number:>8}"


def _condition(why: Explanation, rule: RowRule | Parting, width: int) -> str:
    """Return a condition; a long name is shortened in the middle, so that the comparison stays readable."""
    name = one_line(why.names[rule.feature])
    text = rule.text if len(rule.text) <= width else shorten(name) + rule.text.removeprefix(name)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _group_lines(why: Explanation) -> list[str]:
    if not trees_disagree(why):
        predictions = (min(group.low for group in why.groups), max(group.high for group in why.groups))
        name = why.output_name if why.is_class else "mean"
        return [f"The trees agree: {_other_label(why, why.groups[0])}{name}, {_range(why, predictions)}."]
    lines = [line for group in why.groups[:GROUPS_SHOWN] for line in _one_group(why, group)]
    n_hidden = len(why.groups) - GROUPS_SHOWN
    if n_hidden > 0:
        weight = sum(group.weight for group in why.groups[GROUPS_SHOWN:])
        lines.append(f"  {format_share(weight):>4}  {n_hidden} more {'group' if n_hidden == 1 else 'groups'}")
    return ["Trees by what they predict, and the condition that distinguishes them from the others:", *lines]


def trees_disagree(why: Explanation) -> bool:
    """Tell whether groups differ clearly: in the predicted class, in its probability, or in the predicted number."""
    if len(why.groups) == 1 or not why.is_class:
        return len(why.groups) > 1
    means = [group.mean for group in why.groups]
    return len({group.label for group in why.groups}) > 1 or max(means) - min(means) >= APART


def _one_group(why: Explanation, group: TreeGroup) -> list[str]:
    first = f"  {format_share(group.weight):>4}  {_other_label(why, group)}{_predicted(why, group.mean)}"
    text = _describe_parting(why, group.parting)
    if not text and any(_describe_parting(why, each.parting) for each in why.groups if each is not group):
        return [first]
    return [first, f"        {text or 'no single condition distinguishes them from the others'}"]


def _other_label(why: Explanation, group: TreeGroup) -> str:
    """Return the class that a group predicts if it is not the explained one; otherwise an empty text."""
    other = group.label is not None and group.label != why.output_name
    return f"predict {group.label}; " if other else ""


def _describe_parting(why: Explanation, parting: Parting | None) -> str:
    """Return the condition with its probabilities; an empty text if the difference is small."""
    if parting is None or parting.in_group - parting.in_others < CLEAR:
        return ""
    shares = f"{format_share(parting.in_group)} of these trees, {format_share(parting.in_others)} of the others"
    return f"{_condition(why, parting, 2 * NAME_WIDTH)}: {shares}"


def _neighbour_lines(why: Explanation) -> list[str]:
    if not why.neighbours:
        return [why.neighbours_note if why.neighbours_note.endswith(".") else f"No neighbours {why.neighbours_note}."]
    title = f"Neighbours {why.neighbours_note}, with the probability that they share the row's leaf:"
    return [title, *(f"  {each.probability:.2f}  {_values(why, each.values)}" for each in why.neighbours)]


def _values(why: Explanation, values: tuple[Any, ...]) -> str:
    """Return a row's values of the features with the largest effects."""
    order = sorted(range(len(why.names)), key=lambda f: -abs(float(why.contributions[f])))[:FEATURES_SHOWN]
    return ", ".join(f"{shorten(why.names[f], 30)} {describe_value(values[f])}" for f in order)


def _predicted(why: Explanation, value: float) -> str:
    return f"{why.output_name}, p {format_probability(value)}" if why.is_class else f"{why.output_name} {value:.4g}"


def _range(why: Explanation, ends: tuple[float, float]) -> str:
    return f"{_number(why, ends[0])} to {_number(why, ends[1])}"


def _number(why: Explanation, value: float) -> str:
    return format_probability(value).removeprefix("= ") if why.is_class else f"{value:.4g}"


def _signed(why: Explanation, value: float) -> str:
    text = f"{value:+.2f}" if why.is_class else f"{value:+.4g}"
    return text.lstrip("+-") if float(text) == 0 else text
