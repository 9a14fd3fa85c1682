r"""The Mondrian prior: a prior over trees that does not depend on which rows there are.

Chipman's prior is over the trees *on the given rows*: when rows arrive, features begin to vary and ranges grow, and the
prior changes with them (the paper's last paragraph). Here questions arrive at the rate of a fixed measure on questions
(``measure.py``), every cell of the input space is killed (becomes a leaf) at the constant rate :math:`\gamma`, and what
the rows see of it is, with :math:`|S|` the mass of the questions that separate the rows S,

.. math::
    P(\text{split } S) = \frac{|S|}{\gamma + |S|}, \qquad
    Z(S) = \frac{\gamma \, \ell(S) + \sum_{\text{divisions } c} g_c \, Z(L_c) \, Z(R_c)}{\gamma + |S|},

with the rule in proportion to the measure among those that separate S; :math:`g_c` is the measure of the rules that
make the division c. It is *coherent*: let :math:`e = |S + x| - |S|` for another row x. A question that separates only x
from S leaves S whole, so seen from S + x

.. math::
    P(\text{stop on } S) = \frac{\gamma}{\gamma + |S| + e}
                         + \frac{e}{\gamma + |S| + e} \cdot \frac{\gamma}{\gamma + |S|}
                         = \frac{\gamma}{\gamma + |S|};

the same holds for each rule, and by induction for the children. So the evidence of n rows is the sum over labels of
that of n + 1 rows.

If values are missing in S, the division "present | missing" is made by the question "is it missing?", and also by cuts
beyond the numbers of S: the rule says which, because later rows take their side by it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from particletree._model.measure import RHO, Measure, UnitScale
from particletree._model.parameters import AUTO, check_real
from particletree._model.prior import PRIORS, Columns, Prior, check_feature_weights, weights_of

RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # the grid for "auto"
LIMITS = ("max_depth", "min_samples_split")


@PRIORS.register
@dataclass
class MondrianPrior(Prior):
    """A prior over trees that is coherent when rows arrive: a Mondrian process with cells killed at a constant rate.

    A block of rows splits with probability m / (`rate` + m), where m is the mass of the questions that separate its
    rows. The measure of these questions is fixed at the first fit, and stored with the posterior: a weight for each
    feature, a scale for each number on which cuts are uniform, and the share `rho` of "is it missing?". There are no
    limits on depth or rows, which would make the prior depend on the rows.

    Parameters
    ----------
    rate : float, "auto" or None, default "auto"
        Rate at which cells become leaves, above 0; larger values give smaller trees. The questions of all features
        together have the rate 1. With "auto" the evidence chooses among 0.01, 0.03, 0.1, 0.3, 1 and 3; None means what
        the estimator chooses.
    feature_weights : mapping or sequence of floats, default None
        Relative weight of each feature: a mapping from names (or numbers) of features, in which those not named have
        weight 1, or one weight per feature. A feature of weight 0 is never used. None means that all are equal.
    ranges : mapping, default None
        From names (or numbers) of numeric features to (low, high): 90 % of the cuts of such a feature are uniform
        there, the others beyond. Of other numbers the scale is that of the quantiles of the first fit.
    rho : float, default 0.2
        Share of the question "is it missing?" among those about a number, from 0 to below 1.
    measure : Measure, default None
        A measure that was fixed before, as in `posterior.prior.measure`. None means that of the first fit.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree import BayesianTreeClassifier, MondrianPrior
    >>> X = np.arange(40.0)[:, None]
    >>> clf = BayesianTreeClassifier(prior=MondrianPrior(rate=0.1), random_state=0).fit(X, X[:, 0] > 25)
    >>> clf.predict([[10.0], [30.0]])
    array([False,  True])
    >>> print(clf.posterior_.prior.describe())
    Mondrian of rate 0.1; questions fixed at the first fit: 1 feature, rho 0.2
    """

    rate: float | str | None = AUTO
    feature_weights: Any = None
    ranges: Any = None
    rho: float = RHO
    measure: Measure | None = field(default=None, repr=False)

    kernel_name: ClassVar[str] = "mondrian"

    def __new__(cls, *args: Any, **parameters: Any) -> MondrianPrior:
        """Refuse limits with a sentence, before the constructor refuses them without one."""
        refuse_limits(parameters)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> MondrianPrior:
        """Set parameters by name and check them all; if one is invalid, none is changed."""
        refuse_limits(params)
        return super().set_params(**params)

    def validate(self) -> None:
        """Check that `rate` is positive, `rho` a share below 1, and the others of the right form."""
        if self.rate is not None:
            check_real(self, "rate", "above 0, and finite", low=0, high=math.inf, closed="neither", or_auto=True)
        check_real(self, "rho", "of at least 0, and below 1", low=0, high=1, closed="left")
        check_feature_weights(self)
        if self.ranges is not None and not isinstance(self.ranges, Mapping):
            raise TypeError(
                f"MondrianPrior.ranges must map names of features to (low, high), or be None, got {self.ranges!r}."
            )
        for feature, given in (self.ranges or {}).items():
            if not (len(given) == 2 and -math.inf < given[0] < given[1] < math.inf):
                raise ValueError(
                    f"MondrianPrior.ranges must have two finite numbers, the lower one first, for feature {feature!r}, "
                    f"got {given!r}."
                )
        if self.measure is not None and not isinstance(self.measure, Measure):
            raise TypeError(f"MondrianPrior.measure must be a Measure, or None, got {self.measure!r}.")

    @property
    def number(self) -> float:
        """The rate as a number; an error if it is still None or "auto"."""
        if self.rate is None or isinstance(self.rate, str):
            raise ValueError(
                f"rate={self.rate!r} of MondrianPrior is chosen for the data by an estimator; where there are no data, "
                "give a number, e.g. MondrianPrior(rate=0.1)."
            )
        return self.rate

    def kernel_parameters(self) -> list[float]:
        """Return the rate and the measure."""
        return [self.number, *self._fixed().to_numbers()]

    def split_probability(self, depth: int, n_rows: int, mass: float = 0.0) -> float:
        """Return the probability that a block with this mass splits."""
        return mass / (self.number + mass)

    def grid(self) -> dict[str, list[float]]:
        """Return the grid of rates, in order, among which the evidence chooses, if the rate is "auto"."""
        return {"rate": list(RATES)} if self.rate == AUTO else {}

    def resolved(self, n_features: int, feature_names: Sequence[str] | None, columns: Columns) -> MondrianPrior:
        """Return the prior with a measure for these data, which it keeps if it has one."""
        given = self.feature_weights
        of_features = None if given is None else weights_of(given, n_features, feature_names)
        if self.measure is None:
            known = {name: feature for feature, name in enumerate(feature_names or ())}
            ranges = {known.get(name, name): limits for name, limits in (self.ranges or {}).items()}
            wrong = set(ranges) - {feature for feature, column in enumerate(columns()) if column is not None}
            if wrong:
                raise ValueError(f"ranges has {wrong.pop()!r}, which is not a numeric feature of the data.")
            scales = tuple(
                None
                if column is None
                else UnitScale.of_range(*ranges[feature])
                if feature in ranges
                else UnitScale.of_values(*column)
                for feature, column in enumerate(columns())
            )
            measure = Measure(np.full(n_features, 1 / n_features), scales, self.rho)
        else:
            measure = self.measure
            are_numbers = [scale is not None for scale in measure.scales]
            if are_numbers != [column is not None for column in columns()]:
                raise ValueError(
                    "The measure of MondrianPrior was fixed for other features: it must have a scale for each number "
                    "and none for a categorical feature. Fit with measure=None."
                )
        if of_features is not None:
            measure = replace(measure, weights=np.array(of_features) / math.fsum(of_features))
            of_features = None if len(set(of_features)) == 1 else of_features
        return replace(self, feature_weights=of_features, ranges=None, rho=measure.rho, measure=measure)

    def describe(self) -> str:
        """Return a line of text on what the first fit has fixed."""
        measure = self._fixed()
        n_features, n_levels = len(measure.scales), sum(scale is None for scale in measure.scales)
        levels = f", {n_levels} of them categorical" if n_levels else ""
        return (
            f"Mondrian of rate {self.number:g}; questions fixed at the first fit: "
            f"{n_features} feature{'s' * (n_features != 1)}{levels}, rho {measure.rho:g}"
        )

    def _fixed(self) -> Measure:
        if self.measure is None:
            raise ValueError(
                "The measure of MondrianPrior is fixed at the first fit: give one where there are no data."
            )
        return self.measure

    def mean_leaves(self) -> float:
        """Return the mean number of leaves of a tree if the data do not limit it; infinite with categorical features.

        A cell is alive at time t with probability exp(-rate t), and without killing there are on average prod (1 + w t)
        cells over the features' shares w of the questions.
        """
        if self.measure is None or any(scale is None for scale in self.measure.scales):
            return math.inf
        log_mean = _log_mean_leaves(self.number, ((1 - self.measure.rho) * self.measure.weights).tolist())
        return math.exp(log_mean) if log_mean < 700 else math.inf

    @classmethod
    def expecting(cls, n_leaves: float, n_features: int = 1, **changes: Any) -> MondrianPrior:
        """Return the prior whose trees have `n_leaves` leaves on average, if the data do not limit them.

        Parameters
        ----------
        n_leaves : float
            Mean number of leaves, above 1 and at most a million. Where rows do not fill the space trees have fewer.
        n_features : int, default 1
            Number of numeric features, of equal weight. More features make more cells at the same rate.
        **changes
            Other parameters.

        Examples
        --------
        >>> from particletree import MondrianPrior
        >>> MondrianPrior.expecting(n_leaves=9).rate
        0.1
        """
        if not isinstance(n_leaves, numbers.Real) or isinstance(n_leaves, bool):
            raise TypeError(f"n_leaves must be a number above 1, got {n_leaves!r}.")
        if not 1 < n_leaves <= 1e6:
            raise ValueError(f"n_leaves must lie above 1 and be at most a million, got {n_leaves!r}.")
        prior = cls(rate=1.0, **changes)
        shares = [(1 - prior.rho) / n_features] * n_features
        log_rate = brentq(lambda log: _log_mean_leaves(math.exp(log), shares) - math.log(n_leaves), -16.0, 16.0)
        return replace(prior, rate=float(f"{math.exp(log_rate):.10g}"))


def _log_mean_leaves(rate: float, shares: Sequence[float]) -> float:
    """Return the log of the mean of prod (1 + w t) over exponential times t; the mean of t^k is k! / rate^k."""
    coefficients = np.ones(1)
    for share in shares:
        coefficients = np.convolve(coefficients, [1.0, share])
    degrees = np.flatnonzero(coefficients)
    return float(logsumexp(gammaln(degrees + 1) - degrees * math.log(rate), b=coefficients[degrees]))


def refuse_limits(parameters: Mapping[str, Any]) -> None:
    """Raise a `TypeError` if parameters include a limit on depth or rows."""
    for name in LIMITS:
        if name in parameters:
            raise TypeError(
                f"MondrianPrior has no {name}: a limit would make the prior depend on which rows there are. For "
                "smaller trees give a larger rate, or use TreePrior."
            )
