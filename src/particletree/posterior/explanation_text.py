"""An explanation as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from particletree.model.text import format_probability, format_share, one_line, shorten
from particletree.posterior.row_values import describe_value

if TYPE_CHECKING:
    from particletree.posterior.explanation import Explanation
    from particletree.posterior.row_rules import RowRule
    from particletree.posterior.tree_groups import Parting, TreeGroup

RULES_SHOWN = 6
GROUPS_SHOWN = 4
FEATURES_SHOWN = 4  # per neighbour
NAME_WIDTH = 48
APART = 0.05  # difference of class probabilities from which groups of trees are said to disagree
CLEAR = 0.2  # difference of probabilities from which a condition is said to characterise a group


def describe(why: Explanation) -> str:
    """Return the explanation as text."""
    lines = [*_prediction_lines(why), *_rule_lines(why), *_group_lines(why), *_neighbour_lines(why)]
    return "\n".join(lines)


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
