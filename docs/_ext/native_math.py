"""Formulas as MathML, which browsers render natively, without a script or network access.

docutils has the converter from LaTeX; this module applies it to the formulas that Sphinx has parsed.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

# Commands that docutils does not support, and equivalents.
SAME = [
    (r"\\dots\b", r"\\ldots"),
    (r"\\tfrac\s*(\w)\s*(\w)", r"\\frac{\1}{\2}"),
    (r"\\tfrac\b", r"\\frac"),
    (r"\\Big\b", ""),
]


def to_mathml(formula: str, is_block: bool = False) -> str:
    """Return the MathML of a formula."""
    for pattern, replacement in SAME:
        formula = re.sub(pattern, replacement, formula)
    return latex2mathml.tex2mathml(formula, as_block=is_block)


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    translator.body.append(to_mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    translator.body.append(translator.starttag(node, "div", CLASS="math-block"))
    translator.body.append(to_mathml(node.astext(), is_block=True) + "</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register this as the site's math renderer."""
    app.add_html_math_renderer("native", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "native"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
