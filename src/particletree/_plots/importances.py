"""Feature importances: the inclusion probability of each feature, and its share in the gain of all splits.

The importance of a feature is the gain of the splits on it (``_posterior/structure/importances.py``), divided by the
posterior mean of the gain of all splits. Its bar is the posterior mean, its whisker the interval over the weighted
trees. The whisker of the inclusion probability is its standard error from the spread of islands
or chains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._plots.names import feature_names, posterior_of, shorten
from particletree._plots.quantiles import standard_errors, weighted_quantiles
from particletree._plots.style import BLUE, ORANGE, finish, given_or_new, legend_above, name_rows
from particletree._posterior import Posterior
from particletree._posterior.structure.importances import split_gains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Features = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Importances:
    """Importance and inclusion probability of features, the most important first.

    Attributes
    ----------
    features : ndarray of int
        Indices of the features.
    names : tuple of str
        Names of the features.
    importance, importance_low, importance_high : ndarray
        Posterior mean, and the ends of the interval over trees.
    inclusion, inclusion_se : ndarray
        Posterior probability that a tree cuts the feature, and its standard error from the spread of islands or chains;
        0 for a single one.
    """

    features: Features
    names: tuple[str, ...]
    importance: Floats
    importance_low: Floats
    importance_high: Floats
    inclusion: Floats
    inclusion_se: Floats


def importances_data(model: Any, max_features: int = 30, level: float = 0.9) -> Importances:
    """Return importance and inclusion probability of the features.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    max_features : int, default 30
        Maximal number of features.
    level : float, default 0.9
        Posterior probability of the intervals over trees.

    Returns
    -------
    Importances
        For each feature, the most important first: `features`, `names`, `importance` with `importance_low` and
        `importance_high`, and `inclusion` with `inclusion_se`.
    """
    posterior = posterior_of(model)
    importance, inclusion = posterior.feature_importances(), posterior.inclusion_probabilities()
    features = np.lexsort((-inclusion, -importance))[:max_features]
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = weighted_quantiles(relative_gains(posterior, features), posterior.weights, tails).T
    return Importances(
        features=features,
        names=tuple(feature_names(posterior)[feature] for feature in features),
        importance=importance[features],
        importance_low=low,
        importance_high=high,
        inclusion=inclusion[features],
        inclusion_se=standard_errors(inclusion_of_runs(posterior, features)),
    )


def relative_gains(posterior: Posterior, features: Features) -> Floats:
    """Return the gain of each tree's splits on each feature, over the mean gain of all: (n_features, n_trees)."""
    gains = split_gains(posterior)
    of_trees = np.stack([gains_of_trees(posterior, gains, feature) for feature in features])
    all_gains = np.bincount(
        posterior.forest.feature[posterior.forest.is_split],
        weights=(posterior.forest.node_weights(posterior.weights) * gains)[posterior.forest.is_split],
        minlength=1,
    )
    total = all_gains.clip(min=0.0).sum()
    return np.asarray(of_trees / total if total > 0 else np.zeros_like(of_trees), dtype=np.float64)


def gains_of_trees(posterior: Posterior, gains: Floats, feature: int) -> Floats:
    """Return the gain of each tree's splits on a feature."""
    own = np.where(posterior.forest.feature == feature, gains, 0.0)
    return np.asarray(posterior.forest.sum_over_subtrees(own)[posterior.forest.roots])


def inclusion_of_runs(posterior: Posterior, features: Features) -> Floats:
    """Return the probability that a tree of each island or chain cuts each feature, shape (n_features, n_runs)."""
    return np.stack([posterior.island_weights @ trees_with(posterior, feature) for feature in features]).clip(max=1.0)


def trees_with(posterior: Posterior, feature: int) -> Floats:
    """Return 1 for each tree that cuts a feature, and 0 for the others."""
    return (posterior.forest.trees_that_cut(np.array([feature])) > 0).astype(np.float64)


def plot_importances(model: Any, ax: Axes | None = None, *, max_features: int = 30) -> Axes:
    """Draw importance (bars) and inclusion probability (points) of the features, the most important on top.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    ax : Axes, optional
        Where to draw; None makes a new figure, with a height for the number of features.
    max_features : int, default 30
        Maximal number of features to show.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data = importances_data(model, max_features)
    ax = given_or_new(ax, height=0.9 + 0.16 * len(data.names))
    rows = np.arange(len(data.names))
    whiskers = errors(data.importance, data.importance_low, data.importance_high)
    ax.barh(rows - 0.17, data.importance, 0.36, color=BLUE, alpha=0.55, label="importance (90% of trees)")
    ax.errorbar(data.importance, rows - 0.17, xerr=whiskers, fmt="none", color=BLUE, linewidth=1.0)
    style: dict[str, Any] = {"color": ORANGE, "markersize": 3, "linewidth": 1.0}
    ax.errorbar(
        data.inclusion, rows + 0.2, xerr=data.inclusion_se, fmt="D", **style, label="cut at all (standard error)"
    )
    ax.set_xlim(0.0, max(1.02, 1.02 * float(data.importance_high.max())))
    finish(ax, "probability, or share of the gain")
    name_rows(ax, [shorten(name) for name in data.names])
    legend_above(ax, 1)
    return ax


def errors(middle: Floats, low: Floats, high: Floats) -> Floats:
    """Return the lengths of the whiskers on both sides of the middle, 0 if an end lies on the other side."""
    return np.maximum([middle - low, high - middle], 0.0)
