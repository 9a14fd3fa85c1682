r"""Weights of particles and resampling in plain Python: the part of ``filter.py`` on weights.

With weights :math:`w_m` of M particles and their sum W, the effective sample size is
:math:`1 / \sum_m (w_m / W)^2`. A resampling scheme draws M survivors so that particle m has :math:`M w_m / W` copies on
average; schemes differ in the variance of the number of copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


def log_mean(log_weights: Floats) -> float:
    """Return log(W / M)."""
    return float(np.logaddexp.reduce(log_weights)) - math.log(len(log_weights))


def normalised(log_weights: Floats) -> Floats:
    """Return weights that sum to one."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def effective_sample_size(log_weights: Floats) -> float:
    """Return one over the sum of the squared normalised weights."""
    return 1.0 / float((normalised(log_weights) ** 2).sum())


def pick(weights: Floats, positions: Floats) -> Rows:
    """Return the index of each position in [0, 1), divided into consecutive intervals of the weights' lengths."""
    ends = np.cumsum(weights)
    last = np.flatnonzero(weights)[-1]  # a position that was rounded to 1 belongs to the last interval
    return np.asarray(np.minimum(np.searchsorted(ends, positions * ends[-1], side="right"), last))


def multinomial(weights: Floats, rng: Generator) -> Rows:
    """Draw every survivor independently."""
    return pick(weights, rng.random(len(weights)))


def systematic(weights: Floats, rng: Generator) -> Rows:
    """Take evenly spaced positions with one common random shift."""
    n = len(weights)
    return pick(weights, (np.arange(n) + rng.random()) / n)


def stratified(weights: Floats, rng: Generator) -> Rows:
    """Draw one position within each of n equal strata."""
    n = len(weights)
    return pick(weights, (np.arange(n) + rng.random(n)) / n)


def residual(weights: Floats, rng: Generator) -> Rows:
    """Keep floor(n * weight) copies of each, and draw the rest independently by the residual weights."""
    n = len(weights)
    copies = np.floor(n * weights).astype(np.intp)
    kept = np.repeat(np.arange(n), copies)
    if len(kept) == n:
        return kept
    return np.concatenate([kept, pick(n * weights - copies, rng.random(n - len(kept)))])


RESAMPLING: Mapping[str, Callable[[Floats, Generator], Rows]] = {
    method.__name__: method for method in (multinomial, systematic, stratified, residual)
}
