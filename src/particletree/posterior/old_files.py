"""Conversion of files of earlier versions of the format to the present version.

3   class labels only
4   also regression, but only columns of numbers without missing values
5   all columns, but no genealogy of the particles
6   the constants of counts are sums of y log e - log y!, not log probabilities at the prior mean
7   the agreement of the islands, but not the rows at which their predictions were compared
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.leaf import LeafModel
from particletree.model.leaves import Poisson
from particletree.model.levels import coins
from particletree.model.node import LEAF, NODE

OLD_VERSIONS = (3, 4, 5, 6, 7)
NODE_VERSION = 5  # the first version with the present layout of nodes
STATISTICS_VERSION = 7  # the first with the present statistics of counts
OLD_NODE = np.dtype([(name, NODE[name]) for name in NODE.names or () if name != "kind"])


def upgraded_header(header: dict[str, Any]) -> dict[str, Any]:
    """Convert the header of an old file to the present version."""
    for version, upgrade in ((3, _from_3), (4, _from_4), (5, _from_5), (6, _from_6), (7, _from_7)):
        header = upgrade(header) if header["version"] == version else header
    return header


def _from_3(header: dict[str, Any]) -> dict[str, Any]:
    """Class labels become one kind of target, and data may have an exposure."""
    fingerprint = header.get("fingerprint")
    if {"target", "choice"} & set(header) or (
        isinstance(fingerprint, dict) and {"target", "exposure"} & set(fingerprint)
    ):
        raise ValueError("header.json has parts of a later version of the format, but says that it is of version 3")
    if isinstance(fingerprint, dict) and "labels" in fingerprint:
        rest = {name: part for name, part in fingerprint.items() if name != "labels"}
        fingerprint = rest | {"target": fingerprint["labels"], "exposure": None}
    kept = {name: value for name, value in header.items() if name != "classes"}
    target = {"kind": "classes", "classes": header.get("classes")}
    return kept | {"version": 4, "fingerprint": fingerprint, "target": target, "choice": None}


def _from_4(header: dict[str, Any]) -> dict[str, Any]:
    """All features are numbers, none of them missing, and the prior has no limits."""
    prior = header.get("prior")
    if "columns" in header or (isinstance(prior, dict) and {"max_depth", "min_samples_split"} & set(prior)):
        raise ValueError("header.json has parts of a later version of the format, but says that it is of version 4")
    if isinstance(prior, dict):
        prior = prior | {"max_depth": None, "min_samples_split": 2}
    return header | {"version": 5, "prior": prior, "columns": {"levels": [], "missing": []}}


def _from_5(header: dict[str, Any]) -> dict[str, Any]:
    """There is no genealogy."""
    if "has_genealogy" in header:
        raise ValueError("header.json has parts of a later version of the format, but says that it is of version 5")
    return header | {"version": 6, "has_genealogy": False}


def _from_6(header: dict[str, Any]) -> dict[str, Any]:
    """Only statistics have changed (`upgraded_statistics`)."""
    return header | {"version": 7}


def _from_7(header: dict[str, Any]) -> dict[str, Any]:
    """There are no rows; the agreement is measured at them, so it is not known."""
    if "has_rows" in header:
        raise ValueError("header.json has parts of a later version of the format, but says that it is of version 7")
    return {name: value for name, value in header.items() if name != "agreement"} | {"version": 8, "has_rows": False}


def upgraded_statistics(statistics: NDArray[np.float64], leaf: LeafModel) -> NDArray[np.float64]:
    """Return the statistics of a leaf model as they are since version 7."""
    if not isinstance(leaf, Poisson) or statistics.shape[1] < 4:
        return statistics
    mean, result = np.atleast_1d(np.asarray(leaf.prior_mean, dtype=np.float64)), statistics.copy()
    with np.errstate(over="ignore", invalid="ignore"):  # of a wrong file, which `Posterior.check` refuses
        result[:, 3::2] += statistics[:, 2::2] * np.log(mean) - mean * statistics[:, 1:2]
    return result


def upgraded_nodes(nodes: NDArray[Any]) -> NDArray[Any]:
    """Return nodes with a kind; the fit had no missing values, so their side is derived from each threshold."""
    result = np.full(nodes.size, LEAF)
    for name in OLD_NODE.names or ():
        result[name] = nodes[name]
    result["kind"] = np.where(nodes["feature"] >= 0, coins(nodes["threshold"]), np.uint64(0))
    return result
