"""Parameter objects: small dataclasses that scikit-learn can clone, inspect and search over.

A prior, a leaf model or a sampler is a handful of named numbers. scikit-learn's `clone`, `GridSearchCV` and nested
parameters (`sampler__n_particles`) require three things of such an object: a constructor that stores its arguments
unchanged, `get_params` and `set_params`. `Parameters` gives a dataclass the last two, and checks the values each time
they are set, so that an invalid value is reported where it was set.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import isabstract
from typing import Any, Generic, TypeVar

Self = TypeVar("Self", bound="Parameters")
AUTO = "auto"  # the value of a parameter that is chosen by the evidence


@dataclass
class Parameters:
    """Base of the parameter objects; subclasses are dataclasses that define `validate`."""

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Raise a `ValueError` or `TypeError` that names the parameter, its value and the allowed values."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn requires."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def completed(self: Self, default: Parameters) -> Self:
        """Return these parameters with those of `default` in the place of None, where it has them."""
        values = default.get_params()
        missing = {name for name, value in self.get_params().items() if value is None and values.get(name) is not None}
        return replace(self, **{name: values[name] for name in missing}) if missing else self

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters by name and check them all; if one is invalid, none is changed."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; its parameters are {', '.join(sorted(known))}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        try:
            self.validate()
        except (TypeError, ValueError):
            for name, value in known.items():
                setattr(self, name, value)
            raise
        return self


def check_integer(owner: object, name: str, *, at_least: int, at_most: int = 10**9) -> None:
    """Check that the attribute `name` of `owner` is an integer from `at_least` to `at_most`."""
    value = getattr(owner, name)
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"{type(owner).__name__}.{name} must be an integer, got {value!r}.")
    if int(value) < at_least:
        raise ValueError(f"{type(owner).__name__}.{name} must be at least {at_least}, got {value!r}.")
    if int(value) > at_most:
        raise ValueError(f"{type(owner).__name__}.{name} must be at most {at_most}, got {value!r}.")


def check_real(
    owner: object, name: str, rule: str, *, low: float, high: float, closed: str, or_auto: bool = False
) -> None:
    """Check that the attribute `name` lies between `low` and `high`; `closed` is 'neither', 'left' or 'both'.

    With `or_auto` it may also be "auto".
    """
    value = getattr(owner, name)
    if or_auto and isinstance(value, str) and value == AUTO:
        return
    rule += ', or "auto"' if or_auto else ""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{type(owner).__name__}.{name} must be a number {rule}, got {value!r}.")
    number = _to_float(value)
    above = number >= low if closed in ("left", "both") else number > low
    below = number <= high if closed == "both" else number < high
    if not (above and below):
        raise ValueError(f"{type(owner).__name__}.{name} must be a number {rule}, got {value!r}.")


def _to_float(value: Any) -> float:
    """Return a number as a float; an integer beyond the largest float is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_choice(owner: object, name: str, choices: tuple[str, ...]) -> None:
    """Check that the attribute `name` is one of the strings in `choices`."""
    value = getattr(owner, name)
    if value not in choices:
        raise ValueError(f"{type(owner).__name__}.{name} must be one of {', '.join(choices)}, got {value!r}.")


# Kinds of priors and of leaf models that files may name: those of the package, and those that programs register.
#
# A file stores such an object as the name of its class and its parameters. Only registered names are looked up when a
# file is read, so that a file cannot make the program import or run anything else.

Base = TypeVar("Base")
Kind = TypeVar("Kind", bound=type[Any])


class Registry(Generic[Base]):
    """Classes by name: the dataclasses derived from `base` that can be saved and loaded.

    Examples
    --------
    >>> from particletree import TreePrior
    >>> from particletree.extending import PRIORS
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
