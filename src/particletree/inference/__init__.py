"""Samplers: one file per algorithm, each with the same `run(data, prior, leaf, ...) -> Posterior` (``sampler.py``)."""

from particletree.inference.bart import SumMoves
from particletree.inference.exact.sampler import Exact
from particletree.inference.mcmc import MCMC
from particletree.inference.particle_gibbs import ParticleGibbs
from particletree.inference.smc import SMC, TruncatedTreesWarning

__all__ = ["MCMC", "SMC", "Exact", "ParticleGibbs", "SumMoves", "TruncatedTreesWarning"]
