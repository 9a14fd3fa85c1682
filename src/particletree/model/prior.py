r"""The prior over trees of Chipman, George & McCulloch (1998), as in section 2 of the paper.

A node :math:`p` at depth :math:`|p|` (the root has depth 0) whose rows are not all identical splits with probability

.. math:: s(p) = \frac{\alpha}{(1 + |p|)^\beta},

chooses its feature uniformly among those that vary in the block, and its cut uniformly over the range of that feature
in the block. A node whose rows are all identical stops. The density of a tree is the product of these choices:

.. math::
    h(T) = \prod_{\text{leaves that could split}} (1 - s(p))
           \prod_{\text{splits}} \frac{s(p)}{|D^p| \, |I^p|},

with :math:`|D^p|` the number of features that vary in the block and :math:`|I^p|` the range of the feature that is cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from particletree.model.parameters import Parameters, check_real


@dataclass
class TreePrior(Parameters):
    """How large trees are before any label is seen.

    Parameters
    ----------
    alpha : float, default 0.95
        Probability that the root splits, between 0 and 1.
    beta : float, default 0.5
        How fast that probability falls with depth, at least 0.

    Examples
    --------
    >>> from particletree import TreePrior
    >>> TreePrior(alpha=0.8, beta=1.0).split_probability(3)
    0.2
    """

    alpha: float = 0.95
    beta: float = 0.5

    def validate(self) -> None:
        """Check that `alpha` is a probability strictly between 0 and 1 and `beta` a finite number, at least 0."""
        check_real(self, "alpha", "strictly between 0 and 1", low=0, high=1, closed="neither")
        check_real(self, "beta", "of at least 0, and finite", low=0, high=math.inf, closed="left")

    def split_probability(self, depth: int) -> float:
        """Return the probability that a node at `depth` splits, given that it can."""
        return float(self.alpha * (1.0 + depth) ** -self.beta)  # underflows to 0 for a large beta

    def log_split(self, depth: int) -> float:
        """Return the log of the probability that a node at `depth` splits, given that it can."""
        s = self.split_probability(depth)
        return math.log(s) if s > 0 else -math.inf

    def log_stop(self, depth: int) -> float:
        """Return the log of the probability that a node at `depth` stops, given that it could split."""
        return math.log1p(-self.split_probability(depth))


def log_rule_probability(gap: tuple[float, float], extent: tuple[float, float], n_varying: int) -> float:
    """Return the log probability that a block which splits takes a given feature and a cut in a given gap of it.

    Parameters
    ----------
    gap : tuple of float
        The neighbouring values of the block between which the cut lies.
    extent : tuple of float
        The smallest and the largest value of the feature in the block.
    n_varying : int
        Number of features that vary in the block.

    Examples
    --------
    >>> from math import exp
    >>> from particletree.model.prior import log_rule_probability
    >>> round(exp(log_rule_probability((1.0, 2.0), extent=(0.0, 5.0), n_varying=2)), 3)
    0.1
    """
    return log_length(*gap) - log_length(*extent) - math.log(n_varying)


def log_length(low: float, high: float) -> float:
    """Return log(high - low), also where the length is too large for a float."""
    return math.log(high - low) if math.isfinite(high - low) else math.log(high / 2 - low / 2) + math.log(2)
