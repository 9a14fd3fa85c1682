"""The oracle for numbers: every tree of a small data set, and every integral over a leaf's parameters as a plain sum.

Nothing here is conjugate, and nothing is shared with the package: a leaf's parameters live on a fine grid with their
prior density from SciPy, a row's density at every grid point is SciPy's, and the marginal of a block, the distribution
of a new observation and the parts of its variance are sums over the grid. The integrands are smooth and vanish at
both ends, where the trapezoid rule converges faster than any power of the step. A row of weight w counts with its
density to the power w, so fractions need nothing new.

Trees are listed by ``oracle.py``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import oracle
from particletree import TreePrior
from particletree._data import TrainingData, make_regression_data
from particletree._model.leaf import LeafModel
from particletree._model.leaves import Exponential, Gaussian, GaussianKnownVariance, Poisson

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberData:
    """Rows, their numbers (n_rows, n_targets), and weights and exposure if any; prints as its name."""

    name: str
    X: Floats
    y: Floats
    weights: Floats | None = None
    exposure: Floats | None = None
    n_levels: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    def points(self) -> Floats:
        return oracle.DataSet(self.name, self.X, [], 0).points()

    def weight(self, row: int) -> float:
        return 1.0 if self.weights is None else float(self.weights[row])

    def exposure_of(self, row: int) -> float:
        return 1.0 if self.exposure is None else float(self.exposure[row])

    def training_data(self) -> TrainingData:
        return make_regression_data(self.X, self.y, self.weights, exposure=self.exposure)


class GridLeaf(ABC):
    """A leaf model of one target on a grid of its parameters."""

    log_masses: Floats  # log of prior density times cell, at each point of the grid

    @abstractmethod
    def observation(self, exposure: float) -> Any:
        """Return SciPy's distributions of an observation, one for each point of the grid."""

    def log_density(self, y: float, exposure: float) -> Floats:
        distribution = self.observation(exposure)
        return np.asarray(distribution.logpmf(y) if hasattr(distribution.dist, "logpmf") else distribution.logpdf(y))

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of an observation of exposure 1 at each point of the grid."""
        distribution = self.observation(1.0)
        return distribution.mean(), distribution.var()

    def set_masses(self, log_density: Floats, cells: Floats) -> None:
        self.log_masses = log_density + np.log(cells)
        total = math.fsum(np.exp(self.log_masses))
        assert abs(total - 1) < 1e-9, f"the grid misses a part of the prior: {total}"


class GridGaussian(GridLeaf):
    """A grid of (log sigma, place of mu in units of sigma)."""

    def __init__(self, m: float, k: float, s: float, df: float) -> None:
        log_sigma, step = np.linspace(math.log(s) - 2.0, math.log(s) + 8.0, 180, retstep=True)
        places, width = np.linspace(-32.0, 32.0, 381, retstep=True)
        sigma, place = (part.ravel() for part in np.meshgrid(np.exp(log_sigma), places, indexing="ij"))
        self.sigma, self.mu = sigma, m + sigma * place
        prior = stats.invgamma(df / 2, scale=df * s**2 / 2).logpdf(sigma**2) + stats.norm(m, sigma / k**0.5).logpdf(
            self.mu
        )
        self.set_masses(prior, 2 * sigma**2 * step * sigma * width)  # d sigma^2 = 2 sigma^2 d log sigma

    def observation(self, exposure: float) -> Any:
        return stats.norm(self.mu, self.sigma)


class GridKnownVariance(GridLeaf):
    """A grid of mu."""

    def __init__(self, m: float, t: float, s: float) -> None:
        self.mu, step = np.linspace(m - 12 * t, m + 12 * t, 6001, retstep=True)
        self.s = s
        self.set_masses(stats.norm(m, t).logpdf(self.mu), np.full_like(self.mu, step))

    def observation(self, exposure: float) -> Any:
        return stats.norm(self.mu, self.s)


class GridPoisson(GridLeaf):
    """A grid of the log rate."""

    def __init__(self, m: float, a: float) -> None:
        log_rate, step = np.linspace(math.log(m) - 30 / min(a, 1), math.log(m) + 6, 4001, retstep=True)
        self.rate = np.exp(log_rate)
        self.set_masses(stats.gamma(a, scale=m / a).logpdf(self.rate), self.rate * step)

    def observation(self, exposure: float) -> Any:
        return stats.poisson(self.rate * exposure)


class GridExponential(GridLeaf):
    """A grid of the log rate."""

    def __init__(self, m: float, a: float) -> None:
        log_rate, step = np.linspace(-math.log(m) - 30 / min(a, 1), -math.log(m) + 6, 4001, retstep=True)
        self.rate = np.exp(log_rate)
        self.set_masses(stats.gamma(a, scale=1 / (a * m)).logpdf(self.rate), self.rate * step)

    def observation(self, exposure: float) -> Any:
        return stats.expon(scale=1 / self.rate)


GRIDS: dict[type[LeafModel], Any] = {
    Gaussian: GridGaussian,
    GaussianKnownVariance: GridKnownVariance,
    Poisson: GridPoisson,
    Exponential: GridExponential,
}


@cache
def grid_leaf(kind: type[LeafModel], parameters: tuple[float, ...]) -> GridLeaf:
    leaf: GridLeaf = GRIDS[kind](*parameters)
    return leaf


def grid_leaves(leaf: LeafModel, n_targets: int) -> list[GridLeaf]:
    """Return the grid of each target, by the parameters of a leaf model in the order in which it declares them."""
    kind = next(kind for kind in GRIDS if isinstance(leaf, kind))  # a leaf model with a planted error is a subclass
    columns = [np.broadcast_to(np.asarray(value, dtype=float), n_targets) for value in vars(leaf).values()]
    return [grid_leaf(kind, tuple(float(column[k]) for column in columns)) for k in range(n_targets)]


class Block:
    """Some rows in one leaf: their marginal, and the posterior of the parameters of each target."""

    def __init__(self, grids: Sequence[GridLeaf], log_likelihoods: Sequence[Floats]) -> None:
        self.grids, self.posteriors, self.log_marginal = grids, [], 0.0
        for grid, log_likelihood in zip(grids, log_likelihoods, strict=True):
            log_joint = grid.log_masses + log_likelihood
            joint = np.exp(log_joint - log_joint.max())
            self.log_marginal += math.log(joint.sum()) + log_joint.max()
            self.posteriors.append(joint / joint.sum())

    @cached_property
    def moments(self) -> Floats:
        """The mean of each target, the mean variance of an observation, the variance of its mean: (3, n_targets)."""
        columns = []
        for grid, posterior in zip(self.grids, self.posteriors, strict=True):
            mean, noise = grid.moments
            centre = posterior @ mean
            columns.append((centre, posterior @ noise, posterior @ (mean - centre) ** 2))
        return np.array(columns).T


class Mixture:
    """The leaf that a new row falls into: blocks with their posterior probabilities."""

    def __init__(self, weights: Sequence[float], blocks: Sequence[Block]) -> None:
        self.weights, self.blocks, self.grids = np.array(weights), blocks, blocks[0].grids

    def moments(self) -> Floats:
        """Return the mean, and the parts of noise, leaf parameters and trees in the variance: (4, n_targets)."""
        mean, noise, parameters = (np.array([block.moments[part] for block in self.blocks]) for part in range(3))
        centre = self.weights @ mean
        parts = (centre, self.weights @ noise, self.weights @ parameters, self.weights @ (mean - centre) ** 2)
        return np.array(parts)

    def density(self, y: Floats, exposure: float) -> float:
        """Return the density of a new row, all targets together: the product stands inside the sum over leaves."""
        rows = [np.exp(grid.log_density(z, exposure)) for grid, z in zip(self.grids, y.tolist(), strict=True)]
        of_blocks = [math.prod(p @ row for p, row in zip(block.posteriors, rows, strict=True)) for block in self.blocks]
        return float(self.weights @ np.array(of_blocks))

    def cdf(self, y: Floats, k: int, exposure: float) -> Floats:
        """Return the probabilities that a new observation of target k is at most y."""
        posterior = sum(w * block.posteriors[k] for w, block in zip(self.weights, self.blocks, strict=True))
        return np.array([posterior @ self.grids[k].observation(exposure).cdf(z) for z in y])


class NumberEnumeration:
    """All trees of a small data set with their posterior probabilities under a leaf model of numbers."""

    def __init__(self, data: NumberData, prior: TreePrior, leaf: LeafModel) -> None:
        self.data = data
        grids = grid_leaves(leaf, data.y.shape[1])
        of_rows = [
            [data.weight(r) * grid.log_density(data.y[r, k], data.exposure_of(r)) for r in range(len(data.y))]
            for k, grid in enumerate(grids)
        ]
        listed = list_all(data.X.tobytes(), data.X.shape, tuple(prior.get_params().values()), data.n_levels)
        self.blocks: dict[tuple[int, ...], Block] = {}
        for _, _, blocks in listed:
            for rows in blocks:
                if rows not in self.blocks:
                    likelihoods = [np.sum([per_row[r] for r in rows], axis=0) for per_row in of_rows]
                    self.blocks[rows] = Block(grids, likelihoods)
        self.trees = [tree for _, tree, _ in listed]
        log_joint = np.array(
            [math.log(p) + math.fsum(self.blocks[rows].log_marginal for rows in blocks) for p, _, blocks in listed]
        )
        self.log_evidence = float(log_joint.max() + np.log(np.exp(log_joint - log_joint.max()).sum()))
        self.probabilities = np.exp(log_joint - self.log_evidence)

    def mixture(self, x: Floats) -> Mixture:
        """Return the blocks that may be the leaf of x, with their posterior probabilities."""
        weights: dict[tuple[int, ...], float] = {}
        for p, tree in zip(self.probabilities.tolist(), self.trees, strict=True):
            for share, leaf in oracle.leaf_probabilities(tree, x):
                if share > 0.0:
                    weights[leaf.rows] = weights.get(leaf.rows, 0.0) + p * share
        return Mixture(list(weights.values()), [self.blocks[rows] for rows in weights])

    def n_leaves_probabilities(self) -> Floats:
        return np.bincount([oracle.n_leaves(tree) for tree in self.trees], weights=self.probabilities)


@cache
def list_all(
    values: bytes, shape: tuple[int, int], prior: tuple[Any, ...], n_levels: tuple[int, ...]
) -> list[tuple[float, oracle.Tree, list[tuple[int, ...]]]]:
    """List the trees on these rows once for all leaf models: prior probability, tree, and the rows of its leaves."""
    X = np.frombuffer(values).reshape(shape)
    trees = oracle.list_trees(X, TreePrior(*prior), tuple(range(len(X))), n_levels=n_levels)
    return [(p, tree, [leaf.rows for leaf, _ in oracle.leaves(tree)]) for p, tree in trees]


# Data sets: uneven numbers on the rows of ``oracle.py``, of a size that goes with the leaf models below.

SIX, SEVEN, TWELVE = oracle.WEIGHTED_ROWS.X, oracle.SEVEN_ROWS.X, oracle.TWO_CLASSES.X
WEIGHTS = np.array([0.5, 2.0, 1.0, 3.25, 0.1, 1.7])
EXPOSURE = np.array([0.5, 2.0, 1.0, 7.0, 0.25, 1.5, 3.0])
REALS = np.array([[3.1, 40.0], [2.9, 75.0], [3.0, 41.5], [5.5, 90.0], [6.25, 38.0], [1.0, 60.0], [4.0, 61.0]])
COUNTS = np.array([[0.0, 3.0], [2.0, 11.0], [2.0, 0.0], [9.0, 40.0], [1.0, 2.0], [0.0, 8.0], [4.0, 13.0]])
TIMES = np.array([[0.4, 12.0], [0.0, 3.0], [2.5, 1.1], [9.0, 40.0], [1.25, 2.0], [0.3, 8.0], [4.0, 13.0]])

TWELVE_REALS = (3.1, 2.9, 3.0, 5.5, 6.2, 3.3, 5.1, 4.9, 1.0, 1.4, 1.1, 5.6)
TWELVE_COUNTS = (0, 2, 0, 1, 4, 0, 3, 5, 2, 2, 0, 4)
TWELVE_TIMES = (0.1, 0.4, 0.3, 2.5, 9.0, 0.2, 3.1, 6.0, 1.2, 0.5, 0.0, 7.5)


def on_six_rows(name: str, y: Floats, *, weighted: bool = False, exposed: bool = False) -> NumberData:
    return NumberData(name, SIX, y[:6, :1], WEIGHTS if weighted else None, EXPOSURE[:6] if exposed else None)


def on_seven_rows(name: str, y: Floats, *, exposed: bool = False) -> NumberData:
    return NumberData(name, SEVEN, y, None, EXPOSURE if exposed else None)


def on_twelve_rows(name: str, y: Sequence[float], *, exposed: bool = False) -> NumberData:
    exposure = np.array([0.5, 2.0, 1.0, 1.5, 1.25, 0.75, 1.5, 1.0, 2.5, 0.75, 1.0, 2.0]) if exposed else None
    return NumberData(name, TWELVE, np.array(y, dtype=float)[:, None], None, exposure)


GAUSSIAN = Gaussian(prior_mean=3.5, mean_strength=0.4, noise_sd=1.1, noise_df=5.0)
TWO_GAUSSIANS = Gaussian([3.5, 55.0], [0.4, 1.5], [1.1, 14.0], [5.0, 7.0])
KNOWN_VARIANCE = GaussianKnownVariance(prior_mean=3.5, mean_sd=1.7, noise_sd=0.8)
TWO_KNOWN_VARIANCES = GaussianKnownVariance([3.5, 55.0], [1.7, 20.0], [0.8, 12.0])
POISSON = Poisson(prior_mean=1.8, shape=0.7)
TWO_POISSONS = Poisson([1.8, 6.0], [0.7, 2.0])
EXPONENTIAL = Exponential(prior_mean=1.9, shape=3.5)
TWO_EXPONENTIALS = Exponential([1.9, 8.0], [3.5, 2.75])

SMALL: list[tuple[LeafModel, NumberData]] = [
    (GAUSSIAN, on_six_rows("normal noise", REALS)),
    (GAUSSIAN, on_six_rows("normal noise, weights", REALS, weighted=True)),
    (TWO_GAUSSIANS, on_seven_rows("normal noise, two targets", REALS)),
    (KNOWN_VARIANCE, on_six_rows("known variance", REALS)),
    (KNOWN_VARIANCE, on_six_rows("known variance, weights", REALS, weighted=True)),
    (TWO_KNOWN_VARIANCES, on_seven_rows("known variance, two targets", REALS)),
    (POISSON, on_six_rows("counts", COUNTS)),
    (POISSON, on_six_rows("counts with exposure", COUNTS, exposed=True)),
    (POISSON, on_six_rows("counts with exposure and weights", COUNTS, weighted=True, exposed=True)),
    (TWO_POISSONS, on_seven_rows("two counts with exposure", COUNTS, exposed=True)),
    (EXPONENTIAL, on_six_rows("times", TIMES)),
    (EXPONENTIAL, on_six_rows("times, weights", TIMES, weighted=True)),
    (TWO_EXPONENTIALS, on_seven_rows("two times", TIMES)),
]

# For the samplers. The weights of a filter are tame here: the mean square of an importance weight is at most 55 times
# the square of its mean, under the prior and under the optimal proposal. With half of this noise, or a quarter of this
# exposure, that is 10^25: then the estimates of any number of islands that one can run stay below the evidence.
LARGER: list[tuple[LeafModel, NumberData]] = [
    (GAUSSIAN, on_twelve_rows("twelve reals", TWELVE_REALS)),
    (GaussianKnownVariance(prior_mean=3.5, mean_sd=1.7, noise_sd=1.5), on_twelve_rows("twelve reals", TWELVE_REALS)),
    (POISSON, on_twelve_rows("twelve counts", TWELVE_COUNTS)),
    (POISSON, on_twelve_rows("twelve counts with exposure", TWELVE_COUNTS, exposed=True)),
    (EXPONENTIAL, on_twelve_rows("twelve times", TWELVE_TIMES)),
]


def case_name(case: tuple[LeafModel, NumberData]) -> str:
    return f"{type(case[0]).__name__}: {case[1]}"
