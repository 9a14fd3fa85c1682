"""The rules that affect one row: each condition that it meets, with its effect and its posterior probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree.model.text import one_line
from particletree.posterior.row_paths import ABOVE, AT_MOST, KINDS, LEVEL, PRESENT, Conditions
from particletree.posterior.row_values import describe_value
from particletree.posterior.summary import spread

Floats = NDArray[np.float64]
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
    of_key = [np.flatnonzero(conditions.key == key) for key in conditions.keys]
    rules = [_rule(conditions, places, weights, names, values, apart) for places in of_key]
    return tuple(sorted(rules, key=lambda rule: -abs(rule.effect)))


def _rule(
    conditions: Conditions,
    places: NDArray[np.intp],
    weights: Floats,
    names: Sequence[str],
    values: Sequence[Any],
    apart: Mapping[int, Sequence[LevelApart]],
) -> RowRule:
    """Return the rule of one condition, whose entries are at `places`."""
    feature, kind = divmod(int(conditions.key[places[0]]), len(KINDS))
    own = weights[conditions.tree[places]]
    low, high = threshold_range(conditions.bound[places], own, kind)
    levels = tuple(apart.get(feature, ())) if kind == LEVEL else ()
    text = describe_condition(names[feature], kind, values[feature], low, high)
    return RowRule(
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
