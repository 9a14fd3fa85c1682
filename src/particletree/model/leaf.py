r"""Leaf models: what a leaf says about the labels of its rows.

The filter asks a leaf model two questions about the statistics of a set of rows: the log marginal probability of their
labels, with the leaf's parameter integrated out, and the predictive distribution of one more label.

For :class:`Categorical` the statistics are the class counts :math:`m_1, \dots, m_K` and the parameter is a vector of
class probabilities with a symmetric Dirichlet prior of total mass :math:`a`, the concentration (paper, equation 3):

.. math::
    \ell(m) = \frac{\Gamma(a)}{\Gamma(a / K)^K} \frac{\prod_k \Gamma(m_k + a / K)}{\Gamma(\sum_k m_k + a)},
    \qquad
    p(k \mid m) = \frac{m_k + a / K}{\sum_j m_j + a}.

The kernel computes the same marginal from tables (``kernel/leaves/categorical.h``); a test holds the two against each
other. It knows a leaf model by its `kernel_name` and gets the numbers that `kernel_parameters` returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from particletree.model.parameters import Parameters, check_real


@dataclass
class Categorical(Parameters):
    """Class labels with a symmetric Dirichlet prior in each leaf.

    Parameters
    ----------
    concentration : float, default 5.0
        Total mass of the Dirichlet prior; each of the K classes starts with `concentration / K` pseudo-counts.

    Examples
    --------
    >>> from particletree import Categorical
    >>> Categorical(concentration=2.0).predictive([3, 1]).round(3)
    array([0.667, 0.333])
    """

    kernel_name: ClassVar[str] = "categorical"

    concentration: float = 5.0

    def kernel_parameters(self, n_classes: int) -> NDArray[np.float64]:
        """Return what the kernel needs to know of the leaf model, in the order of ``kernel/leaves/categorical.h``."""
        return np.array([n_classes, self.concentration], dtype=np.float64)

    def validate(self) -> None:
        """Check that the concentration is within limits beyond which the marginal would lose its digits."""
        check_real(self, "concentration", "between 1e-100 and 1e8", low=1e-100, high=1e8, closed="both")

    def log_marginal(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the log marginal probability of labels with these class counts (last axis: classes)."""
        m = np.asarray(counts, dtype=np.float64)
        n_classes = m.shape[-1]
        share = self.concentration / n_classes
        classes: Any = (gammaln(m + share) - gammaln(share)).sum(axis=-1)
        total: Any = gammaln(m.sum(axis=-1) + self.concentration) - gammaln(self.concentration)
        return np.asarray(classes - total, dtype=np.float64)

    def pseudo_counts(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the parameters of the leaf's Dirichlet posterior (last axis: classes)."""
        m = np.asarray(counts, dtype=np.float64)
        return np.asarray(m + self.concentration / m.shape[-1], dtype=np.float64)

    def beta_parameters(
        self, m: NDArray[np.float64], n: NDArray[np.float64], n_classes: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (a, b) of the Beta law of a class probability in a leaf with m of its n rows in that class.

        b is not taken from a difference of sums, in which a small concentration would be rounded away.
        """
        share = self.concentration / n_classes
        return m + share, n - m + share * (n_classes - 1)

    def predictive(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the predictive class probabilities, the mean of the leaf's Dirichlet posterior."""
        parameters = self.pseudo_counts(counts)
        return np.asarray(parameters / parameters.sum(axis=-1, keepdims=True), dtype=np.float64)


@dataclass
class Flat(Categorical):
    """A leaf model that learns nothing: its marginal is 1 whatever the labels, so the posterior is the prior.

    It lets the samplers draw from the tree prior (with the labels ignored), to look at what `alpha` and `beta` mean on
    given data and to test that a flat likelihood returns the prior. Predictions ignore the labels too: every class has
    the same probability, with the prior's interval.

    Examples
    --------
    >>> from particletree import Flat
    >>> Flat().predictive([3, 1])
    array([0.5, 0.5])
    """

    kernel_name: ClassVar[str] = "flat"

    def log_marginal(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return zero for every set of counts."""
        return np.zeros(np.shape(counts)[:-1])

    def pseudo_counts(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the parameters of the Dirichlet prior, whatever the counts."""
        return super().pseudo_counts(np.zeros(np.shape(counts)))

    def beta_parameters(
        self, m: NDArray[np.float64], n: NDArray[np.float64], n_classes: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (a, b) of the prior's Beta law, whatever the counts."""
        return super().beta_parameters(np.zeros_like(m), np.zeros_like(n), n_classes)
