"""A node of a tree: the one declaration of its columns, and the one function that says which side a row takes.

A node is a record of :data:`NODE`. Everything that concatenates, selects or stores nodes handles whole records, so that
a new column is declared here, in the kernel's twin (``kernel/node.h``), and where it has a meaning:

    rule      feature, threshold     a row goes left when its value of the feature is at most the threshold
              gap_low, gap_high      the neighbouring values of the node's rows between which the threshold lies,
                                     gap_low <= threshold < gap_high: moving it there changes nothing for them
    children  left, right            numbers of nodes
    block     block                  row of the table of statistics

A leaf has the feature -1, no children (-1), and nan in the rest of the rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

RULE = [("threshold", np.float64), ("gap_low", np.float64), ("gap_high", np.float64), ("feature", np.int32)]
NODE = np.dtype([*RULE, ("left", np.int32), ("right", np.int32), ("block", np.int32)])
LEAF = np.array((np.nan, np.nan, np.nan, -1, -1, -1, 0), dtype=NODE)


def goes_left(values: NDArray[np.float64], nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows go to the left child of their node; `values` are those of the nodes' features.

    Examples
    --------
    >>> import numpy as np
    >>> node = LEAF.copy()
    >>> node["feature"], node["threshold"] = 0, 1.5
    >>> goes_left(np.array([1.0, 1.5, 2.0]), node)
    array([ True,  True, False])
    """
    return np.asarray(values <= nodes["threshold"])


def log_gaps(nodes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log of the length of each node's gap, also where it is too large for a float; 0 for a leaf."""
    low, high = nodes["gap_low"], nodes["gap_high"]
    with np.errstate(over="ignore"):
        length = high - low
    is_finite = np.isfinite(length)
    logs = np.log(np.where(is_finite, length, high / 2 - low / 2)) + np.where(is_finite, 0.0, np.log(2))
    return np.where(nodes["feature"] < 0, 0.0, logs)
