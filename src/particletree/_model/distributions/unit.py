"""Distributions of probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, expit, log_expit, xlog1py, xlogy

from particletree._model.distributions.base import UNIT, Distributions, Floats, Line


@dataclass(frozen=True, eq=False)
class Beta(Distributions):
    """Beta distributions: on [0, 1] with density proportional to p^(a - 1) (1 - p)^(b - 1).

    Examples
    --------
    >>> import numpy as np
    >>> Beta(np.array([1.0, 2.0]), np.array([1.0, 2.0])).cdf(np.array([0.25, 0.5]))
    array([0.25, 0.5 ])
    """

    line: ClassVar[Line] = UNIT

    a: Floats
    b: Floats
    log_beta: Floats = field(default=None, repr=False)  # type: ignore[arg-type]  # computed once, then selected

    def __post_init__(self) -> None:
        if self.log_beta is None:
            object.__setattr__(self, "log_beta", np.asarray(betaln(self.a, self.b), dtype=np.float64))

    def cdf(self, x: Floats) -> Floats:
        """Return the regularised incomplete beta function."""
        return np.asarray(betainc(self.a, self.b, x), dtype=np.float64)

    def survival(self, x: Floats) -> Floats:
        """Return the complement of the regularised incomplete beta function."""
        return np.asarray(betaincc(self.a, self.b, x), dtype=np.float64)

    def log_density(self, x: Floats) -> Floats:
        """Return the log density."""
        return np.asarray(xlogy(self.a - 1, x) + xlog1py(self.b - 1, -x) - self.log_beta)

    def quantile(self, q: float, upper: bool = False) -> Floats:
        """Return the inverse of the regularised incomplete beta function."""
        inverse = betainccinv if upper else betaincinv
        return np.asarray(inverse(self.a, self.b, q), dtype=np.float64)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw from each distribution."""
        return np.asarray(rng.beta(self.a, self.b), dtype=np.float64)

    def tail_on_line(self, u: Floats, upper: bool) -> Floats:
        """Return the probability on one side of p = 1 / (1 + exp(-u)); the upper one as the lower one of 1 - p."""
        tail = betainc(self.b, self.a, expit(-u)) if upper else betainc(self.a, self.b, expit(u))
        return np.asarray(tail, dtype=np.float64)

    def log_density_on_line(self, u: Floats) -> Floats:
        """Return the log density of u, which is accurate at both ends."""
        log_p = log_expit(u)
        return np.asarray(self.a * log_p + self.b * (log_p - u) - self.log_beta)
