"""The model: the prior over trees, the leaf models, and the trees themselves."""

from particletree._model.forest import Forest
from particletree._model.leaves import Categorical, Exponential, Flat, Gaussian, GaussianKnownVariance, Poisson
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import TreePrior
from particletree._model.target import ClassLabels, Numbers
from particletree._model.tree.tree import Tree

__all__ = [
    "Categorical",
    "ClassLabels",
    "Exponential",
    "Flat",
    "Forest",
    "Gaussian",
    "GaussianKnownVariance",
    "MondrianPrior",
    "Numbers",
    "Poisson",
    "Tree",
    "TreePrior",
]
