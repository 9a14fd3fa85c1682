"""The registry of leaf models that files may name: those of the package, and those that programs register.

A file stores a leaf model as the name of its class and its parameters. Only registered names are looked up when a file
is read, so that a file cannot make the program import or run anything else.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from inspect import isabstract
from typing import TypeVar

from particletree.model.leaf import LeafModel

Model = TypeVar("Model", bound=LeafModel)

_REGISTERED: dict[str, type[LeafModel]] = {}


def register_leaf_model(model: type[Model]) -> type[Model]:
    """Register a leaf model, so that posteriors with it can be saved and loaded; return the class.

    It can be used as a decorator, outside `@dataclass`. Fits and predictions need no registration.

    Parameters
    ----------
    model : type
        A dataclass derived from `LeafModel`, whose parameters are numbers or sequences of numbers. Files identify it by
        the name of the class, which no other leaf model may have.

    Examples
    --------
    >>> from particletree.model.leaves import Poisson, register_leaf_model, registered_leaf_models
    >>> register_leaf_model(Poisson) is registered_leaf_models()["Poisson"]
    True
    """
    if not (isinstance(model, type) and issubclass(model, LeafModel) and is_dataclass(model)) or isabstract(model):
        raise TypeError(f"A leaf model is a dataclass derived from LeafModel with all its methods, got {model!r}.")
    other = _REGISTERED.get(model.__name__, model)
    if _origin(other) != _origin(model):
        raise ValueError(
            f"There is a leaf model named {model.__name__} already, in {other.__module__}; give the class another name."
        )
    _REGISTERED[model.__name__] = model
    return model


def registered_leaf_models() -> dict[str, type[LeafModel]]:
    """Return the leaf models that files may name, by the names of their classes."""
    return dict(_REGISTERED)


def _origin(model: type) -> tuple[str, str]:
    """Return where a class was defined: a redefinition at the same place, as in a notebook, replaces it."""
    return model.__module__, model.__qualname__
