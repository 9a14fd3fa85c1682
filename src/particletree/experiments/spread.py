"""Numbers over seeds: mean and standard deviation, and whether two means differ by more than chance.

Two means are compared by Welch's test. One comparison is called clear when its p-value is below 0.01. Where a claim
says that two methods are alike, they are compared at many settings at once; then the smallest p-value times the number
of settings (Bonferroni) must be below 0.05 to speak against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import ttest_ind_from_stats

CLEAR = 0.01
FAMILY = 0.05


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
        """Sum up the values of several runs."""
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), sd, len(values))

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.n)

    def __str__(self) -> str:
        """Return mean ± standard deviation."""
        return f"{self.mean:.3f} ± {self.sd:.3f}"


@dataclass(frozen=True)
class Difference:
    """How much larger the mean of `a` is than that of `b`; the runs are taken as independent.

    Examples
    --------
    >>> difference = Difference(Spread(-0.3, 0.01, 10), Spread(-0.4, 0.02, 10))
    >>> print(difference), difference.is_clear
    +0.100 ± 0.007
    (None, True)
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
        """Welch's two-sided p-value; runs that do not vary at all differ or do not."""
        if self.se == 0.0:
            return float(self.value == 0.0)
        parts = (self.a.mean, self.a.sd, self.a.n, self.b.mean, self.b.sd, self.b.n)
        return float(ttest_ind_from_stats(*parts, equal_var=False).pvalue)

    @property
    def is_clear(self) -> bool:
        """Whether it is more than chance, in either direction."""
        return self.p_value < CLEAR

    @property
    def is_clear_gain(self) -> bool:
        """Whether `a` is better than `b` by more than chance."""
        return self.is_clear and self.value > 0.0

    def __str__(self) -> str:
        """Return the difference with its standard error."""
        return f"{self.value:+.3f} ± {self.se:.3f}"


def n_clear_in_family(differences: Sequence[Difference]) -> int:
    """Return how many of many comparisons are clear when their number is allowed for."""
    return sum(difference.p_value * len(differences) < FAMILY for difference in differences)
