"""The model: the prior over trees, the leaf models, and the trees themselves."""

from particletree.model.forest import Forest
from particletree.model.leaves import Categorical, Exponential, Flat, Gaussian, GaussianKnownVariance, Poisson
from particletree.model.prior import TreePrior
from particletree.model.target import ClassLabels, Numbers
from particletree.model.tree.tree import Tree

__all__ = [
    "Categorical",
    "ClassLabels",
    "Exponential",
    "Flat",
    "Forest",
    "Gaussian",
    "GaussianKnownVariance",
    "Numbers",
    "Poisson",
    "Tree",
    "TreePrior",
]
