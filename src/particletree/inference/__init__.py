"""Samplers: one file an algorithm, each a parameter object with the same `run(data, prior, leaf, ...) -> Posterior`."""

from particletree.inference.exact import Exact
from particletree.inference.mcmc import MCMC
from particletree.inference.smc import SMC, TruncatedTreesWarning

__all__ = ["MCMC", "SMC", "Exact", "TruncatedTreesWarning"]
