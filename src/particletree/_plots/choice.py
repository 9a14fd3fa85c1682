"""The log evidence of the settings that were tried for "auto" parameters, and how clear the choice was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._plots.names import posterior_of, shorten
from particletree._plots.style import BLUE, LIGHT, finish, given_or_new, name_rows
from particletree._posterior.runs.provenance import TOSS_UP

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings that were tried, the best first.

    Attributes
    ----------
    names : tuple of str
        The values of the parameters.
    log_evidences : ndarray
        Estimated log evidence of each setting.
    is_toss_up : ndarray of bool
        Whether a setting cannot be distinguished from the best, given the error of the estimates.
    """

    names: tuple[str, ...]
    log_evidences: NDArray[np.float64]
    is_toss_up: NDArray[np.bool_]


def choice_data(model: Any) -> Settings:
    """Return the settings that were tried, by evidence.

    Parameters
    ----------
    model : estimator or Posterior
        A fitted model for which a parameter of the prior or the leaf model was "auto".

    Returns
    -------
    Settings
        For each setting, the best first: `names`, `log_evidences` and `is_toss_up`.
    """
    choice = posterior_of(model).choice
    if choice is None:
        raise ValueError(
            'No setting was chosen by the evidence: fit with a parameter "auto", e.g. TreePrior(beta="auto").'
        )
    log_evidences = np.array(choice.log_evidences)
    order = np.argsort(-log_evidences, kind="stable")
    names = tuple(describe(choice.settings[number]) for number in order)
    return Settings(names, log_evidences[order], log_evidences[order] > log_evidences.max() - TOSS_UP)


def describe(setting: dict[str, Any]) -> str:
    """Return the values of a setting.

    Examples
    --------
    >>> from particletree._plots.choice import describe
    >>> describe({"alpha": 0.95, "beta": 0.2})
    'alpha 0.95, beta 0.2'
    """
    return ", ".join(f"{name} {describe_value(value)}" for name, value in setting.items())


def describe_value(value: Any) -> str:
    """Return a number, or several."""
    return f"({', '.join(f'{each:.3g}' for each in value)})" if isinstance(value, tuple) else f"{value:.3g}"


def plot_choice(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the log evidence of the settings that were tried; those in the grey band are as good as the best.

    Parameters
    ----------
    model : estimator or Posterior
        A fitted model for which a parameter was "auto".
    ax : Axes, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data = choice_data(model)
    ax = given_or_new(ax, height=0.9 + 0.2 * len(data.names))
    best = float(data.log_evidences[0])
    ax.axvspan(best - TOSS_UP, best, color=LIGHT, alpha=0.5, linewidth=0)
    rows = np.arange(len(data.names))
    ax.plot(data.log_evidences, rows, "o", color=BLUE, markersize=4)
    ax.plot(data.log_evidences[:1], rows[:1], "*", color=BLUE, markersize=10)
    finish(ax, "log evidence", title="star: chosen; grey: a toss-up")
    name_rows(ax, [shorten(name, 36) for name in data.names])
    return ax
