"""The style of our plots: colours, markers, panels, legends and logarithmic axes with plain numbers.

Colours are the colour-blind-safe palette of Okabe and Ito, and every series also has its own marker. matplotlib is
imported only when something is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#666666"
DOTS_PER_INCH, N_COLOURS = 110, 128  # of a saved figure
STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.alpha": 0.25,
    "legend.fontsize": 8,
    "legend.frameon": False,
}


class MatplotlibMissingError(ImportError):
    """matplotlib is not installed."""


WIDEST_LEGEND = 90  # characters in one row


@contextmanager
def our_style() -> Iterator[None]:
    """Use our style in the body of a `with` statement; without matplotlib, raise `MatplotlibMissingError`."""
    try:
        import matplotlib
    except ImportError as error:
        raise MatplotlibMissingError(str(error)) from error
    with matplotlib.rc_context(STYLE):
        yield


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG with a palette, which looks the same with a third of the bytes.

    The palette includes rare colours: those of a legend have few pixels, and must stay distinct.
    """
    from PIL import Image

    stream = io.BytesIO()
    figure.savefig(stream, dpi=DOTS_PER_INCH)
    picture = Image.open(stream).convert("RGB")
    picture = picture.quantize(N_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    picture.save(folder / f"{name}.png", optimize=True)


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure with one set of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def new_grid(n_panels: int, n_columns: int | None = None) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels, by default at most three in a row."""
    from matplotlib.figure import Figure

    n_columns = n_columns or (2 if n_panels == 4 else min(3, n_panels))
    n_rows = -(-n_panels // n_columns)
    figure = Figure(figsize=(max(4.2, 3.4 * n_columns), 0.8 + 2.7 * n_rows), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for unused in panels[n_panels:]:
        unused.remove()
    return figure, panels[:n_panels]


def plain_ticks(axis: Any, room: float = 400.0) -> None:
    """Label a logarithmic axis with plain numbers: powers of ten; 2 and 5 times them if it spans less than `room`."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    has_room = high / low < room
    axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if has_room else (1.0,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def mark_level(axes: Axes, value: float, name: str) -> None:
    """Draw a horizontal reference line with its name above it."""
    axes.axhline(value, color=GREY, linewidth=0.9, linestyle="--")
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (-2, 3), "ha": "right"}
    axes.annotate(name, (1.0, value), textcoords="offset points", color=GREY, fontsize=7.5, **place)


def shared_legend(figure: Figure, panels: Sequence[Axes], n_columns: int | None = None) -> None:
    """Put the legend of all panels above them, every label once."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    columns = n_columns or (len(entries) if sum(map(len, entries)) < WIDEST_LEGEND else 4)
    figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=columns)
