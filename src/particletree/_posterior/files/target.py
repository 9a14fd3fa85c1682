"""The target of a posterior in the header of its file: class labels and dtype, or number and names of targets."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels, Numbers, Target

LABEL_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}
LABEL_DTYPE = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|object|<U[1-9]\d{0,6}")
MAX_LABEL_BYTES = 2**28
MAX_TARGETS = 2**20


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
    if kind == "numbers" and set(target) == {"kind", "n_targets", "names"}:
        return _decode_numbers(target["n_targets"], target["names"])
    raise ValueError("the target must be classes with their labels, or numbers with n_targets and names")


def _decode_numbers(n_targets: Any, names: Any) -> Numbers:
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
