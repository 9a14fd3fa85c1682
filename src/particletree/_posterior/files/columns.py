"""The columns of a posterior in the header of its file: levels of categorical features, and missing values."""

from __future__ import annotations

import math
from typing import Any

from particletree._model.columns import Columns

LEVEL_TYPES = (str, bool, int, float)


def encode_columns(columns: Columns) -> dict[str, Any]:
    """Return columns as plain values for JSON."""
    return {
        "levels": [[feature, list(levels)] for feature, levels in sorted(columns.levels.items())],
        "missing": sorted(columns.missing),
    }


def decode_columns(columns: Any, n_features: int) -> Columns:
    """Return the columns from plain values; raise a `ValueError` if they are invalid."""
    if not isinstance(columns, dict) or set(columns) != {"levels", "missing"}:
        raise ValueError("columns must have exactly the parts levels and missing")
    return Columns(n_features, _decode_levels(columns["levels"], n_features), _decode_missing(columns, n_features))


def _decode_missing(columns: dict[str, Any], n_features: int) -> frozenset[int]:
    missing = columns["missing"]
    if not isinstance(missing, list) or not all(_is_feature(feature, n_features) for feature in missing):
        raise ValueError("missing must be a list of numbers of features")
    return frozenset(missing)


def _decode_levels(levels: Any, n_features: int) -> dict[int, tuple[Any, ...]]:
    if not isinstance(levels, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in levels):
        raise ValueError("levels must be a list of pairs of a feature and its levels")
    if not all(_is_feature(feature, n_features) and _are_levels(values) for feature, values in levels):
        raise ValueError("levels must have, for a feature, a list of texts, bools or finite numbers, none twice")
    found = {feature: tuple(values) for feature, values in levels}
    if len(found) != len(levels):
        raise ValueError("a feature must not have two lists of levels")
    return found


def _is_feature(feature: Any, n_features: int) -> bool:
    return type(feature) is int and 0 <= feature < n_features


def _are_levels(values: Any) -> bool:
    if not isinstance(values, list) or not all(type(value) in LEVEL_TYPES for value in values):
        return False
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return False
    return len({(type(value) is str, value) for value in values}) == len(values)
