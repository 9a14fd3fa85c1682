"""Tables in Markdown, and readable numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ABSENT = "-"


def table(words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table: first the columns of `words`, left-aligned, then those of `numbers`, right-aligned.

    Examples
    --------
    >>> print(table(["data"], ["rows"], [["iris", "150"]]))
    | data | rows |
    | --- | ---: |
    | iris | 150 |
    """
    rule = ["---"] * len(words) + ["---:"] * len(numbers)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in ([*words, *numbers], rule, *rows))


def ratio(value: float | None) -> str:
    """Return a ratio with its significant digits.

    Examples
    --------
    >>> ratio(0.4567), ratio(12.34), ratio(345.6), ratio(None)
    ('0.46', '12.3', '346', '-')
    """
    if value is None:
        return ABSENT
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{digits}f}"


def duration(seconds: float | None) -> str:
    """Return a time in a suitable unit.

    Examples
    --------
    >>> duration(0.01234), duration(2.5), duration(312.0), duration(None)
    ('12.3 ms', '2.50 s', '312 s', '-')
    """
    if seconds is None:
        return ABSENT
    if seconds < 0.9995:
        return f"{1e3 * seconds:.3g} ms" if seconds < 0.0995 else f"{1e3 * seconds:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def mebibytes(n_bytes: int | None) -> str:
    """Return a number of bytes in MiB.

    Examples
    --------
    >>> mebibytes(3 * 2**20 + 2**19), mebibytes(None)
    ('3.5', '-')
    """
    if n_bytes is None:
        return ABSENT
    value = n_bytes / 2**20
    return f"{value:,.1f}" if value < 99.95 else f"{value:,.0f}"
