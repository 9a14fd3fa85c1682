"""Which trees are the same, found without comparing all of them.

Trees that are the same have the same hash, a number of 64 bits that is a sum over their nodes. So trees are grouped by
their hashes, all in one pass over the flat arrays, and each is compared with the first of its group, in another pass.
Nothing rests on luck: if two trees that differ should have the same hash, they are told apart cell by cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def mix(*columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of 64 bits for each row of some columns of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> hashes = mix(np.array([1, 1, 2]), np.array([0.5, 0.5, np.nan]))
    >>> bool(hashes[0] == hashes[1]), bool(hashes[0] == hashes[2])
    (True, False)
    """
    hashes = np.zeros(columns[0].size, dtype=np.uint64)
    for column in columns:
        hashes ^= (column + 0.0).view(np.uint64)  # -0.0 becomes 0.0, to which it is equal
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(32)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def sharing(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the places whose hash occurs more than once, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> sharing(np.array([7, 3, 7, 5, 7], dtype=np.uint64)).tolist()
    [0, 2, 4]
    """
    order = np.argsort(hashes)
    in_order = hashes[order]
    is_repeated = np.zeros(hashes.size, dtype=np.bool_)
    twins = np.flatnonzero(in_order[1:] == in_order[:-1])
    is_repeated[order[twins]] = is_repeated[order[twins + 1]] = True
    return np.flatnonzero(is_repeated)


def firsts(offsets: NDArray[np.int64], feature: NDArray[np.int32], threshold: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each tree the first tree that is the same; the arrays are those of a :class:`Forest`.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = np.nan
    >>> feature, threshold = np.array([0, -1, -1, -1, 0, -1, -1]), np.array([1.5, leaf, leaf, leaf, 1.5, leaf, leaf])
    >>> firsts(np.array([0, 3, 4, 7]), feature, threshold).tolist()
    [0, 1, 0]
    """
    lengths = np.diff(offsets)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    hashes = np.add.reduceat(mix(place, feature, threshold), offsets[:-1])
    _, index, group = np.unique(hashes, return_index=True, return_inverse=True)
    first = index[group]
    if np.array_equal(lengths, lengths[first]):
        bits = threshold.view(np.uint64)
        twin = place + np.repeat(offsets[first], lengths)
        if np.array_equal(feature, feature[twin]) and np.array_equal(bits, bits[twin]):
            return first
    return _firsts_by_cell(offsets, feature, threshold)


def _firsts_by_cell(
    offsets: NDArray[np.int64], feature: NDArray[np.int32], threshold: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return what :func:`firsts` does, tree by tree."""
    seen: dict[tuple[bytes, bytes], int] = {}
    nodes = [slice(*ends) for ends in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    trees = [seen.setdefault((feature[n].tobytes(), threshold[n].tobytes()), t) for t, n in enumerate(nodes)]
    return np.array(trees, dtype=np.int64)
