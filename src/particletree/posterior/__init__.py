"""The posterior over trees: weighted trees, with predictions, diagnostics, importances, files and exports."""

from particletree.posterior.additive import AdditivePosterior
from particletree.posterior.island import Island
from particletree.posterior.loading import load
from particletree.posterior.posterior import Posterior
from particletree.posterior.runs.provenance import Provenance

__all__ = ["AdditivePosterior", "Island", "Posterior", "Provenance", "load"]
