"""The leaf models, one module per conjugate pair. To add one, write a module and add it to the list below.

A leaf model defined outside the package is used like these; after `register_leaf_model` its posteriors can be saved and
loaded.
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
