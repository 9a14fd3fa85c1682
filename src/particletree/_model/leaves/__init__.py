"""The leaf models, one module per conjugate pair. To add one, write a module and add it to the list below.

A leaf model defined outside the package is used like these; after `register_leaf_model` its posteriors can be saved and
loaded.
"""

from typing import TypeVar

from particletree._model.leaf import LeafModel
from particletree._model.leaves.categorical import Categorical
from particletree._model.leaves.exponential import Exponential
from particletree._model.leaves.flat import Flat
from particletree._model.leaves.gaussian import Gaussian
from particletree._model.leaves.gaussian_known_variance import GaussianKnownVariance
from particletree._model.leaves.poisson import Poisson
from particletree._model.parameters import Registry

Model = TypeVar("Model", bound=type[LeafModel])
LEAVES: Registry[LeafModel] = Registry("leaf model", LeafModel)

LEAF_MODELS: tuple[type[LeafModel], ...] = (
    Categorical,
    Flat,
    Gaussian,
    GaussianKnownVariance,
    Poisson,
    Exponential,
)


def register_leaf_model(model: Model) -> Model:
    """Register a leaf model, so that posteriors with it can be saved and loaded; return the class.

    It can be used as a decorator, outside `@dataclass`. Fits and predictions need no registration.

    Parameters
    ----------
    model : type
        A dataclass derived from `LeafModel`, whose parameters are numbers or sequences of numbers. Files identify it by
        the name of the class, which no other leaf model may have.

    Examples
    --------
    >>> from particletree import Poisson
    >>> from particletree.extending import register_leaf_model
    >>> register_leaf_model(Poisson) is Poisson
    True
    """
    return LEAVES.register(model)


def registered_leaf_models() -> dict[str, type[LeafModel]]:
    """Return the leaf models that files may name, by the names of their classes."""
    return dict(LEAVES.known)


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
