"""What a posterior says about its data and its model, as plain values in the header of its file.

These are the features with their names and columns (levels of categorical features, and missing values), the target
(class labels with their dtype, or the number and names of targets), the prior, the leaf model, and the fingerprint of
the data. Files of single trees and of sums of trees have the same fields, :data:`DESCRIPTION`; the leaf model is of
single trees only. Every `decode_` function takes anything, and raises a `ValueError` unless it is valid.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data.fingerprint import DataFingerprint
from particletree._model.columns import Columns
from particletree._model.leaf import LeafModel
from particletree._model.leaves import registered_leaf_models
from particletree._model.measure import Measure
from particletree._model.prior import PRIORS, Prior
from particletree._model.target import ClassLabels, Numbers, Target
from particletree._posterior.files.schema import ANYTHING, TEXT, TRUTH, integer, list_of, or_null, parts
from particletree._posterior.sums_of_trees import SumsOfTrees
from particletree._posterior.weighted_trees import WeightedTrees

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
ROW_LAYOUTS: dict[str, tuple[Any, int]] = {"kept_rows": ("<f8", 2), "kept_row_numbers": ("<i8", 1)}
LEVEL_TYPES = (str, bool, int, float)
LABEL_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}
LABEL_DTYPE = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|object|<U[1-9]\d{0,6}")
MAX_LABEL_BYTES = 2**28
MAX_TARGETS = 2**20


def encode_description(posterior: WeightedTrees | SumsOfTrees) -> dict[str, Any]:
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


def row_arrays(posterior: WeightedTrees | SumsOfTrees) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that hold the kept rows; none if there are no rows."""
    rows, numbers = posterior.kept_rows, posterior.kept_row_numbers
    if rows is None:
        return {}
    return {"kept_rows": rows, "kept_row_numbers": np.arange(len(rows)) if numbers is None else numbers}


# The columns.


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
    levels, missing = columns["levels"], columns["missing"]
    if not isinstance(levels, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in levels):
        raise ValueError("levels must be a list of pairs of a feature and its levels")
    if not all(_is_feature(feature, n_features) and _are_levels(values) for feature, values in levels):
        raise ValueError("levels must have, for a feature, a list of texts, bools or finite numbers, none twice")
    found = {feature: tuple(values) for feature, values in levels}
    if len(found) != len(levels):
        raise ValueError("a feature must not have two lists of levels")
    if not isinstance(missing, list) or not all(_is_feature(feature, n_features) for feature in missing):
        raise ValueError("missing must be a list of numbers of features")
    return Columns(n_features, found, frozenset(missing))


def _is_feature(feature: Any, n_features: int) -> bool:
    return type(feature) is int and 0 <= feature < n_features


def _are_levels(values: Any) -> bool:
    if not isinstance(values, list) or not all(type(value) in LEVEL_TYPES for value in values):
        return False
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return False
    return len({(type(value) is str, value) for value in values}) == len(values)


# The target.


def encode_target(target: Target) -> dict[str, Any]:
    """Return a target as plain values for JSON."""
    if isinstance(target, ClassLabels):
        return {"kind": "classes", "classes": encode_labels(target.classes)}
    return {"kind": "numbers", "n_targets": target.n_targets, "names": target.names and list(target.names)}


def decode_target(target: Any) -> Target:
    """Return the target from plain values; raise a `ValueError` if they are invalid."""
    kind = target.get("kind") if isinstance(target, dict) else None
    if kind == "classes" and set(target) == {"kind", "classes"}:
        return ClassLabels(decode_labels(target["classes"]))
    if kind != "numbers" or set(target) != {"kind", "n_targets", "names"}:
        raise ValueError("the target must be classes with their labels, or numbers with n_targets and names")
    n_targets, names = target["n_targets"], target["names"]
    if type(n_targets) is not int or not 1 <= n_targets <= MAX_TARGETS:
        raise ValueError(f"n_targets must be an integer between 1 and {MAX_TARGETS}")
    are_texts = isinstance(names, list) and len(names) == n_targets and all(isinstance(name, str) for name in names)
    if names is not None and not are_texts:
        raise ValueError("names of the targets must be null or a text for each")
    return Numbers(n_targets, names and tuple(names))


def encode_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """Return class labels with their dtype; raise an error for types that a file cannot store."""
    name = f"<U{max(classes.dtype.itemsize // 4, 1)}" if classes.dtype.kind == "U" else classes.dtype.name
    labels = {"dtype": name, "values": classes.tolist()}
    try:
        decode_labels(labels)
    except ValueError as error:
        raise ValueError(
            f"Class labels of dtype {classes.dtype} cannot be saved ({error}); "
            "use integers, finite floats, bools or strings as labels, e.g. by fitting to y.astype(str)."
        ) from error
    return labels


def decode_labels(labels: Any) -> NDArray[Any]:
    """Return the class labels from plain values; raise a `ValueError` if they are invalid."""
    if not isinstance(labels, dict) or set(labels) != {"dtype", "values"} or not isinstance(labels["values"], list):
        raise ValueError("classes must have a dtype and a list of values")
    name, values = labels["dtype"], labels["values"]
    if not isinstance(name, str) or not LABEL_DTYPE.fullmatch(name):
        raise ValueError(f"{name!r} is not a dtype for class labels")
    dtype = np.dtype(name)
    if len(values) * dtype.itemsize > MAX_LABEL_BYTES:
        raise ValueError("the class labels are too long")
    if not all(type(value) is LABEL_TYPES[dtype.kind] for value in values):
        raise ValueError(f"not every class label is a {LABEL_TYPES[dtype.kind].__name__}")
    try:
        # An overflow changes the value, which is reported below. NumPy 1 warns about integers, where NumPy 2 raises.
        with np.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            classes = np.array(values, dtype=dtype)
    except OverflowError as error:
        raise ValueError(f"a class label does not fit into {name}") from error
    if classes.tolist() != values or (dtype.kind == "f" and not np.isfinite(classes).all()):
        raise ValueError(f"a class label is not a finite value of {name}")
    return classes


# The prior and the leaf model.


def encode_prior(prior: Prior) -> dict[str, Any]:
    """Return a prior as plain values for JSON, with its registered name."""
    kind = type(prior).__name__
    if PRIORS.known.get(kind) is not type(prior):
        raise ValueError(
            f"A posterior with prior {kind} cannot be saved; known are {', '.join(PRIORS.known)}. Let files name it "
            f"with particletree.extending.PRIORS.register({kind})."
        )
    values = prior.get_params().items()
    return {"kind": kind} | {name: _plain_of_prior(value) for name, value in values}


def _plain_of_prior(value: Any) -> Any:
    if isinstance(value, Measure):
        return value.to_plain()
    return value if value is None or isinstance(value, int) else _plain(value)


def decode_prior(parameters: Any) -> Prior:
    """Return the prior from plain values; raise a `ValueError` if they are invalid."""
    kind = parameters.get("kind") if isinstance(parameters, dict) else None
    if not isinstance(kind, str) or kind not in PRIORS.known:
        raise ValueError(f"the prior must be one of {', '.join(PRIORS.known)}, got {kind!r}")
    if parameters.get("measure") is not None:
        parameters = parameters | {"measure": Measure.from_plain(parameters["measure"])}
    prior: Prior = _decode_parameters(PRIORS.known[kind], parameters)
    if prior.grid():
        raise ValueError("every parameter of the prior must be a number")
    return prior


def encode_leaf(leaf: LeafModel) -> dict[str, Any]:
    """Return a leaf model as plain values for JSON, with its registered name."""
    known, kind = registered_leaf_models(), type(leaf).__name__
    if known.get(kind) is not type(leaf):
        raise ValueError(
            f"A posterior with leaf model {kind} cannot be saved; known are {', '.join(known)}. Let files name it with "
            f"particletree.extending.register_leaf_model({kind})."
        )
    return {"kind": kind} | {name: _plain(value) for name, value in leaf.get_params().items()}


def decode_leaf(parameters: Any) -> LeafModel:
    """Return the leaf model from plain values; raise a `ValueError` if they are invalid."""
    known, kind = registered_leaf_models(), parameters.get("kind") if isinstance(parameters, dict) else None
    if not isinstance(kind, str) or kind not in known:
        raise ValueError(
            f"the leaf model must be one of {', '.join(known)}; one from outside the package must be imported and "
            "registered first, see particletree.extending.register_leaf_model"
        )
    if any(value is None for value in parameters.values()):
        raise ValueError("every parameter of the leaf model must have a value")
    leaf: LeafModel = _decode_parameters(known[kind], parameters)
    return leaf


def _plain(value: Any) -> float | list[float]:
    """Return a parameter of a leaf model for JSON: a number, or a list with one number per target."""
    return [float(each) for each in value] if isinstance(value, Sequence) else float(value)


def _decode_parameters(kind: type[Any], values: dict[str, Any]) -> Any:
    """Return an object of registered parameters, of which lists are tuples; `values` has the name of its kind too."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items() if name != "kind"
    }
    names = [field.name for field in fields(kind)]
    if set(parameters) != set(names):
        raise ValueError(
            f"wrong parameters of {kind.__name__}, which must have exactly the parameters {', '.join(names)}"
        )
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"wrong parameters of {kind.__name__} ({error})") from error
