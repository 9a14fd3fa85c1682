"""The algorithms in plain Python: the executable specification, for reading, and for testing the fast kernel.

``filter.py``
    The paper's Algorithm 1, the particle filter. Start here.
``rules.py``
    The rules of splits, and their prior.
``weights.py``
    Weights of particles, and resampling.
``gibbs.py``
    Particle Gibbs, whose conditional filter replays a given tree.
``streams.py``
    Rows that arrive one after the other: a particle filter over rows, under a prior that is coherent.
``questions.py``
    The questions of the measure behind this prior.
"""

from particletree.reference.filter import Particle, Problem, Result, particle_filter, predictive
from particletree.reference.gibbs import particle_gibbs

__all__ = ["Particle", "Problem", "Result", "particle_filter", "particle_gibbs", "predictive"]
