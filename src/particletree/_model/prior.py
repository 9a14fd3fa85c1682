r"""The prior over trees: how probable a split of a block is, which rules there are, how probable is each.

**The contract**, :class:`Prior`. From what a prior may know of a block (depth, number of rows, mass) it says whether
the block may split and with what probability s; the feature is drawn among those that vary in the block in
proportion to the features' weights, and the rule from those of the feature. A prior may have a measure on questions
(``measure.py``): then the weight of a feature in a block is its mass there, and rules are drawn from the measure.
Samplers, recursion and reference ask it, and know nothing of it. The kernel's twin is ``kernel/tree_prior.h``. The
other prior is in ``mondrian.py``.

**Chipman's prior**, :class:`TreePrior`, of Chipman, George & McCulloch (1998), as in section 2 of the paper. A node
:math:`p` at depth :math:`|p|` (the root has depth 0) whose rows are not all identical splits with probability

.. math:: s(p) = \frac{\alpha}{(1 + |p|)^\beta},

and draws its feature from those that vary in the block, uniformly unless weights are given, and its rule from those of
the feature. A node whose rows are all identical stops, and so does one beyond the limits on depth and rows. The density
of a tree is the product of these choices:

.. math::
    h(T) = \prod_{\text{leaves that could split}} (1 - s(p))
           \prod_{\text{splits}} s(p) \, \frac{w_f}{\sum_{d \in D^p} w_d} \, h(\text{rule}),

with :math:`D^p` the features that vary in the block and :math:`w` the weights of the features. In the paper a rule is a
cut of numbers, uniform over their range :math:`|I^p|` in the block. Missing values and levels are further ways in which
a feature can vary:

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
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from particletree._model.measure import Measure
from particletree._model.parameters import AUTO, Parameters, Registry, check_integer, check_real

Self = TypeVar("Self", bound="Prior")
Columns = Callable[[], Sequence[tuple[NDArray[np.float64], NDArray[np.int64]] | None]]
"""A function that returns, for each feature, its different numbers and how often each occurs; None for levels."""

ALPHAS = (0.8, 0.95, 0.99)  # the grids for "auto"
BETAS = (0.1, 0.2, 0.5, 1.0)
LOG_3 = math.log(3)


class Prior(Parameters, ABC):
    """The contract of a prior over trees; subclasses are dataclasses with the field `feature_weights`.

    What is not allowed to split at some depth is not allowed to at a larger one either.
    """

    kernel_name: ClassVar[str]  # of kernel/priors/<name>.h
    feature_weights: Any  # None: all equal. A mapping or a sequence; once resolved, one number per feature
    max_depth: int | None = None  # limits, which findings and plots report
    min_samples_split: int = 2
    measure: Measure | None = None  # from which rules are drawn; None: as for `TreePrior`

    @abstractmethod
    def kernel_parameters(self) -> list[float]:
        """Return the parameters in the order of the kernel."""

    @abstractmethod
    def split_probability(self, depth: int, n_rows: int, mass: float = 0.0) -> float:
        """Return the probability that a block splits, given that it can; `mass` is 0 if there is no measure."""

    def allows_split(self, depth: int, n_rows: int) -> bool:
        """Tell whether a block may split, if its rows differ in a feature with a positive weight."""
        return (self.max_depth is None or depth < self.max_depth) and n_rows >= self.min_samples_split

    def grid(self) -> dict[str, list[float]]:
        """Return the grid of values, in order, among which the evidence chooses, for each parameter that is "auto"."""
        return {}

    def mean_leaves(self) -> float:
        """Return the mean number of leaves if the data do not limit it; infinite if it is not known."""
        return math.inf

    def log_split(self, depth: int, n_rows: int, mass: float = 0.0) -> float:
        """Return the log probability that a block splits, given that it can."""
        s = self.split_probability(depth, n_rows, mass)
        return math.log(s) if s > 0 else -math.inf

    def log_stop(self, depth: int, n_rows: int, mass: float = 0.0) -> float:
        """Return the log probability that a block stops, given that it could split."""
        return math.log1p(-self.split_probability(depth, n_rows, mass))

    def describe(self) -> str:
        """Return a line of text on what the first fit has fixed; empty if that is nothing."""
        return ""

    @property
    def is_unlimited(self) -> bool:
        """Whether every block whose rows are not all identical may split."""
        has_limits = self.max_depth is not None or self.min_samples_split > 2
        return not has_limits and (self.feature_weights is None or min(self.feature_weights) > 0)

    # What depends on the data

    def resolved(self: Self, n_features: int, feature_names: Sequence[str] | None, columns: Columns) -> Self:
        """Return the prior with one weight per feature of the data, or None if all are equal.

        `columns` returns the values of the features, for a prior that fixes a measure on questions.
        """
        if self.feature_weights is None:
            return self
        weights = weights_of(self.feature_weights, n_features, feature_names)
        return replace(self, feature_weights=None if len(set(weights)) == 1 else weights)  # type: ignore[call-arg]

    @property
    def has_weights(self) -> bool:
        """Whether features that vary in a block can have different probabilities."""
        return self.feature_weights is not None or self.measure is not None

    def weight(self, feature: int) -> float:
        """Return the weight of a feature."""
        return 1.0 if self.feature_weights is None else float(self.feature_weights[feature])

    def log_feature(self, feature: int, varying: Sequence[int]) -> float:
        """Return the log probability of a feature, given that a block splits in which these features vary."""
        return math.log(self.weight(feature)) - math.log(sum(self.weight(each) for each in varying))


def weights_of(given: Any, n_features: int, feature_names: Sequence[str] | None) -> tuple[float, ...]:
    """Return one weight per feature; features that a mapping does not name have weight 1."""
    if isinstance(given, Mapping):
        known: dict[Any, int] = {feature: feature for feature in range(n_features)}
        known |= {name: feature for feature, name in enumerate(feature_names or ())}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(
                f"feature_weights names {unknown[0]!r}, which is not a feature of the data; the features are "
                f"{', '.join(map(str, (feature_names or range(n_features))[:10]))}{', ...' * (n_features > 10)}."
            )
        weights = [1.0] * n_features
        for name, weight in given.items():
            weights[known[name]] = weight
    else:
        weights = list(given)
        if len(weights) != n_features:
            raise ValueError(
                f"feature_weights has {len(weights)} weights, but the data have {n_features} features: give one for "
                "each feature, or a mapping from names of features to weights."
            )
    if not any(weight > 0 for weight in weights):
        raise ValueError("feature_weights gives no feature of the data a positive weight: trees could not split.")
    return tuple(float(weight) for weight in weights)


def check_feature_weights(owner: Prior) -> None:
    """Check that `feature_weights` is None, or finite numbers of at least 0 in a mapping or a sequence."""
    given, name = owner.feature_weights, f"{type(owner).__name__}.feature_weights"
    if given is None:
        return
    weights = given.values() if isinstance(given, Mapping) else given
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence, np.ndarray)):
        raise TypeError(
            f"{name} must be a mapping from names of features to weights, one weight per feature, or None for equal "
            f"weights, got {given!r}."
        )
    for weight in weights:
        if not isinstance(weight, numbers.Real) or isinstance(weight, bool):
            raise TypeError(f"{name} must have numbers, got {weight!r}.")
        if not 0 <= float(weight) < math.inf:
            raise ValueError(f"{name} must have finite weights of at least 0, got {weight!r}.")


PRIORS: Registry[Prior] = Registry("prior", Prior)


@PRIORS.register
@dataclass
class TreePrior(Prior):
    """The prior over trees, which controls their size: a node at depth d splits with probability alpha / (1 + d)^beta.

    None means what the estimator chooses for the data at hand; `TreePrior.paper()` has the paper's 0.95 and 0.5.

    Parameters
    ----------
    alpha : float, "auto" or None, default None
        Probability that the root splits, strictly between 0 and 1; larger values give larger trees. With "auto" the
        evidence chooses among 0.8, 0.95 and 0.99.
    beta : float, "auto" or None, default None
        How fast that probability decreases with depth, at least 0; larger values give smaller trees. With "auto" the
        evidence chooses among 0.1, 0.2, 0.5 and 1.
    max_depth : int or None, default None
        A node at this depth (the root has depth 0) cannot split; None means no limit.
    min_samples_split : int, default 2
        A node with fewer rows cannot split; rows are counted once, whatever their `sample_weight`.
    feature_weights : mapping or sequence of floats, default None
        Relative prior probability of each feature among those that vary in a block: a mapping from names (or numbers)
        of features, in which those not named have weight 1, or one weight per feature. A feature of weight 0 is never
        used. None means that all are equal.

    Examples
    --------
    >>> from particletree import TreePrior
    >>> TreePrior(alpha=0.8, beta=1.0).split_probability(3)
    0.2
    """

    alpha: float | str | None = None
    beta: float | str | None = None
    max_depth: int | None = None
    min_samples_split: int = 2
    feature_weights: Any = None

    kernel_name: ClassVar[str] = "chipman"

    def validate(self) -> None:
        """Check that `alpha` is a probability strictly between 0 and 1 and `beta` a finite number, at least 0."""
        if self.alpha is not None:
            check_real(self, "alpha", "strictly between 0 and 1", low=0, high=1, closed="neither", or_auto=True)
        if self.beta is not None:
            check_real(self, "beta", "of at least 0, and finite", low=0, high=math.inf, closed="left", or_auto=True)
        if self.max_depth is not None:
            check_integer(self, "max_depth", at_least=0)
        check_integer(self, "min_samples_split", at_least=2)
        check_feature_weights(self)

    def kernel_parameters(self) -> list[float]:
        """Return alpha, beta and the limits."""
        return [*self.numbers, math.inf if self.max_depth is None else self.max_depth, self.min_samples_split]

    def split_probability(self, depth: int, n_rows: int = 2, mass: float = 0.0) -> float:
        """Return the probability that a node at `depth` splits, given that it can; it depends on nothing else."""
        return float(self.numbers[0] * (1.0 + depth) ** -self.numbers[1])  # underflows to 0 for a large beta

    @property
    def numbers(self) -> tuple[float, float]:
        """Alpha and beta as numbers; an error if one is still None or "auto"."""
        alpha, beta = self.alpha, self.beta
        if alpha is None or beta is None or isinstance(alpha, str) or isinstance(beta, str):
            raise ValueError(
                f"alpha={alpha!r} and beta={beta!r} of TreePrior are chosen for the data by an estimator; where there "
                "are no data, give numbers, e.g. TreePrior.paper()."
            )
        return alpha, beta

    @classmethod
    def paper(cls, **changes: Any) -> TreePrior:
        """Return the paper's prior, alpha = 0.95 and beta = 0.5."""
        return cls(**{"alpha": 0.95, "beta": 0.5} | changes)

    def grid(self) -> dict[str, list[float]]:
        """Return the grid of values, in order, among which the evidence chooses, for each parameter that is "auto"."""
        values = {"alpha": ALPHAS, "beta": BETAS}
        return {name: list(grid) for name, grid in values.items() if getattr(self, name) == AUTO}

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
        alpha = float(cls(alpha, 1.0).numbers[0])
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
    >>> from particletree._model.prior import log_cut_probability
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
    >>> from particletree._model.prior import log_set_probability
    >>> round(1 / exp(log_set_probability(3)))
    6
    """
    return -n_levels * math.log(2) - math.log1p(-(2.0 ** (1 - n_levels)))


def log_length(low: float, high: float) -> float:
    """Return log(high - low), also if the length is too large for a float."""
    return math.log(high - low) if math.isfinite(high - low) else math.log(high / 2 - low / 2) + math.log(2)
