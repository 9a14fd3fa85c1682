"""Names and numbers as text, for trees and summaries."""

from __future__ import annotations

import html


def one_line(name: object) -> str:
    r"""Return a name as it can stand in a line: a line break or the like is written as Python writes it.

    Examples
    --------
    >>> print(one_line("width\n(cm)"))
    width\n(cm)
    """
    text = str(name)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) if text else "''"


def to_html(text: str) -> str:
    """Return a text for notebooks: lines as they are, and everything that came from the data is text.

    Examples
    --------
    >>> print(to_html("<script> <= 1"))
    <pre>&lt;script&gt; &lt;= 1</pre>
    """
    return f"<pre>{html.escape(text)}</pre>"


def is_number(text: str) -> bool:
    """Tell whether a text reads as a number, or as nothing."""
    try:
        float(text)
    except ValueError:
        return text.strip() == ""
    return True


def format_number(number: float) -> str:
    """Write a number with the fewest digits that read back as the same number."""
    return repr(number + 0.0).removesuffix(".0")


def format_probability(p: float) -> str:
    """Two decimals, but a probability below one never reads as one."""
    return "> 0.99" if 0.995 <= p < 1 else f"= {p:.2f}"


def format_count(count: float) -> str:
    """Write a whole number as such, and a fraction with four digits."""
    return f"{count:.0f}" if float(count).is_integer() else f"{count:.4g}"


def format_rows(count: float) -> str:
    """Write a (weighted) number of rows."""
    rows = format_count(count)
    return f"{rows} {'row' if rows == '1' else 'rows'}"
