"""The figures of the page, from the data functions of `particletree.plots`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import json_numbers, one_line
from particletree._plots.dependence import Dependence, default_outputs, dependence_data
from particletree._plots.importances import inclusion_errors
from particletree._plots.names import checked_rows, feature_names
from particletree._plots.quantiles import in_drawable_units, quantiles, weighted_quantiles
from particletree._plots.runs import islands_data
from particletree._plots.sizes import bin_edges, is_wide, sizes_data
from particletree._posterior import Posterior
from particletree._posterior.structure.importances import split_gains
from particletree._report.rows import rows_along

MOST_FEATURES = 30  # whose gain shares are listed
MOST_CELLS = 300_000  # on larger tables the prior is approximated without the rows
MANY_CELLS = 30_000  # on larger tables fewer trees are drawn from the prior on the rows
DIGITS = 6

Floats = NDArray[np.float64]


def gain_shares_section(posterior: Posterior) -> dict[str, Any]:
    """Return gain share and inclusion probability of the features with the largest, each with its uncertainty.

    The interval of a gain share is over the weighted trees: the gain of a tree's splits on the feature, over the
    posterior mean of the gain of all splits.
    """
    features = by_gain(posterior)[:MOST_FEATURES]
    low, high = weighted_quantiles(relative_gains(posterior, features), posterior.weights, np.array([0.05, 0.95])).T
    parts = {
        "gain_share": posterior.gain_shares()[features],
        "gain_share_low": low,
        "gain_share_high": high,
        "inclusion": posterior.inclusion_probabilities()[features],
        "inclusion_se": inclusion_errors(posterior, features),
    }
    names = [one_line(feature_names(posterior)[feature]) for feature in features]
    numbers = {name: json_numbers(values, DIGITS) for name, values in parts.items()}
    return {"names": names, "features": features.tolist()} | numbers


def by_gain(posterior: Posterior) -> NDArray[np.int64]:
    """Return the features in the order of their gain shares, then of their inclusion probabilities."""
    return np.lexsort((-posterior.inclusion_probabilities(), -posterior.gain_shares()))


def relative_gains(posterior: Posterior, features: NDArray[np.int64]) -> Floats:
    """Return the gain of each tree's splits on each feature, over the mean gain of all: (n_features, n_trees)."""
    forest, gains = posterior.forest, split_gains(posterior)
    own = [np.where(forest.feature == feature, gains, 0.0) for feature in features]  # of each split, by feature
    of_trees = np.stack([forest.sum_over_subtrees(each)[forest.roots] for each in own])
    mean_gains = (forest.node_weights(posterior.weights) * gains)[forest.is_split]
    all_gains = np.bincount(forest.feature[forest.is_split], weights=mean_gains, minlength=1)
    total = all_gains.clip(min=0.0).sum()
    return np.asarray(of_trees / total if total > 0 else np.zeros_like(of_trees), dtype=np.float64)


def dependence_section(posterior: Posterior, X: Any, typical: Floats, n_features: int) -> dict[str, Any]:
    """Return the partial dependence on the features that gain most: averaged over rows, or at a typical row."""
    features = by_gain(posterior)
    used = features[posterior.inclusion_probabilities()[features] > 0][:n_features].tolist()
    panels = [panel for feature in used for panel in dependence_panel(posterior, feature, X, typical)]
    return {"averaged": X is not None, "panels": panels}


def dependence_panel(posterior: Posterior, feature: int, X: Any, typical: Floats) -> list[dict[str, Any]]:
    """Return the partial dependence on one feature, in a list that is empty if there are no values for it."""
    asked = rows_along(posterior, feature, typical) if X is None else X
    if asked is None or np.isnan(checked_rows(posterior, asked)[:, feature]).all():
        return []
    data = dependence_data(posterior, feature, asked, max_rows=1 if X is None else 100, n_points=48)
    return [describe_dependence(data, isinstance(posterior.target, ClassLabels), X is not None)]


def describe_dependence(data: Dependence, is_class: bool, has_rows: bool) -> dict[str, Any]:
    """Return the curves that are shown, and the deciles of the feature in the rows."""
    shown = default_outputs(data, is_class)
    has_deciles = has_rows and data.is_line and data.observed.size
    name, values, observed = in_drawable_units(data.name, data.values, data.observed)
    return {
        "name": one_line(name),
        "values": json_numbers(values),
        "is_line": data.is_line,
        "levels": [one_line(level) for level in data.levels],
        "outputs": shown,
        "mean": json_numbers(data.mean[:, shown].T, DIGITS),
        "low": json_numbers(data.low[:, shown].T, DIGITS),
        "high": json_numbers(data.high[:, shown].T, DIGITS),
        "deciles": json_numbers(quantiles(observed, np.linspace(0.1, 0.9, 9)), DIGITS) if has_deciles else [],
    }


def sizes_section(posterior: Posterior, X: Any) -> dict[str, Any]:
    """Return leaves and depth under posterior and prior, in bins; without training rows the prior is approximate."""
    n_fitted = float(posterior.leaf.n_rows(posterior.root_statistics))
    n_cells = n_fitted * posterior.n_features
    are_fitted = X is not None and len(X) == n_fitted and n_cells <= MOST_CELLS
    data = sizes_data(posterior, X if are_fitted else None, n_draws=100 if are_fitted and n_cells > MANY_CELLS else 500)
    return {
        "rough": not are_fitted,
        "leaves": binned(data.leaves, data.leaves_posterior, data.leaves_prior),
        "depths": binned(data.depths, data.depths_posterior, data.depths_prior),
    }


def binned(sizes: NDArray[np.int64], of_posterior: Floats, of_prior: Floats) -> dict[str, Any]:
    """Return a histogram of the posterior and one of the prior in common bins."""
    edges = bin_edges(sizes)
    heights = [np.histogram(sizes, edges, weights=weights)[0] for weights in (of_posterior, of_prior)]
    return {
        "edges": json_numbers(edges),
        "posterior": json_numbers(heights[0], DIGITS),
        "prior": json_numbers(heights[1], DIGITS),
        "logarithmic": is_wide(sizes),
    }


def runs_section(posterior: Posterior) -> dict[str, Any]:
    """Return evidence, size of trees and distance of predictions of each island or chain."""
    data = islands_data(posterior)
    return {
        "kind": data.kind,
        "score": "log evidence" if posterior.log_evidences is not None else "mean log likelihood",
        "scores": json_numbers(data.log_evidences, DIGITS + 2),
        "together": json_numbers(data.log_evidence, DIGITS + 2),
        "leaves": json_numbers(data.leaves, DIGITS),
        "leaves_sd": json_numbers(data.leaves_sd, DIGITS),
        "leaves_together": json_numbers(float(posterior.weights @ posterior.n_leaves), DIGITS),
        "distances": json_numbers(data.distances, DIGITS),
        "unit": "total variation" if isinstance(posterior.target, ClassLabels) else "sd of the target",
    }
