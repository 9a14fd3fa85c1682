"""The leaf models, one module per conjugate pair. A new one is a module here and a line in the list."""

from particletree.model.leaf import LeafModel
from particletree.model.leaves.categorical import Categorical
from particletree.model.leaves.exponential import Exponential
from particletree.model.leaves.flat import Flat
from particletree.model.leaves.gaussian import Gaussian
from particletree.model.leaves.gaussian_known_variance import GaussianKnownVariance
from particletree.model.leaves.poisson import Poisson

LEAF_MODELS: tuple[type[LeafModel], ...] = (
    Categorical,
    Flat,
    Gaussian,
    GaussianKnownVariance,
    Poisson,
    Exponential,
)

__all__ = [
    "LEAF_MODELS",
    "Categorical",
    "Exponential",
    "Flat",
    "Gaussian",
    "GaussianKnownVariance",
    "Poisson",
]
