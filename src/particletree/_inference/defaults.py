"""What None means: the settings that a fit chooses, by the size of the table and the type of target.

The study in ``docs/defaults.md`` compares the accuracy of samplers at equal time. Several islands of few particles with
the lookahead proposal are best: an island finds good trees with few particles, and averaging over islands reduces the
variance as averaging over trees does in a random forest. Particles are resampled when the effective sample size falls
below half their number: with 10 particles the paper's tenth would never be reached.

The budget is three times CART's fit time, which differs between classification and regression.

*Class labels.* Islands have 10 particles. There are seven on small tables, on which CART takes a few milliseconds.
Larger tables allow more, because CART sorts and an island only counts: the number grows as the cube root of the number
of cells, from 100,000 cells on, up to 12. The number of candidates is `candidates_for` the table.

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

from dataclasses import dataclass

from particletree._data import TrainingData
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Categorical, Gaussian
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import Prior, TreePrior
from particletree._model.target import ClassLabels

ALPHA, BETA = 0.95, 0.2
ALPHA_OF_LARGE_TABLES, BETA_OF_LARGE_TABLES = 0.99, 0.1
ROWS_OF_A_LARGE_TABLE = 10_000
RATE = 0.1

ESS_THRESHOLD = 0.5
FEWEST_CANDIDATES, MOST_BY_ROWS, ROWS_PER_CANDIDATE = 5, 80, 500

CLASS_PARTICLES, CLASS_PARTICLES_OF_LARGE_TABLES = 10, 5
FEWEST_CLASS_ISLANDS, MOST_CLASS_ISLANDS = 7, 12
CELLS_OF_A_SMALL_TABLE = 100_000
MOST_CANDIDATES_TIMES_FEATURES, MOST_CANDIDATES_TIMES_ROWS = 500, 2_500_000  # of large tables

NUMBER_PARTICLES = 3
FEWEST_NUMBER_ISLANDS, MOST_NUMBER_ISLANDS = 4, 10
VALUES_FOR_FIVE_ISLANDS = 10_000
FEATURES_WITH_A_CANDIDATE_EACH = 20


def default_prior(data: TrainingData, prior: Prior | None = None) -> Prior:
    """Return the default prior over trees for these data, of the kind of `prior` if that is given.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data import make_training_data
    >>> from particletree._inference.defaults import default_prior
    >>> for n_rows in (100, 10_000):
    ...     prior = default_prior(make_training_data(np.arange(n_rows)[:, None], np.arange(n_rows) % 2, n_classes=2))
    ...     print(prior.alpha, prior.beta)
    0.95 0.2
    0.99 0.1
    """
    if isinstance(prior, MondrianPrior):
        return MondrianPrior(RATE)
    if isinstance(data.observations.target, ClassLabels) and data.table.n_rows >= ROWS_OF_A_LARGE_TABLE:
        return TreePrior(ALPHA_OF_LARGE_TABLES, BETA_OF_LARGE_TABLES)
    return TreePrior(ALPHA, BETA)


def default_leaf(data: TrainingData) -> LeafModel:
    """Return the default leaf model for these data."""
    return Categorical() if isinstance(data.observations.target, ClassLabels) else Gaussian()


@dataclass(frozen=True)
class FilterDefaults:
    """The settings of the particle filter that are chosen, by the names that `SMC` has for them.

    `n_candidates` is None where it is `candidates_for` the table.
    """

    n_particles: int
    n_islands: int
    n_candidates: int | None = None
    proposal: str = "lookahead"
    ess_threshold: float = ESS_THRESHOLD


def filter_defaults(data: TrainingData) -> FilterDefaults:
    """Return the default settings of the particle filter for these data.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._data import make_regression_data, make_training_data
    >>> from particletree._inference.defaults import filter_defaults
    >>> X = np.arange(12_000.0).reshape(-1, 6)
    >>> for_classes = filter_defaults(make_training_data(X, np.arange(2_000) % 2, n_classes=2))
    >>> for_classes.n_islands, for_classes.n_particles
    (7, 10)
    >>> for_numbers = filter_defaults(make_regression_data(X, np.arange(2_000.0)))
    >>> for_numbers.n_islands, for_numbers.n_particles, for_numbers.n_candidates
    (5, 3, 6)
    """
    table = data.table
    if isinstance(data.observations.target, ClassLabels):
        return defaults_for_classes(table.n_rows, table.n_features)
    return defaults_for_numbers(len(table.values), table.n_features)


def candidates_for(n_rows: int, n_features: int) -> int:
    """Return the number of candidate rules per particle on a table of this size.

    Deep blocks of a large table have many rows, and few particles share them.
    """
    return max(FEWEST_CANDIDATES, n_features // 4, min(MOST_BY_ROWS, n_rows // ROWS_PER_CANDIDATE))


def defaults_for_classes(n_rows: int, n_features: int) -> FilterDefaults:
    """Return the settings for class labels on a table of this size.

    Examples
    --------
    >>> from particletree._inference.defaults import defaults_for_classes
    >>> for n_rows, n_features in ((569, 30), (9_000, 60), (40_000, 7), (100_000, 20)):
    ...     chosen = defaults_for_classes(n_rows, n_features)
    ...     print(chosen.n_islands, "x", chosen.n_particles, "with", chosen.n_candidates)
    7 x 10 with None
    12 x 10 with None
    10 x 5 with 62
    12 x 5 with 25
    """
    n_islands = round(FEWEST_CLASS_ISLANDS * (n_rows * n_features / CELLS_OF_A_SMALL_TABLE) ** (1 / 3))
    n_islands = min(MOST_CLASS_ISLANDS, max(FEWEST_CLASS_ISLANDS, n_islands))
    if n_rows < ROWS_OF_A_LARGE_TABLE:
        return FilterDefaults(CLASS_PARTICLES, n_islands)
    by_features, by_rows = MOST_CANDIDATES_TIMES_FEATURES // n_features, MOST_CANDIDATES_TIMES_ROWS // n_rows
    limited = min(candidates_for(n_rows, n_features), by_features, by_rows)
    n_candidates = max(FEWEST_CANDIDATES, n_features // 4, limited)
    return FilterDefaults(CLASS_PARTICLES_OF_LARGE_TABLES, n_islands, n_candidates)


def defaults_for_numbers(n_values: int, n_features: int) -> FilterDefaults:
    """Return the settings for numbers; `n_values` is the sum of the features' distinct values.

    Examples
    --------
    >>> from particletree._inference.defaults import defaults_for_numbers
    >>> [defaults_for_numbers(n, 10).n_islands for n in (1_000, 10_000, 40_000, 10_000_000)]
    [4, 5, 8, 10]
    >>> [defaults_for_numbers(1_000, d).n_candidates for d in (2, 10, 30, 200)]
    [5, 10, 20, 100]
    """
    n_islands = round(5 * (n_values / VALUES_FOR_FIVE_ISLANDS) ** (1 / 3))
    return FilterDefaults(
        n_particles=NUMBER_PARTICLES,
        n_islands=min(MOST_NUMBER_ISLANDS, max(FEWEST_NUMBER_ISLANDS, n_islands)),
        n_candidates=max(FEWEST_CANDIDATES, min(n_features, FEATURES_WITH_A_CANDIDATE_EACH), n_features // 2),
    )
