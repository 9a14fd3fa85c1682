"""Univariate probability distributions of a class probability, a mean or an observation in a leaf.

A :class:`Distributions` object is many distributions of one family, with their parameters in flat arrays, so that
mixtures over hundreds of leaves and thousands of rows are computed at once (:class:`Mixtures`).
"""

from particletree._model.distributions.base import Distributions
from particletree._model.distributions.continuous import Beta, Gamma, InverseGamma, Lomax, Normal, StudentT
from particletree._model.distributions.counts import NegativeBinomial
from particletree._model.distributions.mixtures import Mixtures, Tail

__all__ = [
    "Beta",
    "Distributions",
    "Gamma",
    "InverseGamma",
    "Lomax",
    "Mixtures",
    "NegativeBinomial",
    "Normal",
    "StudentT",
    "Tail",
]
