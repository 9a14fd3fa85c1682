r"""Partial dependence of the prediction on one feature, under the posterior over trees.

A tree T predicts :math:`f_T(v) = \frac1n \sum_i E[y \mid x_i \text{ with the feature set to } v, T]` on average over
rows. The line is the posterior mean of :math:`f_T(v)`, the band its equal-tailed interval over the weighted trees. The
band shows the uncertainty of the tree, not that of the parameters in its leaves. For sums of trees (BART) T is a draw
of all trees with their leaf values, and the band shows the whole uncertainty of the function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import shorten
from particletree._plots.names import (
    any_posterior_of,
    checked_rows,
    feature_names,
    feature_number,
    output_names,
    without_formulas,
)
from particletree._plots.quantiles import evenly_spaced, in_drawable_units, quantiles, weighted_quantiles
from particletree._plots.style import COLOURS, GREY, LIGHT, MARKERS, SMALL, axes_or_new, finish, legend_above
from particletree._posterior import BARTPosterior, Posterior

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]
MOST_CURVES = 5
MOST_POINTS = 12  # distinct values of a feature of numbers that are drawn as points
MOST_NAMED = 9  # outputs in the legend
MOST_LEVELS = 24  # that are drawn
MOST_CHARACTERS = 36  # of all level names in one line below the axis
MOST_TURNED = 12  # names that are slanted; more are vertical
CROWDED = 0.05  # of the range: values that are nearer to each other have no tick each


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
    is_line : bool
        Whether the values are spaced evenly over a range; otherwise they are levels, or all values that the rows have.
    """

    name: str
    values: Floats
    levels: tuple[str, ...]
    outputs: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    observed: Floats
    is_line: bool


def dependence_data(
    model: Any, feature: int | str, X: Any, *, level: float = 0.9, n_points: int = 50, max_rows: int = 200
) -> Dependence:
    """Return the partial dependence of the prediction on a feature, with a band over trees.

    Parameters
    ----------
    model : estimator, Posterior or BARTPosterior
        The fitted model.
    feature : int or str
        Index or name of the feature.
    X : array-like or data frame
        Rows over which the prediction is averaged.
    level : float, default 0.9
        Posterior probability of the band.
    n_points : int, default 50
        Number of values at which the prediction is computed for a feature of numbers, from its 1% to its 99% quantile.
        A feature with up to 12 different values in X (and up to `n_points`) has the prediction at these values.
    max_rows : int, default 200
        Maximal number of rows that are used, evenly spaced in X.

    Returns
    -------
    Dependence
        The `values` of the feature with `mean`, `low` and `high` of the prediction, one column per entry of `outputs`;
        `name`, `levels`, `observed` and `is_line` describe the feature.
    """
    posterior = any_posterior_of(model)
    number, rows = feature_number(posterior, feature), checked_rows(posterior, X)
    observed = rows[:, number]
    values = values_to_ask(posterior, number, observed, n_points)
    some = rows[np.unique(np.linspace(0, len(rows) - 1, min(max_rows, len(rows))).astype(np.int64))]
    of_values = []
    for value in values:
        some[:, number] = value
        if np.isnan(value) and posterior.columns.is_categorical(number):
            some[:, number] = len(posterior.columns.levels[number])  # a missing level (``_model/columns.py``)
        of_values.append(tree_means(posterior, some))
    of_trees = np.stack(of_values)
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
        is_line=not posterior.columns.is_categorical(number) and not has_few_values(observed, n_points),
    )


def has_few_values(observed: Floats, n_points: int) -> bool:
    """Tell whether a feature of numbers has so few different values that others may not occur, as 0 and 1."""
    return np.unique(observed[~np.isnan(observed)]).size <= min(MOST_POINTS, n_points)


def values_to_ask(posterior: Posterior | BARTPosterior, feature: int, observed: Floats, n_points: int) -> Floats:
    """Return the levels, the few values of a feature, or numbers from its 1% to its 99% quantile.

    Then nan follows, if the training data had missing values.
    """
    missing = [np.nan] if feature in posterior.columns.missing else []
    if posterior.columns.is_categorical(feature):
        return np.array([*range(len(posterior.columns.levels[feature])), *missing])
    present = observed[~np.isnan(observed)]
    if present.size == 0:
        raise ValueError(f"X has no value of {feature_names(posterior)[feature]}: give rows that have some.")
    if has_few_values(observed, n_points):
        return np.array([*np.unique(present), *missing])
    low, high = quantiles(present, [0.01, 0.99]).tolist()
    return np.array([*np.unique(evenly_spaced(low, high, n_points)), *missing])


def tree_means(posterior: Posterior | BARTPosterior, rows: Floats) -> Floats:
    """Return the prediction of each tree, or of each draw of BART, averaged over the rows: (n_trees, n_outputs)."""
    if isinstance(posterior, BARTPosterior):
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

    A feature of numbers is a line with marks of the rows below it. A categorical one is points with bars, and so is one
    with up to 12 different values, such as 0 and 1. Missing values are a point on the right. Of more than 24 levels
    those with most rows are drawn.

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
    everything = dependence_data(model, feature, X, **settings)
    data = drawable(everything)
    ax = axes_or_new(ax, height=3.0 if len(data.levels) > MOST_TURNED else 2.4)
    is_class = isinstance(any_posterior_of(model).target, ClassLabels)
    shown = list(outputs) if outputs is not None else default_outputs(data, is_class)
    for place, output in enumerate(shown):
        draw_curve(ax, data, output, place, len(shown))
    if data.is_line:  # deciles of the rows' values, which are readable for any number of rows
        deciles = quantiles(data.observed, np.linspace(0.1, 0.9, 9))
        ax.plot(deciles, np.full(9, 0.02), "|", color=GREY, markersize=4, transform=ax.get_xaxis_transform())
    n_left_out = len(everything.levels) - len(data.levels)
    note = f"\n({len(data.levels)} of {len(everything.levels)} levels, those with most rows)" if n_left_out else ""
    finish(ax, shorten(data.name, 40) + note, axis_label(data, shown, is_class))
    name_values(ax, data)
    if len(shown) > 1:
        n_unnamed = len(data.outputs if outputs is None else shown) - min(len(shown), MOST_NAMED)
        legend_above(ax, note=f"and {n_unnamed} more" if n_unnamed else "")
    return ax


def drawable(data: Dependence) -> Dependence:
    """Return the levels with most rows, if there are many, and numbers in units that can be drawn."""
    if len(data.levels) <= MOST_LEVELS:
        name, values, observed = in_drawable_units(data.name, data.values, data.observed)
        return replace(data, name=name, values=values, observed=observed)
    counts = np.bincount(data.observed.astype(np.int64), minlength=len(data.levels))[: len(data.levels)]
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    places = np.array([*kept, *np.flatnonzero(np.isnan(data.values))])
    return replace(
        data,
        values=np.where(np.isnan(data.values[places]), np.nan, np.arange(places.size)),
        levels=tuple(data.levels[number] for number in kept),
        mean=data.mean[places],
        low=data.low[places],
        high=data.high[places],
    )


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
    colour = COLOURS[place % len(COLOURS)]
    name = without_formulas(shorten(data.outputs[output], 16)) if place < MOST_NAMED else None
    places, is_missing = positions(data), np.isnan(data.values)
    beside = (place - (n_shown - 1) / 2) * min(0.12, 0.7 / n_shown)
    if not data.is_line:
        draw_points(ax, data, output, places + beside * step_of(data), place, name)
        return
    line = ~is_missing
    ax.plot(places[line], data.mean[line, output], color=colour, linewidth=1.2, label=name)
    ax.fill_between(places[line], data.low[line, output], data.high[line, output], color=colour, alpha=0.2, linewidth=0)
    if is_missing.any():
        shift = beside / 6 * np.ptp(places)
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
    step = 1.0 if data.levels else 0.08 * np.ptp(present) if data.is_line else max(step_of(data), 0.2 * np.ptp(present))
    return np.where(np.isnan(data.values), present.max() + step, data.values)


def step_of(data: Dependence) -> float:
    """Return the smallest distance of two values, 1 if there is only one."""
    present = data.values[~np.isnan(data.values)]
    return float(np.diff(present).min()) if present.size > 1 else 1.0


def name_values(ax: Axes, data: Dependence) -> None:
    """Label the levels, the values of a feature that has few, and the position of missing values."""
    places, is_missing = positions(data), np.isnan(data.values)
    missing = ["missing"] * bool(is_missing.any())
    if data.levels:
        names = [shorten(level, 14) for level in data.levels] + missing
        ax.set_xticks(places, [without_formulas(name) for name in names], **turn_of(names))
    elif not data.is_line and step_of(data) >= CROWDED * np.ptp(places):
        names = [f"{value:.6g}" for value in data.values[~is_missing].tolist()] + missing
        ax.set_xticks(places, names, **turn_of(names))
        ax.margins(x=0.5 / len(names))
    elif missing:
        border = places[-2] + 0.3 * (places[-1] - places[-2])
        ax.axvline(border, color=LIGHT, linewidth=0.8, linestyle=":")
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": SMALL}
        ax.text(places[-1], 1.0, "missing", transform=ax.get_xaxis_transform(), **style)


def turn_of(names: list[str]) -> dict[str, Any]:
    """Return the rotation of names below an axis: horizontal if there is room, vertical if there are many."""
    if sum(map(len, names)) <= MOST_CHARACTERS:
        return {}
    return {"rotation": 90} if len(names) > MOST_TURNED else {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
