"""What a fit uses where the user has given no sampler: settings that follow from the size of the table.

The study in ``docs/defaults.md`` compares samplers by what they predict for the time that they take. Few particles that
look ahead, on many islands, come out best: an island finds good trees with few particles, and the mean over islands
does for a posterior what the mean over trees does for a random forest. Particles are drawn anew when the effective
sample size falls below half of them: with 10 particles the paper's tenth would never be reached.

The number of islands is what stays within three times CART's time: seven on small tables, on which CART takes a few
milliseconds, and more on large ones, on which it sorts and an island only counts: as the cube root of the number of
cells, from 100,000 cells on.
"""

from __future__ import annotations

from particletree.inference.smc import SMC

N_PARTICLES, ESS_THRESHOLD = 10, 0.5
FEWEST_ISLANDS, MOST_ISLANDS = 7, 32
CELLS_OF_A_SMALL_TABLE = 100_000


def default_sampler(n_rows: int, n_features: int) -> SMC:
    """Return the particle filter for a table of this size.

    Examples
    --------
    >>> from particletree.inference.defaults import default_sampler
    >>> default_sampler(569, 30).n_islands, default_sampler(100_000, 20).n_islands
    (7, 19)
    """
    growth = (n_rows * n_features / CELLS_OF_A_SMALL_TABLE) ** (1 / 3)
    n_islands = min(MOST_ISLANDS, max(FEWEST_ISLANDS, round(FEWEST_ISLANDS * growth)))
    return SMC(n_particles=N_PARTICLES, n_islands=n_islands, proposal="lookahead", ess_threshold=ESS_THRESHOLD)
