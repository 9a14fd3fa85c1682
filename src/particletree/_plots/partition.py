"""The prediction as a function of two features, as colour, with its uncertainty as shading.

The other features are set to the median of the rows, or to the most frequent level. For classes the colour is that of
the most probable class, and it fades to white as its probability falls to 1 / (number of classes). For numbers the
colour is the mean, and hatching marks where the credible interval of the mean is wide: single lines in the widest third
of its range, crossed lines in the widest sixth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import shorten
from particletree._plots.names import (
    checked_rows,
    feature_names,
    feature_number,
    output_names,
    posterior_of,
    without_formulas,
)
from particletree._plots.quantiles import evenly_spaced, in_drawable_units, quantiles
from particletree._plots.style import (
    LIGHT,
    OTHERS,
    SMALL,
    axes_or_new,
    class_colours,
    colour_map,
    coloured_classes,
    finish,
    legend_above,
    rgb,
)
from particletree._posterior import Posterior

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]
MOST_POINTS = 300


@dataclass(frozen=True, eq=False)
class Partition:
    """Predictions on a grid of two features.

    Attributes
    ----------
    names : tuple of str
        Names of the two features.
    x, y : ndarray
        Their values.
    means : ndarray, shape (len(y), len(x), n_outputs)
        Class probabilities or means.
    widths : ndarray, shape (len(y), len(x), n_outputs)
        Widths of their 90% credible intervals.
    points : ndarray, shape (n, 2)
        Some rows.
    """

    names: tuple[str, str]
    x: Floats
    y: Floats
    means: Floats
    widths: Floats
    points: Floats


def partition_data(model: Any, X: Any, features: tuple[int | str, int | str] = (0, 1), n_points: int = 80) -> Partition:
    """Return predictions on a grid of two features, the others at their median or most frequent level.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    X : array-like or data frame
        Rows, for the range of the two features and the values of the others.
    features : pair of int or str, default (0, 1)
        Indices or names of two features of numbers.
    n_points : int, default 80
        Number of grid values of each feature.

    Returns
    -------
    Partition
        The `names` and grid values `x` and `y` of the features, `means` and `widths` on the grid, and some `points`.
    """
    posterior = posterior_of(model)
    rows = checked_rows(posterior, X)
    first, second = (check_numbers(posterior, feature_number(posterior, feature), rows) for feature in features)
    ranges = [(float(np.nanmin(rows[:, feature])), float(np.nanmax(rows[:, feature]))) for feature in (first, second)]
    x, y = (evenly_spaced(low, high, n_points) for low, high in ranges)
    grid = np.tile(typical_row(posterior, rows), (x.size * y.size, 1))
    grid[:, first], grid[:, second] = (each.ravel() for each in np.meshgrid(x, y))
    ends = posterior.predictions.intervals(grid, 0.9)
    shape = (y.size, x.size, posterior.target.n_outputs)
    return Partition(
        names=(feature_names(posterior)[first], feature_names(posterior)[second]),
        x=x,
        y=y,
        means=posterior.predictions.means(grid).reshape(shape),
        widths=(ends[..., 1] - ends[..., 0]).reshape(shape),
        points=rows[:: -(-len(rows) // MOST_POINTS)][:, [first, second]],
    )


def check_numbers(posterior: Posterior, feature: int, rows: Floats) -> int:
    """Return a feature if it is of numbers, with at least one value in the rows; otherwise raise an error."""
    if posterior.columns.is_categorical(feature):
        raise ValueError(f"{feature_names(posterior)[feature]} is categorical: choose two features of numbers.")
    if np.isnan(rows[:, feature]).all():
        raise ValueError(f"X has no value of {feature_names(posterior)[feature]}: give rows that have some.")
    return feature


def typical_row(posterior: Posterior, rows: Floats) -> Floats:
    """Return the median of each feature of numbers, and the most frequent level of each categorical feature."""
    typical = [
        float(np.bincount(column.astype(np.int64)).argmax())
        if posterior.columns.is_categorical(feature)
        else median(column)
        for feature, column in enumerate(rows.T)
    ]
    return np.array(typical)


def median(column: Floats) -> float:
    """Return the median of the values that are not missing; nan if all are."""
    present = column[~np.isnan(column)]
    return float(quantiles(present, 0.5)) if present.size else float("nan")


def plot_partition(
    model: Any,
    X: Any,
    features: tuple[int | str, int | str] = (0, 1),
    ax: Axes | None = None,
    *,
    n_points: int = 80,
    output: int = 0,
) -> Axes:
    """Draw the prediction as a function of two features, with some rows as points.

    Parameters
    ----------
    model, X, features, n_points
        As in `partition_data`.
    ax : Axes, optional
        Where to draw; None makes a new figure.
    output : int, default 0
        Index of the target to show, if there are several.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data, target = drawable(partition_data(model, X, features, n_points)), posterior_of(model).target
    ax = axes_or_new(ax, height=3.0)
    if isinstance(target, ClassLabels):
        draw_classes(ax, data, output_names(target))
    else:
        draw_numbers(ax, data, output, shorten(output_names(target)[output]))
    ax.plot(*data.points.T, "o", markersize=2.2, markerfacecolor="white", markeredgecolor="black", markeredgewidth=0.4)
    finish(ax, shorten(data.names[0], 40), shorten(data.names[1], 40))
    ax.grid(False)
    return ax


def drawable(data: Partition) -> Partition:
    """Return the data in units that can be drawn."""
    first, x, points_x = in_drawable_units(data.names[0], data.x, data.points[:, 0])
    second, y, points_y = in_drawable_units(data.names[1], data.y, data.points[:, 1])
    return replace(data, names=(first, second), x=x, y=y, points=np.stack((points_x, points_y), axis=1))


def draw_classes(ax: Axes, data: Partition, names: list[str]) -> None:
    """Draw the most probable class as colour, paler where it is less probable."""
    frequencies = np.bincount(data.means.argmax(axis=2).ravel(), minlength=len(names)).astype(np.float64)
    colours = class_colours(frequencies)
    ax.pcolormesh(data.x, data.y, faded_colours(data.means, colours), rasterized=True)
    for number in coloured_classes(frequencies):
        if frequencies[number] > 0:
            name = without_formulas(shorten(names[number], 16))
            ax.plot([], [], "s", color=colours[number], markersize=5, label=name)
    if LIGHT in colours:
        ax.plot([], [], "s", color=LIGHT, markersize=5, label=OTHERS)
    legend_above(ax)


def faded_colours(probabilities: Floats, colours: list[str]) -> Floats:
    """Return the colour of the most probable class, mixed with white: all white at 1 / n_classes, none at 1."""
    full = np.array([rgb(colour) for colour in colours])[probabilities.argmax(axis=-1)]
    guess = 1.0 / probabilities.shape[-1]
    share = (probabilities.max(axis=-1, keepdims=True) - guess) / max(1.0 - guess, guess)
    return np.asarray(1.0 - share * (1.0 - full))


def draw_numbers(ax: Axes, data: Partition, output: int, name: str) -> None:
    """Draw the mean as colour, hatched where its interval is wide."""
    image = ax.pcolormesh(data.x, data.y, data.means[..., output], cmap=colour_map("cividis"), rasterized=True)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label(without_formulas(f"predicted {name}"), fontsize=SMALL)
    widths = data.widths[..., output]
    low, high = float(widths.min()), float(widths.max())
    if high > low:
        levels = [low + (high - low) * share for share in (2 / 3, 5 / 6, 1.01)]
        hatching = ax.contourf(data.x, data.y, widths, levels, colors="none", hatches=["//", "xx"])
        hatching.set(edgecolor="white", linewidth=0.0)
        ax.set_title(f"hatched: 90% interval wider than {levels[0]:.3g}", fontsize=SMALL)
