"""The rule slot: which side of a split a row goes to, and all else that is asked of a rule.

A rule is some of a node's columns, :data:`RULE`; the kernel's twin is ``kernel/rule.h``. There are three:

    cut          the value is at most the threshold; missing values go to one side, which the kind names
    is present   the value is not missing: a cut at infinity, with the missing values on the right
    set          the value is one of some levels of a categorical column, of which missing is one (``levels.py``)

    feature, kind          the feature, and one of CUT_MISSING_RIGHT, CUT_MISSING_LEFT, LEVELS and SCATTERED_LEVELS
    threshold              of a cut: the largest value that goes left. Of a set: the bits of its word
    gap_low, gap_high      of a cut: the neighbouring values of the node's rows between which the threshold lies,
                           gap_low <= threshold < gap_high: moving it there changes nothing for them. Else nan

A leaf has the feature -1, the kind 0, and nan in the rest. Functions take whole nodes, so that a new column of a rule
is known here, in the kernel, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.levels import are_listed_left, are_scattered_left
from particletree.model.rounding import round_within
from particletree.model.text import format_number

CUT_MISSING_RIGHT, CUT_MISSING_LEFT, LEVELS, SCATTERED_LEVELS = range(4)

RULE = [
    ("threshold", np.float64),
    ("kind", np.uint64),
    ("gap_low", np.float64),
    ("gap_high", np.float64),
    ("feature", np.int32),
]
NO_RULE = (np.nan, 0, np.nan, np.nan, -1)


def goes_left(values: NDArray[np.float64], nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows go to the left child of their node; `values` are those of the nodes' features.

    A missing value of a column of numbers is nan; the values of a categorical column are numbers of levels.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.model.rule import CUT_MISSING_LEFT, NO_RULE, RULE, goes_left
    >>> rule = np.array(NO_RULE, dtype=RULE)
    >>> rule["feature"], rule["threshold"], rule["kind"] = 0, 1.5, CUT_MISSING_LEFT
    >>> goes_left(np.array([1.0, 1.5, 2.0, np.nan]), rule)
    array([ True,  True, False,  True])
    """
    kind = nodes["kind"]
    with np.errstate(invalid="ignore"):
        is_left = (values <= nodes["threshold"]) | (np.isnan(values) & (kind == CUT_MISSING_LEFT))
    if (kind >= LEVELS).any():
        word, number = words(nodes), _level_numbers(values)
        is_left = np.where(kind == LEVELS, are_listed_left(word, number), is_left)
        is_left = np.where(kind == SCATTERED_LEVELS, are_scattered_left(word, number), is_left)
    return np.asarray(is_left)


def words(nodes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the words that say which levels go left; they mean something where the kind is a set."""
    return np.ascontiguousarray(nodes["threshold"]).view(np.uint64).reshape(np.shape(nodes))


def _level_numbers(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return values as numbers of levels; what is none becomes the largest, as in the kernel."""
    with np.errstate(invalid="ignore"):
        known = (values >= 0) & (values < 2**32)
    return np.where(known, values, 2**32 - 1).astype(np.uint64)


def is_set(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which nodes ask for levels of a categorical column."""
    return np.asarray(nodes["kind"] >= LEVELS)


def is_presence(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which nodes ask whether a number is there."""
    return np.asarray((nodes["kind"] == CUT_MISSING_RIGHT) & (nodes["threshold"] == np.inf))


def has_gap(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which nodes cut between two values."""
    return np.asarray((nodes["feature"] >= 0) & ~is_set(nodes) & ~is_presence(nodes))


def describe(node: Any, feature_name: str) -> str:
    """Return the question that a split asks; rows for which the answer is yes go left."""
    return f"{feature_name} <= {format_number(float(node['threshold']))}"


def faults(nodes: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield, for each thing that makes columns a rule, the nodes that break it and what must hold."""
    is_split, is_gap = nodes["feature"] >= 0, has_gap(nodes)
    yield nodes["kind"] > SCATTERED_LEVELS, f"the kind of a rule must be at most {SCATTERED_LEVELS}"
    yield ~is_split & (nodes["kind"] != 0), "the kind of a leaf must be 0"
    yield is_gap & ~np.isfinite(nodes["threshold"]), "the threshold of a split must be finite"
    yield ~is_split & ~np.isnan(nodes["threshold"]), "the threshold of a leaf must be nan"
    for name in ("gap_low", "gap_high"):
        yield is_gap & ~np.isfinite(nodes[name]), f"{name} of a split must be finite"
        yield ~is_split & ~np.isnan(nodes[name]), f"{name} of a leaf must be nan"
        yield is_split & ~is_gap & ~np.isnan(nodes[name]), f"{name} of a rule that is no cut must be nan"
    outside = (nodes["threshold"] < nodes["gap_low"]) | (nodes["threshold"] >= nodes["gap_high"])
    yield is_gap & outside, "a threshold must lie in its gap, gap_low <= threshold < gap_high"


# Rules that send every row of the training data the same way


def rounded(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes with the roundest threshold in each gap, for people to read."""
    result = nodes.copy()
    for node in np.flatnonzero(has_gap(nodes)):
        low, high, threshold = (float(nodes[name][node]) for name in ("gap_low", "gap_high", "threshold"))
        result["threshold"][node] = round_within(low, high, near=threshold)
    return result


def first_in_gap(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes with the lowest threshold in each gap: rules that differ only within a gap become the same."""
    result, is_gap = nodes.copy(), has_gap(nodes)
    result["threshold"][is_gap] = nodes["gap_low"][is_gap] + 0.0  # -0.0 becomes 0.0, to which it is equal
    return result


def log_gaps(nodes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log of the length of each node's gap, also where it is too large for a float; 0 without a gap."""
    low, high = nodes["gap_low"], nodes["gap_high"]
    with np.errstate(over="ignore"):
        length = high - low
    is_finite = np.isfinite(length)
    logs = np.log(np.where(is_finite, length, high / 2 - low / 2)) + np.where(is_finite, 0.0, np.log(2))
    return np.where(has_gap(nodes), logs, 0.0)


def drawn_numbers(nodes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return, in increasing order, what in the nodes' rules was drawn at random: no two runs draw the same."""
    return np.sort(words(nodes)[nodes["feature"] >= 0])
