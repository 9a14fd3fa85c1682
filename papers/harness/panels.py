"""Figures as data: a figure is a list of panels, a panel a list of lines with their spread; `draw` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.style import COLOURS, GREY, MARKERS, new_grid, plain_ticks, shared_legend

if TYPE_CHECKING:
    from benchmarks.style import Axes, Figure

LEVEL_STYLES = ("--", ":", "-.")
HANDLE, CHARACTER = 0.6, 0.075  # inches of a legend's entry: the sample of a line, and each character
ROOM = 60  # an axis over a larger factor is labelled only at powers of ten
LEAST_FACTOR = 1.9  # between two labels of an axis that is labelled at the values of the points


@dataclass(frozen=True)
class Look:
    """The style of a series, the same in every panel: indices of a colour and a marker, and a dash or none."""

    colour: int
    marker: int | None = None
    dashed: bool = False

    def options(self) -> dict[str, Any]:
        """Return the style as arguments of matplotlib."""
        marker = MARKERS[self.colour if self.marker is None else self.marker]
        return {
            "color": COLOURS[self.colour],
            "marker": marker,
            "markersize": 4.5,
            "markerfacecolor": "white" if self.dashed else COLOURS[self.colour],
            "linestyle": (0, (4, 2)) if self.dashed else "-",
            "linewidth": 1.3,
        }


@dataclass(frozen=True)
class Line:
    """A series: points with the standard deviation over seeds at each."""

    label: str
    look: Look
    x: tuple[float, ...]
    y: tuple[float, ...]
    sd: tuple[float, ...]


@dataclass(frozen=True)
class Level:
    """A horizontal reference line."""

    label: str
    y: float


@dataclass(frozen=True)
class Above:
    """A second x axis above the panel: `total` divided by x."""

    label: str
    total: int


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    levels: list[Level] = field(default_factory=list)
    x_is_log: bool = True
    y_limits: tuple[float, float] | None = None
    above: Above | None = None


def draw(panels: Sequence[Panel], n_columns: int = 2) -> Figure:
    """Draw the panels, with one legend for all of them."""
    figure, grid = new_grid(len(panels), n_columns)
    for axes, panel in zip(grid, panels, strict=True):
        draw_panel(axes, panel)
    labels = {line.label for panel in panels for line in panel.lines}
    labels |= {level.label for panel in panels for level in panel.levels}
    shared_legend(figure, grid, n_columns=columns_of_legend(labels, figure.get_figwidth()))
    return figure


def columns_of_legend(labels: set[str], width: float) -> int:
    """Return the number of columns of a legend that is `width` inches wide.

    Examples
    --------
    >>> columns_of_legend({"prior", "optimal"}, 7.0), columns_of_legend({"a" * 30, "b", "c", "d"}, 7.0)
    (2, 2)
    """
    widest = HANDLE + CHARACTER * max(map(len, labels))
    return max(1, min(len(labels), int(width / widest)))


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw one panel: bands of one standard deviation below, lines above."""
    for number, level in enumerate(panel.levels):
        style = LEVEL_STYLES[number % len(LEVEL_STYLES)]
        axes.axhline(level.y, color=GREY, linewidth=1.0, linestyle=style, label=level.label)
    for line in panel.lines:
        y, sd = np.array(line.y), np.array(line.sd)
        options = line.look.options()
        axes.fill_between(line.x, y - sd, y + sd, color=options["color"], alpha=0.15, linewidth=0)
        every = max(1, len(line.x) // 12)  # markers: a chain has many readings, and the line goes through all of them
        axes.plot(line.x, line.y, label=line.label, markevery=every, **options)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.y_limits is not None:
        axes.set_ylim(panel.y_limits)
    if panel.x_is_log:
        axes.set_xscale("log")
        plain_ticks(axes.xaxis, ROOM)
    if panel.above is not None:
        name_twice(axes, panel.above, [x for line in panel.lines for x in line.x])


def name_twice(axes: Axes, above: Above, values: Sequence[float]) -> None:
    """Label the x axis at its own values, and above with the total divided by them."""
    ticks = spaced(values)
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.set_xticks([], minor=True)
    second = axes.secondary_xaxis("top")
    second.set_xticks(ticks, [f"{above.total / x:.0f}" for x in ticks], fontsize=6.5)
    second.set_xticks([], minor=True)
    second.set_xlabel(above.label)


def spaced(values: Sequence[float]) -> list[float]:
    """Return the values that a logarithmic axis has room to label, from the smallest on.

    Examples
    --------
    >>> spaced([1, 2, 4, 5, 10])
    [1, 2, 4, 10]
    """
    chosen: list[float] = []
    for value in sorted(set(values)):
        if not chosen or value >= LEAST_FACTOR * chosen[-1]:
            chosen.append(value)
    return chosen
