r"""The prior over trees of Chipman, George & McCulloch (1998), as in section 2 of the paper.

A node :math:`p` at depth :math:`|p|` (the root has depth 0) whose rows are not all identical splits with probability

.. math:: s(p) = \frac{\alpha}{(1 + |p|)^\beta},

and draws its feature uniformly from those that vary in the block, and its rule from those of the feature. A node whose
rows are all identical stops, and so does one beyond the limits on depth and rows. The density of a tree is the product
of these choices:

.. math::
    h(T) = \prod_{\text{leaves that could split}} (1 - s(p))
           \prod_{\text{splits}} \frac{s(p)}{|D^p|} \, h(\text{rule}),

with :math:`|D^p|` the number of features that vary in the block. In the paper a rule is a cut of numbers, uniform over
their range :math:`|I^p|` in the block. Missing values and levels are further ways in which a feature can vary:

===============================================  ===========================================================
feature in the block                             rules, and their density :math:`h(\text{rule})`
===============================================  ===========================================================
numbers, none missing                            a cut: :math:`1 / |I^p|`
numbers that vary, some missing                  a cut with the missing rows on the left, and one with them
                                                 on the right: :math:`1 / (3 |I^p|)` each; present or not: 1/3
one number, some missing                         present or not: 1
k levels, of which missing is one                a set of levels, neither empty nor all of them:
                                                 :math:`1 / (2^k - 2)`
===============================================  ===========================================================

The side of values that do not occur in the block (missing values, each other level of the training data, and all levels
that the training data did not have, together) is a fair coin flip. No row of the block depends on it, and the density
omits it.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

from scipy.optimize import brentq

from particletree.model.parameters import AUTO, Parameters, check_integer, check_real

ALPHAS = (0.8, 0.95, 0.99)  # the grids for "auto"
BETAS = (0.1, 0.2, 0.5, 1.0)
LOG_3 = math.log(3)


@dataclass
class TreePrior(Parameters):
    """The prior over trees, which controls their size: a node at depth d splits with probability alpha / (1 + d)^beta.

    Parameters
    ----------
    alpha : float or "auto", default 0.95
        Probability that the root splits, strictly between 0 and 1; larger values give larger trees. With "auto" the
        evidence chooses among 0.8, 0.95 and 0.99.
    beta : float or "auto", default 0.5
        How fast that probability decreases with depth, at least 0; larger values give smaller trees. With "auto" the
        evidence chooses among 0.1, 0.2, 0.5 and 1.
    max_depth : int or None, default None
        A node at this depth (the root has depth 0) cannot split; None means no limit.
    min_samples_split : int, default 2
        A node with fewer rows cannot split; rows are counted once, whatever their `sample_weight`.

    Examples
    --------
    >>> from particletree import TreePrior
    >>> TreePrior(alpha=0.8, beta=1.0).split_probability(3)
    0.2
    """

    alpha: float | str = 0.95
    beta: float | str = 0.5
    max_depth: int | None = None
    min_samples_split: int = 2

    def validate(self) -> None:
        """Check that `alpha` is a probability strictly between 0 and 1 and `beta` a finite number, at least 0."""
        check_real(self, "alpha", "strictly between 0 and 1", low=0, high=1, closed="neither", or_auto=True)
        check_real(self, "beta", "of at least 0, and finite", low=0, high=math.inf, closed="left", or_auto=True)
        if self.max_depth is not None:
            check_integer(self, "max_depth", at_least=0)
        check_integer(self, "min_samples_split", at_least=2)

    def allows_split(self, depth: int, n_rows: int) -> bool:
        """Tell whether a node of `n_rows` rows may split at `depth`, if its rows are not all identical."""
        return (self.max_depth is None or depth < self.max_depth) and n_rows >= self.min_samples_split

    def split_probability(self, depth: int) -> float:
        """Return the probability that a node at `depth` splits, given that it can."""
        return float(self.numbers[0] * (1.0 + depth) ** -self.numbers[1])  # underflows to 0 for a large beta

    @property
    def numbers(self) -> tuple[float, float]:
        """Alpha and beta as numbers; an error if one is still "auto"."""
        if isinstance(self.alpha, str) or isinstance(self.beta, str):
            raise ValueError('A parameter of TreePrior is "auto": a sampler chooses it by the evidence.')
        return self.alpha, self.beta

    def grid(self) -> dict[str, list[float]]:
        """Return the grid of values, in order, among which the evidence chooses, for each parameter that is "auto"."""
        values = {"alpha": ALPHAS, "beta": BETAS}
        return {name: list(values[name]) for name, value in self.get_params().items() if value == AUTO}

    @classmethod
    def expecting(cls, n_leaves: float, alpha: float = 0.95) -> TreePrior:
        """Return the prior whose trees have `n_leaves` leaves on average, if the data do not limit them.

        The mean is that of a branching process in which a node at depth d splits with probability
        alpha / (1 + d)^beta; beta is chosen to match it.

        Parameters
        ----------
        n_leaves : float
            Mean number of leaves, above 1 + `alpha` (the mean if only the root can split) and at most a million. On a
            table with few rows trees have fewer.
        alpha : float, default 0.95
            Probability that the root splits.

        Examples
        --------
        >>> from particletree import TreePrior
        >>> prior = TreePrior.expecting(n_leaves=8)
        >>> round(prior.beta, 3), round(prior.mean_leaves(), 3)
        (0.553, 8.0)
        """
        alpha = float(cls(alpha).numbers[0])
        if not isinstance(n_leaves, numbers.Real) or isinstance(n_leaves, bool):
            raise TypeError(f"n_leaves must be a number above 1 + alpha = {1 + alpha:g}, got {n_leaves!r}.")
        if not 1 + alpha < n_leaves <= 1e6:
            raise ValueError(
                f"n_leaves must lie above 1 + alpha = {1 + alpha:g} and be at most a million, got {n_leaves!r}. For "
                "smaller trees give a smaller alpha."
            )
        beta = brentq(lambda b: math.log(cls(alpha, b).mean_leaves()) - math.log(n_leaves), 0.05, 100.0, xtol=1e-12)
        return cls(alpha, float(beta))

    def mean_leaves(self) -> float:
        """Return the mean number of leaves of a tree if the data do not limit it; infinite if beta is 0."""
        nodes, leaves = 1.0, 1.0  # nodes at a depth; every split adds a leaf
        for depth in range(10**6):
            splits = nodes * self.split_probability(depth)
            leaves += splits
            nodes = 2 * splits
            if splits < 1e-15 * leaves or leaves > 1e300:
                break
        return leaves if leaves < 1e300 else math.inf

    def log_split(self, depth: int) -> float:
        """Return the log probability that a node at `depth` splits, given that it can."""
        s = self.split_probability(depth)
        return math.log(s) if s > 0 else -math.inf

    def log_stop(self, depth: int) -> float:
        """Return the log probability that a node at `depth` stops, given that it could split."""
        return math.log1p(-self.split_probability(depth))


def log_cut_probability(gap: tuple[float, float], extent: tuple[float, float], has_missing: bool = False) -> float:
    """Return the log probability that the rule of a feature is a cut in a gap, given the side of missing rows.

    Parameters
    ----------
    gap : tuple of float
        The neighbouring numbers of the block between which the cut lies.
    extent : tuple of float
        The smallest and the largest number of the feature in the block.
    has_missing : bool, default False
        Whether the feature has missing values in the block: then there are three kinds of rules.

    Examples
    --------
    >>> from math import exp
    >>> from particletree.model.prior import log_cut_probability
    >>> round(exp(log_cut_probability((1.0, 2.0), extent=(0.0, 5.0))), 3)
    0.2
    """
    return log_length(*gap) - log_length(*extent) - (LOG_3 if has_missing else 0.0)


def log_presence_probability(numbers_vary: bool) -> float:
    """Return the log probability that the rule of a feature with missing values in the block is "present or not"."""
    return -LOG_3 if numbers_vary else 0.0


def log_set_probability(n_levels: int) -> float:
    """Return the log probability of one division of a block's levels, missing included, into two sides.

    Examples
    --------
    >>> from math import exp
    >>> from particletree.model.prior import log_set_probability
    >>> round(1 / exp(log_set_probability(3)))
    6
    """
    return -n_levels * math.log(2) - math.log1p(-(2.0 ** (1 - n_levels)))


def log_length(low: float, high: float) -> float:
    """Return log(high - low), also if the length is too large for a float."""
    return math.log(high - low) if math.isfinite(high - low) else math.log(high / 2 - low / 2) + math.log(2)
