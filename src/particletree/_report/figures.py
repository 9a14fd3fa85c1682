"""The figures of the page, from the data functions of `particletree.plots`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import json_numbers, one_line
from particletree._plots.dependence import Dependence, default_outputs, dependence_data
from particletree._plots.importances import importances_data
from particletree._plots.names import checked_rows
from particletree._plots.quantiles import in_drawable_units, quantiles
from particletree._plots.runs import islands_data
from particletree._plots.sizes import bin_edges, is_wide, sizes_data
from particletree._posterior import Posterior
from particletree._report.rows import rows_along

MOST_FEATURES = 30  # whose importances are listed
MOST_CELLS = 300_000  # on larger tables the prior is approximated without the rows
MANY_CELLS = 30_000  # on larger tables fewer trees are drawn from the prior on the rows
DIGITS = 6

Floats = NDArray[np.float64]


def importances_section(posterior: Posterior) -> dict[str, Any]:
    """Return importance and inclusion probability of the most important features, each with its uncertainty."""
    data = importances_data(posterior, MOST_FEATURES)
    parts = ("importance", "importance_low", "importance_high", "inclusion", "inclusion_se")
    return {"names": [one_line(name) for name in data.names], "features": data.features.tolist()} | {
        part: json_numbers(getattr(data, part), DIGITS) for part in parts
    }


def dependence_section(posterior: Posterior, X: Any, typical: Floats, n_features: int) -> dict[str, Any]:
    """Return the partial dependence on the most important features: averaged over rows, or at a typical row."""
    data = importances_data(posterior, max(n_features, 1))
    used = data.features[data.inclusion > 0][:n_features].tolist()
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
