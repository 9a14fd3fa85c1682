"""An independent oracle for sums of one or two trees on tiny data: every pair of trees, leaf values integrated out.

A tree matters for the rows only by the partition that it makes of them, so the trees of ``oracle.py`` are grouped: a
partition has the prior probability of all its trees together. Given the partitions with indicator matrices Z_1, Z_2 of
their leaves, leaf values from N(0, t^2) and noise of variance v / w_i (a row counts w_i times),

    y ~ N(0, S),  S = v diag(1/w) + t^2 (Z_1 Z_1' + Z_2 Z_2'),  E[f | y] = t^2 (Z_1 Z_1' + Z_2 Z_2') S^-1 y,

and the noise variance is known or summed over a grid, by the trapezoidal rule in log v. Nothing is shared with the
kernel or the package but the parameters of the prior.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray

import oracle
import question_oracle
from particletree import MondrianPrior, TreePrior
from particletree._model.prior import Prior

Floats = NDArray[np.float64]
NAN = math.nan


@dataclass(frozen=True, eq=False)
class SumData:
    """Rows, numbers to explain, and weights if any; prints as its name."""

    name: str
    X: Floats
    y: Floats
    weights: Floats | None = None
    n_levels: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def counts(self) -> Floats:
        return np.ones(len(self.y)) if self.weights is None else self.weights


@dataclass(frozen=True, eq=False)
class SumModel:
    """The model: trees, leaf values, and noise, which is known where `noise_df` is 0."""

    prior: Prior
    n_trees: int
    leaf_sd: float
    noise_sd: float
    noise_df: float = 0.0
    noise_scale: float = 0.0
    most_nodes: int = 65_535  # of a tree: larger ones have no prior probability

    def noise_grid(self, n: int = 61) -> tuple[Floats, Floats]:
        """Return noise variances and their prior probabilities, nearly."""
        if self.noise_df == 0:
            return np.array([self.noise_sd**2]), np.ones(1)
        nu, lam = self.noise_df, self.noise_scale
        log_v = np.linspace(math.log(nu * lam) - 5.0, math.log(nu * lam) + 9.0, n)
        # v = nu lambda / chi^2 has a log density in log v of -(nu / 2) log v - nu lambda / (2 v), up to a constant
        log_p = -0.5 * nu * log_v - 0.5 * nu * lam * np.exp(-log_v)
        p = np.exp(log_p - log_p.max())
        kept = p > 1e-12 * p.max()
        return np.exp(log_v[kept]), p[kept] / p.sum()


def partitions(data: SumData, model: SumModel) -> tuple[list[tuple[tuple[int, ...], ...]], Floats]:
    """Return the partitions of the rows by trees, and their prior probabilities, up to a factor."""
    total: dict[tuple[tuple[int, ...], ...], float] = defaultdict(float)
    if isinstance(model.prior, MondrianPrior):
        listed: Iterable[tuple[float, oracle.Tree]] = question_oracle.list_trees(data.X, model.prior, data.n_levels)
    else:
        listed = oracle.list_trees(data.X, model.prior, tuple(range(len(data.X))), n_levels=data.n_levels)
    for p, tree in listed:
        blocks = tuple(sorted(leaf.rows for leaf, _ in oracle.leaves(tree)))
        if 2 * len(blocks) - 1 <= model.most_nodes:
            total[blocks] += p
    return list(total), np.array(list(total.values()))


def same_leaf(partition: tuple[tuple[int, ...], ...], n_rows: int) -> Floats:
    """Return Z Z': which rows share a leaf."""
    leaf = np.empty(n_rows, dtype=int)
    for number, rows in enumerate(partition):
        leaf[list(rows)] = number
    return (leaf[:, None] == leaf).astype(float)


class SumEnumeration:
    """The exact posterior: mean of the function at the rows, numbers of leaves, mean of the noise variance."""

    def __init__(self, data: SumData, model: SumModel) -> None:
        found, prior = partitions(data, model)
        shared = np.array([same_leaf(partition, len(data.y)) for partition in found])
        sizes = np.array([len(partition) for partition in found])
        pairs = list(combinations_with_replacement(range(len(found)), model.n_trees))
        places = np.array(pairs)
        self.covariance = model.leaf_sd**2 * shared[places].sum(axis=1)
        self.n_leaves = sizes[places].sum(axis=1)
        n_orders = np.array([len(set(permutations(pair))) for pair in pairs])
        self.log_prior = np.log(prior)[places].sum(axis=1) + np.log(n_orders)
        self.prior_leaves = np.bincount(self.n_leaves, weights=np.exp(self.log_prior))
        parts = [self._given_noise(data, v, p) for v, p in zip(*model.noise_grid(), strict=True)]
        log_evidence = np.array([part[0] for part in parts])
        weights = np.exp(log_evidence - log_evidence.max())
        weights /= weights.sum()
        self.mean = weights @ np.array([part[1] for part in parts])
        self.leaves = weights @ np.array([part[2] for part in parts])
        self.noise_variance = float(weights @ model.noise_grid()[0])

    def _given_noise(self, data: SumData, v: float, prior: float) -> tuple[float, Floats, Floats]:
        """Return the log of prior and evidence, the mean of the function and the shares of numbers of leaves."""
        total = self.covariance + v * np.diag(1 / data.counts)
        solved = np.linalg.solve(total, np.broadcast_to(data.y, (len(total), len(data.y)))[..., None])[..., 0]
        log_joint = self.log_prior - 0.5 * (np.linalg.slogdet(total)[1] + solved @ data.y)
        weights = np.exp(log_joint - log_joint.max())
        weights /= weights.sum()
        log_evidence = log_joint.max() + math.log(np.exp(log_joint - log_joint.max()).sum()) + math.log(prior)
        # A row that counts w times is as sure as one with variance v / w, but says w times as much about v.
        log_evidence -= 0.5 * (data.counts - 1).sum() * math.log(v)
        means = np.einsum("pij,pj->pi", self.covariance, solved)
        return log_evidence, weights @ means, np.bincount(self.n_leaves, weights=weights)


PRIOR = TreePrior(alpha=0.8, beta=0.7)
SEVEN = SumData(
    "seven rows of two features",
    np.array([[0.0, 1.0], [0.5, 4.0], [0.5, 1.0], [2.0, 0.0], [2.0, 4.0], [5.0, 1.0], [5.5, 0.0]]),
    np.array([-0.5, -0.35, -0.3, 0.1, 0.5, 0.35, 0.15]),
)
WEIGHTED = SumData("weights", SEVEN.X, SEVEN.y, np.array([0.5, 2.0, 1.0, 3.0, 0.25, 1.5, 1.0]))
MIXED = SumData(
    "a number with missing values, and three levels",
    np.array([[0.0, 0.0], [NAN, 1.0], [1.5, 1.0], [1.5, 2.0], [NAN, 2.0], [4.0, 0.0], [4.0, 1.0]]),
    np.array([-0.5, 0.4, -0.2, 0.1, 0.5, -0.05, 0.3]),
    n_levels=(0, 3),
)
