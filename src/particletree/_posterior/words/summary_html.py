"""A summary as HTML for notebooks: a table of facts, a bar for the importance of each feature, and the verdict.

It has inline styles and no script; text has the colour of the page, light or dark. All text from the data is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass

from particletree._model.text import one_line

NAME_WIDTH = 14  # characters of the name of a fact in the text
TABLE = "border-collapse:collapse;margin:.4em 0 .4em 1em;font-size:inherit;color:inherit"
CELL = "text-align:left;padding:.05em .8em .05em 0;border:0;background:none;white-space:nowrap"
BAR = "display:inline-block;height:.7em;width:{:.3g}em;background:#0072b2;vertical-align:baseline"
LONGEST = 8.0  # em, length of a full bar


@dataclass(frozen=True)
class FeatureUse:
    """The use of a feature: its inclusion probability, and its importance (share in the gain of all splits)."""

    name: str
    inclusion: float
    importance: float


def summary_html(
    title: str, facts: Iterable[str], features: tuple[FeatureUse, ...], n_features: int, verdict: str
) -> str:
    """Return the HTML; `facts` are lines of the text, each a name of fixed width and its value.

    Examples
    --------
    >>> use = FeatureUse("a < b", inclusion=1.0, importance=0.5)
    >>> "a &lt; b" in summary_html("Posterior", ["  depth         mean 2"], (use,), 3, "All is well.")
    True
    """
    rows = [_row(_text(line[:NAME_WIDTH].strip()), _text(line[NAME_WIDTH:].strip())) for line in facts]
    used = (
        f"Most important of {n_features} feature{'s' if n_features > 1 else ''}:" if features else "No tree cuts any."
    )
    parts = (f"<b>{_text(title)}</b>", _table(rows), _text(used), _table(_feature_row(use) for use in features))
    return f'<div>{"".join(parts)}<div style="max-width:50em">{_text(verdict)}</div></div>'


def _feature_row(use: FeatureUse) -> str:
    bar = f'<span style="{BAR.format(LONGEST * use.importance)}"></span> {use.importance:.2f}'
    return _row(_text(one_line(use.name)[:30]), f"in {use.inclusion:.0%} of the trees", bar)


def _table(rows: Iterable[str]) -> str:
    return f'<table style="{TABLE}">{"".join(rows)}</table>'


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells) + "</tr>"


def _text(text: str) -> str:
    return html.escape(text)
