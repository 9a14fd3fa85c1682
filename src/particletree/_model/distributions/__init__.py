"""Univariate probability distributions of a class probability, a mean or an observation in a leaf.

A :class:`Distributions` object is many distributions of one family, with their parameters in flat arrays, so that
mixtures over hundreds of leaves and thousands of rows are computed at once (:class:`Mixtures`). There is one module per
range of the variable: ``unit.py``, ``real.py``, ``positive.py`` and ``counts.py``.
"""

from particletree._model.distributions.base import Distributions
from particletree._model.distributions.counts import NegativeBinomial
from particletree._model.distributions.mixtures import Mixtures, Tail
from particletree._model.distributions.positive import Gamma, InverseGamma, Lomax
from particletree._model.distributions.real import Normal, StudentT
from particletree._model.distributions.unit import Beta

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
