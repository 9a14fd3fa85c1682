"""The rule slot: which side of a split a row goes to, and all else that is asked of a rule.

A rule is some of a node's columns, :data:`RULE`; the kernel's twin is ``kernel/rule.h``. Today every rule is a cut:

    feature, threshold     a row goes left when its value of the feature is at most the threshold
    gap_low, gap_high      the neighbouring values of the node's rows between which the threshold lies,
                           gap_low <= threshold < gap_high: moving it there changes nothing for them

A leaf has the feature -1, and nan in the rest. Functions take whole nodes, so that a new column of a rule is known
here, in the kernel, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.rounding import round_within
from particletree.model.text import format_number

RULE = [("threshold", np.float64), ("gap_low", np.float64), ("gap_high", np.float64), ("feature", np.int32)]
NO_RULE = (np.nan, np.nan, np.nan, -1)


def goes_left(values: NDArray[np.float64], nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows go to the left child of their node; `values` are those of the nodes' features.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.model.rule import NO_RULE, RULE, goes_left
    >>> rule = np.array(NO_RULE, dtype=RULE)
    >>> rule["feature"], rule["threshold"] = 0, 1.5
    >>> goes_left(np.array([1.0, 1.5, 2.0]), rule)
    array([ True,  True, False])
    """
    return np.asarray(values <= nodes["threshold"])


def describe(node: Any, feature_name: str) -> str:
    """Return the question that a split asks; rows for which the answer is yes go left."""
    return f"{feature_name} <= {format_number(float(node['threshold']))}"


def faults(nodes: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield, for each thing that makes columns a rule, the nodes that break it and what must hold."""
    is_split = nodes["feature"] >= 0
    yield is_split & ~np.isfinite(nodes["threshold"]), "the threshold of a split must be finite"
    yield ~is_split & ~np.isnan(nodes["threshold"]), "the threshold of a leaf must be nan"
    for name in ("gap_low", "gap_high"):
        yield is_split & ~np.isfinite(nodes[name]), f"{name} of a split must be finite"
        yield ~is_split & ~np.isnan(nodes[name]), f"{name} of a leaf must be nan"
    outside = (nodes["threshold"] < nodes["gap_low"]) | (nodes["threshold"] >= nodes["gap_high"])
    yield is_split & outside, "a threshold must lie in its gap, gap_low <= threshold < gap_high"


# Rules that send every row of the training data the same way


def rounded(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes with the roundest threshold in each gap, for people to read."""
    result = nodes.copy()
    for node in np.flatnonzero(nodes["feature"] >= 0):
        low, high, threshold = (float(nodes[name][node]) for name in ("gap_low", "gap_high", "threshold"))
        result["threshold"][node] = round_within(low, high, near=threshold)
    return result


def first_in_gap(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes with the lowest threshold in each gap: rules that differ only within a gap become the same."""
    result = nodes.copy()
    result["threshold"] = nodes["gap_low"] + 0.0  # -0.0 becomes 0.0, to which it is equal
    return result


def log_gaps(nodes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log of the length of each node's gap, also where it is too large for a float; 0 for a leaf."""
    low, high = nodes["gap_low"], nodes["gap_high"]
    with np.errstate(over="ignore"):
        length = high - low
    is_finite = np.isfinite(length)
    logs = np.log(np.where(is_finite, length, high / 2 - low / 2)) + np.where(is_finite, 0.0, np.log(2))
    return np.where(nodes["feature"] < 0, 0.0, logs)


def drawn_numbers(nodes: NDArray[Any]) -> NDArray[np.float64]:
    """Return, in increasing order, what in the nodes' rules was drawn from an interval: no two runs draw the same."""
    return np.sort(nodes["threshold"][nodes["feature"] >= 0])
