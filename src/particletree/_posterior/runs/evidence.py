r"""The evidence (marginal likelihood) from several islands: its estimate, its standard error, and a lower bound.

Each of n islands estimates the evidence Z = p(Y | X) without bias, so the estimate is their mean, and its logarithm is
reported, :math:`\log \frac1n \sum_i \hat Z_i`. On that scale the error is not the standard error of a mean of logs,
because the largest islands dominate, and the rare islands that would dominate most are often not among the n. The
estimate is then too low. Two errors are computed and the larger is reported:

- *bootstrap*: the standard deviation of the estimate over islands resampled with replacement, times
  :math:`t_{n-1} / 1.96`, the ratio of the 97.5% quantiles of Student's and the normal distribution. As in Student's
  interval for a mean, this allows for the uncertain spread of few islands;
- *heavy tail*: with s the standard deviation of the log evidences, times the same factor,

  .. math:: s \, n^{-c}, \qquad c = \min(\tfrac12, \max(0, 1 - s)).

  A log evidence with an exponential tail of scale s is an evidence with a Pareto tail of index 1/s, whose mean of n
  converges as :math:`n^{-1/2}` if :math:`s \le \frac12`, as :math:`n^{-(1 - s)}` up to s = 1, and not beyond. More
  islands then do not reduce the error that is reported; more particles do, because they make s smaller.

The estimate plus or minus two errors is meant to hold log Z in 95% of the cases. For the default estimators on 200
tables of 6 to 12 rows, where the exact value is known, it does in 86% (4 islands, the default) to 95% (30 islands) for
numbers, and in 89% (7 islands, the default) to 90% for classes. Nearly all misses are estimates that are too low
(``tests/statistical/test_evidence_error.py``). So the error is not a guarantee: if all islands have missed the trees
that carry the evidence, their spread cannot show it, however many islands there are.

The trees themselves give a lower bound: each has a prior probability (all thresholds within its gaps taken together)
and a likelihood, and distinct trees are disjoint events, so that

.. math:: \log Z \ge \log \sum_{\text{distinct trees } T} P(T) \, p(Y \mid T, X).

If this bound is above the estimate, the estimate is too low.

For the bootstrap see Efron & Tibshirani, *An Introduction to the Bootstrap* (1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, stdtrit

from particletree import _kernel
from particletree._model.forest import Forest
from particletree._model.rule import feature_alone

N_DRAWS = 4000  # resampled estimates: their standard deviation is then accurate to about 1%
MAX_NUMBERS = 2_000_000  # islands x draws at most: bounds time and memory
NORMAL_QUANTILE = 1.959964


def log_mean(log_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean of exp(values) along the last axis."""
    return np.asarray(logsumexp(log_values, axis=-1) - np.log(log_values.shape[-1]), dtype=np.float64)


def standard_error(log_evidences: NDArray[np.float64]) -> float:
    """Return the standard error of the log of the mean of some evidences; nan for a single one.

    It includes that the estimate tends to be too low, so it is larger than the spread of repeated estimates. The random
    numbers have a fixed seed: the same evidences give the same error.

    Examples
    --------
    >>> import numpy as np
    >>> round(standard_error(np.array([-10.1, -10.0, -10.2, -9.9])), 2)
    0.1
    >>> round(standard_error(np.array([-80.0, -80.0, -80.0, -70.0])), 1)
    8.1
    """
    n_islands = log_evidences.size
    if n_islands == 1:
        return float("nan")
    student = stdtrit(n_islands - 1, 0.975) / NORMAL_QUANTILE
    n_draws = max(100, min(N_DRAWS, MAX_NUMBERS // n_islands))
    drawn = np.random.default_rng(0).integers(n_islands, size=(n_draws, n_islands))
    bootstrap = student * np.std(log_mean(log_evidences[drawn]))
    spread = student * np.std(log_evidences, ddof=1)
    heavy_tail = spread * n_islands ** -np.clip(1 - spread, 0, 0.5)
    return float(max(bootstrap, heavy_tail))


def log_lower_bound(forest: Forest, log_joints: NDArray[np.float64]) -> float:
    """Return the log of the summed joint probabilities of the distinct trees: never above the log evidence.

    Parameters
    ----------
    forest : Forest
        The trees. Those that differ only by thresholds within the same gaps count as one tree.
    log_joints : ndarray, shape (n_trees,)
        Log of prior probability times likelihood of each tree.
    """
    _, first = np.unique(same_up_to_gaps(forest), return_index=True)
    return float(logsumexp(log_joints[first]))


def same_up_to_gaps(forest: Forest) -> NDArray[np.int64]:
    """Return an index for each tree, equal for trees that differ only by thresholds within the same gaps."""
    alike = Forest(feature_alone(forest.nodes), forest.roots, forest.statistics, forest.row_hashes)
    _, number, _, _ = _kernel.share_nodes(alike.as_bytes(), alike.row_hashes)
    return number[forest.roots].astype(np.int64)
