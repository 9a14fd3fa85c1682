"""Comparison of independent runs: differences between islands or chains show the Monte Carlo error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._plots.names import posterior_of
from particletree._plots.style import BLUE, ORANGE, finish, given_or_new_panels
from particletree._posterior.summary.agreement import prediction_distances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


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
    panels = given_or_new_panels(axes, 3, height=3.6, is_stacked=True)
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
