"""Samplers, and the moves of BART's chains: parameter objects that are given to an estimator.

Examples
--------
>>> from particletree import BayesianTreeClassifier
>>> from particletree.inference import SMC
>>> BayesianTreeClassifier(sampler=SMC(n_islands=20)).get_params()["sampler__n_islands"]
20
"""

from particletree._inference import MCMC, SMC, BARTMoves, Exact, ParticleGibbs, TruncatedTreesWarning
from particletree._inference.sampler import Sampler

__all__ = ["MCMC", "SMC", "BARTMoves", "Exact", "ParticleGibbs", "Sampler", "TruncatedTreesWarning"]
