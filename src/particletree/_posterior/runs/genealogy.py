"""The genealogy of particles: the lineages after each resampling, and how many of them have descendants at the end.

Resampling gives particles of large weight several offspring, and others none. So the further back one looks, the fewer
lineages the final particles descend from: early decisions that all trees share were fixed at that resampling, by chance
as well as by the data. If all particles descend from one lineage of the first resampling, the run has no information
about other first splits, whatever its number of particles (path degeneracy: Doucet & Johansen, *A tutorial on particle
filtering and smoothing*, 2011).

A *generation* is the set of particles after one resampling; the last one is the final set. The genealogy of an island
has one record per lineage (equal particles) of each generation: its number of copies, and the index of its parent in
the generation before. The parent of the first generation is the root, with which all particles begin. Lineages of the
same parent without descendants at the end are merged into one record (``kernel/condensed_genealogy.h``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._posterior.runs.traces import require

DESCENDANT = np.dtype([("generation", np.uint32), ("parent", np.uint32), ("copies", np.uint32)])
Genealogy = NDArray[Any]  # records of DESCENDANT
Indices = NDArray[np.int64]


def generations(genealogy: Genealogy) -> list[Genealogy]:
    """Return the records of each generation."""
    ends = np.flatnonzero(np.diff(genealogy["generation"], append=genealogy["generation"][-1] + 1)) + 1
    return [genealogy[start:end] for start, end in pairwise([0, *ends.tolist()])]


def has_descendants(genealogy: Genealogy) -> list[NDArray[np.bool_]]:
    """Return for each generation which of its lineages have descendants at the end.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._posterior.runs.genealogy import DESCENDANT, has_descendants, n_ancestors
    >>> genealogy = np.array([(0, 0, 3), (0, 0, 1), (1, 0, 2), (1, 0, 2)], dtype=DESCENDANT)
    >>> [survives.tolist() for survives in has_descendants(genealogy)]
    [[True, False], [True, True]]
    >>> n_ancestors(genealogy).tolist()
    [1, 2]
    """
    parts = generations(genealogy)
    survives = [np.ones(parts[-1].size, dtype=np.bool_)]
    for younger, older in pairwise(reversed(parts)):
        is_parent = np.zeros(older.size, dtype=np.bool_)
        is_parent[younger["parent"][survives[-1]]] = True
        survives.append(is_parent)
    return survives[::-1]


def n_ancestors(genealogy: Genealogy) -> Indices:
    """Return the number of lineages of each generation from which the particles at the end descend.

    The last number is that of the lineages at the end, which are their own ancestors.
    """
    return np.array([survives.sum() for survives in has_descendants(genealogy)])


def thinned(genealogy: Genealogy, kept: Sequence[int]) -> Genealogy:
    """Return the genealogy of some generations, in which parents are ancestors in the previous kept generation.

    Parameters
    ----------
    genealogy : structured ndarray
        Records of `DESCENDANT`.
    kept : sequence of int
        Indices of generations, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._posterior.runs.genealogy import DESCENDANT, thinned
    >>> genealogy = np.array([(0, 0, 1), (0, 0, 2), (1, 1, 3), (2, 0, 2), (2, 0, 1)], dtype=DESCENDANT)
    >>> thinned(genealogy, [0, 2]).tolist()
    [(0, 0, 1), (0, 0, 2), (1, 1, 2), (1, 1, 1)]
    """
    ancestor = np.zeros(1, dtype=np.int64)
    result: list[Genealogy] = []
    for number, part in enumerate(generations(genealogy)):
        ancestor = ancestor[part["parent"]]
        if number in kept:
            records = part.copy()
            records["generation"], records["parent"] = len(result), ancestor
            result.append(records)
            ancestor = np.arange(part.size)
    return np.concatenate(result)


def check_genealogies(genealogies: Sequence[Genealogy], traces: Sequence[NDArray[Any]]) -> None:
    """Raise a `ValueError` that names the rule if these are not the genealogies of runs with these traces."""
    require(len(genealogies) == len(traces), "there must be a genealogy for each island")
    for genealogy, trace in zip(genealogies, traces, strict=True):
        known = genealogy.ndim == 1 and genealogy.dtype == DESCENDANT
        require(known, f"a genealogy must consist of records of generation, parent and copies, got {genealogy.dtype}")
        require("resampled" in (trace.dtype.names or ()), "only islands of particles can have a genealogy")
        n_generations = int(trace["resampled"].sum()) + 1
        numbers = genealogy["generation"].astype(np.int64)
        steps = np.diff(numbers, prepend=-1, append=n_generations)
        in_order = (
            bool(((steps == 0) | (steps == 1)).all()) and steps[:1].tolist() == [1] and steps[-1:].tolist() == [1]
        )
        require(bool(in_order), "a genealogy must have one generation per resampling and one at the end, in order")
        sizes = np.bincount(numbers)
        require(bool((genealogy["copies"] > 0).all()), "a lineage of a genealogy must have at least one copy")
        copies = np.bincount(numbers, genealogy["copies"])
        require(
            bool((copies == copies[0]).all()), "every generation of a genealogy must have the same number of particles"
        )
        is_there = genealogy["parent"] < np.concatenate(([1], sizes))[numbers]
        require(bool(is_there.all()), "a genealogy names a parent that is not there")
