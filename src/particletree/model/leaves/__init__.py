"""The leaf models, one module per conjugate pair. A new one is a module here and a line in the list.

One from outside the package is used like these; `register_leaf_model` lets its posteriors be saved and loaded.
"""

from particletree.model.leaf import LeafModel
from particletree.model.leaves.categorical import Categorical
from particletree.model.leaves.exponential import Exponential
from particletree.model.leaves.flat import Flat
from particletree.model.leaves.gaussian import Gaussian
from particletree.model.leaves.gaussian_known_variance import GaussianKnownVariance
from particletree.model.leaves.poisson import Poisson
from particletree.model.leaves.registry import register_leaf_model, registered_leaf_models

LEAF_MODELS: tuple[type[LeafModel], ...] = (
    Categorical,
    Flat,
    Gaussian,
    GaussianKnownVariance,
    Poisson,
    Exponential,
)
for _model in LEAF_MODELS:
    register_leaf_model(_model)

__all__ = [
    "LEAF_MODELS",
    "Categorical",
    "Exponential",
    "Flat",
    "Gaussian",
    "GaussianKnownVariance",
    "Poisson",
    "register_leaf_model",
    "registered_leaf_models",
]
