"""Pictures for the gallery from axes that an example has drawn on.

`particletree.plots` makes figures that pyplot does not know, so that no window shows them; sphinx-gallery collects
pyplot's. This scraper collects the others: the figure of the variable `ax` or `axes`, once it has changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.pyplot import fignum_exists
from sphinx_gallery.scrapers import figure_rst

SEEN = "_figure_on_the_page"  # the figure stays referenced, so that another cannot have its identity


def scrape_axes(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that the block has left in `ax` or `axes`, and return the text that shows it."""
    names = block_vars["example_globals"]
    drawn = [np.ravel(names[name])[0].figure for name in ("ax", "axes") if name in names]
    paths = []
    for figure in drawn:
        if any(figure is seen for seen in names.setdefault(SEEN, [])) or fignum_exists(getattr(figure, "number", -1)):
            continue
        names[SEEN].append(figure)
        if getattr(figure, "number", None) is None:
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path, dpi=120)
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Any:
    """Return the scraper; sphinx-gallery asks for it by this name."""
    return scrape_axes
