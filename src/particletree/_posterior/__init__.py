"""The posterior over trees: weighted trees, with predictions, diagnostics, importances, files and exports."""

from particletree._posterior.bart_posterior import AdditivePosterior
from particletree._posterior.loading import load
from particletree._posterior.posterior import Posterior
from particletree._posterior.runs.islands import Island
from particletree._posterior.runs.provenance import Provenance

__all__ = ["AdditivePosterior", "Island", "Posterior", "Provenance", "load"]
