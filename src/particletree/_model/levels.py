"""Sets of levels in 64 bits: which levels of a categorical column go left.

Levels are numbered from 0; the next number after those of the training data encodes missing values, and the one after
that all levels that the training data did not have. With up to :data:`MOST_LISTED` numbers a set is a 64-bit word in
which bit i says whether number i goes left. With more it is *scattered*: the side of a number is the first bit of a
hash of the word and the number, so that a random word sends every number left or right with probability 1/2. The same
functions in C++ are in ``kernel/rule.h``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_LISTED = 64
WEYL = np.uint64(0x9E3779B97F4A7C15)


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
    if n_numbers(n_levels) > MOST_LISTED:
        return _draw_scattered_word(left, right, rng)
    word = rng.integers(2**64, dtype=np.uint64)
    ours, theirs = (np.bitwise_or.reduce(np.uint64(1) << np.asarray(side, dtype=np.uint64)) for side in (left, right))
    return np.uint64((word | ours) & ~theirs)


def _draw_scattered_word(left: Any, right: Any, rng: np.random.Generator) -> np.uint64:
    while True:
        words = rng.integers(2**64, size=(1024, 1), dtype=np.uint64)
        found = are_scattered_left(words, left).all(axis=1) & ~are_scattered_left(words, right).any(axis=1)
        if found.any():
            return np.uint64(words[found.argmax(), 0])
