"""Quantiles, also of weighted values and of the largest floats, and standard errors over runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LARGEST_DRAWN = 1e300  # matplotlib's margins overflow beyond it


def weighted_quantiles(values: Floats, weights: Floats, q: Floats, axis: int = -1) -> Floats:
    """Return quantiles along an axis: the smallest value with at least a share q of the weight at or below it.

    Parameters
    ----------
    values : ndarray
        Numbers.
    weights : ndarray
        Weights, one per position along the axis.
    q : ndarray, shape (m,)
        Shares, between 0 and 1.
    axis : int, default -1
        The axis along which the values are weighted.

    Returns
    -------
    ndarray
        The quantiles: the shape of `values` without the axis, followed by m.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._plots.quantiles import weighted_quantiles
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.6, 0.9]))
    array([1., 2., 3.])
    """
    moved = np.moveaxis(values, axis, -1)
    order = np.argsort(moved, axis=-1, kind="stable")
    cumulative = np.cumsum(weights[order], axis=-1)
    shares = cumulative / cumulative[..., -1:]
    places = [(shares < share - 1e-12).sum(axis=-1, keepdims=True) for share in q.tolist()]
    chosen = np.take_along_axis(order, np.concatenate(places, axis=-1).clip(max=order.shape[-1] - 1), axis=-1)
    return np.take_along_axis(moved, chosen, axis=-1)


def quantiles(values: Floats, q: float | Sequence[float] | Floats) -> Floats:
    """Return quantiles as NumPy does, of numbers up to the largest float, whose differences would overflow.

    Examples
    --------
    >>> from particletree._plots.quantiles import quantiles
    >>> quantiles(np.array([-1.6e308, 0.0, 1.6e308]), [0.25, 0.75]).tolist()
    [-8e+307, 8e+307]
    """
    return np.asarray(4.0 * np.quantile(values / 4.0, q))


def evenly_spaced(low: float, high: float, n: int) -> Floats:
    """Return n numbers from low to high, also if their difference overflows."""
    return np.asarray(4.0 * np.linspace(low / 4.0, high / 4.0, n))


def in_drawable_units(name: str, *values: Floats) -> tuple[Any, ...]:
    """Return the name of an axis and numbers on it, divided by a power of ten if some are too large to draw.

    Examples
    --------
    >>> from particletree._plots.quantiles import in_drawable_units
    >>> in_drawable_units("mass", np.array([0.0, 1.5e308]))
    ('mass / 1e308', array([0. , 1.5]))
    """
    largest = max(float(np.abs(each[~np.isnan(each)]).max(initial=0.0)) for each in values)
    if largest <= LARGEST_DRAWN:
        return name, *values
    unit = 10.0 ** math.floor(math.log10(largest))
    return f"{name} / {unit:.0e}".replace("e+", "e"), *(each / unit for each in values)


def standard_errors(of_runs: Floats) -> Floats:
    """Return the standard error of the mean over runs, which are columns; 0 if there is only one run."""
    n_runs = of_runs.shape[1]
    return np.asarray(of_runs.std(axis=1, ddof=1) / n_runs**0.5 if n_runs > 1 else np.zeros(len(of_runs)))
