"""Validity checks of a posterior of sums of trees, each of which raises a `ValueError` that names the rule.

The kernel itself checks the trees of each sum (preorder, children, features, values) before it uses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree.model import rule
from particletree.model.node import NODE

if TYPE_CHECKING:
    from particletree.posterior.additive.posterior import AdditivePosterior
    from particletree.posterior.additive.trees import TreeSums


def check_posterior(posterior: AdditivePosterior) -> None:
    """Check every rule."""
    n_classes = posterior.target.n_outputs
    n_sums = n_classes - 1 if posterior.is_classes else 1
    _require(posterior.is_classes or n_classes == 1, "there must be one number to predict")
    _require(
        len(posterior.sums) == len(posterior.records) == len(posterior.offsets) == n_sums,
        f"there must be {n_sums} sums, each with a record and an offset",
    )
    expected = list(range(n_classes)) if posterior.is_classes else []
    _require(sorted(posterior.class_order.tolist()) == expected, "class_order must name each class once")
    named = posterior.feature_names is None or len(posterior.feature_names) == posterior.n_features
    _require(named, "there must be a feature name for each feature, or none at all")
    if posterior.fingerprint is not None:
        posterior.fingerprint.check(posterior.n_features)
    for number in range(n_sums):
        _check_sum(posterior, number)


def _check_sum(posterior: AdditivePosterior, number: int) -> None:
    sums, record = posterior.sums[number], posterior.records[number]
    _require(sums.n_draws > 0 and sums.n_trees == posterior.n_trees, "every draw must have n_trees trees")
    _require(sums.chain.shape == record.trace.shape == (sums.n_draws,), "every draw must have a chain and a record")
    _require(
        bool((sums.chain == posterior.sums[0].chain).all()), "the draws of all sums must come from the same chains"
    )
    present = np.unique(sums.chain)
    _require(present.tolist() == list(range(len(present))), "chains must be numbered from 0")
    _require(bool(np.isfinite(sums.values).all()), "the values of leaves must be finite")
    _require(bool(np.isfinite(posterior.offsets[number])), "offsets must be finite")
    noise = record.trace["noise_sd"]
    _require(bool((np.isfinite(noise) & (noise > 0)).all()), "the noise of every draw must be positive and finite")
    _check_nodes(posterior, sums)


def _check_nodes(posterior: AdditivePosterior, sums: TreeSums) -> None:
    nodes = sums.nodes.view(NODE)[:, 0]
    known = (nodes["feature"] >= -1) & (nodes["feature"] < posterior.n_features)
    _require(bool(known.all()), "a node must split on a feature that there is, or be a leaf with feature -1")
    for wrong, what in (*_rule_faults(nodes), *rule.column_faults(nodes, posterior.columns)):
        _require(not wrong.any(), what)
    _ = sums.checked  # the checks of the kernel


def _rule_faults(nodes: NDArray[Any]) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Yield the nodes that violate a rule, and the rule; the gaps around thresholds are not recorded in sums."""
    is_leaf = nodes["feature"] < 0
    is_cut = ~is_leaf & ~rule.is_set(nodes) & ~rule.is_presence(nodes)
    yield nodes["kind"] > rule.SCATTERED_LEVELS, f"the kind of a rule must be at most {rule.SCATTERED_LEVELS}"
    yield is_cut & ~np.isfinite(nodes["threshold"]), "the threshold of a split must be finite"


def _require(holds: bool, rule_text: str) -> None:
    if not holds:
        raise ValueError(f"{rule_text}.")
