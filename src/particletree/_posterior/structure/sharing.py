"""Shared subtrees of trees, found by the kernel in one pass over the nodes (``kernel/sharing.h``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree._model.forest import Forest
from particletree._model.rule import feature_alone

ALIGNMENT = np.dtype(np.float64).alignment


def join(forests: Sequence[Forest]) -> Forest:
    """Return one forest with the trees of several, in order, in which every distinct subtree is stored once.

    Examples
    --------
    Equal trees have the same root:

    >>> import numpy as np
    >>> from particletree._model import Forest
    >>> from particletree._posterior.structure.sharing import join
    >>> leaf = Forest.from_preorder(
    ...     offsets=[0, 1], feature=[-1], right=[-1], block=[0], statistics=np.array([[4.0, 3.0]])
    ... )
    >>> join([leaf, leaf]).roots
    array([0, 0], dtype=int32)
    """
    everything = forests[0] if len(forests) == 1 else Forest.concatenate(forests)
    return everything.take(*_kernel.share_nodes(as_bytes(everything), everything.row_hashes))


def distinct_trees(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each set of equal trees in a forest of shared nodes, and the index of each tree's set."""
    roots, first, kind = np.unique(forest.roots, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(roots.size, dtype=np.int64)
    place[order] = np.arange(roots.size)
    return first[order], place[kind.reshape(-1)]


def same_up_to_gaps(forest: Forest) -> NDArray[np.int64]:
    """Return an index for each tree, equal for trees that differ only by thresholds within the same gaps."""
    alike = Forest(feature_alone(forest.nodes), forest.roots, forest.statistics, forest.row_hashes)
    _, number, _, _ = _kernel.share_nodes(as_bytes(alike), alike.row_hashes)
    return number[forest.roots].astype(np.int64)


def as_bytes(forest: Forest) -> NDArray[np.uint8]:
    """Return the nodes for the kernel: one row of bytes per node, in memory that is aligned for 8-byte numbers.

    Arrays from another process, or views of a larger buffer, need not be aligned: NumPy does not align records.
    """
    nodes = np.ascontiguousarray(forest.nodes)
    if nodes.ctypes.data % ALIGNMENT:
        nodes = nodes.copy()
    return nodes.view(np.uint8).reshape(nodes.size, nodes.itemsize)
