"""Samplers: one file per algorithm, each with the same `run(data, prior, leaf, ...) -> Posterior` (``sampler.py``)."""

from particletree._inference.bart.sampler import BARTMoves
from particletree._inference.exact.sampler import Exact
from particletree._inference.mcmc import MCMC
from particletree._inference.particle_gibbs import ParticleGibbs
from particletree._inference.smc import SMC, TruncatedTreesWarning

__all__ = ["MCMC", "SMC", "BARTMoves", "Exact", "ParticleGibbs", "TruncatedTreesWarning"]
