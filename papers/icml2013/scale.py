"""The sizes of the grids: `full` is what we publish, `quick` a first impression, `tiny` for tests of the code."""

from __future__ import annotations

from dataclasses import dataclass

from papers.icml2013.cells import BREAST_CANCER, MADELON, MAGIC, PENDIGITS


@dataclass(frozen=True)
class Scale:
    """The values that the grids run over.

    Attributes
    ----------
    name : str
        Its name.
    data : tuple of str
        The data sets of most figures.
    irrelevant : str
        The data set with irrelevant features.
    n_seeds : int
        Number of seeds.
    prior, optimal : tuple of int
        Numbers of particles in one island, for the two proposals.
    prior_far : tuple of int
        More particles for the prior proposal, for the evidence and for irrelevant features.
    n_total : int
        Total number of particles where the number of islands varies.
    islands : tuple of int
        Numbers of islands.
    prior_in_5, optimal_in_5 : tuple of int
        Numbers of particles in each of 5 islands, for the comparison with chains.
    prior_in_many : tuple of int
        Numbers of particles of the prior proposal in each of many islands.
    optimal_unresampled : tuple of int
        Numbers of particles of the optimal proposal without resampling.
    iterations : int
        Iterations of a single chain.
    iterations_elsewhere : int
        Iterations of a chain under other hyperparameters.
    n_draws : int
        Trees drawn from the prior per seed.
    """

    name: str
    data: tuple[str, ...]
    irrelevant: str
    n_seeds: int
    prior: tuple[int, ...]
    optimal: tuple[int, ...]
    prior_far: tuple[int, ...]
    n_total: int
    islands: tuple[int, ...]
    prior_in_5: tuple[int, ...]
    optimal_in_5: tuple[int, ...]
    prior_in_many: tuple[int, ...]
    optimal_unresampled: tuple[int, ...]
    iterations: int
    iterations_elsewhere: int
    n_draws: int


FULL = Scale(
    name="full",
    data=(PENDIGITS, MAGIC),
    irrelevant=MADELON,
    n_seeds=10,
    prior=(10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
    optimal=(1, 2, 5, 10, 20, 50, 100, 200, 500),
    prior_far=(20_000, 50_000),
    n_total=2000,
    islands=(1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400),
    prior_in_5=(20, 40, 100, 200, 400, 1000, 2000),
    optimal_in_5=(1, 2, 5, 10, 20, 50),
    prior_in_many=(20, 50, 100, 200, 500, 1000),
    optimal_unresampled=(1, 2, 5, 10, 20, 50, 100, 200),
    iterations=2_000_000,
    iterations_elsewhere=500_000,
    n_draws=20_000,
)
QUICK = Scale(
    name="quick",
    data=(PENDIGITS, MAGIC),
    irrelevant=MADELON,
    n_seeds=3,
    prior=(10, 100, 1000, 2000, 10_000),
    optimal=(1, 10, 100),
    prior_far=(20_000,),
    n_total=2000,
    islands=(1, 5, 20, 100, 400),
    prior_in_5=(20, 100, 400, 2000),
    optimal_in_5=(1, 10),
    prior_in_many=(20, 100, 500),
    optimal_unresampled=(1, 10, 100),
    iterations=500_000,
    iterations_elsewhere=100_000,
    n_draws=5000,
)
TINY = Scale(
    name="tiny",
    data=(BREAST_CANCER,),
    irrelevant=BREAST_CANCER,
    n_seeds=2,
    prior=(10, 100),
    optimal=(1, 10, 20),
    prior_far=(200,),
    n_total=500,
    islands=(1, 5, 50),
    prior_in_5=(10, 20, 100),
    optimal_in_5=(1, 2),
    prior_in_many=(10,),
    optimal_unresampled=(1, 10, 20),
    iterations=2000,
    iterations_elsewhere=1000,
    n_draws=200,
)
SCALES = {scale.name: scale for scale in (FULL, QUICK, TINY)}
