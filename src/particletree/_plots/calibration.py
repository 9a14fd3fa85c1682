r"""Calibration (reliability diagram): how often events that were predicted with probability p occurred.

Predictions are put into bins of equal width. With more than two classes every row gives one prediction per class, and
all of them are pooled. The bars are 90% Wilson intervals of the observed frequency. Two proper scores summarise the
predictions: the mean log probability of the true class (higher is better), and the Brier score (lower is better),

.. math:: \frac1n \sum_i (p_i - y_i)^2 \text{ for two classes}, \qquad
          \frac1n \sum_i \sum_k (p_{ik} - y_{ik})^2 \text{ for more.}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from particletree._model.target import ClassLabels
from particletree._plots.names import any_posterior_of
from particletree._plots.style import BLUE, GREY, LIGHT, SMALL, axes_or_new, finish

if TYPE_CHECKING:
    from particletree._plots.style import Axes

Floats = NDArray[np.float64]
FLOOR = -0.22  # lower limit of the axis, with room for the counts below 0


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibration of probabilities, for the bins that contain predictions.

    Attributes
    ----------
    predicted, observed : ndarray
        Mean predicted probability, and observed frequency.
    low, high : ndarray
        Ends of the interval of the observed frequency.
    counts : ndarray of int
        Number of predictions in each bin.
    brier, log_probability : float
        Proper scores of all predictions.
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    counts: NDArray[np.int64]
    brier: float
    log_probability: float


def calibration_data(model: Any, X: Any, y: ArrayLike, n_bins: int = 10) -> Calibration:
    """Return the calibration of predicted class probabilities, and proper scores.

    Parameters
    ----------
    model : classifier, Posterior or BARTPosterior
        The fitted model: any classifier with `predict_proba` and `classes_`, also one of scikit-learn, or a posterior
        over class labels.
    X : array-like or data frame
        Rows that the model was not fitted to.
    y : array-like, shape (n_rows,)
        Their true classes.
    n_bins : int, default 10
        Number of bins; more show finer detail with wider intervals.

    Returns
    -------
    Calibration
        For each bin that has predictions `predicted`, `observed`, `low`, `high` and `counts`; for all of them the
        scores `brier` and `log_probability`.
    """
    return calibration_of(y, *class_probabilities(model, X), n_bins)


def class_probabilities(model: Any, X: Any) -> tuple[Floats, NDArray[Any]]:
    """Return the predicted probabilities of the rows, and the classes of their columns."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64), np.asarray(model.classes_)
    posterior = any_posterior_of(model)
    if not isinstance(posterior.target, ClassLabels):
        raise TypeError(
            f"Calibration is of class probabilities, and {type(model).__name__} predicts numbers. Pass a classifier; "
            "the report (particletree.report) shows the calibration of predicted numbers."
        )
    return posterior.predictive(X), posterior.target.classes


def calibration_of(y: ArrayLike, p: ArrayLike, classes: ArrayLike, n_bins: int = 10) -> Calibration:
    """Return the calibration of probabilities of the second class, or of every class in the order of `classes`."""
    p = np.asarray(p, dtype=np.float64)
    p = np.stack((1 - p, p), axis=1) if p.ndim == 1 else p
    if p.ndim != 2 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("Probabilities must be between 0 and 1: one for each row, or one for each row and class.")
    happened = one_hot(np.asarray(y), p, np.asarray(classes))
    brier, log_probability = scores(happened, p)
    asked = slice(1, 2) if p.shape[1] == 2 else slice(None)
    p, happened = p[:, asked].ravel(), happened[:, asked].ravel()
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    used = counts > 0
    sums = [np.bincount(bins, weights=each, minlength=n_bins)[used] for each in (p, happened)]
    predicted, observed = sums[0] / counts[used], sums[1] / counts[used]
    return Calibration(
        predicted, observed, *wilson_interval(observed, counts[used]), counts[used], brier, log_probability
    )


def one_hot(y: NDArray[Any], p: Floats, classes: NDArray[Any]) -> Floats:
    """Return 1 for the true class of each row, and 0 for the others."""
    if y.shape != (len(p),) or classes.size != p.shape[1]:
        raise ValueError(
            f"There are probabilities of {len(p)} rows and {p.shape[1]} classes, but y has shape {y.shape} and there "
            f"are {classes.size} classes: give one true class for each row."
        )
    happened = np.asarray(y[:, None] == classes, dtype=np.float64)
    if not happened.any(axis=1).all():
        unknown = y[~happened.any(axis=1)][0]
        raise ValueError(f"y has the label {unknown!r}, which is not among the classes {classes.tolist()}.")
    return happened


def scores(happened: Floats, p: Floats) -> tuple[float, float]:
    """Return the Brier score and the mean log-probability."""
    squares = np.square(p - happened).sum(axis=1)
    with np.errstate(divide="ignore"):
        log_probability = np.log((p * happened).sum(axis=1)).mean()
    return float(squares.mean() / (2 if p.shape[1] == 2 else 1)), float(log_probability)


def wilson_interval(share: Floats, n: NDArray[np.int64], level: float = 0.9) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a probability, given the observed share among n cases."""
    z = float(norm.ppf((1 + level) / 2))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return middle - half, middle + half


def plot_calibration(model: Any, X: Any, y: ArrayLike, ax: Axes | None = None, *, n_bins: int = 10) -> Axes:
    """Draw the observed frequency against the predicted probability, with counts and proper scores.

    Parameters
    ----------
    model, X, y, n_bins
        As in `calibration_data`; use held-out rows.
    ax : Axes, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the plot.
    """
    data = calibration_data(model, X, y, n_bins)
    ax = axes_or_new(ax, height=3.0)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    whiskers = np.maximum([data.observed - data.low, data.high - data.observed], 0.0)
    ax.errorbar(data.predicted, data.observed, whiskers, fmt="o-", color=BLUE, markersize=4, linewidth=1.0)
    heights = 0.1 * data.counts / data.counts.max()
    middles = (np.minimum(np.floor(data.predicted * n_bins), n_bins - 1) + 0.5) / n_bins
    ax.bar(middles, heights, 0.6 / n_bins, FLOOR, color=LIGHT)
    for x, height, count in zip(middles, heights, data.counts, strict=True):
        ax.text(x, FLOOR + height, f"{count}", ha="center", va="bottom", fontsize=SMALL, color=GREY)
    scored = f"Brier score {data.brier:.3f}, log-probability {data.log_probability:.3f}"
    ax.text(0.0, 1.01, scored, transform=ax.transAxes, va="bottom", fontsize=SMALL)  # above the panel
    ax.set(xlim=(-0.05, 1.05), ylim=(FLOOR, 1.03), yticks=np.linspace(0.0, 1.0, 6))
    finish(ax, "predicted probability (grey: predictions)", "observed frequency")
    return ax
