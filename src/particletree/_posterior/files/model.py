"""The model of a posterior in the header of its file: the parameters of the prior and of the leaf model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from particletree._model.leaf import LeafModel
from particletree._model.leaves import registered_leaf_models
from particletree._model.measure import Measure
from particletree._model.prior import PRIORS, Prior


def _plain(value: Any) -> float | list[float]:
    """Return a parameter of a leaf model for JSON: a number, or a list with one number per target."""
    return [float(each) for each in value] if isinstance(value, Sequence) else float(value)


def encode_prior(prior: Prior) -> dict[str, Any]:
    """Return a prior as plain values for JSON, with its registered name."""
    kind = type(prior).__name__
    if PRIORS.known.get(kind) is not type(prior):
        raise ValueError(
            f"A posterior with prior {kind} cannot be saved; known are {', '.join(PRIORS.known)}. Let files name it "
            f"with particletree._model.prior.PRIORS.register({kind})."
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
    rest = {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    rest.pop("kind")
    if rest.get("measure") is not None:
        rest["measure"] = Measure.from_plain(rest["measure"])
    prior: Prior = _decode_parameters(PRIORS.known[kind], rest)
    if prior.grid():
        raise ValueError("every parameter of the prior must be a number")
    return prior


def encode_leaf(leaf: LeafModel) -> dict[str, Any]:
    """Return a leaf model as plain values for JSON, with its registered name."""
    known, kind = registered_leaf_models(), type(leaf).__name__
    if known.get(kind) is not type(leaf):
        raise ValueError(
            f"A posterior with leaf model {kind} cannot be saved; known are {', '.join(known)}. Let files name it with "
            f"particletree._model.leaves.register_leaf_model({kind})."
        )
    return {"kind": kind} | {name: _plain(value) for name, value in leaf.get_params().items()}


def decode_leaf(parameters: Any) -> LeafModel:
    """Return the leaf model from plain values; raise a `ValueError` if they are invalid."""
    known, kind = registered_leaf_models(), parameters.get("kind") if isinstance(parameters, dict) else None
    if not isinstance(kind, str) or kind not in known:
        raise ValueError(
            f"the leaf model must be one of {', '.join(known)}; one from outside the package must be imported and "
            "registered first, see particletree._model.leaves.register_leaf_model"
        )
    rest = {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    rest.pop("kind")
    if any(value is None for value in rest.values()):
        raise ValueError("every parameter of the leaf model must have a value")
    leaf: LeafModel = _decode_parameters(known[kind], rest)
    return leaf


def _decode_parameters(kind: type[Any], parameters: Any) -> Any:
    names = [field.name for field in fields(kind)]
    if not isinstance(parameters, dict) or set(parameters) != set(names):
        raise ValueError(
            f"wrong parameters of {kind.__name__}, which must have exactly the parameters {', '.join(names)}"
        )
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"wrong parameters of {kind.__name__} ({error})") from error
