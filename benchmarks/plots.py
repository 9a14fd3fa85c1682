"""The plots of the benchmarks, as PNG, in our common style."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from benchmarks import additive, fit, frontier, growth, islands, predict, reach, samplers, shapes, study
from benchmarks.style import (
    COLOURS,
    GREY,
    MARKERS,
    mark_level,
    new_figure,
    new_grid,
    our_style,
    plain_ticks,
    save,
    shared_legend,
)

if TYPE_CHECKING:
    from benchmarks.style import Axes, Figure

T = TypeVar("T")


@dataclass(frozen=True)
class Saved:
    """A plot in the folder."""

    file: str
    description: str


def save_all(results: Mapping[str, Sequence[Any]], folder: Path) -> dict[str, list[Saved]]:
    """Draw the plot of every measured case that has one; return the PNG files by case."""
    saved: dict[str, list[Saved]] = {}
    with our_style():
        for name, (draw, description) in DRAWINGS.items():
            if results.get(name):
                save(draw(results[name]), folder, name)
                saved[name] = [Saved(f"{name}.png", description)]
    return saved


def draw_fit(results: Sequence[fit.Result]) -> Figure:
    """Draw fit times in units of CART's: one line per data set, one marker per method."""
    methods = [m for m in distinct(r.method for r in results) if m != fit.CART]
    rows = distinct(r.data for r in results)
    figure, axes = new_figure(7.5, 1.9 + 0.45 * len(rows))
    for number, method in enumerate(methods):
        ratios = {r.data: r.ratio for r in results if r.method == method}
        draw_row_of_dots(axes, rows, ratios, number, len(methods), method)
    finish_dots(axes, rows, "fit time, in units of CART's (gini)", {0.5: "half of CART", 1.0: "CART"})
    return figure


def draw_predict(results: Sequence[predict.Result]) -> Figure:
    """Draw times of predict_proba in units of the random forest's."""
    rows = distinct(f"{r.data}, {r.method}\n({r.n_trees:,} trees)" for r in results)
    batches = distinct(r.batch for r in results)
    figure, axes = new_figure(7.5, 1.9 + 0.45 * len(rows))
    for number, batch in enumerate(batches):
        ratios = {f"{r.data}, {r.method}\n({r.n_trees:,} trees)": r.ratio for r in results if r.batch == batch}
        draw_row_of_dots(axes, rows, ratios, number, len(batches), batch)
    label = "time of predict_proba, in units of a random forest's\nwith as many trees of similar size"
    finish_dots(axes, rows, label, {0.5: "half of the forest", 1.0: "forest"})
    return figure


def draw_shapes(results: Sequence[shapes.Result]) -> Figure:
    """Draw the growth of time for four times as many rows."""
    rows, methods = distinct(r.shape for r in results), distinct(r.method for r in results)
    figure, axes = new_figure(7.5, 1.9 + 0.45 * len(rows))
    for number, method in enumerate(methods):
        growths = {r.shape: r.growth for r in results if r.method == method}
        draw_row_of_dots(axes, rows, growths, number, len(methods), method)
    lines = {results[0].expected: "rows x log rows", 16.0: "rows squared"}
    finish_dots(axes, rows, "growth of the fit time when the rows are four times as many", lines)
    return figure


def draw_reach(rungs: Sequence[reach.Rung]) -> Figure:
    """Draw log-probability against time, one panel per data set, with CART as the reference."""
    panels = distinct(r.data for r in rungs)
    figure, grid = new_grid(len(panels))
    for axes, data in zip(grid, panels, strict=True):
        here = [r for r in rungs if r.data == data]
        (cart,) = (r for r in here if r.method == reach.CART)
        axes.axhline(cart.log_probability, color=GREY, linewidth=0.8, linestyle="--")
        axes.plot(cart.ratio, cart.log_probability, **star(), label="CART")
        for number, family in enumerate(distinct(r.method.split(",")[0] for r in here if r.method != reach.CART)):
            ours = [r for r in here if r.method.startswith(family)]
            axes.plot([r.ratio for r in ours], [r.log_probability for r in ours], **dots(number), label=family)
        axes.set_xscale("log")
        plain_ticks(axes.xaxis)
        axes.set_title(data)
    label_grid(figure, grid, "fit time, in units of CART's", "mean test log-probability")
    return figure


def draw_additive(results: Sequence[additive.Result]) -> Figure:
    """Draw test error against CPU time of the fit, one panel per table, one marker per package."""
    panels = distinct(r.data for r in results)
    figure, grid = new_grid(len(panels))
    for axes, data in zip(grid, panels, strict=True):
        here = [r for r in results if r.data == data]
        for number, package in enumerate(distinct(r.package for r in here)):
            of_package = [r for r in here if r.package == package]
            errors = [r.error for r in of_package]
            axes.plot([r.fit_seconds for r in of_package], errors, **dots(number), label=package)
        axes.set_xscale("log")
        plain_ticks(axes.xaxis)
        axes.set_title(data)
    label_grid(figure, grid, "CPU seconds of the fit", "test error")
    return figure


def draw_samplers(comparisons: Sequence[samplers.Comparison]) -> Figure:
    """Draw the quality of chains against time, one panel per data set, with the filter as the reference."""
    panels = distinct(c.data for c in comparisons)
    figure, grid = new_grid(len(panels))
    for axes, data in zip(grid, panels, strict=True):
        here = [c for c in comparisons if c.data == data]
        first = here[0]
        axes.axhline(first.filter_log_probability, color=GREY, linewidth=0.8, linestyle="--")
        axes.plot(first.filter_seconds, first.filter_log_probability, **star(), label="particle filter, 5 x 100")
        for number, c in enumerate(here):
            label = "MCMC, 1 chain" if c.n_chains == 1 else f"MCMC, {c.n_chains} chains"
            axes.plot(c.curve_seconds, c.curve_log_probability, **series(number), markevery=0.15, label=label)
        axes.set_xscale("log")
        plain_ticks(axes.xaxis)
        axes.set_title(data)
    label_grid(figure, grid, "time on one core, seconds", "mean test log-probability")
    return figure


def draw_growth(points: Sequence[growth.Point]) -> Figure:
    """Draw time and memory against the size on logarithmic axes, with the expected growth of time."""
    figure, (time_axes, memory_axes) = new_grid(2)
    axis = points[0].axis
    methods = distinct(p.method for p in points)
    for number, method in enumerate(methods):
        ours = sorted((p for p in points if p.method == method), key=lambda p: p.value)
        values = [p.value for p in ours]
        time_axes.plot(values, [p.seconds for p in ours], **series(number), label=method)
        draw_law(time_axes, axis, values, ours[0].seconds, is_named=method == methods[-1])
        peaks = {p.value: p.peak_ratio for p in ours if p.peak_ratio is not None}
        memory_axes.plot(list(peaks), list(peaks.values()), **series(number), label=method)
    if axis == "rows":
        mark_level(memory_axes, 3.0, "target: 3")
    for axes in (time_axes, memory_axes):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"number of {axis}")
        plain_ticks(axes.yaxis)
        if axis != "rows":  # millions are easier to read as powers of ten
            plain_ticks(axes.xaxis)
    time_axes.set_ylabel("fit time, seconds")
    memory_axes.set_ylabel("peak memory of the fit,\nin units of the prepared data")
    shared_legend(figure, [time_axes])
    return figure


def draw_law(axes: Axes, axis: str, values: Sequence[int], seconds: float, *, is_named: bool) -> None:
    """Draw time in proportion to the work, from the first value on."""
    law = [seconds * growth.growth_of_work(axis, values[0], value) for value in values]
    name = "in proportion to " + ("rows x log rows" if axis == "rows" else axis)
    axes.plot(values, law, color=GREY, linewidth=0.8, linestyle="--", label=name if is_named else None)


def draw_islands(results: Sequence[islands.Result]) -> Figure:
    """Draw time against islands on one core and two, and the speed-up."""
    figure, (time_axes, speed_axes) = new_grid(2)
    first = results[0].data
    same = [r for r in results if r.data == first]
    counts = [r.n_islands for r in same]
    time_axes.plot(counts, [r.seconds for r in same], **series(0), label="one core")
    time_axes.plot(counts, [r.seconds_on_two for r in same], **series(1), label="two cores")
    speed_axes.plot(counts, [r.speed_up for r in same], **series(2), label=f"{first}, {same[0].n_particles} particles")
    for r in (r for r in results if r.data != first):
        label = f"{r.data}, {r.n_particles:,} particles"
        speed_axes.plot(r.n_islands, r.speed_up, **dots(3), label=label)
    mark_level(speed_axes, 1.8, "target: 1.8")
    speed_axes.set_ylim(0.0, 2.35)
    for axes in (time_axes, speed_axes):
        axes.set_xscale("log")
        plain_ticks(axes.xaxis)
        axes.set_xlabel("islands")
        axes.legend(loc="lower right")
    time_axes.set_yscale("log")
    plain_ticks(time_axes.yaxis)
    time_axes.set_ylabel("fit time, seconds")
    speed_axes.set_ylabel("times faster on two cores")
    return figure


def draw_study(results: Sequence[study.Result]) -> Figure:
    """Draw the gains of the default and the forest over CART for classification, with standard errors."""
    of_classes = [r for r in results if r.target == study.CLASS]
    rows = distinct(study.shown(r) for r in of_classes)
    figure, axes = new_figure(7.5, 1.5 + 0.24 * len(rows))
    for number, method in enumerate((study.DEFAULT, study.FOREST)):
        ours = [r for r in of_classes if r.method == method]
        places = [rows.index(study.shown(r)) + 0.3 * number - 0.15 for r in ours]
        gains, errors = [r.over_cart.value for r in ours], [r.over_cart.error for r in ours]
        axes.errorbar(gains, places, xerr=errors, **dots(number), elinewidth=1.0, label=method)
    axes.axvline(0.0, color=GREY, linewidth=0.9, linestyle="--")
    name_rows(axes, rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("mean test log-probability, less CART's (with standard errors)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def draw_frontier(points: Sequence[frontier.Point]) -> Figure:
    """Draw log-probability and evidence against time, two panels per table; poor settings are outside the panel."""
    tables = distinct(p.data for p in points)
    figure, grid = new_grid(2 * len(tables), n_columns=4 if len(tables) > 1 else 2)
    for number, data in enumerate(tables):
        here = [p for p in points if p.data == data]
        draw_cloud(grid[2 * number], here, lambda p: p.log_probability)
        draw_cloud(grid[2 * number + 1], [p for p in here if p.log_evidence is not None], lambda p: p.log_evidence)
        grid[2 * number].set_title(f"{data}: test log-probability")
        grid[2 * number + 1].set_title(f"{data}: log evidence")
    figure.supxlabel("fit time, in units of CART's", fontsize=9)
    shared_legend(figure, grid[:1])
    return figure


def draw_cloud(axes: Axes, points: Sequence[frontier.Point], value: Callable[[frontier.Point], Any]) -> None:
    """Draw settings of every proposal, CART and the default, with limits such that the better half fills the panel."""
    for number, proposal in enumerate(frontier.PROPOSALS):
        ours = [p for p in points if p.proposal == proposal]
        style = dots(number) | {"markersize": 3.5, "alpha": 0.75}
        axes.plot([p.ratio for p in ours], [value(p) for p in ours], **style, label=proposal)
    rivals = {frontier.CART: star(), frontier.DEFAULT: star() | {"marker": "X", "markersize": 9, "color": COLOURS[4]}}
    for name, style in rivals.items():
        ours = [p for p in points if p.proposal == name]
        axes.plot([p.ratio for p in ours], [value(p) for p in ours], **style, markeredgecolor="black", label=name)
    values = sorted(value(p) for p in points)
    low, high = min([values[len(values) // 4], *(value(p) for p in points if p.proposal in rivals)]), values[-1]
    axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)


GROWTH_TEXT = "Fit time and peak memory against the number of {}."
DRAWINGS: dict[str, tuple[Callable[[Any], Figure], str]] = {
    "fit": (draw_fit, "Fit time of every method in units of CART's, by data set."),
    "additive": (draw_additive, "Test error of sums of trees against CPU time of the fit, by package."),
    "reach": (draw_reach, "Test log-probability against fit time for a ladder of settings, beside CART."),
    "samplers": (draw_samplers, "Test log-probability of Markov chains against time, beside the particle filter."),
    "predict": (draw_predict, "Time of predict_proba in units of a random forest's."),
    **{axis: (draw_growth, GROWTH_TEXT.format(axis)) for axis in ("rows", "features", "classes", "particles")},
    "islands": (draw_islands, "Fit time by number of islands on one core and on two, and the speed-up."),
    "shapes": (draw_shapes, "Growth of the fit time from n to 4n rows, for several shapes of data."),
    "study": (draw_study, "Test log-probability of the default and of a random forest less CART's, by table."),
    "frontier": (draw_frontier, "Test log-probability and log evidence against fit time, for settings of the filter."),
}


def distinct(values: Iterator[T] | Sequence[T]) -> list[T]:
    """Return values without repetition, in order.

    Examples
    --------
    >>> distinct(["b", "a", "b"])
    ['b', 'a']
    """
    return list(dict.fromkeys(values))


def dots(number: int) -> dict[str, Any]:
    """Return the style of the points of a series."""
    return {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 5.5, "linestyle": "none"}


def star() -> dict[str, Any]:
    """Return the style of the reference point."""
    return {"color": "black", "marker": "*", "markersize": 12, "linestyle": "none"}


def series(number: int) -> dict[str, Any]:
    """Return the style of points with a line through them."""
    return dots(number) | {"linestyle": "-", "linewidth": 1.3}


def draw_row_of_dots(
    axes: Axes, rows: Sequence[str], values: Mapping[str, float], number: int, n_series: int, label: str
) -> None:
    """Draw one series of a dot plot, a little above or below the other series of the same row."""
    shift = 0.5 * ((number + 0.5) / n_series - 0.5)
    present = [row for row in rows if row in values]
    positions = [rows.index(row) + shift for row in present]
    axes.plot([values[row] for row in present], positions, **dots(number), label=label)


def finish_dots(axes: Axes, rows: Sequence[str], label: str, lines: Mapping[float, str]) -> None:
    """Add the names, the logarithmic axis and the reference lines to a dot plot."""
    axes.set_xscale("log")
    for value, name in lines.items():
        axes.axvline(value, color=GREY, linewidth=0.9, linestyle="--")
        is_first = value == min(lines)  # names are outside the two lines, so that they do not overlap
        place: dict[str, Any] = {"ha": "right" if is_first else "left", "xytext": (-3 if is_first else 3, 0)}
        axes.annotate(name, (value, -0.62), textcoords="offset points", color=GREY, fontsize=7.5, va="center", **place)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, min(lines) / 4), max(high, max(lines) * 4))  # room for the names
    plain_ticks(axes.xaxis)
    name_rows(axes, rows)
    axes.set_ylim(len(rows) - 0.5, -0.8)
    axes.set_xlabel(label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def name_rows(axes: Axes, rows: Sequence[str]) -> None:
    """Write the name of each row beside it, and draw a thin line through it."""
    for row in range(len(rows)):
        axes.axhline(row, color=GREY, linewidth=0.3, zorder=0)
    axes.set_yticks(range(len(rows)), rows)
    axes.grid(axis="y", visible=False)


def label_grid(figure: Figure, grid: Sequence[Axes], x_label: str, y_label: str) -> None:
    """Label all panels at once."""
    figure.supxlabel(x_label, fontsize=9)
    figure.supylabel(y_label, fontsize=9)
    shared_legend(figure, grid[:1])
