"""The posterior of sums of trees (BART): draws, with predictions, diagnostics and files."""

from particletree.posterior.additive.posterior import AdditivePosterior
from particletree.posterior.additive.trees import TreeSums

__all__ = ["AdditivePosterior", "TreeSums"]
