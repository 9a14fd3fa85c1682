"""Laws: univariate probability distributions of a class probability, a mean or an observation in a leaf.

A :class:`Laws` object is many distributions of one family, with their parameters in flat arrays, so that mixtures over
hundreds of leaves and thousands of rows are computed at once (:class:`LawMixtures`). There is one module per range of
the variable: ``unit.py``, ``real.py``, ``positive.py`` and ``counts.py``.
"""

from particletree.model.laws.base import Laws
from particletree.model.laws.counts import NegativeBinomial
from particletree.model.laws.mixtures import LawMixtures, Tail
from particletree.model.laws.positive import Gamma, InverseGamma, Lomax
from particletree.model.laws.real import Normal, StudentT
from particletree.model.laws.unit import Beta

__all__ = [
    "Beta",
    "Gamma",
    "InverseGamma",
    "LawMixtures",
    "Laws",
    "Lomax",
    "NegativeBinomial",
    "Normal",
    "StudentT",
    "Tail",
]
