"""The statistics of the nodes, from which the page's scripts compute predictions and intervals.

For classes a node has its nonzero class counts, as pairs of class and count; with the pseudo-count of the leaf model
they give probabilities, and the parameters of Beta distributions. For numbers it has the number of rows, mean, standard
deviation and the parameters of the distribution of a new observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.laws import Lomax, NegativeBinomial, Normal, StudentT
from particletree.model.leaf import LeafModel
from particletree.model.leaves import Categorical
from particletree.model.target import ClassLabels, Target
from particletree.report.plain import plain

FAMILIES = {StudentT: "student", Normal: "normal", NegativeBinomial: "negative binomial", Lomax: "lomax"}

Floats = NDArray[np.float64]


def blocks_section(statistics: Floats, leaf: LeafModel, target: Target) -> dict[str, Any]:
    """Return the statistics of each block."""
    if isinstance(target, ClassLabels):
        return class_blocks(statistics, leaf)
    return number_blocks(statistics, leaf, target.n_outputs)


def class_blocks(counts: Floats, leaf: LeafModel) -> dict[str, Any]:
    """Return class counts, with the pseudo-count per class or, if there is none, the probabilities."""
    pseudo = pseudo_count(counts, leaf)
    return {
        "counts": [_pairs(row) for row in counts],
        "pseudo": pseudo,
        "means": None if pseudo is not None else plain(leaf.mean(counts)),
    }


def pseudo_count(counts: Floats, leaf: LeafModel) -> float | None:
    """Return the pseudo-count of every class; None for a leaf model whose probabilities have no common one."""
    if not isinstance(leaf, Categorical):
        return None
    nothing = np.zeros((1, counts.shape[1]))
    added = leaf.pseudo_counts(nothing)
    return float(added[0, 0]) if np.allclose(leaf.pseudo_counts(counts) - counts, added, atol=1e-6) else None


def _pairs(counts: Floats) -> list[float]:
    """Return alternating class and count of the classes that occur."""
    classes = np.flatnonzero(counts)
    return list(plain(np.stack((classes, counts[classes]), axis=1).ravel()))


def number_blocks(statistics: Floats, leaf: LeafModel, n_outputs: int) -> dict[str, Any]:
    """Return the rows and, per target, the mean, standard deviation and distribution of a new observation."""
    deviations = np.hypot(*leaf.deviations(statistics))
    laws = [leaf.predictive_laws(statistics, output) for output in range(n_outputs)]
    return {
        "rows": plain(leaf.n_rows(statistics)),
        "means": plain(leaf.mean(statistics).T),
        "deviations": plain(deviations.T),
        "family": FAMILIES.get(type(laws[0])),
        "laws": [[plain(parameter) for parameter in law.parameters] for law in laws],
    }
