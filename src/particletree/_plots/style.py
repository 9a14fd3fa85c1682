"""The style of plots: one column wide (3.4 inches), fonts of 7 to 8 points, the colours of Okabe and Ito.

Only this module imports matplotlib, and only when something is drawn. If no axes are given, a new pyplot figure of
suitable size is made, so that notebooks show it, and `plt.show()` and `plt.savefig(...)` work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._plots.names import without_formulas

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BLUE, ORANGE = COLOURS[:2]
SKY = COLOURS[5]
GREY, LIGHT = "#666666", "#BBBBBB"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
COLUMN = 3.4  # inches
FONT, SMALL = 8.0, 7.0
LEGEND_CHARACTERS = 44  # in a line of a legend, with 4 for each mark
MISSING = 'Plots need matplotlib, which is not installed. Write: pip install "particletree[plots]"'


def new_panels(
    n_panels: int = 1,
    width: float = COLUMN,
    height: float = 2.4,
    *,
    is_stacked: bool = False,
    ratios: Sequence[float] | None = None,
) -> list[Axes]:
    """Return the axes of a new figure, in a row or a column; without matplotlib the error says what to install."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(MISSING) from error
    figure = pyplot.figure(figsize=(width, height), layout="constrained", dpi=150)
    shape: tuple[int, int] = (n_panels, 1) if is_stacked else (1, n_panels)
    grid: dict[str, Any] = {"height_ratios": ratios}
    return list(figure.subplots(*shape, squeeze=False, sharex=is_stacked, gridspec_kw=grid).flat)


def new_sheet(width: float, height: float) -> Axes:
    """Return axes that fill a new figure."""
    (ax,) = new_panels(1, width, height)
    ax.figure.set_layout_engine("none")  # type: ignore[union-attr]
    ax.set_position((0.0, 0.0, 1.0, 1.0))
    return ax


def axes_or_new(ax: Axes | None, width: float = COLUMN, height: float = 2.4) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    return new_panels(1, width, height)[0] if ax is None else ax


def panels_or_new(
    axes: Any, n_panels: int, height: float, *, is_stacked: bool = False, ratios: Sequence[float] | None = None
) -> list[Axes]:
    """Return the axes that were given, which must be `n_panels`, or those of a new figure."""
    if axes is None:
        return new_panels(n_panels, COLUMN, height, is_stacked=is_stacked, ratios=ratios)
    panels = list(getattr(axes, "flat", axes))
    if len(panels) != n_panels:
        raise ValueError(f"This plot has {n_panels} panels: give as many axes, or None. Got {len(panels)}.")
    return panels


def finish(ax: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Label the axes, and remove unneeded spines."""
    ax.set_xlabel(without_formulas(x), fontsize=FONT)
    ax.set_ylabel(without_formulas(y), fontsize=FONT)
    if title:
        ax.set_title(without_formulas(title), fontsize=FONT)
    ax.tick_params(labelsize=SMALL)
    ax.spines[["right", "top"]].set_visible(False)
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def legend_above(ax: Axes, n_columns: int = 3, note: str = "") -> None:
    """Put the legend above the axes, where it does not cover the data, in fewer columns if names are long.

    The note is a last entry without a mark, for example "and 9 more".
    """
    handles, names = ax.get_legend_handles_labels()
    if note:
        handles, names = [*handles, *ax.plot([], [], " ")], [*names, note]
    n_columns = min(n_columns, max(1, LEGEND_CHARACTERS // (max(map(len, names)) + 4)))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    ax.legend(
        handles, names, **place, ncols=n_columns, fontsize=SMALL, frameon=False, columnspacing=1.0, handlelength=1.5
    )


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Put names on the vertical axis, the first on top."""
    ax.set_yticks(range(len(names)), [without_formulas(name) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)


def filled(ax: Axes, corners: NDArray[np.float64], colour: str, edge: str) -> None:
    """Draw polygons of one colour; `corners` has shape (n, n_corners, 2)."""
    from matplotlib.collections import PolyCollection

    polygons = PolyCollection(list(corners), facecolor=colour, edgecolor=edge, linewidth=0.3)
    ax.add_collection(polygons, autolim=False)


def colour_map(name: str) -> Any:
    """Return one of matplotlib's colour maps."""
    from matplotlib import colormaps

    return colormaps[name]


def rgb(colour: str) -> tuple[float, float, float]:
    """Return the red, green and blue parts of a colour.

    Examples
    --------
    >>> from particletree._plots.style import rgb
    >>> rgb("#FF0000")
    (1.0, 0.0, 0.0)
    """
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def mixed(one: str, other: str, share: float) -> str:
    """Return a colour between two, with this share of the other.

    Examples
    --------
    >>> from particletree._plots.style import mixed
    >>> mixed("#FFFFFF", "#000000", 0.2)
    '#CCCCCC'
    """
    parts = (round(255 * ((1 - share) * a + share * b)) for a, b in zip(rgb(one), rgb(other), strict=True))
    return "#" + "".join(f"{part:02X}" for part in parts)


# Colours of classes: the most frequent classes have one each; if there are too many, the others are grey.

OTHERS = "other classes"


def class_colours(frequencies: NDArray[np.float64]) -> list[str]:
    """Return the colour of each class; beyond seven classes the six most frequent have their own.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._plots.style import class_colours
    >>> class_colours(np.array([1.0, 2.0]))
    ['#0072B2', '#D55E00']
    >>> class_colours(np.arange(9.0))[:4]
    ['#BBBBBB', '#BBBBBB', '#BBBBBB', '#0072B2']
    """
    colours = [LIGHT] * frequencies.size
    for place, number in enumerate(coloured_classes(frequencies).tolist()):
        colours[number] = COLOURS[place]
    return colours


def coloured_classes(frequencies: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the classes that have their own colour, in order."""
    if frequencies.size <= len(COLOURS):
        return np.arange(frequencies.size)
    return np.sort(np.argsort(-frequencies, kind="stable")[: len(COLOURS) - 1])
