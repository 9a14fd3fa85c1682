"""The default sampler and prior of a fit, which depend on the size of the table and the type of target.

The study in ``docs/defaults.md`` compares the accuracy of samplers at equal time. Several islands of few particles with
the lookahead proposal are best: an island finds good trees with few particles, and averaging over islands reduces the
variance as averaging over trees does in a random forest. Particles are resampled when the effective sample size falls
below half their number: with 10 particles the paper's tenth would never be reached.

The budget is three times CART's fit time, which differs between classification and regression.

*Class labels.* Islands have 10 particles. There are seven on small tables, on which CART takes a few milliseconds.
Larger tables allow more, because CART sorts and an island only counts: the number grows as the cube root of the number
of cells, from 100,000 cells on, up to 12. The number of candidates is the default of :class:`SMC`.

From 10,000 rows on trees can have thousands of leaves, and most of the time is spent in small blocks that a single
particle considers. Five particles then predict as well as 10 in half the time. The number of candidates is limited to
500 / features, because more features mean more islands, and to 2,500,000 / rows, because more rows mean more blocks.

*Numbers.* CART is faster here, so there is less time: islands have 3 particles. CART is fastest if values repeat, so
the number of islands depends on the distinct values instead of the cells: four on small tables, five at 10,000 values,
then as the cube root. There is one candidate per feature up to 20 features, and half as many candidates as features
beyond 40. More candidates on large tables, as for class labels, cost time here without better predictions, because
the islands become too similar.

*The prior over trees.* Trees may be large, because averaging over islands reduces overfitting. With class labels and
10,000 rows or more they may be larger still: there is time for it, and on one table on which CART's trees are very
large (cuts of diamonds) smaller trees were less accurate than CART.
"""

from __future__ import annotations

from particletree.data import TrainingData
from particletree.inference.smc import FEWEST_CANDIDATES, SMC
from particletree.model.prior import TreePrior
from particletree.model.target import ClassLabels

ALPHA, BETA = 0.95, 0.2
ALPHA_OF_LARGE_TABLES, BETA_OF_LARGE_TABLES = 0.99, 0.1
ROWS_OF_A_LARGE_TABLE = 10_000

ESS_THRESHOLD = 0.5

CLASS_PARTICLES, CLASS_PARTICLES_OF_LARGE_TABLES = 10, 5
FEWEST_CLASS_ISLANDS, MOST_CLASS_ISLANDS = 7, 12
CELLS_OF_A_SMALL_TABLE = 100_000
MOST_CANDIDATES_TIMES_FEATURES, MOST_CANDIDATES_TIMES_ROWS = 500, 2_500_000  # of large tables

NUMBER_PARTICLES = 3
FEWEST_NUMBER_ISLANDS, MOST_NUMBER_ISLANDS = 4, 10
VALUES_FOR_FIVE_ISLANDS = 10_000
FEATURES_WITH_A_CANDIDATE_EACH = 20


def default_prior(data: TrainingData) -> TreePrior:
    """Return the default prior over trees for these data.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.data import make_training_data
    >>> from particletree.inference.defaults import default_prior
    >>> for n_rows in (100, 10_000):
    ...     prior = default_prior(make_training_data(np.arange(n_rows)[:, None], np.arange(n_rows) % 2, n_classes=2))
    ...     print(prior.alpha, prior.beta)
    0.95 0.2
    0.99 0.1
    """
    if isinstance(data.observations.target, ClassLabels) and data.table.n_rows >= ROWS_OF_A_LARGE_TABLE:
        return TreePrior(ALPHA_OF_LARGE_TABLES, BETA_OF_LARGE_TABLES)
    return TreePrior(ALPHA, BETA)


def default_sampler(data: TrainingData) -> SMC:
    """Return the default particle filter for these data.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.data import make_regression_data, make_training_data
    >>> from particletree.inference.defaults import default_sampler
    >>> X = np.arange(12_000.0).reshape(-1, 6)
    >>> for_classes = default_sampler(make_training_data(X, np.arange(2_000) % 2, n_classes=2))
    >>> for_classes.n_islands, for_classes.n_particles
    (7, 10)
    >>> for_numbers = default_sampler(make_regression_data(X, np.arange(2_000.0)))
    >>> for_numbers.n_islands, for_numbers.n_particles, for_numbers.n_candidates
    (5, 3, 6)
    """
    table = data.table
    if isinstance(data.observations.target, ClassLabels):
        return sampler_for_classes(table.n_rows, table.n_features)
    return sampler_for_numbers(len(table.values), table.n_features)


def sampler_for_classes(n_rows: int, n_features: int) -> SMC:
    """Return the particle filter for class labels on a table of this size.

    Examples
    --------
    >>> from particletree.inference.defaults import sampler_for_classes
    >>> for n_rows, n_features in ((569, 30), (9_000, 60), (40_000, 7), (100_000, 20)):
    ...     sampler = sampler_for_classes(n_rows, n_features)
    ...     print(sampler.n_islands, "x", sampler.n_particles, "with", sampler.candidates_for(n_rows, n_features))
    7 x 10 with 7
    12 x 10 with 18
    10 x 5 with 62
    12 x 5 with 25
    """
    n_islands = round(FEWEST_CLASS_ISLANDS * (n_rows * n_features / CELLS_OF_A_SMALL_TABLE) ** (1 / 3))
    is_large = n_rows >= ROWS_OF_A_LARGE_TABLE
    return _looking_ahead(
        n_particles=CLASS_PARTICLES_OF_LARGE_TABLES if is_large else CLASS_PARTICLES,
        n_islands=_clipped(n_islands, FEWEST_CLASS_ISLANDS, MOST_CLASS_ISLANDS),
        n_candidates=_candidates_of_a_large_table(n_rows, n_features) if is_large else None,
    )


def _candidates_of_a_large_table(n_rows: int, n_features: int) -> int:
    by_features, by_rows = MOST_CANDIDATES_TIMES_FEATURES // n_features, MOST_CANDIDATES_TIMES_ROWS // n_rows
    limited = min(SMC().candidates_for(n_rows, n_features), by_features, by_rows)
    return max(FEWEST_CANDIDATES, n_features // 4, limited)


def sampler_for_numbers(n_values: int, n_features: int) -> SMC:
    """Return the default particle filter for numbers; `n_values` is the sum of the features' distinct values.

    Examples
    --------
    >>> from particletree.inference.defaults import sampler_for_numbers
    >>> [sampler_for_numbers(n, 10).n_islands for n in (1_000, 10_000, 40_000, 10_000_000)]
    [4, 5, 8, 10]
    >>> [sampler_for_numbers(1_000, d).n_candidates for d in (2, 10, 30, 200)]
    [5, 10, 20, 100]
    """
    n_islands = round(5 * (n_values / VALUES_FOR_FIVE_ISLANDS) ** (1 / 3))
    return _looking_ahead(
        n_particles=NUMBER_PARTICLES,
        n_islands=_clipped(n_islands, FEWEST_NUMBER_ISLANDS, MOST_NUMBER_ISLANDS),
        n_candidates=max(FEWEST_CANDIDATES, min(n_features, FEATURES_WITH_A_CANDIDATE_EACH), n_features // 2),
    )


def _looking_ahead(*, n_particles: int, n_islands: int, n_candidates: int | None = None) -> SMC:
    return SMC(
        n_particles=n_particles,
        n_islands=n_islands,
        proposal="lookahead",
        n_candidates=n_candidates,
        ess_threshold=ESS_THRESHOLD,
    )


def _clipped(value: int, low: int, high: int) -> int:
    return min(high, max(low, value))
