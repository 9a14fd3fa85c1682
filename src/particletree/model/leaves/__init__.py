"""The leaf models, one module per conjugate pair. A new one is a module here and a line in the list."""

from particletree.model.leaf import LeafModel
from particletree.model.leaves.categorical import Categorical
from particletree.model.leaves.flat import Flat

LEAF_MODELS: tuple[type[LeafModel], ...] = (Categorical, Flat)

__all__ = ["LEAF_MODELS", "Categorical", "Flat"]
