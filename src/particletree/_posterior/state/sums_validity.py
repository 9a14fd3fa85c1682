"""Validity checks of a posterior of sums of trees, each of which raises a `ValueError` that names the rule.

What holds for single trees too is checked by the same functions. The kernel itself checks the order of the nodes in
each tree, and that each draw has its trees and each leaf its value, before it uses them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from particletree._model.rule import NODE
from particletree._model.validity import check_columns, check_features_known, check_nodes
from particletree._posterior.runs.sum_records import SUM_MOVES, SumRecord
from particletree._posterior.state.validity import check_description

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior
    from particletree._posterior.predictions.tree_sums import TreeSums

LARGEST = 1e307  # absolute value of predictions: an interval of such numbers is still finite


def check_posterior(posterior: BARTPosterior) -> None:
    """Check every rule."""
    check_description(posterior)
    n_classes = posterior.target.n_outputs
    n_sums = n_classes - 1 if posterior.is_classes else 1
    _require(posterior.is_classes or n_classes == 1, "there must be one number to predict")
    _require(
        len(posterior.sums) == len(posterior.records) == len(posterior.offsets) == n_sums,
        f"there must be {n_sums} sums, each with a record and an offset",
    )
    expected = list(range(n_classes)) if posterior.is_classes else []
    _require(sorted(posterior.class_order.tolist()) == expected, "class_order must name each class once")
    _require(0 < posterior.scaling.width < math.inf, "the width of the scaling must be positive and finite")
    for sums, record in zip(posterior.sums, posterior.records, strict=True):
        _check_draws(posterior, sums)
        _check_record(record, sums)
    _check_sizes(posterior)


def _check_draws(posterior: BARTPosterior, sums: TreeSums) -> None:
    _require(sums.n_draws > 0 and sums.n_trees == posterior.n_trees, "every draw must have n_trees trees")
    _require(sums.chain.shape == (sums.n_draws,), "every draw must have a chain")
    _require(
        bool((sums.chain == posterior.sums[0].chain).all()), "the draws of all sums must come from the same chains"
    )
    present, lengths = np.unique(sums.chain, return_counts=True)
    _require(present.tolist() == list(range(len(present))), "chains must be numbered from 0")
    _require(bool((lengths == lengths[0]).all()), "every chain must have the same number of draws")
    nodes = sums.nodes.view(NODE)[:, 0]
    check_nodes(nodes, has_gaps=False)
    check_features_known(nodes, posterior.n_features)
    check_columns(nodes, posterior.columns)
    _ = sums.checked  # the checks of the kernel


def _check_record(record: SumRecord, sums: TreeSums) -> None:
    trace = record.trace
    _require(trace.shape == (sums.n_draws,), "every draw must have a record")
    _require(bool((trace["iteration"] > 0).all()), "the sweeps of a chain must be numbered from 1")
    noise, seconds = trace["noise_sd"], trace["seconds"]
    _require(bool((np.isfinite(noise) & (noise > 0)).all()), "the noise of every draw must be positive and finite")
    _require(bool(np.isfinite(trace["log_likelihood"]).all()), "the log likelihood of every draw must be finite")
    _require(bool((np.isfinite(seconds) & (seconds >= 0)).all()), "a chain's seconds must be finite, and at least 0")
    n_leaves = sums.n_leaves_of_structures()[sums.structure_of].sum(axis=1)
    _require(bool((trace["n_leaves"] == n_leaves).all()), "n_leaves of every draw must be the leaves of its trees")
    counts = record.n_proposed, record.n_accepted
    _require(all(each.shape == (len(SUM_MOVES),) for each in counts), f"there must be counts of {len(SUM_MOVES)} moves")
    _require(bool((record.n_accepted <= record.n_proposed).all()), "a move must not be accepted more than proposed")


def _check_sizes(posterior: BARTPosterior) -> None:
    """Check that values, and so predictions, are finite and not too large."""
    centre, width = float(posterior.scaling.centre), float(posterior.scaling.width)
    for sums, record, offset in zip(posterior.sums, posterior.records, posterior.offsets, strict=True):
        _require(bool(np.isfinite(sums.values).all()), "the values of leaves must be finite")
        largest = abs(offset) + posterior.n_trees * float(np.abs(sums.values).max())
        largest += float(record.trace["noise_sd"].max())
        valid = largest <= LARGEST and abs(centre) + width * largest <= LARGEST
        _require(valid, f"offsets, scaling and the values of leaves must give predictions of at most {LARGEST:g}")


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid posterior: {rule}.")
