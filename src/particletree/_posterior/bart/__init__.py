"""The posterior of sums of trees (BART): draws, with predictions, diagnostics and files."""

from particletree._posterior.bart.posterior import AdditivePosterior
from particletree._posterior.bart.trees import TreeSums

__all__ = ["AdditivePosterior", "TreeSums"]
