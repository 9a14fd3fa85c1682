"""The same distributions by scipy.stats: a second source, slow and one of SciPy's own."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from scipy import stats

from particletree._model.distributions import (
    Beta,
    Distributions,
    Gamma,
    InverseGamma,
    Lomax,
    NegativeBinomial,
    Normal,
    StudentT,
)


@singledispatch
def to_scipy(distributions: Distributions) -> Any:
    """Return the frozen distributions of SciPy; `to_scipy.register` adds a family from outside the package."""
    first, *others = distributions.parameters
    makers = {
        Beta: lambda: stats.beta(first, others[0]),
        Normal: lambda: stats.norm(first, *others),
        StudentT: lambda: stats.t(first, *others),
        Gamma: lambda: stats.gamma(first, scale=1 / others[0]),
        InverseGamma: lambda: stats.invgamma(first, scale=others[0]),
        Lomax: lambda: stats.lomax(first, scale=others[0]),
        NegativeBinomial: lambda: stats.nbinom(first, others[0] / (1 + others[0])),
    }
    return makers[type(distributions)]()


def log_density(distributions: Distributions, x: Any) -> Any:
    """Return SciPy's log density or log probability."""
    theirs = to_scipy(distributions)
    return theirs.logpmf(x) if distributions.is_discrete else theirs.logpdf(x)
