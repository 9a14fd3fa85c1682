"""Trees that share their subtrees: found in one pass over the nodes by the kernel (``kernel/sharing.h``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree.model.forest import Forest
from particletree.model.rule import feature_alone

ALIGNMENT = np.dtype(np.float64).alignment


def join(forests: Sequence[Forest]) -> Forest:
    """Return one forest with the trees of several, in order, in which every distinct subtree stands once.

    Examples
    --------
    Equal trees have the same root:

    >>> import numpy as np
    >>> from particletree.model import Forest
    >>> from particletree.posterior.sharing import join
    >>> leaf = Forest.from_preorder(
    ...     offsets=[0, 1], feature=[-1], right=[-1], block=[0], statistics=np.array([[4.0, 3.0]])
    ... )
    >>> join([leaf, leaf]).roots
    array([0, 0], dtype=int32)
    """
    everything = forests[0] if len(forests) == 1 else Forest.concatenate(forests)
    return everything.take(*_kernel.share_nodes(as_bytes(everything), everything.row_hashes))


def distinct_trees(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first tree of each kind in a forest of shared nodes, and the place of each tree's kind among these."""
    roots, first, kind = np.unique(forest.roots, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(roots.size, dtype=np.int64)
    place[order] = np.arange(roots.size)
    return first[order], place[kind.reshape(-1)]


def same_up_to_gaps(forest: Forest) -> NDArray[np.int64]:
    """Return for each tree the number of its kind, where thresholds within the same gaps make no difference."""
    alike = Forest(feature_alone(forest.nodes), forest.roots, forest.statistics, forest.row_hashes)
    _, number, _, _ = _kernel.share_nodes(as_bytes(alike), alike.row_hashes)
    return number[forest.roots].astype(np.int64)


def as_bytes(forest: Forest) -> NDArray[np.uint8]:
    """Return the nodes as the kernel reads them: one row of bytes per node, in memory that is aligned for its numbers.

    What came from another process, or out of a larger buffer, need not be: to NumPy records have no alignment.
    """
    nodes = np.ascontiguousarray(forest.nodes)
    if nodes.ctypes.data % ALIGNMENT:
        nodes = nodes.copy()
    return nodes.view(np.uint8).reshape(nodes.size, nodes.itemsize)
