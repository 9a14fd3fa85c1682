"""The runs of a fit: their traces, their agreement, and the settings that were chosen by their evidence.

- `plot_stages`: effective sample size and evidence by stage; for chains, leaves and log likelihood by iteration.
- `plot_islands`: evidence, leaves and predictions of each island or chain, beside those of all together.
- `plot_choice`: the log evidence of the settings that were tried for "auto" parameters, and how clear the choice was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import shorten
from particletree._plots.names import posterior_of
from particletree._plots.style import BLUE, COLOURS, LIGHT, ORANGE, axes_or_new, finish, name_rows, panels_or_new
from particletree._posterior.runs.provenance import TOSS_UP
from particletree._posterior.runs.traces import FILTER_RECORD
from particletree._posterior.summary.agreement import prediction_distances

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run:
    """The trace of one island or chain.

    Attributes
    ----------
    steps : ndarray of int
        Stages, or kept iterations.
    upper, lower : ndarray
        The values of the two panels: effective sample size and log evidence, or leaves and log likelihood.
    marked : ndarray of bool
        The stages at which particles were resampled; all false for a chain.
    """

    steps: NDArray[np.int64]
    upper: Floats
    lower: Floats
    marked: NDArray[np.bool_]


def stages_data(model: Any) -> list[Run]:
    """Return the trace of each island or chain.

    Parameters
    ----------
    model : estimator or Posterior
        A model fitted with `SMC`, `MCMC` or `ParticleGibbs`.

    Returns
    -------
    list of Run
        For each island or chain `steps`, `upper` and `lower` (the values of the two panels) and `marked`.
    """
    posterior = posterior_of(model)
    if posterior.is_chain:
        return [
            Run(trace["iteration"].astype(np.int64), leaves, log_likelihoods, np.zeros(trace.size, dtype=np.bool_))
            for trace, leaves, log_likelihoods in zip(
                posterior.trace,
                posterior.along_chains(posterior.n_leaves),
                posterior.along_chains(posterior.log_likelihoods),
                strict=True,
            )
        ]
    if posterior.trace[0].dtype != FILTER_RECORD or posterior.trace[0].size == 0:
        raise ValueError(
            "This posterior has no record of stages: they come from SMC and MCMC, on data that can be cut at all."
        )
    return [
        Run(np.arange(1, trace.size + 1), trace["ess"], trace["log_evidence"], trace["resampled"])
        for trace in posterior.trace
    ]


def plot_stages(model: Any, axes: Any = None) -> list[Axes]:
    """Draw effective sample size and log evidence by stage for each island; crosses mark resampling.

    Stages have a logarithmic scale, because most changes happen in the first ones. For Markov chains the panels show
    the number of leaves and the log likelihood of the kept iterations (trace plots).

    Parameters
    ----------
    model : estimator or Posterior
        A model fitted with `SMC`, `MCMC` or `ParticleGibbs`.
    axes : two Axes, optional
        Where to draw, the upper panel first; None makes a new figure.

    Returns
    -------
    list of Axes
        The upper and the lower panel.
    """
    posterior, runs = posterior_of(model), stages_data(model)
    panels = panels_or_new(axes, 2, height=3.2, is_stacked=True)
    for number, run in enumerate(runs):
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linewidth": 0.8, "alpha": 0.8}
        panels[0].plot(run.steps, run.upper, **style)
        panels[1].plot(run.steps, run.lower, **style)
        panels[0].plot(run.steps[run.marked], run.upper[run.marked], "x", markersize=4, **style)
    if posterior.is_chain:
        finish(panels[0], "", "leaves", f"{len(runs)} chains")
        finish(panels[1], "iteration", "log likelihood")
    else:
        finish(panels[0], "", "effective\nsample size", f"{len(runs)} islands; x: resampling")
        finish(panels[1], "stage", "log evidence")
        panels[1].set_xscale("log")  # most changes happen in the first stages
        panels[1].xaxis.set_major_formatter("{x:.0f}")
    return panels


@dataclass(frozen=True, eq=False)
class Runs:
    """Evidence, size of the trees and agreement of each island or chain.

    Attributes
    ----------
    kind : str
        "island" or "chain".
    log_evidences : ndarray
        Log evidence of each island; for chains, the mean log likelihood.
    log_evidence : float
        The same for all runs together.
    leaves, leaves_sd : ndarray
        Mean number of leaves of each run, and its standard deviation over trees.
    distances : ndarray
        Mean distance of the run's predictions from those of all; nan if not known.
    """

    kind: str
    log_evidences: Floats
    log_evidence: float
    leaves: Floats
    leaves_sd: Floats
    distances: Floats


def islands_data(model: Any) -> Runs:
    """Return evidence, size of the trees and agreement of each island or chain.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.

    Returns
    -------
    Runs
        For each island or chain `log_evidences`, `leaves`, `leaves_sd` and `distances`; `kind` and, for all together,
        `log_evidence`.
    """
    posterior = posterior_of(model)
    has_evidence = posterior.log_evidences is not None
    likelihoods = np.asarray(posterior.island_weights @ posterior.log_likelihoods)
    leaves = np.asarray(posterior.island_weights @ posterior.n_leaves)
    squares = np.asarray(posterior.island_weights @ posterior.n_leaves**2)
    return Runs(
        kind="chain" if posterior.is_chain else "island",
        log_evidences=likelihoods if posterior.log_evidences is None else posterior.log_evidences,
        log_evidence=posterior.log_evidence if has_evidence else float(posterior.island_shares @ likelihoods),
        leaves=leaves,
        leaves_sd=np.sqrt(np.maximum(squares - leaves**2, 0.0)),
        distances=prediction_distances(posterior),
    )


def plot_islands(model: Any, axes: Any = None) -> list[Axes]:
    """Draw evidence, leaves and distance of predictions of each island or chain; dashed lines are for all together.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    axes : three Axes, optional
        Where to draw, from top to bottom; None makes a new figure.

    Returns
    -------
    list of Axes
        The three panels, from top to bottom.
    """
    data, posterior = islands_data(model), posterior_of(model)
    panels = panels_or_new(axes, 3, height=3.6, is_stacked=True)
    numbers = np.arange(1, data.leaves.size + 1)
    panels[0].plot(numbers, data.log_evidences, "o", color=BLUE, markersize=3.5)
    panels[0].axhline(data.log_evidence, color=ORANGE, linewidth=1.0, linestyle="--")
    panels[1].errorbar(numbers, data.leaves, data.leaves_sd, fmt="o", color=BLUE, markersize=3.5, linewidth=0.9)
    panels[1].axhline(float(posterior.weights @ posterior.n_leaves), color=ORANGE, linewidth=1.0, linestyle="--")
    panels[2].bar(numbers, data.distances, 0.6, color=BLUE, alpha=0.6)
    finish(panels[0], "", "log evidence" if posterior.log_evidences is not None else "mean log\nlikelihood")
    finish(panels[1], "", "leaves\n(mean, sd)")
    for panel in panels[:2]:
        panel.margins(y=0.15)
    unit = "total variation" if isinstance(posterior.target, ClassLabels) else "sd of target"
    finish(panels[2], data.kind, f"distance\n({unit})")
    panels[2].locator_params(axis="x", integer=True)
    panels[0].set_title(f"each {data.kind}; dashed: all together", fontsize=8)
    return panels


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
    names = tuple(setting_name(choice.settings[number]) for number in order)
    return Settings(names, log_evidences[order], log_evidences[order] > log_evidences.max() - TOSS_UP)


def setting_name(setting: dict[str, Any]) -> str:
    """Return the values of a setting.

    Examples
    --------
    >>> from particletree._plots.runs import setting_name
    >>> setting_name({"alpha": 0.95, "concentration": (1.0, 5.0)})
    'alpha 0.95, concentration (1, 5)'
    """
    values = {
        name: f"({', '.join(f'{each:.3g}' for each in value)})" if isinstance(value, tuple) else f"{value:.3g}"
        for name, value in setting.items()
    }
    return ", ".join(f"{name} {value}" for name, value in values.items())


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
    ax = axes_or_new(ax, height=0.9 + 0.2 * len(data.names))
    best = float(data.log_evidences[0])
    ax.axvspan(best - TOSS_UP, best, color=LIGHT, alpha=0.5, linewidth=0)
    rows = np.arange(len(data.names))
    ax.plot(data.log_evidences, rows, "o", color=BLUE, markersize=4)
    ax.plot(data.log_evidences[:1], rows[:1], "*", color=BLUE, markersize=10)
    finish(ax, "log evidence", title="star: chosen; grey: a toss-up")
    name_rows(ax, [shorten(name, 36) for name in data.names])
    return ax
