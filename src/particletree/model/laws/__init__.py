"""Laws of one number: what a leaf says about a class probability, a mean or an observation.

A :class:`Laws` is many laws of one family, their parameters in flat arrays, so that mixtures over hundreds of leaves
and thousands of rows are computed at once (:class:`LawMixtures`). One module for each range of the number: ``unit.py``,
``real.py``, ``positive.py`` and ``counts.py``.
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
