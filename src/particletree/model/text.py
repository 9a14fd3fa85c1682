"""Names and numbers as text, for trees and summaries."""

from __future__ import annotations

import html

LONGEST = 24  # characters of a name
SURE = 1e-9  # what sums of weights miss of 0 and 1 by rounding is less
HALF_A_PERCENT = 0.005


def one_line(name: object) -> str:
    r"""Return a name as it can stand in a line: a line break or the like is written as Python writes it.

    Examples
    --------
    >>> print(one_line("width\n(cm)"))
    width\n(cm)
    """
    text = str(name)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) if text else "''"


def shorten(name: object, longest: int = LONGEST) -> str:
    """Return a name in one line, with an ellipsis in its middle where it is too long: names often differ at the end.

    Examples
    --------
    >>> from particletree.model.text import shorten
    >>> shorten("mean fractal dimension of the largest cell 7")
    'mean fractal…gest cell 7'
    """
    text, n_end = one_line(name), (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - n_end]}…{text[len(text) - n_end :]}"


def format_share(share: float) -> str:
    """Return a share in percent; one that is neither none nor all is not rounded to 0% or 100%.

    Examples
    --------
    >>> format_share(0.423), format_share(0.001), format_share(0.999), format_share(1.0)
    ('42%', '<1%', '>99%', '100%')
    """
    if SURE < share < 1 - SURE:
        return "<1%" if share < HALF_A_PERCENT else ">99%" if share > 1 - HALF_A_PERCENT else f"{share:.0%}"
    return f"{share:.0%}"


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
