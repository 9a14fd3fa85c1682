r"""The evidence from several islands: its estimate, the error of the estimate, and a lower bound that is certain.

Each of n islands estimates the evidence Z = p(Y | X) without bias, so the estimate is their mean, and what is reported
is its logarithm, :math:`\log \frac1n \sum_i \hat Z_i`. On that scale the error is not the standard error of a mean of
logs: the largest islands decide. Two errors are worked out and the larger is reported:

- the *bootstrap*: the standard deviation of the same estimate over islands drawn anew with replacement;
- the *log-normal* one: the standard deviation of the same estimate over islands whose log evidences are normal with the
  standard deviation of those at hand. It knows of islands better than any that was seen, which the bootstrap does not.

Few islands tell little about their own spread. As in Student's interval for a mean, the error is multiplied by
:math:`t_{n-1} / 1.96`, the ratio of the 97.5% quantiles of Student's and the normal distribution, so that the estimate
plus or minus two errors is meant to hold log Z in 95 of 100 cases. On small data, against the exact value, it holds it
in 90 to 100 of 100, and in 80 where few rows carry most of the weight (``tests/statistical/test_evidence_error.py``).
That presupposes that the islands have found what matters. What all of them miss, no error from their spread can show;
such an estimate is nearly always too low.

The trees themselves prove something: each has a prior probability (all thresholds within its gaps taken together) and a
likelihood, and distinct trees exclude each other, so that

.. math:: \log Z \ge \log \sum_{\text{distinct trees } T} P(T) \, p(Y \mid T, X).

Where this bound is above the estimate, the estimate is wrong.

Efron & Tibshirani, *An Introduction to the Bootstrap* (1993), is the reference for the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, stdtrit

from particletree.model.forest import Forest
from particletree.posterior.sharing import same_up_to_gaps

N_DRAWS = 4000  # of the estimate: the error is then known to about 1%
MAX_NUMBERS = 2_000_000  # islands x draws at most: bounds time and memory
NORMAL_QUANTILE = 1.959964


def log_mean(log_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean of exp(values) along the last axis."""
    return np.asarray(logsumexp(log_values, axis=-1) - np.log(log_values.shape[-1]), dtype=np.float64)


def standard_error(log_evidences: NDArray[np.float64]) -> float:
    """Return the error of the log of the mean of some evidences; nan for a single one.

    The draws have a fixed seed: the same evidences give the same error.

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
        The trees. Those that differ only by thresholds within the same gaps are the same tree here.
    log_joints : ndarray, shape (n_trees,)
        Log of prior probability times likelihood of each.
    """
    _, first = np.unique(same_up_to_gaps(forest), return_index=True)
    return float(logsumexp(log_joints[first]))
