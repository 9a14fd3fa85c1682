r"""The evidence (marginal likelihood) from several islands: its estimate, its standard error, and a lower bound.

Each of n islands estimates the evidence Z = p(Y | X) without bias, so the estimate is their mean, and its logarithm is
reported, :math:`\log \frac1n \sum_i \hat Z_i`. On that scale the error is not the standard error of a mean of logs,
because the largest islands dominate. Two errors are computed and the larger is reported:

- *bootstrap*: the standard deviation of the estimate over islands resampled with replacement;
- *log-normal*: the standard deviation of the estimate over simulated islands whose log evidences are normal with the
  observed standard deviation. Unlike the bootstrap, it allows for islands better than any that was observed.

The spread of few islands is itself uncertain. As in Student's interval for a mean, the error is multiplied by
:math:`t_{n-1} / 1.96`, the ratio of the 97.5% quantiles of Student's and the normal distribution, so that the estimate
plus or minus two errors should cover log Z in 95% of the cases. On small data, where the exact value is known, the
coverage is 90 to 100%, and 80% if few rows carry most of the weight (``tests/statistical/test_evidence_error.py``).
This assumes that the islands have found the important trees. No error from their spread can show what all of them have
missed; such an estimate is nearly always too low.

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

from particletree.model.forest import Forest
from particletree.posterior.sharing import same_up_to_gaps

N_DRAWS = 4000  # simulated estimates: their standard deviation is then accurate to about 1%
MAX_NUMBERS = 2_000_000  # islands x draws at most: bounds time and memory
NORMAL_QUANTILE = 1.959964


def log_mean(log_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean of exp(values) along the last axis."""
    return np.asarray(logsumexp(log_values, axis=-1) - np.log(log_values.shape[-1]), dtype=np.float64)


def standard_error(log_evidences: NDArray[np.float64]) -> float:
    """Return the standard error of the log of the mean of some evidences; nan for a single one.

    The random numbers have a fixed seed: the same evidences give the same error.

    Examples
    --------
    >>> import numpy as np
    >>> round(standard_error(np.array([-10.1, -10.0, -10.2, -9.9])), 2)
    0.1
    >>> round(standard_error(np.array([-80.0, -80.0, -80.0, -70.0])), 1)
    6.7
    """
    n_islands = log_evidences.size
    if n_islands == 1:
        return float("nan")
    rng = np.random.default_rng(0)
    n_draws = max(100, min(N_DRAWS, MAX_NUMBERS // n_islands))
    resampled = log_evidences[rng.integers(n_islands, size=(n_draws, n_islands))]
    normal = rng.normal(0.0, np.std(log_evidences, ddof=1), size=(n_draws, n_islands))
    larger = max(np.std(log_mean(draws)) for draws in (resampled, normal))
    return float(larger * stdtrit(n_islands - 1, 0.975) / NORMAL_QUANTILE)


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
