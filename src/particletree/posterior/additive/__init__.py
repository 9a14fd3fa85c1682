"""The posterior of sums of trees: draws, and every question that can be asked of them."""

from particletree.posterior.additive.posterior import AdditivePosterior
from particletree.posterior.additive.trees import TreeSums

__all__ = ["AdditivePosterior", "TreeSums"]
