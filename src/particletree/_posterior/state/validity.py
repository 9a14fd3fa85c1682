"""Validity checks of a posterior: small functions, each of which raises a `ValueError` that names the rule.

A file may contain anything, so `particletree.load` runs all checks before the posterior is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.validity import check_columns, check_forest, check_statistics_of
from particletree._posterior.runs.genealogy import check_genealogies
from particletree._posterior.runs.traces import check_traces
from particletree._posterior.state.description import check_kept_rows

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior
    from particletree._posterior.posterior import Posterior

SUM_TOLERANCE = 1e-8  # of probabilities that must sum to 1
LARGEST_LOG = 1e100  # absolute value of a log probability: squares and sums of such numbers are still finite
LIKELIHOOD_TOLERANCE = 1e-6  # relative and absolute: a sampler adds the same numbers in another order


def check_posterior(posterior: Posterior) -> None:
    """Check every rule."""
    check_description(posterior)
    check_trees(posterior)
    check_numbers(posterior)
    check_weights(posterior)
    check_runs(posterior)


def check_description(posterior: Posterior | BARTPosterior) -> None:
    """Check what single trees and sums alike say about their data: names, labels, fingerprint and kept rows."""
    named = posterior.feature_names is None or len(posterior.feature_names) == posterior.n_features
    _require(named, "there must be a feature name for each feature, or none at all")
    labels = posterior.target.classes.tolist() if isinstance(posterior.target, ClassLabels) else []
    _require(len(set(labels)) == len(labels), "no two class labels may be the same")
    if posterior.fingerprint is not None:
        posterior.fingerprint.check(posterior.n_features)
    check_kept_rows(posterior)


def check_trees(posterior: Posterior) -> None:
    """Check that there are trees, with the statistics of the leaf model and rules that suit the features."""
    check_forest(posterior.forest, posterior.n_features)
    _require(posterior.forest.n_trees > 0, "there must be a tree")
    check_target(posterior)
    check_statistics_of(posterior.forest, posterior.leaf)
    check_columns(posterior.forest.nodes, posterior.columns)


def check_target(posterior: Posterior) -> None:
    """Check that the target suits the leaf model, and that its outputs match the statistics."""
    target, leaf = posterior.target, posterior.leaf
    _require(isinstance(target, leaf.target_type), f"{type(leaf).__name__} must have a target of its kind")
    n_statistics = posterior.forest.statistics.shape[1]
    _require(leaf.n_statistics(target) == n_statistics, "the statistics must be those of the target's outputs")
    leaf.kernel_parameters(target)  # raises if a parameter has the wrong number of values


def check_numbers(posterior: Posterior) -> None:
    """Check that likelihoods, priors and evidences are finite, and that likelihoods are those of the trees."""
    n_trees = posterior.forest.n_trees
    _check_numbers("log_likelihoods", posterior.log_likelihoods, n_trees)
    _check_numbers("log_priors", posterior.log_priors, n_trees)
    _require(_likelihoods_fit(posterior), "log_likelihoods must be the sums of the leaves' log marginals")
    if posterior.log_evidences is not None:
        _check_numbers("log_evidences", posterior.log_evidences, posterior.n_islands)


def check_weights(posterior: Posterior) -> None:
    """Check that each island's weights and the shares of the islands are probabilities."""
    shape = posterior.n_islands, posterior.forest.n_trees
    _require(posterior.island_weights.shape == shape, "island_weights must be islands by trees")
    _check_distributions("island_weights", posterior.island_weights.data, posterior.island_weights.sum(axis=1))
    _check_distributions("island_shares", posterior.island_shares, posterior.island_shares.sum())


def check_runs(posterior: Posterior) -> None:
    """Check that traces and provenance are valid and match the weights."""
    check_traces(posterior.trace, posterior.island_weights)
    if posterior.genealogy is not None:
        check_genealogies(posterior.genealogy, posterior.trace)
    posterior.provenance.check()
    fits = posterior.provenance.fits(posterior.trace)
    _require(fits, f"the traces must hold what runs of the kind {posterior.provenance.kind!r} record")


def _likelihoods_fit(posterior: Posterior) -> bool:
    """Tell whether the likelihoods are those of the trees, which is a strong consistency check."""
    forest = posterior.forest
    log_marginal = posterior.leaf.log_marginal(forest.statistics)[forest.nodes["block"]]
    expected = forest.sum_over_subtrees(np.where(forest.is_split, 0.0, log_marginal))[forest.roots]
    return bool(np.allclose(posterior.log_likelihoods, expected, rtol=LIKELIHOOD_TOLERANCE, atol=LIKELIHOOD_TOLERANCE))


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Not a valid posterior: {rule}.")


def _check_numbers(name: str, values: NDArray[np.float64], size: int) -> None:
    valid = values.shape == (size,) and bool((np.abs(values) <= LARGEST_LOG).all())
    _require(valid, f"{name} must be {size} finite numbers, none beyond {LARGEST_LOG:g} in size")


def _check_distributions(name: str, values: NDArray[np.float64], sums: Any) -> None:
    valid = bool(np.all(values >= 0) and np.all(np.abs(sums - 1) <= SUM_TOLERANCE))
    _require(valid, f"{name} must be at least 0 and sum to 1")
