"""Kinds of priors and of leaf models that files may name: those of the package, and those that programs register.

A file stores such an object as the name of its class and its parameters. Only registered names are looked up when a
file is read, so that a file cannot make the program import or run anything else.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from inspect import isabstract
from typing import Any, Generic, TypeVar

Base = TypeVar("Base")
Kind = TypeVar("Kind", bound=type[Any])


class Registry(Generic[Base]):
    """Classes by name: the dataclasses derived from `base` that can be saved and loaded.

    Examples
    --------
    >>> from particletree.model.prior import PRIORS, TreePrior
    >>> PRIORS.register(TreePrior) is PRIORS.known["TreePrior"]
    True
    """

    def __init__(self, what: str, base: type[Any]) -> None:
        self.what, self.base = what, base
        self.known: dict[str, type[Base]] = {}

    def register(self, kind: Kind) -> Kind:
        """Register a class and return it; a decorator, outside `@dataclass`. Its parameters must be plain values.

        Files identify it by its name, which no other class may have.
        """
        if not (isinstance(kind, type) and issubclass(kind, self.base) and is_dataclass(kind)) or isabstract(kind):
            raise TypeError(
                f"A {self.what} is a dataclass derived from {self.base.__name__} with all its methods, got {kind!r}."
            )
        other = self.known.get(kind.__name__, kind)
        if _origin(other) != _origin(kind):
            raise ValueError(
                f"There is a {self.what} named {kind.__name__} already, in {other.__module__}; give the class another "
                "name."
            )
        self.known[kind.__name__] = kind  # type: ignore[assignment]
        return kind


def _origin(kind: type) -> tuple[str, str]:
    """Return where a class was defined: a redefinition at the same place, as in a notebook, replaces it."""
    return kind.__module__, kind.__qualname__
