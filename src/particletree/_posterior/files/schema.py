"""The header of a file: tables that declare its fields, and what interprets them, for single trees and for sums alike.

A table has, by the name of each field, what its value must be (:class:`Kind`): a type and a range, or a list or parts
of such. What a posterior says about its data and its prior is the same for both: :data:`DESCRIPTION`. Fields with rules
of their own, as in ``stored_target.py``, are :data:`ANYTHING` in the tables.

A header can claim anything, so everything is checked before memory is allocated that depends on its numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from particletree._data.fingerprint import DataFingerprint
from particletree._posterior.files.archive import HEADER, check_format
from particletree._posterior.files.columns import decode_columns, encode_columns
from particletree._posterior.files.model import decode_prior, encode_prior
from particletree._posterior.files.target import decode_target, encode_target

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior
    from particletree._posterior.posterior import Posterior

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

DESCRIPTION = {
    "format": ANYTHING,
    "version": ANYTHING,
    "n_features": integer(1),
    "feature_names": or_null(list_of("strings", TEXT)),
    "columns": ANYTHING,
    "target": ANYTHING,
    "prior": ANYTHING,
    "fingerprint": or_null(parts([each.name for each in fields(DataFingerprint)], ANYTHING)),
    "has_rows": TRUTH,
}


def read_header(data: bytes, kind_of_file: str) -> dict[str, Any]:
    """Return the header of a file of this format."""
    header: dict[str, Any] = _parsed(data)
    check_format(header, kind_of_file)
    return header


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


def encode_description(posterior: Posterior | BARTPosterior) -> dict[str, Any]:
    """Return what a posterior says about its data and its prior as plain values for JSON."""
    names, fingerprint = posterior.feature_names, posterior.fingerprint
    return {
        "n_features": int(posterior.n_features),
        "feature_names": None if names is None else [str(name) for name in names],
        "columns": encode_columns(posterior.columns),
        "target": encode_target(posterior.target),
        "prior": encode_prior(posterior.prior),
        "fingerprint": None if fingerprint is None else asdict(fingerprint),
        "has_rows": posterior.kept_rows is not None,
    }


def decode_description(header: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a posterior from a checked header; raise a `ValueError` if they are invalid."""
    fingerprint = header["fingerprint"]
    return {
        "n_features": header["n_features"],
        "feature_names": header["feature_names"],
        "columns": decode_columns(header["columns"], header["n_features"]),
        "target": decode_target(header["target"]),
        "prior": decode_prior(header["prior"]),
        "fingerprint": None if fingerprint is None else DataFingerprint(**fingerprint),
    }
