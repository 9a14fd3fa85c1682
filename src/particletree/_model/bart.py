r"""Sums of trees: the model of Chipman, George & McCulloch, *BART: Bayesian additive regression trees* (2010).

The target is the sum of m small trees plus noise, where each tree g is a piecewise constant function with its own
prior:

.. math:: y = \sum_{j=1}^m g_j(x) + \varepsilon, \qquad \varepsilon \sim N(0, \sigma^2).

A row of weight w counts as w rows.

*Units.* y is shifted and scaled to :math:`[-1/2, 1/2]` (:class:`Scaling`). The prior of a leaf's value is
:math:`N(0, t^2)` with :math:`t = \frac{1/2}{k \sqrt m}`: then k prior standard deviations of the sum reach the ends of
the range of the data, whatever m is.

*Noise.* :math:`\sigma^2 \sim \nu \lambda / \chi^2_\nu`, with :math:`\lambda` such that :math:`\sigma` is below a guess
:math:`\hat\sigma` with probability q: :math:`\lambda = \hat\sigma^2 \chi^2_{\nu, 1-q} / \nu`. The guess is the residual
standard deviation of a linear fit: trees should explain more than a linear function does, and so q is large.

*Two classes.* :math:`P(y = 1 \mid x) = \Phi(c + \sum_j g_j(x))`, with :math:`c = \Phi^{-1}` of the share of the second
class and :math:`t = 3 / (k \sqrt m)`: a priori the sum then mostly lies in (-3, 3). A latent normal variable per row,
whose sign is the label, turns it into a regression with noise of variance 1 (Albert & Chib 1993).

*Several classes.* The model is a sequential (continuation-ratio) probit: each class, the most frequent first, has a
probability given that the label is none of the classes before. With K - 1 independent sums of trees
:math:`f_1, \dots, f_{K-1}`,

.. math:: P(y = k) = \Phi(f_k) \prod_{j<k} \Phi(-f_j), \qquad P(y = K) = \prod_{j<K} \Phi(-f_j).

The likelihood of the labels is then *exactly* a product of K - 1 probit regressions, the k-th on the rows whose class
is the k-th or a later one. Each is computed as for two classes, in parallel with the others, and one draw of each makes
a joint draw. The posteriors would be independent if the prior did not depend on the labels, but it does: the rules of
the k-th sum are drawn among the values of its rows, and the order of the classes and the offsets are those of their
shares. The result is the product of K - 1 posteriors, each with a prior given the rows of its regression, not the
posterior of one prior that was fixed before the labels were seen. Alternatives that were considered:

- One sum per class with K latent variables of which exactly one is positive (the diagonal orthant probit of Johndrow,
  Lum & Dunson 2013) is symmetric in the classes, but :math:`P(y = k) \propto \Phi(f_k) / \Phi(-f_k)` has a normalising
  constant that depends on all sums. Separate regressions of each class against the rest omit this constant and are not
  its posterior: they converge to :math:`\Phi(f_k) = P(y = k)`, and shares of 0.5, 0.3 and 0.2 would be predicted as
  0.60, 0.26 and 0.15.
- A multinomial probit needs a reference class, on which the result depends too, and K - 1 sums that must be drawn in
  turn, with correlated latent variables that mix slowly (Kindo, Wang & Pena 2016).
- Log-linear trees with gamma leaves (Murray 2021) are symmetric, but have another leaf model and latent variables that
  couple the classes, so that they cannot be run in parallel.

The disadvantage: the prior is not symmetric in the classes (nor is that of the multinomial probit).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import chi2

from particletree._model.parameters import Parameters, check_integer, check_real

Floats = NDArray[np.float64]
HALF_RANGE = 0.5  # of the scaled target
HALF_RANGE_OF_PROBIT = 3.0  # beyond it a probability is nearly 0 or 1
SMALLEST_NOISE = 1e-3  # lower limit of the guess, in the units of the scaled target, also for data without noise


@dataclass
class SumPrior(Parameters):
    """The prior of the leaf values and the noise of a sum of trees; the trees' structure has its own prior.

    Parameters
    ----------
    n_trees : int, default 200
        Number of trees, m.
    k : float, default 2.0
        Number of prior standard deviations of the sum between the middle and an end of the target's range; larger
        values shrink the leaf values more, which gives a smoother function.
    noise_df : float, default 3.0
        Degrees of freedom of the noise, nu; larger values keep the noise closer to the guess.
    noise_quantile : float, default 0.9
        Prior probability q that the noise is below the guess; larger values expect less noise.

    Examples
    --------
    >>> from particletree.results import SumPrior
    >>> prior = SumPrior(n_trees=100)
    >>> prior.leaf_sd, prior.probit_leaf_sd, round(prior.noise_scale(0.2), 5)
    (0.025, 0.15, 0.00779)
    """

    n_trees: int = 200
    k: float = 2.0
    noise_df: float = 3.0
    noise_quantile: float = 0.9

    def validate(self) -> None:
        """Check every parameter."""
        check_integer(self, "n_trees", at_least=1, at_most=10**6)
        check_real(self, "k", "above 0, and finite", low=0, high=math.inf, closed="neither")
        check_real(self, "noise_df", "above 0, and finite", low=0, high=math.inf, closed="neither")
        check_real(self, "noise_quantile", "strictly between 0 and 1", low=0, high=1, closed="neither")

    @property
    def leaf_sd(self) -> float:
        """Prior standard deviation of a leaf's value, in the units of the scaled target."""
        return HALF_RANGE / (self.k * math.sqrt(self.n_trees))

    @property
    def probit_leaf_sd(self) -> float:
        """Prior standard deviation of a leaf's value for class labels."""
        return HALF_RANGE_OF_PROBIT / (self.k * math.sqrt(self.n_trees))

    def noise_scale(self, noise_guess: float) -> float:
        """Return lambda, such that the noise is below the guess with probability `noise_quantile`."""
        return float(noise_guess**2 * chi2.ppf(1 - self.noise_quantile, self.noise_df) / self.noise_df)


@dataclass(frozen=True)
class Scaling:
    """The linear scaling that maps the range of the data to [-1/2, 1/2].

    Numbers that are all equal are shifted to 0 and divided by their size: an interval around a constant is relative to
    it, as with single trees. If all are 0, nothing says what is large, and the unit is 1.

    Examples
    --------
    >>> import numpy as np
    >>> scaling = Scaling.of(np.array([2.0, 3.0, 6.0]))
    >>> scaling.to_unit(np.array([2.0, 4.0, 6.0])).tolist(), scaling.from_unit(np.array([0.25])).tolist()
    ([-0.5, 0.0, 0.5], [5.0])
    """

    centre: float = 0.0
    width: float = 1.0

    @classmethod
    def of(cls, y: Floats) -> Scaling:
        """Return the scaling for some numbers."""
        low, high = float(y.min()), float(y.max())
        centre = low / 2 + high / 2
        # a range too small for a normal float counts as constant
        widths = (width for width in (high - low, abs(centre)) if np.finfo(float).tiny < width < np.inf)
        return cls(centre, next(widths, 1.0))

    def to_unit(self, y: Floats) -> Floats:
        """Convert from the units of the data to those of the model."""
        return np.asarray((y - self.centre) / self.width)

    def from_unit(self, values: Floats) -> Floats:
        """Convert from the units of the model to those of the data."""
        return np.asarray(self.centre + self.width * values)


def noise_guess(design: Floats | None, y: Floats, weights: Floats | None = None) -> float:
    """Return the residual standard deviation of a linear fit to the scaled target.

    Parameters
    ----------
    design : ndarray, shape (n_rows, n_columns), or None
        The design matrix, without an intercept; if it is None or has more columns than rows, only the mean is fitted.
    y : ndarray, shape (n_rows,)
        The scaled target.
    weights : ndarray, shape (n_rows,), optional
        How often each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4.0)
    >>> y = np.array([0.0, 0.2, 0.1, 0.3])
    >>> round(noise_guess(None, y), 3), round(noise_guess(x[:, None], y), 3)
    (0.129, 0.095)
    """
    w = np.ones(len(y)) if weights is None else weights
    centred = y - w @ y / w.sum()
    left_over, n_used = float(w @ centred**2), 1
    if design is not None and design.shape[1] + 1 < len(y):
        explained, rank = _explained(design, centred, w)
        left_over, n_used = left_over - explained, 1 + rank
    variance = max(left_over, 0.0) / max(w.sum() - n_used, 1)
    return max(math.sqrt(variance), SMALLEST_NOISE)


def _explained(design: Floats, centred: Floats, weights: Floats) -> tuple[float, int]:
    """Return the sum of squares explained by a weighted linear fit, and the rank of the design."""
    design = np.ldexp(design, -np.frexp(np.abs(design).max(axis=0))[1])  # squares of the largest floats would overflow
    columns = design - weights @ design / weights.sum()
    columns /= np.maximum(np.sqrt(weights @ columns**2), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(columns.T @ (weights[:, None] * columns))
    is_used = values > 1e-10 * max(values.max(initial=0.0), np.finfo(float).tiny)
    scores = vectors.T[is_used] @ (columns.T @ (weights * centred))
    return float((scores**2 / values[is_used]).sum()), int(is_used.sum())


def probit_offset(share: float) -> float:
    """Return the normal quantile of a share of rows, the constant term of a sum of trees for class labels.

    Examples
    --------
    >>> probit_offset(0.5)
    0.0
    """
    return float(ndtri(share))


def class_probabilities(is_class: Floats) -> Floats:
    """Return the probabilities of K classes from the conditional probability of each, given none of those before.

    Parameters
    ----------
    is_class : ndarray, shape (..., K - 1)
        The conditional probability of each class but the last.

    Examples
    --------
    >>> import numpy as np
    >>> class_probabilities(np.array([0.5, 0.4])).round(2).tolist()
    [0.5, 0.2, 0.3]
    """
    ones = np.ones((*is_class.shape[:-1], 1))
    none_before = np.cumprod(np.concatenate([ones, 1.0 - is_class], axis=-1), axis=-1)
    return np.asarray(none_before * np.concatenate([is_class, ones], axis=-1))


def order_of_classes(counts: Floats) -> NDArray[np.int64]:
    """Return the order of the classes in the sequence: the most frequent first; of two classes, the second first.

    Examples
    --------
    >>> import numpy as np
    >>> order_of_classes(np.array([3.0, 1.0, 5.0])).tolist(), order_of_classes(np.array([3.0, 1.0])).tolist()
    ([2, 0, 1], [1, 0])
    """
    if counts.size <= 2:
        return np.arange(counts.size)[::-1].astype(np.int64)
    return np.argsort(-counts, kind="stable").astype(np.int64)
