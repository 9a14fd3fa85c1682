"""What the cells of a column say: numbers, booleans or text, and which of them are missing.

A cell is text without the spaces around it. It is missing if it is empty or one of `MISSING`. A column is of numbers if
every other cell is one, of booleans if each is true or false (in capitals or not), and of text otherwise; a column of
missing values alone counts as numbers. "None" is no missing value: it is the name of a level in many tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_BOOLEANS = {"true": True, "false": False}


FINITE_ONLY = "write a finite number (at most 1.8e308), or leave the cell empty."


class Kind(Enum):
    """What a column holds."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"


def kind_of(texts: Iterable[str]) -> Kind | None:
    """Return the kind of a column with these cells; None if all are missing.

    Examples
    --------
    >>> from particletree.files.kinds import kind_of
    >>> kind_of(["1", "", "2.5e3"]), kind_of(["TRUE", "false", "NA"]), kind_of(["1", "one"])
    (<Kind.NUMBER: 'number'>, <Kind.BOOLEAN: 'boolean'>, <Kind.TEXT: 'text'>)
    """
    present = set(texts) - MISSING
    if not present:
        return None
    if all(text.lower() in _BOOLEANS for text in present):
        return Kind.BOOLEAN
    return Kind.TEXT if _as_numbers(list(present)) is None else Kind.NUMBER


def join_kinds(first: Kind | None, second: Kind | None) -> Kind | None:
    """Return the kind of a column of which two parts have these kinds."""
    if first is None or second is None:
        return first or second
    return first if first is second else Kind.TEXT


def is_number(text: str) -> bool:
    """Tell whether a cell is a number."""
    return _as_numbers([text]) is not None


def _as_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return texts as numbers, None if one is not; Python's underscores between digits are not taken."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    return None if "_" in "".join(texts) else numbers


def to_cells(texts: Sequence[str], kind: Kind, place: Callable[[int], str]) -> NDArray[Any]:
    """Return cells as values: float64 with nan, or objects that are text or booleans, None where one is missing.

    Parameters
    ----------
    texts : sequence of str
        The cells.
    kind : Kind
        What they are read as.
    place : callable
        Says where the cell with a given number stands, for the error about one that is of another kind.
    """
    if kind is Kind.NUMBER:
        return _to_numbers(texts, place)
    values = np.empty(len(texts), dtype=object)
    values[:] = _to_booleans(texts, place) if kind is Kind.BOOLEAN else _to_texts(texts)
    return values


def _to_numbers(texts: Sequence[str], place: Callable[[int], str]) -> NDArray[np.float64]:
    filled = ["nan" if text in MISSING else text for text in texts]
    numbers = _as_numbers(filled)
    if numbers is None:
        _refuse_unlike(filled, is_number, "a number", place)
    values = np.array(numbers, dtype=np.float64)
    for number in np.flatnonzero(np.isinf(values)).tolist():
        raise ValueError(f"{place(number)}: {texts[number]!r} is infinite; {FINITE_ONLY}")
    return values


def _to_booleans(texts: Sequence[str], place: Callable[[int], str]) -> list[bool | None]:
    _refuse_unlike(texts, lambda text: text in MISSING or text.lower() in _BOOLEANS, "true or false", place)
    return [_BOOLEANS.get(text.lower()) for text in texts]


def _to_texts(texts: Sequence[str]) -> list[str | None]:
    """Return each text, equal ones as one object: a column has few levels and many rows."""
    return [None if text in MISSING else sys.intern(text) for text in texts]


def _refuse_unlike(texts: Iterable[str], is_one: Callable[[str], bool], what: str, place: Callable[[int], str]) -> None:
    for number, text in enumerate(texts):
        if not is_one(text):
            hint = " Add --decimal-comma to read it as one." if DECIMAL_COMMA.fullmatch(text) else ""
            raise ValueError(f"{place(number)}: {text!r} is not {what}, which the column is read as.{hint}")
