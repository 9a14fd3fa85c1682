r"""Partial dependence of the prediction on one feature, under the posterior over trees.

A tree T predicts :math:`f_T(v) = \frac1n \sum_i E[y \mid x_i \text{ with the feature set to } v, T]` on average over
rows. The line is the posterior mean of :math:`f_T(v)`, the band its equal-tailed interval over the weighted trees. The
band shows the uncertainty of the tree, not that of the parameters in its leaves. For sums of trees (BART) T is a draw
of all trees with their leaf values, and the band shows the whole uncertainty of the function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.target import ClassLabels
from particletree.plots.names import (
    any_posterior_of,
    checked_rows,
    feature_names,
    feature_number,
    output_names,
    plain,
    shorten,
)
from particletree.plots.style import COLOURS, GREY, LIGHT, MARKERS, SMALL, finish, given_or_new, legend_above
from particletree.plots.weighted import weighted_quantiles
from particletree.posterior import AdditivePosterior, Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
MOST_CURVES = 5
MOST_CHARACTERS = 36  # of all level names in one line below the axis
MOST_TURNED = 12  # names that are slanted; more are vertical


@dataclass(frozen=True, eq=False)
class Dependence:
    """Predictions along one feature.

    Attributes
    ----------
    name : str
        Name of the feature.
    values : ndarray, shape (n,)
        Values of the feature, or numbers of its levels; nan, at the end, means missing.
    levels : tuple of str
        The names of the levels, empty for a feature of numbers.
    outputs : tuple of str
        The classes or targets.
    mean, low, high : ndarray, shape (n, n_outputs)
        Posterior mean and the ends of the band.
    observed : ndarray
        The feature's values in the rows, without missing ones.
    """

    name: str
    values: Floats
    levels: tuple[str, ...]
    outputs: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    observed: Floats


def dependence_data(
    model: Any, feature: int | str, X: Any, *, level: float = 0.9, n_points: int = 50, max_rows: int = 200
) -> Dependence:
    """Return the partial dependence of the prediction on a feature, with a band over trees.

    Parameters
    ----------
    model : estimator, Posterior or AdditivePosterior
        The fitted model.
    feature : int or str
        Index or name of the feature.
    X : array-like or data frame
        Rows over which the prediction is averaged.
    level : float, default 0.9
        Posterior probability of the band.
    n_points : int, default 50
        Number of values at which the prediction is computed for a feature of numbers, from its 1% to its 99% quantile.
    max_rows : int, default 200
        Maximal number of rows that are used, evenly spaced in X.

    Returns
    -------
    Dependence
        The `values` of the feature with `mean`, `low` and `high` of the prediction, one column per entry of `outputs`;
        `name`, `levels` and `observed` describe the feature.
    """
    posterior = any_posterior_of(model)
    number, rows = feature_number(posterior, feature), checked_rows(posterior, X)
    observed = rows[:, number]
    values = values_to_ask(posterior, number, observed, n_points)
    some = rows[np.unique(np.linspace(0, len(rows) - 1, min(max_rows, len(rows))).astype(np.int64))]
    of_trees = np.stack([tree_means(posterior, with_value(posterior, some, number, value)) for value in values])
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    low, high = np.moveaxis(weighted_quantiles(of_trees, posterior.weights, tails, axis=1), -1, 0)
    return Dependence(
        name=feature_names(posterior)[number],
        values=values,
        levels=tuple(str(each) for each in posterior.columns.levels.get(number, ())),
        outputs=tuple(output_names(posterior.target)),
        mean=np.einsum("t,vto->vo", posterior.weights, of_trees),
        low=low,
        high=high,
        observed=observed[~np.isnan(observed)],
    )


def values_to_ask(posterior: Posterior | AdditivePosterior, feature: int, observed: Floats, n_points: int) -> Floats:
    """Return the levels, or numbers from the 1% to the 99% quantile; then nan if the training data had missing ones."""
    missing = [np.nan] if feature in posterior.columns.missing else []
    if posterior.columns.is_categorical(feature):
        return np.array([*range(len(posterior.columns.levels[feature])), *missing])
    present = observed[~np.isnan(observed)]
    if present.size == 0:
        raise ValueError(f"X has no value of {feature_names(posterior)[feature]}: give rows that have some.")
    return np.array(
        [*np.unique(np.linspace(np.quantile(present, 0.01), np.quantile(present, 0.99), n_points)), *missing]
    )


def with_value(posterior: Posterior | AdditivePosterior, rows: Floats, feature: int, value: float) -> Floats:
    """Return the rows with a feature set to one value; a missing level has its own number (``model/columns.py``)."""
    changed = rows.copy()
    is_missing_level = np.isnan(value) and posterior.columns.is_categorical(feature)
    changed[:, feature] = len(posterior.columns.levels[feature]) if is_missing_level else value
    return changed


def tree_means(posterior: Posterior | AdditivePosterior, rows: Floats) -> Floats:
    """Return the prediction of each tree, or of each draw of BART, averaged over the rows: (n_trees, n_outputs)."""
    if isinstance(posterior, AdditivePosterior):
        averages: Floats = posterior.predictions.averages(rows)
        return averages
    means = posterior.leaf.mean(posterior.forest.statistics)
    total = np.zeros((posterior.forest.n_trees, means.shape[1]))
    for blocks in posterior.leaf_blocks(rows):
        total += means[blocks]
    return total / len(rows)


def plot_dependence(
    model: Any,
    feature: int | str,
    X: Any,
    ax: Axes | None = None,
    *,
    outputs: Iterable[int] | None = None,
    **settings: Any,
) -> Axes:
    """Draw the partial dependence on one feature, averaged over the rows of X, with a 90% credible band over trees.

    A feature of numbers is a line with marks of the rows below it, a categorical one points with bars; missing values
    are a point on the right.

    Parameters
    ----------
    model, feature, X, **settings
        As in `dependence_data`.
    ax : Axes, optional
        Where to draw; None makes a new figure.
    outputs : iterable of int, optional
        Indices of the classes or targets to show; None means the second of two classes, all of up to five, and of more
        the five that change most.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data = dependence_data(model, feature, X, **settings)
    ax = given_or_new(ax, height=3.0 if len(data.levels) > MOST_TURNED else 2.4)
    is_class = isinstance(any_posterior_of(model).target, ClassLabels)
    shown = list(outputs) if outputs is not None else default_outputs(data, is_class)
    for place, output in enumerate(shown):
        draw_curve(ax, data, output, place, len(shown))
    if not data.levels:
        draw_rows(ax, data)
    finish(ax, shorten(data.name, 40), axis_label(data, shown, is_class))
    name_values(ax, data)
    if len(shown) > 1:
        legend_above(ax)
    return ax


def default_outputs(data: Dependence, is_class: bool) -> list[int]:
    """Return the outputs to show: the second of two classes, or those that change most."""
    if is_class and len(data.outputs) == 2:
        return [1]
    return sorted(int(i) for i in np.argsort(-np.ptp(data.mean, axis=0), kind="stable")[:MOST_CURVES])


def axis_label(data: Dependence, shown: list[int], is_class: bool) -> str:
    """Return the label of the vertical axis."""
    if len(shown) > 1:
        return "probability" if is_class else "mean"
    name = shorten(data.outputs[shown[0]], 18)
    return f"probability of {name}" if is_class else f"predicted {name}"


def draw_curve(ax: Axes, data: Dependence, output: int, place: int, n_shown: int) -> None:
    """Draw one output: a line with its band, or points with bars, and a point with a bar for missing values."""
    colour, name = COLOURS[place % len(COLOURS)], plain(shorten(data.outputs[output], 16))
    places, is_missing = positions(data), np.isnan(data.values)
    if data.levels:
        draw_points(ax, data, output, places + 0.12 * (place - (n_shown - 1) / 2), place, name)
        return
    line = ~is_missing
    ax.plot(places[line], data.mean[line, output], color=colour, linewidth=1.2, label=name)
    ax.fill_between(places[line], data.low[line, output], data.high[line, output], color=colour, alpha=0.2, linewidth=0)
    if is_missing.any():
        shift = 0.02 * np.ptp(places) * (place - (n_shown - 1) / 2)
        draw_points(ax, data, output, np.where(is_missing, places + shift, np.nan), place, None)


def draw_points(ax: Axes, data: Dependence, output: int, places: Floats, number: int, name: str | None) -> None:
    """Draw points with bars."""
    mean = data.mean[:, output]
    errors = np.maximum([mean - data.low[:, output], data.high[:, output] - mean], 0.0)
    style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "markersize": 4, "linewidth": 1.0}
    ax.errorbar(places, mean, errors, fmt=MARKERS[number % len(MARKERS)], **style, label=name)


def positions(data: Dependence) -> Floats:
    """Return the positions of the values on the axis, with missing to the right of all others."""
    present = data.values[~np.isnan(data.values)]
    step = 1.0 if data.levels else 0.08 * np.ptp(present)
    return np.where(np.isnan(data.values), present.max() + step, data.values)


def draw_rows(ax: Axes, data: Dependence) -> None:
    """Mark the deciles of the rows' values on the horizontal axis, which are readable for any number of rows."""
    deciles = np.quantile(data.observed, np.linspace(0.1, 0.9, 9))
    ax.plot(deciles, np.full(9, 0.02), "|", color=GREY, markersize=4, transform=ax.get_xaxis_transform())


def name_values(ax: Axes, data: Dependence) -> None:
    """Label the levels, and the position of missing values."""
    places = positions(data)
    if data.levels:
        names = [shorten(level, 14) for level in data.levels] + ["missing"] * bool(np.isnan(data.values).any())
        ax.set_xticks(places, [plain(name) for name in names], **turn_of(names))
    elif np.isnan(data.values).any():
        border = places[-2] + 0.3 * (places[-1] - places[-2])
        ax.axvline(border, color=LIGHT, linewidth=0.8, linestyle=":")
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": SMALL}
        ax.text(places[-1], 1.0, "missing", transform=ax.get_xaxis_transform(), **style)


def turn_of(names: list[str]) -> dict[str, Any]:
    """Return the rotation of names below an axis: horizontal if there is room, vertical if there are many."""
    if sum(map(len, names)) <= MOST_CHARACTERS:
        return {}
    return {"rotation": 90} if len(names) > MOST_TURNED else {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
