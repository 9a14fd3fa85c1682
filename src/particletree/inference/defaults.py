"""What a fit uses where the user has given no sampler: settings that follow from the size of the table.

The study in ``docs/defaults.md`` compares samplers by what they predict for the time that they take. Few particles that
look ahead, on many islands, come out best: an island finds good trees with few particles, and the mean over islands
does for a posterior what the mean over trees does for a random forest. Particles are drawn anew when the effective
sample size falls below half of them: with 10 particles the paper's tenth would never be reached.

The number of islands is what about twice CART's time allows, by how the two grow: CART sorts every feature, an island
counts some rules. A table of few features, on which CART takes a few milliseconds, gets fewer islands.
"""

from __future__ import annotations

from particletree.inference.smc import SMC

N_PARTICLES, ESS_THRESHOLD = 10, 0.5
FEWEST_ISLANDS, MOST_ISLANDS = 4, 12
FEATURES_PER_ISLAND = 1.5


def default_sampler(n_features: int) -> SMC:
    """Return the particle filter for a table with so many features.

    Examples
    --------
    >>> from particletree.inference.defaults import default_sampler
    >>> default_sampler(2).n_islands, default_sampler(100).n_islands
    (4, 12)
    """
    n_islands = min(MOST_ISLANDS, max(FEWEST_ISLANDS, round(n_features / FEATURES_PER_ISLAND)))
    return SMC(n_particles=N_PARTICLES, n_islands=n_islands, proposal="lookahead", ess_threshold=ESS_THRESHOLD)
