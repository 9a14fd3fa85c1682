r"""Weighted trees: the joined results of a sampler's runs, and quantities derived from them.

Trees that occur several times are kept once, with the sum of their weights. The weights in each island are kept too
(`island_weights`), because differences between islands show the Monte Carlo error; the posterior is their average,

.. math:: w_t = \sum_i \text{share}_i \, w_{it},

with equal shares (the paper) or shares in proportion to the islands' evidences.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from particletree import _kernel
from particletree._model.forest import Forest, Trees
from particletree._model.leaf import LeafModel
from particletree._model.parameters import Parameters
from particletree._model.tree.tree import Tree
from particletree._posterior.base import NO_EVIDENCE, BasePosterior
from particletree._posterior.predictions.trees import Predictions
from particletree._posterior.runs import evidence
from particletree._posterior.runs.provenance import CHAIN, Choice, Provenance
from particletree._posterior.runs.traces import visit_shares

Self = TypeVar("Self", bound="WeightedTrees")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedTrees(BasePosterior):
    """Trees with weights, their model, and how they were made; `BasePosterior` has what sums of trees have too.

    Attributes
    ----------
    forest : Forest
        The distinct trees.
    leaf : LeafModel
        The leaf model, every parameter with a value.
    log_likelihoods, log_priors : ndarray, shape (n_trees,)
        Log likelihood of the targets, and log density of the prior (``_model/prior.py``), for each tree.
    island_weights : csr_array, shape (n_islands, n_trees)
        Weights of the trees in each island; each row sums to 1.
    island_shares : ndarray, shape (n_islands,)
        Weights of the islands, which sum to 1.
    log_evidences : ndarray, shape (n_islands,), or None
        Each island's estimate of the log evidence, None if the sampler gives none.
    trace : list of structured ndarray
        For each island or chain, one record per stage or kept iteration (``traces.py``).
    genealogy : list of structured ndarray or None
        The lineages of particles of each island (``genealogy.py``); None if they are not known.
    choice : Choice or None
        The settings that the evidence has chosen, if parameters of the model were "auto".
    provenance : Provenance
        The kind of runs, the sampler and its settings, the seed and the version of the package.
    """

    forest: Forest
    leaf: LeafModel
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]
    island_weights: csr_array[Any]
    island_shares: NDArray[np.float64]
    log_evidences: NDArray[np.float64] | None
    trace: list[NDArray[Any]]
    provenance: Provenance
    genealogy: list[NDArray[Any]] | None = None
    choice: Choice | None = None

    @property
    def model(self) -> tuple[Parameters, ...]:
        """The prior over trees and the leaf model."""
        return self.prior, self.leaf

    @property
    def n_islands(self) -> int:
        """Number of islands (or chains)."""
        return self.island_shares.size

    @property
    def is_exact(self) -> bool:
        """Whether predictions and evidence are sums over all possible trees rather than over `trees`."""
        return False

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The names of what else was known of the training rows; none without a fingerprint."""
        return () if self.fingerprint is None else tuple(self.fingerprint.row_columns)

    @property
    def is_chain(self) -> bool:
        """Whether the runs are Markov chains, whose trace has the tree of every kept iteration."""
        return self.provenance.kind == CHAIN

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Posterior probability of each tree; read-only, because it is computed from the islands."""
        weights = np.asarray(self.island_weights.T @ self.island_shares, dtype=np.float64)
        weights.flags.writeable = False
        return weights

    @property
    def trees(self) -> Trees:
        """The distinct trees, as a lazy sequence."""
        return Trees(self.forest, self.target, self.leaf, self.feature_names, self.columns)

    @property
    def root_statistics(self) -> NDArray[np.float64]:
        """The statistics of all training rows, those of the root of every tree."""
        return self.forest.root_statistics

    @property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree."""
        return self.forest.n_leaves

    @property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each tree; a tree that is only a root has depth 0."""
        return self.forest.depths

    @property
    def log_prior_masses(self) -> NDArray[np.float64]:
        """Log prior probability of each tree, with thresholds anywhere in their gaps: density times volume of the gaps.

        Unlike a density, it does not depend on the units of the features.
        """
        return self.log_priors + self.forest.log_gap_volumes

    @property
    def effective_sample_size(self) -> float:
        """Effective sample size of the distinct trees: 1 / sum of squared weights."""
        return float(1.0 / np.square(self.weights).sum())

    @property
    def log_evidence(self) -> float:
        """Log of the mean of the islands' evidences p(Y | X); Markov chains have none."""
        return float(evidence.log_mean(self._estimated_evidences()))

    @cached_property
    def log_evidence_se(self) -> float:
        """Standard error of `log_evidence` from the spread of the islands (``evidence.py``); nan for a single island.

        It is that of the log of a mean, which the largest islands dominate and which tends to be too low. Two of them
        hold the exact value in 86% (numbers) and 89% (classes) of small tables by default. It does not account for
        trees that all islands have missed: compare `log_evidence_bound`.
        """
        return evidence.standard_error(self._estimated_evidences())

    @cached_property
    def log_evidence_bound(self) -> float:
        """A lower bound of the log evidence: the summed prior probability times likelihood of the distinct trees.

        It is valid for any set of trees (``evidence.py``). If it exceeds `log_evidence`, that estimate is too low.
        """
        return evidence.log_lower_bound(self.forest, self.log_prior_masses + self.log_likelihoods)

    def _estimated_evidences(self) -> NDArray[np.float64]:
        if self.log_evidences is None:
            raise AttributeError(NO_EVIDENCE)
        return self.log_evidences

    def best_tree(self) -> Tree:
        """Return the most probable tree; trees that differ only by thresholds within the same gaps count as one.

        It is the one with the highest `log_prior_masses + log_likelihoods`; the first of several.
        """
        scores = self.log_prior_masses + self.log_likelihoods
        return self.trees[int(np.argmax(np.isclose(scores, scores.max(), rtol=1e-12, atol=1e-9)))]

    def sample(
        self, n: int = 1, random_state: int | np.random.Generator | np.random.RandomState | None = None
    ) -> list[Tree]:
        """Draw `n` trees from the posterior, independently and with replacement."""
        if not isinstance(n, numbers.Integral) or isinstance(n, bool):
            raise TypeError(f"n must be an integer, the number of trees to draw, got {n!r}.")
        if n < 0:
            raise ValueError(f"n must be at least 0, got {n!r}.")
        given = isinstance(random_state, (np.random.Generator, np.random.RandomState))
        generator = cast("np.random.Generator", random_state) if given else np.random.default_rng(random_state)
        probabilities = self.weights / self.weights.sum()
        return [self.trees[int(t)] for t in generator.choice(self.forest.n_trees, size=n, p=probabilities)]

    @cached_property
    def predictions(self) -> Predictions:
        """The predictions for rows that have been checked already; the compiled trees are cached."""
        return Predictions(self.forest, self.weights, self.leaf, self.n_features, self.target.n_outputs)

    def leaf_blocks(self, rows: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the block of the leaf of each row in each tree, shape (n_rows, n_trees); rows must be checked."""
        return _kernel.apply(np.ascontiguousarray(rows), self.forest.as_bytes(), self.forest.roots)

    def along_chains(self, values: ArrayLike) -> list[NDArray[Any]]:
        """Return, for each chain, the values of the trees of its kept iterations, in order.

        Examples
        --------
        `posterior.along_chains(posterior.n_leaves)` is what a trace plot of the number of leaves shows.
        """
        self._require_chains("along_chains()")
        by_tree = np.asarray(values)
        return [by_tree[trace["tree"]] for trace in self.trace]

    def until(self: Self, iteration: int) -> Self:
        """Return the posterior of the first iterations of each chain, without fitting again.

        It has only the trees that were visited by then. Together with the field `seconds` of the trace it shows how
        results improve with time.

        Parameters
        ----------
        iteration : int
            Number of iterations of each chain, counted from its start, burn-in included.
        """
        self._require_chains("until()")
        if not isinstance(iteration, numbers.Integral) or isinstance(iteration, bool) or iteration < 1:
            raise ValueError(f"iteration must be an integer of at least 1, got {iteration!r}.")
        traces = [trace[trace["iteration"] <= iteration] for trace in self.trace]
        if min(trace.size for trace in traces) == 0:
            raise ValueError(f"No iteration is kept among the first {iteration}; ask for more than the burn-in.")
        visited = np.unique(np.concatenate([trace["tree"] for trace in traces]))
        for trace in traces:
            trace["tree"] = np.searchsorted(visited, trace["tree"])
        return replace(
            self,
            forest=self.forest.select(visited),
            log_likelihoods=self.log_likelihoods[visited],
            log_priors=self.log_priors[visited],
            island_weights=visit_shares(traces, visited.size),
            trace=traces,
        )

    def _require_chains(self, question: str) -> None:
        if not self.is_chain:
            raise ValueError(f"Islands of particles have no order in time; {question} is for MCMC.")

    def __repr__(self) -> str:
        trees = "1 tree" if self.forest.n_trees == 1 else f"{self.forest.n_trees} trees"
        run = "chain" if self.is_chain else "island"
        runs = f"1 {run}" if self.n_islands == 1 else f"{self.n_islands} {run}s"
        return f"{type(self).__name__}({trees} from {runs})"
