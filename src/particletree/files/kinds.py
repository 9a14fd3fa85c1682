"""The kinds of columns in a text file: numbers, booleans or text, and which cells are missing.

Spaces around a cell are ignored. A cell is missing if it is empty or one of `MISSING`. A column holds numbers if all
other cells are numbers, booleans if all are true or false (in any case), and text otherwise; a column of missing values
alone counts as numbers. "None" is not a missing value, because it is the name of a level in many tables.
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
    """The kind of values in a column."""

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
    """Return the kind of a column whose two parts have these kinds."""
    if first is None or second is None:
        return first or second
    return first if first is second else Kind.TEXT


def is_number(text: str) -> bool:
    """Tell whether a cell is a number."""
    return _as_numbers([text]) is not None


def _as_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return texts as numbers, None if one is not a number; underscores between digits are not accepted."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    return None if "_" in "".join(texts) else numbers


def to_cells(texts: Sequence[str], kind: Kind, place: Callable[[int], str]) -> NDArray[Any]:
    """Return cells as values: float64 with nan, or text or booleans as objects, None for a missing one.

    Parameters
    ----------
    texts : sequence of str
        The cells.
    kind : Kind
        The kind that they are read as.
    place : callable
        Describes the location of the cell with a given number, for the error about a cell of another kind.
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
    """Return each text, equal ones as one object, because a column has few levels and many rows."""
    return [None if text in MISSING else sys.intern(text) for text in texts]


def _refuse_unlike(texts: Iterable[str], is_one: Callable[[str], bool], what: str, place: Callable[[int], str]) -> None:
    for number, text in enumerate(texts):
        if not is_one(text):
            hint = " Add --decimal-comma to read it as one." if DECIMAL_COMMA.fullmatch(text) else ""
            raise ValueError(f"{place(number)}: {text!r} is not {what}, which the column is read as.{hint}")
