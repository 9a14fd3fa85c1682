"""The settings that the evidence has chosen, the alternatives, and how clear the choice was."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

MOST_SETTINGS = 10_000
TOSS_UP = 3.0  # nats: two settings that are closer than this cannot be distinguished


@dataclass(frozen=True)
class Choice:
    """The settings that were tried, and the estimated log evidence of each.

    Attributes
    ----------
    settings : tuple of dict
        The values of the parameters that were "auto", for each setting that was tried.
    log_evidences : tuple of float
        The estimated log evidence of each setting, from one quick island with the same seed.

    Examples
    --------
    >>> from particletree.posterior.choice import Choice
    >>> choice = Choice(({"beta": 0.2}, {"beta": 0.5}), (-103.2, -120.9))
    >>> print(choice)
    beta 0.2, of 2 settings tried (17.7 nats above the next)
    """

    settings: tuple[dict[str, Any], ...]
    log_evidences: tuple[float, ...]

    @property
    def chosen(self) -> dict[str, Any]:
        """The setting with the highest evidence."""
        return self.settings[max(range(len(self.settings)), key=lambda i: self.log_evidences[i])]

    @property
    def margin(self) -> float:
        """Difference in nats between the chosen and the next setting; infinite if nothing else was tried."""
        first, *rest = sorted(self.log_evidences, reverse=True)
        return first - rest[0] if rest else math.inf

    def __str__(self) -> str:
        values = ", ".join(f"{name} {_describe(value)}" for name, value in self.chosen.items())
        clear = "a toss-up with the next" if self.margin < TOSS_UP else f"{self.margin:.1f} nats above the next"
        return f"{values}, of {len(self.settings)} settings tried ({clear})"


def encode_choice(choice: Choice | None) -> dict[str, Any] | None:
    """Return a choice as plain values for JSON."""
    if choice is None:
        return None
    settings = [{name: _plain(value) for name, value in each.items()} for each in choice.settings]
    return {"settings": settings, "log_evidences": list(choice.log_evidences)}


def decode_choice(parts: Any) -> Choice | None:
    """Return the choice from plain values; raise a `ValueError` if they are not those of a choice."""
    if parts is None:
        return None
    if not isinstance(parts, dict) or set(parts) != {"settings", "log_evidences"}:
        raise ValueError("choice must be null or have exactly the parts settings and log_evidences")
    settings, evidences = parts["settings"], parts["log_evidences"]
    if not isinstance(settings, list) or not isinstance(evidences, list) or len(settings) != len(evidences):
        raise ValueError("a choice must have a log evidence for each setting")
    if not 1 <= len(settings) <= MOST_SETTINGS or not all(_is_number(value) for value in evidences):
        raise ValueError("the log evidences of a choice must be finite numbers, one for each setting")
    return Choice(tuple(_decode_setting(each) for each in settings), tuple(evidences))


def _decode_setting(setting: Any) -> dict[str, Any]:
    if not isinstance(setting, dict) or not all(isinstance(name, str) and name.isidentifier() for name in setting):
        raise ValueError("a setting must have parameters by name")
    for value in setting.values():
        if not all(_is_number(each) for each in (value if isinstance(value, list) else [value])):
            raise ValueError("the values of a setting must be finite numbers, or lists of such")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in setting.items()}


def _is_number(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _plain(value: Any) -> float | list[float]:
    return [float(each) for each in value] if isinstance(value, tuple) else float(value)


def _describe(value: Any) -> str:
    return "(" + ", ".join(f"{each:.4g}" for each in value) + ")" if isinstance(value, tuple) else f"{value:.4g}"
