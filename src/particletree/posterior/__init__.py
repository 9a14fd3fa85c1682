"""The posterior over trees: weighted trees, and every question that can be asked of them."""

from particletree.posterior.additive import AdditivePosterior
from particletree.posterior.island import Island
from particletree.posterior.posterior import Posterior
from particletree.posterior.provenance import Provenance

__all__ = ["AdditivePosterior", "Island", "Posterior", "Provenance"]
