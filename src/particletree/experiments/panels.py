"""Pictures as data: a figure is a list of panels, a panel a list of lines with their spread; `draw` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from particletree.plots.style import COLOURS, GREY, MARKERS, new_grid, plain_ticks, shared_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVEL_STYLES = ("--", ":", "-.")


@dataclass(frozen=True)
class Look:
    """How a series is drawn, the same in every panel: numbers of a colour and a marker, and a dash or none."""

    colour: int
    marker: int | None = None
    dashed: bool = False

    def options(self) -> dict[str, Any]:
        """Return matplotlib's words for it."""
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
    """A horizontal line to compare with."""

    label: str
    y: float


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    levels: list[Level] = field(default_factory=list)
    x_is_log: bool = True
    second_x_total: int | None = None  # also label the x axis above, with this number divided by x
    second_x_label: str = ""
    y_limits: tuple[float, float] | None = None


def draw(panels: Sequence[Panel], n_columns: int = 2) -> Figure:
    """Draw the panels, with one legend for all of them."""
    figure, grid = new_grid(len(panels), n_columns)
    for axes, panel in zip(grid, panels, strict=True):
        draw_panel(axes, panel)
    lines = {line.label for panel in panels for line in panel.lines}
    n_entries = len(lines | {level.label for panel in panels for level in panel.levels})
    shared_legend(figure, grid, n_columns=min(n_entries, 2 * n_columns if n_columns > 1 else 2))
    return figure


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw one panel: bands of one standard deviation below, lines above."""
    for number, level in enumerate(panel.levels):
        style = LEVEL_STYLES[number % len(LEVEL_STYLES)]
        axes.axhline(level.y, color=GREY, linewidth=1.0, linestyle=style, label=level.label)
    for line in panel.lines:
        y, sd = np.array(line.y), np.array(line.sd)
        options = line.look.options()
        axes.fill_between(line.x, y - sd, y + sd, color=options["color"], alpha=0.15, linewidth=0)
        every = max(1, len(line.x) // 12)  # a chain has many readings; the line is drawn through all of them
        axes.plot(line.x, line.y, label=line.label, markevery=every, **options)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.y_limits is not None:
        axes.set_ylim(panel.y_limits)
    if panel.x_is_log:
        axes.set_xscale("log")
        plain_ticks(axes.xaxis)
    if panel.second_x_total is not None:
        add_second_axis(axes, panel.second_x_total, panel.second_x_label)


def add_second_axis(axes: Axes, total: int, label: str) -> None:
    """Label the x axis above as well, with `total` divided by it."""
    above = axes.secondary_xaxis("top", functions=(lambda x: total / np.maximum(x, 1e-9),) * 2)
    above.set_xlabel(label)
    above.set_xscale("log")
    plain_ticks(above.xaxis)
    axes.spines.top.set_visible(True)
