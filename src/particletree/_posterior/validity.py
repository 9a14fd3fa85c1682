"""Validity checks of a posterior: small functions, each of which raises a `ValueError` that names the rule.

A file may contain anything, so `particletree.load` runs all checks before the posterior is used. Of sums of trees, the
kernel itself checks the order of the nodes in each tree, and that each draw has its trees and each leaf its value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.rule import NODE
from particletree._model.target import ClassLabels
from particletree._model.validity import (
    check_columns,
    check_features_known,
    check_forest,
    check_nodes,
    check_statistics_of,
)
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.genealogy import check_genealogies
from particletree._posterior.runs.traces import SUM_MOVES, SumRecord, check_traces, require
from particletree._posterior.sums_of_trees import SumsOfTrees
from particletree._posterior.weighted_trees import WeightedTrees

SUM_TOLERANCE = 1e-8  # of probabilities that must sum to 1
LARGEST_LOG = 1e100  # absolute value of a log probability: squares and sums of such numbers are still finite
LIKELIHOOD_TOLERANCE = 1e-6  # relative and absolute: a sampler adds the same numbers in another order
LARGEST = 1e307  # absolute value of predictions: an interval of such numbers is still finite


# What single trees and sums of trees alike say about their data.


def check_description(posterior: WeightedTrees | SumsOfTrees) -> None:
    """Check what single trees and sums alike say about their data: names, labels, fingerprint and kept rows."""
    named = posterior.feature_names is None or len(posterior.feature_names) == posterior.n_features
    require(named, "there must be a feature name for each feature, or none at all")
    labels = posterior.target.classes.tolist() if isinstance(posterior.target, ClassLabels) else []
    require(len(set(labels)) == len(labels), "no two class labels may be the same")
    if posterior.fingerprint is not None:
        posterior.fingerprint.check(posterior.n_features)
    check_kept_rows(posterior)


def check_kept_rows(posterior: WeightedTrees | SumsOfTrees) -> None:
    """Check that the kept rows are rows of the posterior's features, and that each has a number of its own."""
    rows, numbers = posterior.kept_rows, posterior.kept_row_numbers
    if rows is None:
        require(numbers is None, "there must be no numbers of kept rows without the rows")
        return
    is_table = rows.ndim == 2 and len(rows) > 0 and rows.shape[1] == posterior.n_features
    require(is_table, f"kept_rows must have at least one row, with {posterior.n_features} values")
    require(not np.isinf(rows).any(), "the values of kept_rows must be finite, or nan where one is missing")
    for feature, levels in posterior.columns.levels.items():
        column = rows[:, feature]
        valid = (column >= 0) & (column <= len(levels)) & (column == np.floor(column))  # nan is not
        require(bool(valid.all()), "kept_rows must have the number of a level for each categorical feature")
    if numbers is not None:
        valid = numbers.shape == (len(rows),) and bool((numbers >= 0).all()) and np.unique(numbers).size == len(rows)
        require(valid, "kept_row_numbers must have a number of at least 0 for each kept row, none of them twice")


# Single trees.


def check_weighted_trees(posterior: WeightedTrees) -> None:
    """Check every rule."""
    check_description(posterior)
    check_trees(posterior)
    check_numbers(posterior)
    check_weights(posterior)
    check_runs(posterior)


def check_trees(posterior: WeightedTrees) -> None:
    """Check that there are trees, with the statistics of the leaf model and rules that suit the features."""
    check_forest(posterior.forest, posterior.n_features)
    require(posterior.forest.n_trees > 0, "there must be a tree")
    check_target(posterior)
    check_statistics_of(posterior.forest, posterior.leaf)
    check_columns(posterior.forest.nodes, posterior.columns)


def check_target(posterior: WeightedTrees) -> None:
    """Check that the target suits the leaf model, and that its outputs match the statistics."""
    target, leaf = posterior.target, posterior.leaf
    require(isinstance(target, leaf.target_type), f"{type(leaf).__name__} must have a target of its kind")
    n_statistics = posterior.forest.statistics.shape[1]
    require(leaf.n_statistics(target) == n_statistics, "the statistics must be those of the target's outputs")
    leaf.kernel_parameters(target)  # raises if a parameter has the wrong number of values


def check_numbers(posterior: WeightedTrees) -> None:
    """Check that likelihoods, priors and evidences are finite, and that likelihoods are those of the trees."""
    n_trees = posterior.forest.n_trees
    _check_numbers("log_likelihoods", posterior.log_likelihoods, n_trees)
    _check_numbers("log_priors", posterior.log_priors, n_trees)
    require(_likelihoods_fit(posterior), "log_likelihoods must be the sums of the leaves' log marginals")
    if posterior.log_evidences is not None:
        _check_numbers("log_evidences", posterior.log_evidences, posterior.n_islands)


def check_weights(posterior: WeightedTrees) -> None:
    """Check that each island's weights and the shares of the islands are probabilities."""
    shape = posterior.n_islands, posterior.forest.n_trees
    require(posterior.island_weights.shape == shape, "island_weights must be islands by trees")
    _check_distributions("island_weights", posterior.island_weights.data, posterior.island_weights.sum(axis=1))
    _check_distributions("island_shares", posterior.island_shares, posterior.island_shares.sum())


def check_runs(posterior: WeightedTrees) -> None:
    """Check that traces and provenance are valid and match the weights."""
    check_traces(posterior.trace, posterior.island_weights)
    if posterior.genealogy is not None:
        check_genealogies(posterior.genealogy, posterior.trace)
    posterior.provenance.check()
    fits = posterior.provenance.fits(posterior.trace)
    require(fits, f"the traces must hold what runs of the kind {posterior.provenance.kind!r} record")


def _likelihoods_fit(posterior: WeightedTrees) -> bool:
    """Tell whether the likelihoods are those of the trees, which is a strong consistency check."""
    forest = posterior.forest
    log_marginal = posterior.leaf.log_marginal(forest.statistics)[forest.nodes["block"]]
    expected = forest.sum_over_subtrees(np.where(forest.is_split, 0.0, log_marginal))[forest.roots]
    return bool(np.allclose(posterior.log_likelihoods, expected, rtol=LIKELIHOOD_TOLERANCE, atol=LIKELIHOOD_TOLERANCE))


def _check_numbers(name: str, values: NDArray[np.float64], size: int) -> None:
    valid = values.shape == (size,) and bool((np.abs(values) <= LARGEST_LOG).all())
    require(valid, f"{name} must be {size} finite numbers, none beyond {LARGEST_LOG:g} in size")


def _check_distributions(name: str, values: NDArray[np.float64], sums: Any) -> None:
    valid = bool(np.all(values >= 0) and np.all(np.abs(sums - 1) <= SUM_TOLERANCE))
    require(valid, f"{name} must be at least 0 and sum to 1")


# Sums of trees.


def check_sums_of_trees(posterior: SumsOfTrees) -> None:
    """Check every rule."""
    check_description(posterior)
    n_classes = posterior.target.n_outputs
    n_sums = n_classes - 1 if posterior.is_classes else 1
    require(posterior.is_classes or n_classes == 1, "there must be one number to predict")
    require(
        len(posterior.sums) == len(posterior.records) == len(posterior.offsets) == n_sums,
        f"there must be {n_sums} sums, each with a record and an offset",
    )
    expected = list(range(n_classes)) if posterior.is_classes else []
    require(sorted(posterior.class_order.tolist()) == expected, "class_order must name each class once")
    require(0 < posterior.scaling.width < math.inf, "the width of the scaling must be positive and finite")
    for sums, record in zip(posterior.sums, posterior.records, strict=True):
        _check_draws(posterior, sums)
        _check_record(record, sums)
    _check_sizes(posterior)


def _check_draws(posterior: SumsOfTrees, sums: TreeSums) -> None:
    require(sums.n_draws > 0 and sums.n_trees == posterior.n_trees, "every draw must have n_trees trees")
    require(sums.chain.shape == (sums.n_draws,), "every draw must have a chain")
    require(bool((sums.chain == posterior.sums[0].chain).all()), "the draws of all sums must come from the same chains")
    present, lengths = np.unique(sums.chain, return_counts=True)
    require(present.tolist() == list(range(len(present))), "chains must be numbered from 0")
    require(bool((lengths == lengths[0]).all()), "every chain must have the same number of draws")
    nodes = sums.nodes.view(NODE)[:, 0]
    check_nodes(nodes, has_gaps=False)
    check_features_known(nodes, posterior.n_features)
    check_columns(nodes, posterior.columns)
    _ = sums.checked  # the checks of the kernel


def _check_record(record: SumRecord, sums: TreeSums) -> None:
    trace = record.trace
    require(trace.shape == (sums.n_draws,), "every draw must have a record")
    require(bool((trace["iteration"] > 0).all()), "the sweeps of a chain must be numbered from 1")
    noise, seconds = trace["noise_sd"], trace["seconds"]
    require(bool((np.isfinite(noise) & (noise > 0)).all()), "the noise of every draw must be positive and finite")
    require(bool(np.isfinite(trace["log_likelihood"]).all()), "the log likelihood of every draw must be finite")
    require(bool((np.isfinite(seconds) & (seconds >= 0)).all()), "a chain's seconds must be finite, and at least 0")
    n_leaves = sums.n_leaves_of_structures()[sums.structure_of].sum(axis=1)
    require(bool((trace["n_leaves"] == n_leaves).all()), "n_leaves of every draw must be the leaves of its trees")
    counts = record.n_proposed, record.n_accepted
    require(all(each.shape == (len(SUM_MOVES),) for each in counts), f"there must be counts of {len(SUM_MOVES)} moves")
    require(bool((record.n_accepted <= record.n_proposed).all()), "a move must not be accepted more than proposed")


def _check_sizes(posterior: SumsOfTrees) -> None:
    """Check that values, and so predictions, are finite and not too large."""
    centre, width = float(posterior.scaling.centre), float(posterior.scaling.width)
    for sums, record, offset in zip(posterior.sums, posterior.records, posterior.offsets, strict=True):
        require(bool(np.isfinite(sums.values).all()), "the values of leaves must be finite")
        largest = abs(offset) + posterior.n_trees * float(np.abs(sums.values).max())
        largest += float(record.trace["noise_sd"].max())
        valid = largest <= LARGEST and abs(centre) + width * largest <= LARGEST
        require(valid, f"offsets, scaling and the values of leaves must give predictions of at most {LARGEST:g}")
