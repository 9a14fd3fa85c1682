"""A tree as a picture: rules in boxes, yes and no on the edges, and what each leaf says about its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from particletree.model.text import format_probability, format_rows
from particletree.model.tree import Tree
from particletree.plots.class_colours import OTHERS, class_colours, coloured_classes
from particletree.plots.names import output_names, plain, shorten
from particletree.plots.style import BLUE, GREY, LIGHT, SMALL, new_sheet
from particletree.plots.tree_layout import TreeLayout, has_classes, tree_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches, at the full size of the font.
LINE = 0.32  # from one leaf to the next
GAP = 0.36  # between columns, for the edges
CHARACTER = 0.06
BAR = 0.6
LEGEND_LINE, LEGEND_COLUMNS = 0.17, 3
MARGIN = 0.05
RULE_WIDTH = 18  # characters of a line in a box
NAME_WIDTH = 18  # characters of a class in a leaf
SMALLEST = 0.71  # of the font: 5 points


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is drawn, and where, in inches at the full size of the font."""

    layout: TreeLayout
    boxes: list[str]  # the text of each box
    notes: list[str]  # the text beside each leaf
    columns: list[float]  # left edge of each column
    widths: list[float]  # of the boxes of each column
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class Canvas:
    """Axes, and what is drawn on them at which scale."""

    ax: Axes
    scale: float
    sheet: Sheet

    @property
    def layout(self) -> TreeLayout:
        """Where the nodes stand."""
        return self.sheet.layout

    @property
    def font(self) -> float:
        """Size of the font in points."""
        return SMALL * self.scale

    def x(self, node: int) -> float:
        """Return the left edge of a node."""
        return self.sheet.columns[int(self.layout.depth[node])]

    def right(self, node: int) -> float:
        """Return the right edge of a split's box."""
        return self.x(node) + self.sheet.widths[int(self.layout.depth[node])]

    def y(self, node: int) -> float:
        """Return the height of a node's middle, from the top."""
        return LINE * float(self.layout.line[node])


def plot_tree(tree: Tree, ax: Axes | None = None, *, max_leaves: int = 30, output: int = 0) -> Axes:
    """Draw a tree from left to right: rules in words, and at each leaf its class probabilities or its mean.

    A leaf of classes has a bar of their probabilities, the most probable class and its probability; a leaf of numbers
    has the mean and its 90% credible interval, given the tree. Parts that are too deep are folded, and say how many
    leaves they have.

    Parameters
    ----------
    tree : Tree
        For example `posterior.best_tree()`, or `.rounded()` of it, which is easier to read.
    ax : Axes, optional
        Where to draw; where the tree is too large for it, the text becomes smaller, down to 5 points, and then more of
        the tree is folded. None makes a figure that fits.
    max_leaves : int, default 30
        Leaves and folded parts that are shown at most.
    output : int, default 0
        Which target is shown, where there are several.
    """
    sheet = lay_out(tree, max_leaves, output)
    if ax is None:
        ax = new_sheet(sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN)
    while (scale := scale_on(ax, sheet)) < SMALLEST and sheet.layout.depth.max() > 1:
        sheet = lay_out(tree, sheet.layout.n_lines - 1, output)
    set_limits(ax, scale)
    canvas = Canvas(ax, scale, sheet)
    draw_nodes(canvas)
    draw_predictions(canvas, tree, output)
    return ax


def lay_out(tree: Tree, max_leaves: int, output: int) -> Sheet:
    """Return what is to be drawn, and where."""
    layout = tree_layout(tree, max_leaves)
    boxes, notes = [wrap_rule(rule) for rule in layout.rules], leaf_notes(tree, layout, output)
    columns, widths = place_columns(layout, boxes)
    width, height = picture_size(layout, columns, notes, legend_entries(tree, layout))
    return Sheet(layout, boxes, notes, columns, widths, width, height)


def wrap_rule(rule: str) -> str:
    r"""Break a rule into the name and the rest where it is too long for a line, and cut both if need be.

    Examples
    --------
    >>> from particletree.plots.tree import wrap_rule
    >>> wrap_rule("worst concave points <= 0.14")
    'worst con…e points\n≤ 0.14'
    """
    name, rest = split_rule(rule)
    if len(name) + len(rest) < RULE_WIDTH:
        return f"{name} {rest}".strip()
    is_number = rest.startswith("≤")  # which stays whole: the tree applies what it shows
    return f"{shorten(name, RULE_WIDTH)}\n{rest if is_number else shorten(rest, RULE_WIDTH)}"


def split_rule(rule: str) -> tuple[str, str]:
    """Return the name of a rule's feature, and what is asked of it."""
    for sign in (" <= ", " not in {", " in {", " is "):
        name, found, value = rule.rpartition(sign)
        if found:
            return name, f"{sign.strip()}{' ' * sign.endswith(' ')}{value}".replace("<=", "≤")
    return rule, ""


def leaf_notes(tree: Tree, layout: TreeLayout, output: int) -> list[str]:
    """Return what stands beside each leaf or folded part, and nothing for the splits."""
    describe = describe_class if has_classes(tree) else describe_mean
    notes = [f"{describe(tree, layout, node, output)}\n{rows(layout, node)}" for node in range(layout.nodes.size)]
    return ["" if split else note for split, note in zip(layout.is_split, notes, strict=True)]


def rows(layout: TreeLayout, node: int) -> str:
    """Return the rows of a node, and the leaves that are folded into it."""
    folded = f", {layout.n_leaves[node]} leaves" if layout.n_leaves[node] > 1 else ""
    return format_rows(float(layout.n_rows[node])) + folded


def describe_class(tree: Tree, layout: TreeLayout, node: int, output: int) -> str:
    """Return the most probable class and its probability."""
    best = int(layout.means[node].argmax())
    probability = format_probability(float(layout.means[node, best]))
    return f"{shorten(output_names(tree.target)[best], NAME_WIDTH)} p {probability}"


def describe_mean(tree: Tree, layout: TreeLayout, node: int, output: int) -> str:
    """Return the mean and its interval."""
    low, high = layout.intervals[node, output]
    return f"{layout.means[node, output]:.3g} [{low:.3g}, {high:.3g}]"


def place_columns(layout: TreeLayout, boxes: list[str]) -> tuple[list[float], list[float]]:
    """Return the left edges of the columns, and the widths of the boxes in them."""
    lengths = np.array([longest_line(box) for box in boxes])
    widths = [CHARACTER * (lengths[layout.depth == depth].max() + 2) for depth in range(int(layout.depth.max()) + 1)]
    lefts = np.cumsum([0.0, *(width + GAP for width in widths[:-1])])
    return lefts.tolist(), [float(width) for width in widths]


def longest_line(text: str) -> int:
    """Return the number of characters of the longest line."""
    return max(map(len, text.split("\n")))


def picture_size(
    layout: TreeLayout, columns: list[float], notes: list[str], entries: list[tuple[str, str]]
) -> tuple[float, float]:
    """Return width and height of the tree with its legend, in inches."""
    ends = [
        columns[depth] + BAR + CHARACTER * (longest_line(note) + 2)
        for depth, note in zip(layout.depth, notes, strict=True)
    ]
    legend_width = legend_step(entries) * min(len(entries), LEGEND_COLUMNS)
    return max([*ends, legend_width]), LINE * layout.n_lines + LEGEND_LINE * -(-len(entries) // LEGEND_COLUMNS) + 0.08


def legend_step(entries: list[tuple[str, str]]) -> float:
    """Return the width of a column of the legend, in inches."""
    return CHARACTER * (max(len(name) for _, name in entries) + 4)


def size_of(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes, in inches."""
    box = ax.get_window_extent().transformed(ax.get_figure(root=True).dpi_scale_trans.inverted())  # type: ignore[union-attr]
    return box.width - 2 * MARGIN, box.height - 2 * MARGIN


def scale_on(ax: Axes, sheet: Sheet) -> float:
    """Return by how much the text must be smaller than it should, 1 where the axes are large enough."""
    width, height = size_of(ax)
    return min(1.0, width / sheet.width, height / sheet.height)


def set_limits(ax: Axes, scale: float) -> None:
    """Set the limits of the axes, in inches at the full size of the font."""
    width, height = size_of(ax)
    ax.set_xlim(-MARGIN, width / scale + MARGIN)
    ax.set_ylim(height / scale - LINE / 2 + MARGIN, -LINE / 2 - MARGIN)
    ax.set_axis_off()


def draw_nodes(canvas: Canvas) -> None:
    """Draw boxes and edges."""
    for node in range(canvas.layout.nodes.size):
        if canvas.layout.is_split[node]:
            draw_box(canvas, node)
        if node > 0:
            draw_edge(canvas, int(canvas.layout.parent[node]), node)


def draw_box(canvas: Canvas, node: int) -> None:
    """Draw a rule in a box as wide as those of its column."""
    middle = (canvas.x(node) + canvas.right(node)) / 2
    height = LINE * 0.84
    width = canvas.right(node) - canvas.x(node)
    canvas.ax.bar(middle, height, width, canvas.y(node) - height / 2, color="#F2F2F2", edgecolor=GREY, linewidth=0.6)
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": canvas.font, "linespacing": 0.95}
    canvas.ax.text(middle, canvas.y(node), plain(canvas.sheet.boxes[node]), **style)


def draw_edge(canvas: Canvas, parent: int, node: int) -> None:
    """Draw the way from a parent to its child, with the answer that leads there."""
    turn, end = canvas.right(parent) + 0.08, canvas.x(node)
    start, height = canvas.y(parent), canvas.y(node)
    canvas.ax.plot([canvas.right(parent), turn, turn, end], [start, start, height, height], color=GREY, linewidth=0.7)
    answer = "yes" if canvas.layout.is_left[node] else "no"
    style: dict[str, Any] = {"color": GREY, "fontsize": canvas.font * 0.93, "ha": "center", "va": "bottom"}
    canvas.ax.text((turn + end) / 2, height - 0.01, answer, **style)


def draw_predictions(canvas: Canvas, tree: Tree, output: int) -> None:
    """Draw what the leaves say, with a legend below."""
    for node in np.flatnonzero(~canvas.layout.is_split).tolist():
        if has_classes(tree):
            draw_class_bar(canvas, node, class_colours(canvas.layout.means[0]))
        else:
            draw_interval(canvas, node, output)
        x = canvas.x(node) + BAR + CHARACTER
        canvas.ax.text(
            x, canvas.y(node), plain(canvas.sheet.notes[node]), va="center", fontsize=canvas.font, linespacing=1.0
        )
    draw_legend(canvas, legend_entries(tree, canvas.layout))


def draw_class_bar(canvas: Canvas, node: int, colours: list[str]) -> None:
    """Draw the class probabilities of a leaf as parts of a bar, classes without a colour last."""
    order = np.argsort(np.array(colours) == LIGHT, kind="stable")
    parts = BAR * canvas.layout.means[node][order]
    lefts = canvas.x(node) + np.cumsum(parts) - parts
    canvas.ax.barh(canvas.y(node), parts, LINE * 0.5, lefts, color=[colours[number] for number in order])


def draw_interval(canvas: Canvas, node: int, output: int) -> None:
    """Draw mean and interval of a leaf on a line that has the range of all leaves."""
    shown = ~canvas.layout.is_split
    low, high = canvas.layout.intervals[shown, output].min(), canvas.layout.intervals[shown, output].max()
    unit = 0.9 * BAR / (high - low) if high > low else 0.0
    places = np.array([canvas.layout.means[node, output], *canvas.layout.intervals[node, output]])
    middle, begin, end = canvas.x(node) + 0.05 * BAR + unit * (places - low)
    canvas.ax.plot([canvas.x(node), canvas.x(node) + BAR], [canvas.y(node)] * 2, color=LIGHT, linewidth=0.6)
    canvas.ax.plot([begin, end], [canvas.y(node)] * 2, color=BLUE, linewidth=3.0 * canvas.scale, solid_capstyle="butt")
    canvas.ax.plot([middle], [canvas.y(node)], "|", color="black", markersize=8 * canvas.scale)


def legend_entries(tree: Tree, layout: TreeLayout) -> list[tuple[str, str]]:
    """Return the colours and names of the classes; for numbers what the marks mean."""
    if not has_classes(tree):
        return [(BLUE, "mean of the leaf and its 90% credible interval")]
    names, colours = output_names(tree.target), class_colours(layout.means[0])
    listed = [(colours[number], shorten(names[number], NAME_WIDTH)) for number in coloured_classes(layout.means[0])]
    return [*listed, (LIGHT, OTHERS)] if LIGHT in colours else listed


def draw_legend(canvas: Canvas, entries: list[tuple[str, str]]) -> None:
    """Draw the legend below the tree."""
    for number, (colour, name) in enumerate(entries):
        row, column = divmod(number, LEGEND_COLUMNS)
        x, y = legend_step(entries) * column, LINE * canvas.layout.n_lines + LEGEND_LINE * row
        canvas.ax.plot([x + 0.06], [y], "s", color=colour, markersize=4.5 * canvas.scale)
        canvas.ax.text(x + 0.15, y, plain(name), va="center", fontsize=canvas.font)
