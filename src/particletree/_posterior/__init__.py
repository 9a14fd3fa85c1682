"""The posterior over trees: weighted trees, with predictions, diagnostics, importances, files and exports."""

from particletree._posterior.bart_posterior import BARTPosterior
from particletree._posterior.joining import Island
from particletree._posterior.loading import load
from particletree._posterior.posterior import Posterior
from particletree._posterior.runs.provenance import Provenance

__all__ = ["BARTPosterior", "Island", "Posterior", "Provenance", "load"]
