"""Sums of trees: the draws of Markov chains, their model, and quantities derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.bart import Scaling, SumPrior
from particletree._model.parameters import Parameters
from particletree._model.target import ClassLabels
from particletree._posterior.base import BasePosterior
from particletree._posterior.predictions.sums import ClassPredictions, NumberPredictions
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.traces import SumRecord

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SumsOfTrees(BasePosterior):
    """Draws of sums of trees and of the noise; `BasePosterior` has what single trees have too.

    Attributes
    ----------
    sums : tuple of TreeSums
        The draws: of one sum for numbers and for two classes, of K - 1 for K classes (``_model/bart.py``).
    records : tuple of SumRecord
        Traces and acceptance counts of the chains of each sum.
    offsets : tuple of float
        Constant that is added to each sum, in the units of the model.
    scaling : Scaling
        Scaling of the target.
    class_order : ndarray of int64
        Indices of the classes in the order of the sums; empty for numbers.
    sum_prior : SumPrior
        The prior of leaf values and noise; `prior` is that of the trees' structure.
    n_iterations, n_burn_in, thin : int
        Sweeps per chain, discarded sweeps at its start, and the thinning: every `thin`-th later sweep was kept.
    states : tuple of dict
        The last state of each chain of each sum, from which it can be continued; not saved.
    """

    sums: tuple[TreeSums, ...]
    records: tuple[SumRecord, ...]
    offsets: tuple[float, ...]
    scaling: Scaling
    class_order: NDArray[np.int64]
    sum_prior: SumPrior
    n_iterations: int
    n_burn_in: int
    thin: int
    states: tuple[dict[str, Any], ...] = ()

    @property
    def model(self) -> tuple[Parameters, ...]:
        """The prior over the structure of trees, and that of leaf values and noise."""
        return self.prior, self.sum_prior

    @property
    def is_classes(self) -> bool:
        """Whether class labels are predicted."""
        return isinstance(self.target, ClassLabels)

    @property
    def n_draws(self) -> int:
        """Number of draws of all chains together; 1 if there is only one class, and so nothing to draw."""
        return self.sums[0].n_draws if self.sums else 1

    @property
    def chain(self) -> NDArray[np.int32]:
        """The number of the chain of each draw."""
        return self.sums[0].chain if self.sums else np.zeros(1, dtype=np.int32)

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.chain.max()) + 1

    @property
    def n_trees(self) -> int:
        """Number of trees of a sum."""
        return int(self.sum_prior.n_trees)

    @property
    def n_bytes(self) -> int:
        """Memory of the draws, in bytes."""
        return sum(sums.n_bytes for sums in self.sums)

    @property
    def weights(self) -> Floats:
        """The weights of the draws, all the same."""
        return np.full(self.n_draws, 1.0 / self.n_draws)

    @cached_property
    def noise_sd(self) -> Floats:
        """Standard deviation of the noise in each draw, in the units of the data, shape (n_draws,)."""
        if self.is_classes:
            raise AttributeError("Class labels have no noise of their own; noise_sd is for numbers.")
        return np.asarray(self.scaling.width * self.records[0].trace["noise_sd"])

    @cached_property
    def predictions(self) -> Any:
        """The predictions for rows that have been checked already."""
        if self.is_classes:
            return ClassPredictions(self.sums, self.offsets, self.class_order)
        return NumberPredictions(self.sums[0], self.scaling, self.noise_sd)

    def along_chains(self, values: ArrayLike) -> list[NDArray[Any]]:
        """Return, for each chain, the values of its draws in order: `along_chains(posterior.noise_sd)` is a trace."""
        of_draws = np.asarray(values)
        return [of_draws[self.chain == number] for number in range(self.n_chains)]

    def split_shares(self) -> Floats:
        """Return the share of each feature in the splits of each draw, all sums together: (n_draws, n_features).

        A draw without any split has zeros.
        """
        counts = np.zeros((self.n_draws, self.n_features), dtype=np.int64)
        for sums in self.sums:
            counts += sums.split_counts(self.n_features)
        total = counts.sum(axis=1, keepdims=True)
        return np.asarray(counts / np.maximum(total, 1))

    def variable_use(self) -> tuple[Floats, Floats]:
        """Return the mean over draws of each feature's share in the splits, and its standard deviation."""
        shares = self.split_shares()
        return shares.mean(axis=0), shares.std(axis=0)

    def __repr__(self) -> str:
        sums = f"{len(self.sums)} sums of " if len(self.sums) > 1 else ""
        counts = ((self.n_draws, "draw"), (self.n_trees, "tree"), (self.n_chains, "chain"))
        draws, trees, chains = (f"1 {noun}" if n == 1 else f"{n} {noun}s" for n, noun in counts)
        return f"{type(self).__name__}({draws} of {sums}{trees} from {chains})"
