"""Traces of the runs: effective sample size and evidence by stage; for chains, leaves and log likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._plots.names import posterior_of
from particletree._plots.style import COLOURS, finish, given_or_new_panels
from particletree._posterior import Posterior
from particletree._posterior.runs.traces import FILTER_RECORD

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        return chain_runs(posterior)
    if posterior.trace[0].dtype != FILTER_RECORD or posterior.trace[0].size == 0:
        raise ValueError(
            "This posterior has no record of stages: they come from SMC and MCMC, on data that can be cut at all."
        )
    return [
        Run(np.arange(1, trace.size + 1), trace["ess"], trace["log_evidence"], trace["resampled"])
        for trace in posterior.trace
    ]


def chain_runs(posterior: Posterior) -> list[Run]:
    """Return leaves and log likelihood along each chain."""
    leaves = posterior.along_chains(posterior.n_leaves)
    log_likelihoods = posterior.along_chains(posterior.log_likelihoods)
    steps = [trace["iteration"].astype(np.int64) for trace in posterior.trace]
    never = [np.zeros(each.size, dtype=np.bool_) for each in steps]
    return [Run(*parts) for parts in zip(steps, leaves, log_likelihoods, never, strict=True)]


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
    panels = given_or_new_panels(axes, 2, height=3.2, is_stacked=True)
    for number, run in enumerate(runs):
        draw_run(panels, run, COLOURS[number % len(COLOURS)])
    if posterior.is_chain:
        label(panels, "iteration", "leaves", "log likelihood", f"{len(runs)} chains")
    else:
        label(panels, "stage", "effective\nsample size", "log evidence", f"{len(runs)} islands; x: resampling")
        panels[1].set_xscale("log")  # most changes happen in the first stages
        panels[1].xaxis.set_major_formatter("{x:.0f}")
    return panels


def draw_run(panels: list[Axes], run: Run, colour: str) -> None:
    """Draw one run into both panels."""
    style: dict[str, Any] = {"color": colour, "linewidth": 0.8, "alpha": 0.8}
    for panel, values in zip(panels, (run.upper, run.lower), strict=True):
        panel.plot(run.steps, values, **style)
    panels[0].plot(run.steps[run.marked], run.upper[run.marked], "x", markersize=4, **style)


def label(panels: list[Axes], step: str, upper: str, lower: str, title: str) -> None:
    """Label the axes of both panels."""
    finish(panels[0], "", upper, title)
    finish(panels[1], step, lower)
