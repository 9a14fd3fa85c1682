"""Statistics over seeds: mean and standard deviation, and whether two means differ significantly.

Two means are compared by Welch's test. A difference is called clear if its p-value is below 0.01; a gain that is not
clear may be too small to matter, or undecided, and `Difference.gain` distinguishes these three cases.

A difference that is not clear is no evidence of equality: the variation may hide it. For claims that two methods are
alike, `lies_between` is the equivalence test: the interval of two standard errors around the difference must lie inside
a margin that is set beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.stats import ttest_ind_from_stats

CLEAR = 0.01
LIKELY = 2.0  # standard errors from a bound beyond which an estimate counts as above or below it
CERTAIN = 3.0  # standard errors from a bound beyond which a difference is certainly on one side


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (of single runs, n - 1) over seeds.

    Examples
    --------
    >>> print(Spread.of([1.0, 2.0, 3.0]))
    2.000 ± 1.000
    """

    mean: float
    sd: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise the values of several runs."""
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), sd, len(values))

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.n)

    def __str__(self) -> str:
        """Return mean ± standard deviation."""
        return f"{self.mean:.3f} ± {self.sd:.3f}"


def average(spreads: Sequence[Spread]) -> Spread:
    """Return the average over settings, as if each seed had been run at all of them, with the right standard error.

    Examples
    --------
    >>> print(average([Spread(1.0, 0.2, 10), Spread(3.0, 0.2, 10)]))
    2.000 ± 0.141
    """
    variance = sum(spread.sd**2 for spread in spreads) / len(spreads) ** 2
    return Spread(float(np.mean([spread.mean for spread in spreads])), math.sqrt(variance), spreads[0].n)


class Uncertain(Protocol):
    """A number with its standard error: an `Estimate` or a `Difference`."""

    @property
    def value(self) -> float:
        """The number."""
        ...

    @property
    def se(self) -> float:
        """Its standard error."""
        ...


def lies_between(number: Uncertain, low: float, high: float) -> bool | None:
    """Return whether a number lies between two bounds, judged by the interval of two standard errors around it.

    This is the rule for every claim that two methods are alike. With the bounds -margin and margin it is the test of
    equivalence (two one-sided tests); with -margin and infinity the test that nothing is lost, with -infinity and
    margin that nothing is gained. Several settings need no correction for their number: a claim holds only if all of
    them pass, and a setting contradicts it only if it is beyond the margin by two standard errors.

    Returns
    -------
    bool or None
        True if the whole interval lies between the bounds, False if all of it lies outside, None if it contains a
        bound.

    Examples
    --------
    >>> [lies_between(Estimate(value, 0.005), -0.02, 0.02) for value in (0.005, 0.015, 0.04)]
    [True, None, False]
    """
    lowest, highest = number.value - LIKELY * number.se, number.value + LIKELY * number.se
    if low <= lowest and highest <= high:
        return True
    return False if highest < low or lowest > high else None


@dataclass(frozen=True)
class Estimate:
    """A number computed from several spreads, with its standard error.

    Examples
    --------
    >>> Estimate(0.8, 0.1).at_least(0.5), Estimate(0.8, 0.2).at_least(0.5), Estimate(0.2, 0.1).at_least(0.5)
    (True, None, False)
    >>> Estimate(0.82, 0.1).percent
    '82%'
    """

    value: float
    se: float

    def at_least(self, bound: float) -> bool | None:
        """Return whether it is at least `bound`; None if that is within two standard errors."""
        return lies_between(self, bound, math.inf)

    @property
    def percent(self) -> str:
        """The value as a whole percentage."""
        return f"{self.value:.0%}"


@dataclass(frozen=True)
class Difference:
    """The difference between the means of `a` and `b`.

    The runs are treated as independent: two methods with the same seed make different random decisions.

    Examples
    --------
    >>> difference = Difference(Spread(-0.3, 0.01, 10), Spread(-0.4, 0.02, 10))
    >>> print(difference)
    +0.100 ± 0.007
    >>> difference.gain()
    True
    """

    a: Spread
    b: Spread

    @property
    def value(self) -> float:
        """The difference."""
        return self.a.mean - self.b.mean

    @property
    def se(self) -> float:
        """Its standard error."""
        return math.hypot(self.a.se, self.b.se)

    @property
    def p_value(self) -> float:
        """Welch's two-sided p-value; 0 or 1 if the runs do not vary at all."""
        if self.se == 0.0:
            return float(self.value == 0.0)
        parts = (self.a.mean, self.a.sd, self.a.n, self.b.mean, self.b.sd, self.b.n)
        return float(ttest_ind_from_stats(*parts, equal_var=False).pvalue)

    @property
    def is_clear(self) -> bool:
        """Whether it is significant, in either direction."""
        return self.p_value < CLEAR

    def gain(self, margin: float = 0.0) -> bool | None:
        """Return whether `a` is better than `b`: True or False if that is clear, None if it is undecided.

        A difference that is certainly below `margin` is no gain, even if its sign is undecided.
        """
        if self.value + CERTAIN * self.se < margin:
            return False
        return self.value > 0.0 if self.is_clear else None

    def minus(self, other: Difference) -> Estimate:
        """Return this difference minus another one."""
        return Estimate(self.value - other.value, math.hypot(self.se, other.se))

    def __str__(self) -> str:
        """Return the difference with its standard error."""
        return f"{self.value:+.3f} ± {self.se:.3f}"


def way(low: Spread, high: Spread, reached: Estimate) -> Estimate:
    """Return the position of `reached` between `low` (0) and `high` (1), with the error from all three.

    Examples
    --------
    >>> way(Spread(-0.4, 0.01, 10), Spread(-0.2, 0.01, 10), Estimate(-0.25, 0.01)).percent
    '75%'
    """
    whole = high.mean - low.mean
    if whole == 0.0:
        return Estimate(0.0, math.inf)
    share = (reached.value - low.mean) / whole
    error = math.hypot(reached.se, share * high.se, (1.0 - share) * low.se)  # linear in the three errors
    return Estimate(share, error / abs(whole))
