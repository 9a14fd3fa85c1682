"""A tree as a figure: rules in boxes, yes and no on the edges, and the prediction of each leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.text import shorten
from particletree._model.tree.tree import Tree
from particletree._plots.names import output_names, posterior_of, without_formulas
from particletree._plots.style import BLUE, GREY, LIGHT, SKY, SMALL, class_colours, mixed, new_sheet
from particletree._plots.tree_layout import (
    NAME_WIDTH,
    RULE_WIDTH,
    Floats,
    LeafDensities,
    TreeLayout,
    has_classes,
    leaf_densities,
    leaf_notes,
    longest_line,
    percent,
    tree_layout,
    wrap_rule,
)
from particletree._posterior import Posterior

if TYPE_CHECKING:
    from particletree._plots.style import Axes

# Inches, at full font size.
LINE = 0.32  # from one leaf to the next
GAP = 0.36  # between columns, for the edges
CHARACTER = 0.06
BAR = 0.6
CELL = 0.36  # for the support of a split
LEGEND_LINE, LEGEND_COLUMNS = 0.17, 3
MARGIN = 0.05
LONG_RULE = 30  # characters of a line in a box of an outline
INDENT = 0.32
SHADE = "#999999"  # of a split that all trees support
SMALLEST = 0.71  # scale of the font: 5 points


@dataclass(frozen=True, eq=False)
class Sheet:
    """The elements of the figure and their positions, in inches at full font size."""

    layout: TreeLayout
    boxes: list[str]  # the text of each box
    notes: list[str]  # the text beside each leaf
    lines: Floats  # vertical position of each node, from the top
    lefts: Floats  # left edge of each node
    widths: Floats  # width of its box
    width: float
    height: float
    is_outline: bool


@dataclass(frozen=True, eq=False)
class Canvas:
    """Axes, with the sheet that is drawn on them and its scale."""

    ax: Axes
    scale: float
    sheet: Sheet

    @property
    def layout(self) -> TreeLayout:
        """The layout of the nodes."""
        return self.sheet.layout

    @property
    def font(self) -> float:
        """Size of the font in points."""
        return SMALL * self.scale

    def x(self, node: int) -> float:
        """Return the left edge of a node."""
        return float(self.sheet.lefts[node])

    def right(self, node: int) -> float:
        """Return the right edge of a split's box."""
        return self.x(node) + float(self.sheet.widths[node])

    def y(self, node: int) -> float:
        """Return the height of a node's middle, from the top."""
        return LINE * float(self.sheet.lines[node])


def plot_tree(
    tree: Tree,
    ax: Axes | None = None,
    *,
    posterior: Any = None,
    max_leaves: int = 30,
    output: int = 0,
    outline: bool | None = None,
) -> Axes:
    """Draw a tree: rules as text, and at each leaf its class probabilities or its mean.

    For classes a leaf has a bar of the probabilities, the most probable class and its probability; if there are more
    classes than colours, the bar shows the two most probable classes of the leaf and all others. For numbers a leaf has
    the mean and its 90% credible interval, given the tree, below the density of a new observation. Subtrees that are
    too deep are folded to one line with their number of leaves.

    Thresholds are shown as `tree.rounded()` has them: the roundest number between the two values of the training data
    that the cut separates, so that every training row is on the side that the picture says. `tree.rules` has all digits
    of a tree that is not rounded.

    Parameters
    ----------
    tree : Tree
        For example `posterior.consensus_tree()` or `posterior.best_tree()`.
    ax : Axes, optional
        Where to draw; if the tree is too large for it, the font is reduced, down to 5 points, and then more of the tree
        is folded. None makes a new figure that fits.
    posterior : Posterior or estimator, optional
        The posterior of the tree, to show the support of each split: the share of the posterior's trees, by weight,
        that make about the same splits from the root down to it (`Posterior.node_probabilities`). A star marks splits
        that only one island or chain has found.
    max_leaves : int, default 30
        Maximal number of leaves and folded subtrees to show.
    output : int, default 0
        Index of the target to show, if there are several.
    outline : bool, optional
        False draws from left to right, one column per depth; True as an outline, one line per node, which fits into one
        column of a page. None means an outline if the other form is too wide for the axes.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import BayesianTreeClassifier
    >>> from particletree.plots import plot_tree
    >>> X, y = load_iris(return_X_y=True)
    >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    >>> ax = plot_tree(posterior.consensus_tree(), posterior=posterior, outline=True)
    >>> bool(ax.figure.get_figwidth() < 3.4)
    True
    """
    check_tree(tree)
    given = None if posterior is None else posterior_of(posterior)
    sheet = lay_out(tree_layout(tree, max_leaves, posterior=given), tree, output, bool(outline))
    if ax is None:
        ax = new_sheet(sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN)
    elif outline is None and scale_on(ax, sheet) < SMALLEST:
        sheet = lay_out(sheet.layout, tree, output, True)
    while (scale := scale_on(ax, sheet)) < SMALLEST and sheet.layout.depth.max() > 1:
        sheet = lay_out(tree_layout(tree, sheet.layout.n_lines - 1, posterior=given), tree, output, sheet.is_outline)
    width, height = size_of(ax)
    ax.set_xlim(-MARGIN, width / scale + MARGIN)
    ax.set_ylim(height / scale - LINE / 2 + MARGIN, -LINE / 2 - MARGIN)
    ax.set_axis_off()
    canvas = Canvas(ax, scale, sheet)
    for node in range(sheet.layout.nodes.size):
        if sheet.layout.is_split[node]:
            draw_box(canvas, node)
        if node > 0:
            draw_edge(canvas, int(sheet.layout.parent[node]), node)
    draw_predictions(canvas, tree, output)
    return ax


def check_tree(tree: Any) -> None:
    """Refuse anything but one tree; an estimator and a posterior have many, and the error says how to choose one."""
    if isinstance(tree, Tree):
        return
    many = isinstance(getattr(tree, "posterior_", tree), Posterior)
    name = "posterior_." if hasattr(tree, "posterior_") else ""
    advice = (
        f"Pass its {name}consensus_tree(), the tree that predicts most like all of them." if many else "Pass a Tree."
    )
    raise TypeError(f"plot_tree draws one tree, got {type(tree).__name__}. {advice}")


def lay_out(layout: TreeLayout, tree: Tree, output: int, is_outline: bool) -> Sheet:
    """Return the elements to draw, and their positions."""
    boxes = [wrap_rule(rule, LONG_RULE if is_outline else RULE_WIDTH) for rule in layout.rules]
    widths = CHARACTER * (np.array([longest_line(box) for box in boxes]) + 2.0) + cell_width(layout)
    if is_outline:  # one line per node: splits are indented by depth, leaves are aligned
        lines = np.arange(layout.nodes.size, dtype=np.float64)
        lefts = INDENT * np.where(layout.is_split, layout.depth, layout.depth.max())
    else:  # one column per depth, its boxes of one width
        columns = np.array([widths[layout.depth == d].max() for d in range(int(layout.depth.max()) + 1)])
        lines, lefts = layout.line, (np.cumsum(columns + GAP) - columns - GAP)[layout.depth]
        widths = columns[layout.depth]
    notes, legend = leaf_notes(tree, layout, output), legend_size(layout, legend_entries(tree, layout))
    note_widths = np.array([BAR + CHARACTER * (longest_line(note) + 2) for note in notes])
    width = max(float((lefts + np.where(layout.is_split, widths, note_widths)).max()), legend[0])
    height = LINE * float(lines.max() + 1) + legend[1] + 0.08
    return Sheet(layout, boxes, notes, lines, lefts, widths, width, height, is_outline)


def cell_width(layout: TreeLayout) -> float:
    """Return the width of the cell for the support of a node, 0 if that is not known."""
    return 0.0 if layout.support is None else CELL


def legend_size(layout: TreeLayout, entries: list[tuple[str, str]]) -> tuple[float, float]:
    """Return width and height of the legend, in inches."""
    n_columns = min(len(entries), legend_columns(entries))
    n_rows = -(-len(entries) // legend_columns(entries)) + (layout.support is not None)
    return legend_step(entries) * n_columns, LEGEND_LINE * n_rows


def legend_step(entries: list[tuple[str, str]]) -> float:
    """Return the width of a column of the legend, in inches."""
    return CHARACTER * (max(len(name) for _, name in entries) + 4)


def legend_columns(entries: list[tuple[str, str]]) -> int:
    """Return the number of columns of the legend: one if it explains marks."""
    return LEGEND_COLUMNS if max(len(name) for _, name in entries) <= NAME_WIDTH else 1


def size_of(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes, in inches."""
    box = ax.get_window_extent().transformed(ax.get_figure(root=True).dpi_scale_trans.inverted())  # type: ignore[union-attr]
    return box.width - 2 * MARGIN, box.height - 2 * MARGIN


def scale_on(ax: Axes, sheet: Sheet) -> float:
    """Return the factor by which the text must be reduced to fit, 1 if the axes are large enough."""
    width, height = size_of(ax)
    return min(1.0, width / sheet.width, height / sheet.height)


def draw_box(canvas: Canvas, node: int) -> None:
    """Draw a rule in a box as wide as those of its column, and its support, darker if it is higher."""
    end = canvas.right(node) - cell_width(canvas.layout)
    draw_cell(canvas, node, (canvas.x(node), end), canvas.sheet.boxes[node], "#F2F2F2")
    if canvas.layout.support is not None:
        known = float(canvas.layout.support[node])
        text = percent(known) + "*" * bool(is_of_one_run(canvas.layout)[node])
        draw_cell(canvas, node, (end, canvas.right(node)), text, mixed("#FFFFFF", SHADE, known))


def draw_cell(canvas: Canvas, node: int, ends: tuple[float, float], text: str, colour: str) -> None:
    """Draw a text in a box between two edges, at the height of a node."""
    middle, width, height = sum(ends) / 2, ends[1] - ends[0], LINE * 0.84
    canvas.ax.bar(middle, height, width, canvas.y(node) - height / 2, color=colour, edgecolor=GREY, linewidth=0.6)
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": canvas.font, "linespacing": 0.95}
    canvas.ax.text(middle, canvas.y(node), without_formulas(text), **style)


def draw_edge(canvas: Canvas, parent: int, node: int) -> None:
    """Draw the edge from a parent to its child, labelled yes or no."""
    end, height, start = canvas.x(node), canvas.y(node), canvas.y(parent)
    turn = (canvas.x(parent) if canvas.sheet.is_outline else canvas.right(parent)) + 0.08
    begin = (turn, start + 0.42 * LINE) if canvas.sheet.is_outline else (canvas.right(parent), start)
    x, y = [begin[0], turn, turn, end], [begin[1], begin[1], height, height]
    canvas.ax.plot(x, y, color=GREY, linewidth=0.7)
    answer = "yes" if canvas.layout.is_left[node] else "no"
    style: dict[str, Any] = {"color": GREY, "fontsize": canvas.font * 0.93, "ha": "center", "va": "bottom"}
    canvas.ax.text(turn + min(end - turn, INDENT) / 2, height - 0.01, answer, **style)


def draw_predictions(canvas: Canvas, tree: Tree, output: int) -> None:
    """Draw the predictions of the leaves, with a legend below."""
    densities = None if has_classes(tree) else leaf_densities(tree, canvas.layout, output)
    for node in np.flatnonzero(~canvas.layout.is_split).tolist():
        if densities is None:
            widths, colours = class_parts(canvas.layout.means, node)
            lefts = canvas.x(node) + BAR * (np.cumsum(widths) - widths)
            canvas.ax.barh(canvas.y(node), BAR * widths, LINE * 0.5, lefts, color=colours)
        else:
            draw_number(canvas, node, output, densities)
        x = canvas.x(node) + BAR + CHARACTER
        canvas.ax.text(
            x,
            canvas.y(node),
            without_formulas(canvas.sheet.notes[node]),
            va="center",
            fontsize=canvas.font,
            linespacing=1.0,
        )
    draw_legend(canvas, legend_entries(tree, canvas.layout))


def class_parts(means: Floats, node: int) -> tuple[Floats, list[str]]:
    """Return the segments of a leaf's bar, and their colours: all classes, or the first two if there are too many."""
    colours = class_colours(means[0])
    if LIGHT not in colours:
        return means[node], colours
    first, second = np.sort(means[node])[::-1][:2]
    return np.array([first, second, 1 - first - second]), [BLUE, SKY, LIGHT]


def draw_number(canvas: Canvas, node: int, output: int, densities: LeafDensities) -> None:
    """Draw the density of a leaf's observations, with its mean and interval below, on the same axis for all leaves."""
    low, high = densities.values[0], densities.values[-1]
    unit = BAR / (high - low) if high > low else 0.0
    base, log_density = canvas.y(node) + 0.3 * LINE, densities.log_density[node]
    heights = 0.75 * LINE * np.exp(log_density - log_density.max())
    x = canvas.x(node) + unit * (densities.values - low)
    canvas.ax.fill_between(x, base - heights, base, color=SKY, alpha=0.6, linewidth=0)
    canvas.ax.plot([canvas.x(node), canvas.x(node) + BAR], [base] * 2, color=GREY, linewidth=0.5)
    places = np.array([canvas.layout.means[node, output], *canvas.layout.intervals[node, output]]).clip(low, high)
    middle, begin, end = canvas.x(node) + unit * (places - low)
    canvas.ax.plot([begin, end], [base] * 2, color=BLUE, linewidth=3.0 * canvas.scale, solid_capstyle="butt")
    canvas.ax.plot([middle], [base], "|", color="black", markersize=6 * canvas.scale)


def legend_entries(tree: Tree, layout: TreeLayout) -> list[tuple[str, str]]:
    """Return colours and names of the classes; for numbers, and for too many classes, the meaning of the marks."""
    if not has_classes(tree):
        return [(SKY, "density of a new observation"), (BLUE, "mean of the leaf, 90% credible interval")]
    names, colours = output_names(tree.target), class_colours(layout.means[0])
    if LIGHT in colours:
        return [(BLUE, "the named class"), (SKY, "the second"), (LIGHT, "all others")]
    return [(colour, shorten(name, NAME_WIDTH)) for colour, name in zip(colours, names, strict=True)]


def draw_legend(canvas: Canvas, entries: list[tuple[str, str]]) -> None:
    """Draw the legend below the tree."""
    for number, (colour, name) in enumerate(entries):
        row, column = divmod(number, legend_columns(entries))
        draw_entry(canvas, legend_step(entries) * column, row, colour, name)
    if canvas.layout.support is not None:
        has_stars = bool(is_of_one_run(canvas.layout).any())
        meaning = "%: trees that split so, down to here" + "; *: found by one run" * has_stars
        n_rows = -(-len(entries) // legend_columns(entries))
        draw_entry(canvas, 0.0, n_rows, mixed("#FFFFFF", SHADE, 0.4), meaning, GREY)


def is_of_one_run(layout: TreeLayout) -> NDArray[np.bool_]:
    """Tell which of the splits that are shown only one run has found."""
    return np.zeros_like(layout.is_split) if layout.is_of_one_run is None else layout.is_split & layout.is_of_one_run


def draw_entry(canvas: Canvas, x: float, row: int, colour: str, name: str, edge: str | None = None) -> None:
    """Draw one entry of the legend."""
    y = LINE * float(canvas.sheet.lines.max() + 1) + LEGEND_LINE * row
    style: dict[str, Any] = {"color": colour, "markeredgecolor": edge or colour, "markeredgewidth": 0.6}
    canvas.ax.plot([x + 0.06], [y], "s", markersize=4.5 * canvas.scale, **style)
    canvas.ax.text(x + 0.15, y, without_formulas(name), va="center", fontsize=canvas.font)
