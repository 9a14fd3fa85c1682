"""Which features the trees use: the importance of each, and the interactions of pairs.

The importance of a feature is its share in the variance of the mean function
(``_posterior/structure/importances.py``). The whisker of the inclusion probability is its standard error from the
spread of islands or chains.

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
from particletree._plots.names import any_posterior_of, feature_names, posterior_of, without_formulas
from particletree._plots.quantiles import standard_errors
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
from particletree._posterior import BARTPosterior, Posterior

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
    importance : ndarray
        Share of each feature in the variance of the mean function: `feature_importances` of the posterior.
    inclusion, inclusion_se : ndarray
        Posterior probability that a tree, or some tree of a sum, cuts the feature, and its standard error from the
        spread of islands or chains; 0 for a single one.
    """

    features: NDArray[np.int64]
    names: tuple[str, ...]
    importance: Floats
    inclusion: Floats
    inclusion_se: Floats


def importances_data(model: Any, max_features: int = 30, X: Any = None) -> Importances:
    """Return importance and inclusion probability of the features.

    Parameters
    ----------
    model : estimator or posterior
        The fitted model, of single trees or of sums of trees.
    max_features : int, default 30
        Maximal number of features.
    X : array-like or data frame, default None
        The rows at which importances are computed; None means rows of the training data that the posterior has kept.

    Returns
    -------
    Importances
        For each feature, the most important first: `features`, `names`, `importance`, and `inclusion` with
        `inclusion_se`.
    """
    posterior = any_posterior_of(model)
    importance = posterior.feature_importances(X)
    if isinstance(posterior, BARTPosterior):
        is_cut = posterior.split_shares() > 0
        inclusion = is_cut.mean(axis=0)
        features = np.lexsort((-inclusion, -importance))[:max_features]
        of_chains = np.stack([cut.mean(axis=0) for cut in posterior.along_chains(is_cut[:, features])])
        errors = standard_errors(of_chains.T)
    else:
        inclusion = posterior.inclusion_probabilities()
        features = np.lexsort((-inclusion, -importance))[:max_features]
        errors = inclusion_errors(posterior, features)
    return Importances(
        features=features,
        names=tuple(feature_names(posterior)[feature] for feature in features),
        importance=importance[features],
        inclusion=inclusion[features],
        inclusion_se=errors,
    )


def inclusion_errors(posterior: Posterior, features: NDArray[np.int64]) -> Floats:
    """Return the standard errors of the inclusion probabilities of features from the spread of runs."""
    is_cut = np.stack([posterior.forest.trees_that_cut(np.array([feature])) > 0 for feature in features], axis=1)
    return errors_over_runs(posterior, is_cut)


def plot_importances(model: Any, ax: Axes | None = None, *, max_features: int = 30, X: Any = None) -> Axes:
    """Draw importance (bars) and inclusion probability (points) of the features, the most important on top.

    Parameters
    ----------
    model : estimator or posterior
        The fitted model, of single trees or of sums of trees.
    ax : Axes, optional
        Where to draw; None makes a new figure, with a height for the number of features.
    max_features : int, default 30
        Maximal number of features to show.
    X : array-like or data frame, default None
        As in `importances_data`.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data = importances_data(model, max_features, X)
    ax = axes_or_new(ax, height=0.9 + 0.16 * len(data.names))
    rows = np.arange(len(data.names))
    ax.barh(rows - 0.17, data.importance, 0.36, color=BLUE, alpha=0.55, label="importance")
    style: dict[str, Any] = {"color": ORANGE, "markersize": 3, "linewidth": 1.0}
    ax.errorbar(
        data.inclusion, rows + 0.2, xerr=data.inclusion_se, fmt="D", **style, label="cut at all (standard error)"
    )
    ax.set_xlim(0.0, 1.02)
    finish(ax, "probability, or share of variance")
    name_rows(ax, [shorten(name) for name in data.names])
    legend_above(ax, 1)
    return ax


@dataclass(frozen=True, eq=False)
class Interactions:
    """How often pairs of features are used together.

    Attributes
    ----------
    features : ndarray of int
        Indices of the features, that with the largest gain share first.
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
        Number of features, those with the largest gain shares that are cut at all; at most 64.

    Returns
    -------
    Interactions
        The matrices `in_tree` and `on_path` with standard errors, `in_tree_se` and `on_path_se`; their rows and columns
        are `features` and `names`.
    """
    posterior = posterior_of(model)
    gains, inclusion = posterior.gain_shares(), posterior.inclusion_probabilities()
    order = np.lexsort((-inclusion, -gains))
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
        Maximal number of features to show, those with the largest gain shares.

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
