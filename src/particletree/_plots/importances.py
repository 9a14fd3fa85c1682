"""Which features the trees use: the importance of each, and the interactions of pairs.

The importance of a feature is the gain of the splits on it (``_posterior/structure/importances.py``), divided by the
posterior mean of the gain of all splits. Its bar is the posterior mean, its whisker the interval over the weighted
trees. The whisker of the inclusion probability is its standard error from the spread of islands or chains.

Two features interact if they are cut on one path from the root to a leaf: whether one is compared depends on the value
of the other. Features of one tree on different paths need not interact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.forest import Forest
from particletree._model.text import shorten
from particletree._plots.names import feature_names, posterior_of, without_formulas
from particletree._plots.quantiles import standard_errors, weighted_quantiles
from particletree._plots.style import (
    BLUE,
    COLUMN,
    ORANGE,
    SMALL,
    axes_or_new,
    colour_map,
    finish,
    legend_above,
    name_rows,
)
from particletree._posterior import Posterior
from particletree._posterior.structure.importances import split_gains

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]
Bits = NDArray[np.uint64]
MOST_FEATURES = 64  # one bit per feature in a 64-bit word
MOST_WITH_NUMBERS = 8
CELL = 0.15  # inches


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

    features: NDArray[np.int64]
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
    is_cut = np.stack([posterior.forest.trees_that_cut(np.array([feature])) > 0 for feature in features], axis=1)
    return Importances(
        features=features,
        names=tuple(feature_names(posterior)[feature] for feature in features),
        importance=importance[features],
        importance_low=low,
        importance_high=high,
        inclusion=inclusion[features],
        inclusion_se=errors_over_runs(posterior, is_cut),
    )


def relative_gains(posterior: Posterior, features: NDArray[np.int64]) -> Floats:
    """Return the gain of each tree's splits on each feature, over the mean gain of all: (n_features, n_trees)."""
    forest, gains = posterior.forest, split_gains(posterior)
    own = [np.where(forest.feature == feature, gains, 0.0) for feature in features]  # of each split, by feature
    of_trees = np.stack([forest.sum_over_subtrees(each)[forest.roots] for each in own])
    mean_gains = (forest.node_weights(posterior.weights) * gains)[forest.is_split]
    all_gains = np.bincount(forest.feature[forest.is_split], weights=mean_gains, minlength=1)
    total = all_gains.clip(min=0.0).sum()
    return np.asarray(of_trees / total if total > 0 else np.zeros_like(of_trees), dtype=np.float64)


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
    ax = axes_or_new(ax, height=0.9 + 0.16 * len(data.names))
    rows = np.arange(len(data.names))
    # A mean may lie outside the interval: then that whisker has length 0.
    sides = [data.importance - data.importance_low, data.importance_high - data.importance]
    whiskers = np.maximum(sides, 0.0)
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


@dataclass(frozen=True, eq=False)
class Interactions:
    """How often pairs of features are used together.

    Attributes
    ----------
    features : ndarray of int
        Indices of the features, the most important first.
    names : tuple of str
        Names of the features.
    in_tree : ndarray, shape (n, n)
        Posterior probability that a tree cuts both; on the diagonal, that it cuts the feature at all.
    on_path : ndarray, shape (n, n)
        Posterior probability that some path from root to leaf cuts both; on the diagonal, that one cuts it twice.
    in_tree_se, on_path_se : ndarray, shape (n, n)
        Their standard errors from the spread of islands or chains; 0 if there is only one.
    """

    features: NDArray[np.int64]
    names: tuple[str, ...]
    in_tree: Floats
    on_path: Floats
    in_tree_se: Floats
    on_path_se: Floats


def interactions_data(model: Any, max_features: int = 12) -> Interactions:
    """Return how often pairs of features are used together.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    max_features : int, default 12
        Number of features, the most important ones that are cut at all; at most 64.

    Returns
    -------
    Interactions
        The matrices `in_tree` and `on_path` with standard errors, `in_tree_se` and `on_path_se`; their rows and columns
        are `features` and `names`.
    """
    posterior = posterior_of(model)
    importance, inclusion = posterior.feature_importances(), posterior.inclusion_probabilities()
    order = np.lexsort((-inclusion, -importance))
    features = order[inclusion[order] > 0][: min(max_features, MOST_FEATURES)]
    if features.size == 0:
        raise ValueError("No tree cuts any feature: there are no interactions to show.")
    has = unpack(posterior.forest.trees_that_cut(features), features.size)
    below = np.stack([unpack(bits_below(posterior.forest, features, f), features.size) for f in features], axis=1)
    in_tree, on_path = has[:, :, None] & has[:, None, :], below | below.swapaxes(1, 2)
    return Interactions(
        features=features,
        names=tuple(feature_names(posterior)[feature] for feature in features),
        in_tree=np.einsum("t,tij->ij", posterior.weights, in_tree),
        on_path=np.einsum("t,tij->ij", posterior.weights, on_path),
        in_tree_se=errors_over_runs(posterior, in_tree),
        on_path_se=errors_over_runs(posterior, on_path),
    )


def errors_over_runs(posterior: Posterior, is_so: NDArray[np.bool_]) -> Floats:
    """Return the standard error of probabilities from the spread of runs; `is_so` is true or false for each tree."""
    of_runs = (posterior.island_weights @ is_so.reshape(len(is_so), -1).astype(np.float64)).clip(max=1.0)
    return standard_errors(np.asarray(of_runs).T).reshape(is_so.shape[1:])


def bits_below(forest: Forest, features: NDArray[np.int64], above: int) -> Bits:
    """Return, for each tree, which features are cut somewhere below a split on `above`, one bit per feature."""
    own = np.zeros(forest.nodes.size, dtype=np.uint64)
    for place, feature in enumerate(features.tolist()):
        own[forest.feature == feature] = np.uint64(1 << place)
    cut = forest.fold(own, np.bitwise_or)
    below = np.where(forest.feature == above, cut[forest.left] | cut[forest.right], np.uint64(0))
    return np.asarray(forest.fold(below, np.bitwise_or)[forest.roots], dtype=np.uint64)


def unpack(bits: Bits, n: int) -> NDArray[np.bool_]:
    """Return the lowest n bits of each number as booleans, shape (n_numbers, n).

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._plots.importances import unpack
    >>> unpack(np.array([2, 3], dtype=np.uint64), 2)
    array([[False,  True],
           [ True,  True]])
    """
    return np.asarray((bits[:, None] >> np.arange(n, dtype=np.uint64)) & np.uint64(1) == 1)


def plot_interactions(model: Any, ax: Axes | None = None, *, max_features: int = 12) -> Axes:
    """Draw how often two features are cut on one path (below the diagonal) and in one tree (on and above it).

    The colours of the triangles are one standard error above and below, from the spread of islands or chains; with few
    features the percentages are written in the cells.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    ax : Axes, optional
        Where to draw; None makes a new figure.
    max_features : int, default 12
        Maximal number of features to show, the most important ones.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data = interactions_data(model, max_features)
    n = len(data.names)
    is_lower = np.tri(n, k=-1, dtype=np.bool_)
    shown = np.where(is_lower, data.on_path, data.in_tree)
    errors = np.where(is_lower, data.on_path_se, data.in_tree_se)
    ax = axes_or_new(ax, max(COLUMN, 1.8 + CELL * n), max(2.6, 1.5 + CELL * n))
    image = ax.imshow(shown, cmap=colour_map("Blues"), vmin=0.0, vmax=1.0, aspect="auto")
    has_numbers = n <= MOST_WITH_NUMBERS
    mark_errors(ax, shown, errors, 0.34 if has_numbers else 0.0)
    if has_numbers:  # to the right of the triangles
        for (row, column), value in np.ndenumerate(shown):
            colour = "white" if value > 0.6 else "black"
            ax.text(column + 0.1, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=6.5, color=colour)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.03, aspect=30)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label("posterior probability", fontsize=SMALL)
    units = "numbers in %, " if has_numbers else ""
    finish(ax, title=f"upper: in one tree, lower: on one path\n{units}triangles: ± standard error")
    ax.grid(False)
    short = [without_formulas(shorten(name, 16)) for name in data.names]
    ax.set_xticks(range(n), short, rotation=90)
    ax.set_yticks(range(n), short)
    return ax


def mark_errors(ax: Axes, shown: Floats, errors: Floats, left: float) -> None:
    """Draw triangles in the colours of one standard error above and below, `left` from the middle of a cell."""
    row, column = np.indices(shown.shape)
    for sign, marker in ((1, "^"), (-1, "v")):
        colours = (shown + sign * errors).clip(0.0, 1.0).ravel()
        style: dict[str, Any] = {"cmap": colour_map("Blues"), "vmin": 0.0, "vmax": 1.0, "linewidths": 0, "s": 11.0}
        ax.scatter(column.ravel() - left, row.ravel() - 0.17 * sign, c=colours, marker=marker, **style)
