"""The header of a file: what interprets the tables that declare its fields, for single trees and for sums alike.

A table, as in ``trees.py`` and ``sums.py``, has, by the name of each field, what its value must be (:class:`Kind`): a
type and a range, or a list or parts of such. Fields with rules of their own, as in ``description.py``, are
:data:`ANYTHING` in the tables.

A header can claim anything, so everything is checked before memory is allocated that depends on its numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from particletree._data.fingerprint import DataFingerprint
from particletree._posterior.archive import HEADER, SINGLE_TREES, SUMS_OF_TREES

READERS = {
    SINGLE_TREES: "it holds single trees, which particletree.load reads in Python",
    SUMS_OF_TREES: "it holds sums of trees, which particletree.load reads in Python",
}
MAX_UNLISTED_FEATURES = 10**6  # without names or fingerprints a few bytes could request any amount of memory


@dataclass(frozen=True)
class Kind:
    """What a value must be or have, in words, and a function that tells whether it is so."""

    words: str
    holds: Callable[[Any], bool]


def integer(low: int, high: int = 2**31 - 1) -> Kind:
    """Return the kind of the integers in a range; true and 1.0 are not integers."""
    words = f"be an integer of at least {low}, and at most {high}"
    return Kind(words, lambda value: type(value) is int and low <= value <= high)


def real(low: float = -math.inf) -> Kind:
    """Return the kind of the finite numbers of at least `low`; files have a decimal point or an exponent in each."""
    words = "be a finite number" + ("" if low == -math.inf else f" of at least {low:g}")
    return Kind(words, lambda value: type(value) is float and low <= value < math.inf)


def list_of(items: str, kind: Kind, n: int | None = None) -> Kind:
    """Return the kind of the lists of `n` items, or of any number of them; `items` is their name."""

    def holds(value: Any) -> bool:
        return isinstance(value, list) and (n is None or len(value) == n) and all(map(kind.holds, value))

    return Kind(f"be a list of {items}" if n is None else f"be a list of {n} {items}", holds)


def parts(names: Collection[str], kind: Kind) -> Kind:
    """Return the kind of the objects with exactly these names, and values of this kind."""

    def holds(value: Any) -> bool:
        return isinstance(value, dict) and set(value) == set(names) and all(map(kind.holds, value.values()))

    each = "" if kind is ANYTHING else f", each of which must {kind.words}"
    return Kind(f"have exactly the parts {', '.join(names)}{each}", holds)


def or_null(kind: Kind) -> Kind:
    """Return the kind of what is null or of this kind."""
    return Kind(f"be null or {kind.words.removeprefix('be ')}", lambda value: value is None or kind.holds(value))


ANYTHING = Kind("be anything", lambda value: True)
TRUTH = Kind("be true or false", lambda value: type(value) is bool)
TEXT = Kind("be a string", lambda value: type(value) is str)


def read_header(data: bytes, kind_of_file: str) -> dict[str, Any]:
    """Return the header of a file of this format; for another format of this package the error says who reads it."""
    header: Any = _parsed(data)
    given = header.get("format") if isinstance(header, dict) else None
    if given != kind_of_file:
        other = READERS.get(given) if isinstance(given, str) else None
        raise ValueError(other or f"{HEADER} does not say that the format is {kind_of_file!r}")
    return dict(header)


def format_of(data: bytes) -> Any:
    """Return the format that a header names, which may be anything."""
    header = _parsed(data)
    return header.get("format") if isinstance(header, dict) else None


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{HEADER} is not valid JSON ({error})") from error


def check_version(header: dict[str, Any], version: int) -> None:
    """Check that a header has the present version of its format."""
    given = header.get("version")
    if type(given) is not int or given != version:
        raise ValueError(
            f"the file has version {given!r} of the format, but this program reads version {version}; load it with the "
            "version of particletree that wrote it"
        )


def check_fields(header: dict[str, Any], table: Mapping[str, Kind]) -> None:
    """Check that a header has exactly the fields of a table, each of its kind, and that its features are listed."""
    if set(header) != set(table):
        raise ValueError(f"{HEADER} must have exactly the keys {', '.join(sorted(table))}")
    for name, kind in table.items():
        if not kind.holds(header[name]):
            raise ValueError(f"{name} in {HEADER} must {kind.words}")
    n_features, names, fingerprint = header["n_features"], header["feature_names"], header["fingerprint"]
    if names is not None and len(names) != n_features:
        raise ValueError("there must be a feature name for each feature, or none at all")
    if fingerprint is not None:
        DataFingerprint(**fingerprint).check(n_features)
    elif names is None and n_features > MAX_UNLISTED_FEATURES:
        raise ValueError(
            f"n_features in {HEADER} is {n_features}, but nothing lists the features: without feature_names and "
            f"fingerprint there may be at most {MAX_UNLISTED_FEATURES}"
        )
