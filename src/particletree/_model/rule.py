"""The rule of a split: which side a row goes to, and all other functions of rules; and the record of a node.

A rule is some of a node's columns, :data:`RULE`; the same in C++ is ``kernel/rule.h``. There are three kinds:

    cut          the value is at most the threshold; missing values go to one side, which the kind names
    is present   the value is not missing: a cut at infinity, with the missing values on the right
    set          the value is one of some levels of a categorical column, of which missing is one

    feature, kind          the feature, and one of CUT_MISSING_RIGHT, CUT_MISSING_LEFT, LEVELS and SCATTERED_LEVELS
    threshold              of a cut: the largest value that goes left. Of a set: the bits of its word
    gap_low, gap_high      of a cut: the neighbouring values of the node's rows between which the threshold lies,
                           gap_low <= threshold < gap_high: any other cut there divides them alike. Otherwise nan

A leaf has the feature -1, the kind 0, and nan in the rest. Functions take whole nodes, so that a new column of a rule
affects only this module and the kernel.

**Sets of levels are 64 bits.** Levels are numbered from 0; the next number after those of the training data encodes
missing values, and the one after that all levels that the training data did not have. With up to :data:`MOST_LISTED`
numbers a set is a word in which bit i says whether number i goes left. With more it is *scattered*: the side of a
number is the first bit of a hash of the word and the number, so that a random word sends every number left or right
with probability 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.columns import Columns

CUT_MISSING_RIGHT, CUT_MISSING_LEFT, LEVELS, SCATTERED_LEVELS = range(4)

RULE = [
    ("threshold", np.float64),
    ("kind", np.uint64),
    ("gap_low", np.float64),
    ("gap_high", np.float64),
    ("feature", np.int32),
]
NO_RULE = (np.nan, 0, np.nan, np.nan, -1)
MOST_LISTED = 64
WEYL = np.uint64(0x9E3779B97F4A7C15)


def goes_left(values: NDArray[np.float64], nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows go to the left child of their node; `values` are those of the nodes' features.

    A missing value of a column of numbers is nan; the values of a categorical column are numbers of levels.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model.rule import CUT_MISSING_LEFT, NO_RULE, RULE, goes_left
    >>> rule = np.array(NO_RULE, dtype=RULE)
    >>> rule["feature"], rule["threshold"], rule["kind"] = 0, 1.5, CUT_MISSING_LEFT
    >>> goes_left(np.array([1.0, 1.5, 2.0, np.nan]), rule)
    array([ True,  True, False,  True])
    """
    kind = nodes["kind"]
    with np.errstate(invalid="ignore"):
        is_left = (values <= nodes["threshold"]) | (np.isnan(values) & (kind == CUT_MISSING_LEFT))
    if (kind >= LEVELS).any():
        with np.errstate(
            invalid="ignore"
        ):  # any value that is not a level becomes the largest number, as in the kernel
            is_known = (values >= 0) & (values < 2**32)
        word, number = words(nodes), np.where(is_known, values, 2**32 - 1).astype(np.uint64)
        is_left = np.where(kind == LEVELS, are_listed_left(word, number), is_left)
        is_left = np.where(kind == SCATTERED_LEVELS, are_scattered_left(word, number), is_left)
    return np.asarray(is_left)


def words(nodes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the words that encode which levels go left; they are meaningful only if the kind is a set."""
    return np.ascontiguousarray(nodes["threshold"]).view(np.uint64).reshape(np.shape(nodes))


def left_levels(node: Any, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which numbers of levels a set sends left."""
    return goes_left(numbers.astype(np.float64), np.broadcast_to(node, numbers.shape))


def is_set(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which nodes split by a set of levels of a categorical column."""
    return np.asarray(nodes["kind"] >= LEVELS)


def is_presence(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which nodes split by whether a number is missing."""
    return np.asarray((nodes["kind"] == CUT_MISSING_RIGHT) & (nodes["threshold"] == np.inf))


def has_gap(nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which nodes cut between two values."""
    return np.asarray((nodes["feature"] >= 0) & ~is_set(nodes) & ~is_presence(nodes))


def faults(nodes: NDArray[Any], has_gaps: bool = True) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield, for each validity condition of a rule, the nodes that violate it, and the condition.

    Without `has_gaps`, the gaps of all nodes must be nan: sums of trees do not record them.
    """
    is_split, is_cut = nodes["feature"] >= 0, has_gap(nodes)
    is_gap = is_cut & has_gaps
    yield nodes["kind"] > SCATTERED_LEVELS, f"the kind of a rule must be at most {SCATTERED_LEVELS}"
    yield ~is_split & (nodes["kind"] != 0), "the kind of a leaf must be 0"
    yield is_cut & ~np.isfinite(nodes["threshold"]), "the threshold of a split must be finite"
    yield ~is_split & ~np.isnan(nodes["threshold"]), "the threshold of a leaf must be nan"
    for name in ("gap_low", "gap_high"):
        yield is_gap & ~np.isfinite(nodes[name]), f"{name} of a split must be finite"
        yield ~is_split & ~np.isnan(nodes[name]), f"{name} of a leaf must be nan"
        yield is_split & ~is_gap & ~np.isnan(nodes[name]), f"{name} of a rule that has no gap must be nan"
    outside = (nodes["threshold"] < nodes["gap_low"]) | (nodes["threshold"] >= nodes["gap_high"])
    yield is_gap & outside, "a threshold must lie in its gap, gap_low <= threshold < gap_high"


def column_faults(nodes: NDArray[Any], columns: Columns) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield the nodes whose rule does not suit the type of their feature, and the condition that it violates."""
    n_levels = np.zeros(columns.n_features + 1, dtype=np.int64)  # the last entry is for leaves, whose feature is -1
    for feature, levels in columns.levels.items():
        n_levels[feature] = len(levels)
    of_node = n_levels[nodes["feature"]]
    expected = np.where(n_numbers(of_node) <= MOST_LISTED, LEVELS, SCATTERED_LEVELS)
    is_wrong = np.where(of_node > 0, nodes["kind"] != expected, is_set(nodes))
    yield is_wrong, "a feature with levels must be divided by sets of them, and any other by cuts"


# Sets of levels


def n_numbers(n_levels: Any) -> Any:
    """Return how many numbers a column of `n_levels` levels has: its levels, missing, and unseen levels."""
    return n_levels + 2


def mix(words: Any) -> NDArray[np.uint64]:
    """Return a hash of each word in which every bit depends on every bit (the last steps of SplitMix64)."""
    x = np.asarray(words, dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def are_listed_left(words: Any, numbers: Any) -> NDArray[np.bool_]:
    """Tell which numbers go left by the bits of the words; a number beyond the last bit counts as the last."""
    places = np.minimum(np.asarray(numbers, dtype=np.uint64), np.uint64(MOST_LISTED - 1))
    return np.asarray((np.asarray(words, dtype=np.uint64) >> places) & np.uint64(1)).astype(np.bool_)


def are_scattered_left(words: Any, numbers: Any) -> NDArray[np.bool_]:
    """Tell which numbers go left by the hash of word and number."""
    with np.errstate(over="ignore"):
        keys = np.asarray(words, dtype=np.uint64) + (np.asarray(numbers, dtype=np.uint64) + np.uint64(1)) * WEYL
    return np.asarray(mix(keys) >> np.uint64(63)).astype(np.bool_)


def coins(thresholds: Any) -> NDArray[np.uint64]:
    """Return a fair coin flip for each threshold, 0 or 1: a hash of the threshold, which is itself random."""
    bits = np.array(thresholds, dtype=np.float64).view(np.uint64)
    return np.asarray(mix(bits) >> np.uint64(63))


def draw_word(left: Any, right: Any, n_levels: int, rng: np.random.Generator) -> np.uint64:
    """Draw a word that sends the numbers `left` left and `right` right; every other number goes either way.

    For scattered sets, words are drawn until one matches: for k numbers about one word in 2^k does.
    """
    while n_numbers(n_levels) > MOST_LISTED:
        words = rng.integers(2**64, size=(1024, 1), dtype=np.uint64)
        found = are_scattered_left(words, left).all(axis=1) & ~are_scattered_left(words, right).any(axis=1)
        if found.any():
            return np.uint64(words[found.argmax(), 0])
    word = rng.integers(2**64, dtype=np.uint64)
    ours, theirs = (np.bitwise_or.reduce(np.uint64(1) << np.asarray(side, dtype=np.uint64)) for side in (left, right))
    return np.uint64((word | ours) & ~theirs)


# Rules that send every row of the training data the same way


def rounded(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes with the roundest threshold in each gap, for readability."""
    result = nodes.copy()
    for node in np.flatnonzero(has_gap(nodes)):
        low, high, threshold = (float(nodes[name][node]) for name in ("gap_low", "gap_high", "threshold"))
        result["threshold"][node] = round_within(low, high, near=threshold)
    return result


def feature_alone(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return the nodes with rules reduced to the feature.

    Rules of a feature that send the same rows to the same children become equal: those that differ within a gap, or in
    values that no row of the node has.
    """
    result, is_split = nodes.copy(), nodes["feature"] >= 0
    result["threshold"][is_split], result["kind"][is_split] = 0.0, 0
    return result


def log_gaps(nodes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the log of the length of each node's gap, also if that is too large for a float; 0 without a gap."""
    low, high = nodes["gap_low"], nodes["gap_high"]
    with np.errstate(over="ignore"):
        length = high - low
    is_finite = np.isfinite(length)
    logs = np.log(np.where(is_finite, length, high / 2 - low / 2)) + np.where(is_finite, 0.0, np.log(2))
    return np.where(has_gap(nodes), logs, 0.0)


def drawn_numbers(nodes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return, in increasing order, the random numbers in the nodes' rules, which differ between independent runs."""
    return np.sort(words(nodes)[nodes["feature"] >= 0])


# A node of a tree: the only declaration of its columns in Python.
#
# A node is a record of :data:`NODE`. Code that concatenates, selects or stores nodes handles whole records, so that a
# new column is declared only here, in the kernel (``kernel/node.h``), and in the code that uses it:
#
# rule      feature, kind, threshold, gap_low, gap_high   which side a row takes (``rule.py``)
# children  left, right                                   numbers of nodes
# block     block                                         row of the table of statistics
#
# A leaf has the feature -1, no children (-1), the kind 0, and nan in the rest of the rule.

NODE = np.dtype([*RULE, ("left", np.int32), ("right", np.int32), ("block", np.int32)])
LEAF = np.array((*NO_RULE, -1, -1, 0), dtype=NODE)


# The roundest number between two others, for readable thresholds.

ENOUGH_DIGITS = 18  # one more than is needed to distinguish any two floats


def round_within(low: float, high: float, near: float) -> float:
    """Return the roundest number strictly between `low` and `high`; of several, the one nearest to `near`.

    The roundest is the one on the coarsest of the grids ..., 10, 5, 1, 0.5, 0.1, 0.05, ... So a cut between two whole
    numbers is 2007.5: an end of the gap would be shorter, but would not show the gap. If there is no float between the
    two, `near` itself is returned, which must lie in [low, high).

    Examples
    --------
    >>> from particletree._model.rule import round_within
    >>> round_within(2007.0, 2008.0, near=2007.76)
    2007.5
    >>> round_within(0.1278, 0.1342, near=0.13308)
    0.13
    """
    start = max(near, math.nextafter(low, high))
    if start == high:
        return near
    exact = Fraction(start)
    for step in _grids(max(abs(low), abs(high))):
        below = exact // step * step
        # Converted to float, a decimal inside the gap may be rounded to an end of the gap: check again.
        numbers = [float(number) for number in (below, below + step) if low < number < high]
        inside = [number for number in numbers if low < number < high]
        if inside:
            return min(inside, key=lambda number: abs(number - near))
    return start


def _grids(largest: float) -> Iterator[Fraction]:
    """Yield the steps 10^k, 10^k / 2, 10^(k-1), ... from the first power of ten beyond the largest number."""
    first = math.floor(math.log10(largest)) + 1
    for exponent in range(first, first - ENOUGH_DIGITS - 1, -1):
        step = Fraction(10) ** exponent
        yield step
        yield step / 2
