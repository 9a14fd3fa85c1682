"""Names and numbers as text, for trees and summaries, and values for JSON, which has neither nan nor infinity."""

from __future__ import annotations

import html
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

LONGEST = 24  # characters of a name
SURE = 1e-9  # larger than the rounding error of sums of weights that should be 0 or 1
HALF_A_PERCENT = 0.005


def one_line(name: object) -> str:
    r"""Return a name in one line: line breaks and the like are escaped as in Python.

    Examples
    --------
    >>> print(one_line("width\n(cm)"))
    width\n(cm)
    """
    text = str(name)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) if text else "''"


def shorten(name: object, longest: int = LONGEST) -> str:
    """Return a name in one line, shortened in the middle if it is too long, because names often differ at the end.

    Examples
    --------
    >>> from particletree._model.text import shorten
    >>> shorten("mean fractal dimension of the largest cell 7")
    'mean fractal…gest cell 7'
    """
    text, n_end = one_line(name), (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - n_end]}…{text[len(text) - n_end :]}"


def format_share(share: float) -> str:
    """Return a share in percent; only exactly 0 and 1 are shown as 0% and 100%.

    Examples
    --------
    >>> format_share(0.423), format_share(0.001), format_share(0.999), format_share(1.0)
    ('42%', '<1%', '>99%', '100%')
    """
    if SURE < share < 1 - SURE:
        return "<1%" if share < HALF_A_PERCENT else ">99%" if share > 1 - HALF_A_PERCENT else f"{share:.0%}"
    return f"{share:.0%}"


def to_html(text: str) -> str:
    """Return a text as HTML for notebooks: line breaks are kept, and special characters are escaped.

    Examples
    --------
    >>> print(to_html("<script> <= 1"))
    <pre>&lt;script&gt; &lt;= 1</pre>
    """
    return f"<pre>{html.escape(text)}</pre>"


def is_number(text: str) -> bool:
    """Tell whether a text is a number or empty."""
    try:
        float(text)
    except ValueError:
        return text.strip() == ""
    return True


def format_number(number: float) -> str:
    """Format a number with the fewest digits that read back as the same number."""
    return repr(number + 0.0).removesuffix(".0")


def format_probability(p: float) -> str:
    """Format a probability with two decimals; one below 1 is never shown as 1."""
    return "> 0.99" if 0.995 <= p < 1 else f"= {p:.2f}"


def format_count(count: float) -> str:
    """Format a count: whole numbers without decimals, fractions with four digits."""
    return f"{count:.0f}" if float(count).is_integer() else f"{count:.4g}"


def format_rows(count: float) -> str:
    """Format a (weighted) number of rows."""
    rows = format_count(count)
    return f"{rows} {'row' if rows == '1' else 'rows'}"


def to_json(value: Any) -> Any:
    """Return dataclasses as dictionaries, tuples and arrays as lists, and None for numbers that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> to_json((1.5, np.array([2.0, np.nan]), "text"))
    [1.5, [2.0, None], 'text']
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, tuple | list):
        return [to_json(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


DIGITS = 12  # significant digits of numbers that are shown or averaged; thresholds keep all digits


def json_numbers(values: ArrayLike, digits: int = DIGITS) -> Any:
    """Return numbers, or nested lists of numbers, rounded to significant digits; None if not finite.

    Examples
    --------
    >>> from particletree._model.text import json_numbers
    >>> json_numbers([1 / 3, float("nan"), 2.0], digits=3)
    [0.333, None, 2]
    """
    return _rounded(np.asarray(values, dtype=np.float64).tolist(), digits)


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_rounded(each, digits) for each in value]
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.{digits}g}")


def exact_json_numbers(values: ArrayLike) -> list[float | None]:
    """Return numbers with all digits, so that JSON gives the same floats; None if not finite."""
    return [value if math.isfinite(value) else None for value in np.asarray(values, dtype=np.float64).tolist()]
