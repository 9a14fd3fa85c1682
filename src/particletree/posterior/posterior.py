r"""The posterior over trees: what a sampler returns, and every question that can be asked of it.

A sampler leaves weighted trees. Trees that occur several times are kept once, with the sum of their weights. What each
island says is kept too (`island_weights`), because the difference between islands is what tells how far the answer can
be trusted; the posterior is their average,

.. math:: w_t = \sum_i \text{share}_i \, w_{it},

with equal shares (the paper) or shares in proportion to the islands' evidences. Every answer below is a mean under
these weights: the predictive distribution, credible intervals (``intervals.py``), the importance of a feature.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from particletree import _kernel
from particletree.data import DataFingerprint, check_rows
from particletree.model.forest import Forest
from particletree.model.leaf import LeafModel
from particletree.model.prior import TreePrior
from particletree.model.target import Target
from particletree.model.tree import Tree
from particletree.model.trees import Trees
from particletree.posterior import chains, evidence, importances, merging, storage
from particletree.posterior.agreement import Agreement, measure_agreement
from particletree.posterior.arviz import to_arviz
from particletree.posterior.island import Island
from particletree.posterior.joining import join_islands
from particletree.posterior.predictions import Predictions, check_level
from particletree.posterior.provenance import CHAIN, Provenance, infer_provenance, merge_provenances
from particletree.posterior.sharing import as_bytes
from particletree.posterior.summary import Summary, summarize
from particletree.posterior.validity import check_posterior


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Posterior:
    """Weighted trees: the posterior over decision trees given the data.

    Attributes
    ----------
    forest : Forest
        The distinct trees.
    leaf : LeafModel
        The leaf model, every parameter with a value.
    prior : TreePrior
        The prior over trees.
    n_features : int
        Number of features of the data.
    feature_names : list of str or None
        Their names.
    target : ClassLabels or Numbers
        What is predicted.
    log_likelihoods, log_priors : ndarray, shape (n_trees,)
        Log likelihood of the targets, and log density of the prior (``model/prior.py``), for each tree.
    island_weights : csr_array, shape (n_islands, n_trees)
        What each island says; each row sums to 1.
    island_shares : ndarray, shape (n_islands,)
        Weights of the islands, which sum to 1.
    log_evidences : ndarray, shape (n_islands,), or None
        Each island's estimate of the log evidence, None if the sampler gives none.
    trace : list of structured ndarray
        For each island one record for each stage.
    kept_rows : ndarray, shape (n, n_features), or None
        Some rows of the training data, on which the islands' predictions are compared. They are neither saved nor
        pickled; what was found on them is.
    kept_agreement : Agreement or None
        What the comparison of the islands has found, of a posterior that was saved or pickled.
    fingerprint : DataFingerprint or None
        Hashes of the training data, by which `merge` refuses posteriors of other data; None if they are not known.
    provenance : Provenance
        The kind of runs, the sampler and its settings, the seed and the version of the package.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.model import Categorical, ClassLabels, Forest, TreePrior
    >>> from particletree.posterior import Island, Posterior
    >>> forest = Forest.from_preorder(
    ...     offsets=[0, 3, 4],
    ...     feature=[0, -1, -1, -1],
    ...     threshold=[1.37, np.nan, np.nan, np.nan],
    ...     gap_low=[1.0, np.nan, np.nan, np.nan],
    ...     gap_high=[2.0, np.nan, np.nan, np.nan],
    ...     right=[2, -1, -1, -1],
    ...     block=[0, 1, 2, 0],
    ...     statistics=np.array([[4.0, 3.0], [4.0, 0.0], [0.0, 3.0]]),
    ... )
    >>> island = Island(forest, np.array([0.8, 0.2]), np.array([-3.1, -4.9]), np.array([-1.0, -0.5]), -3.4, np.empty(0))
    >>> model = {"leaf": Categorical(2.0), "prior": TreePrior(), "target": ClassLabels(np.arange(2))}
    >>> posterior = Posterior.from_islands([island], n_features=1, **model)
    >>> posterior
    Posterior(2 trees from 1 island)
    >>> posterior.predictive([[1.0], [2.0]]).round(3)
    array([[0.778, 0.222],
           [0.271, 0.729]])
    >>> posterior.predictive_interval([[1.0]], level=0.9).round(3)
    array([[[0.416, 0.987],
            [0.013, 0.584]]])
    >>> print(posterior.best_tree())
    x[0] <= 1.37
    ├── yes: class 0, p = 0.83 (4 rows: 4 of class 0)
    └── no: class 1, p = 0.80 (3 rows: 3 of class 1)
    """

    forest: Forest
    leaf: LeafModel
    prior: TreePrior
    n_features: int
    feature_names: list[str] | None
    target: Target
    log_likelihoods: NDArray[np.float64]
    log_priors: NDArray[np.float64]
    island_weights: csr_array[Any]
    island_shares: NDArray[np.float64]
    log_evidences: NDArray[np.float64] | None
    trace: list[NDArray[Any]]
    provenance: Provenance
    kept_rows: NDArray[np.float64] | None = None
    kept_agreement: Agreement | None = None
    fingerprint: DataFingerprint | None = None

    @classmethod
    def from_islands(
        cls,
        islands: Sequence[Island],
        *,
        leaf: LeafModel,
        prior: TreePrior,
        n_features: int,
        target: Target,
        feature_names: list[str] | None = None,
        fingerprint: DataFingerprint | None = None,
        island_weighting: str = "uniform",
        kept_rows: NDArray[np.float64] | None = None,
        provenance: Provenance | None = None,
    ) -> Posterior:
        """Join the islands; a tree that several particles or islands hold is kept once, with the sum of its weights.

        Parameters
        ----------
        islands : sequence of Island
            At least one.
        leaf, prior, n_features, target, feature_names, fingerprint, kept_rows
            As in the class.
        island_weighting : {"uniform", "evidence"}
            Whether every island counts the same or in proportion to its evidence.
        provenance : Provenance, optional
            How the islands were made; None infers their kind from what they have recorded.
        """
        return cls(
            **join_islands(islands, island_weighting),
            leaf=leaf,
            prior=prior,
            n_features=n_features,
            target=target,
            feature_names=feature_names,
            kept_rows=kept_rows,
            fingerprint=fingerprint,
            provenance=provenance or infer_provenance([island.trace for island in islands]),
        )

    @staticmethod
    def merge(posteriors: Iterable[Posterior], island_weighting: str = "uniform") -> Posterior:
        """Join posteriors that were fitted apart, on other machines or days, as if one fit had run all their islands.

        They must be of the same model, the same data and the same kind of sampler, with seeds of their own; the error
        says what differs.

        Parameters
        ----------
        posteriors : iterable of Posterior
            At least one; those read by `load` are as good as others.
        island_weighting : {"uniform", "evidence"}
            Whether every island counts the same, so that a posterior of three weighs three times one of one, or in
            proportion to its evidence. It decides alone: how the islands were weighted before is forgotten.

        Examples
        --------
        >>> from particletree import SMC, BayesianTreeClassifier, Posterior
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> fits = [BayesianTreeClassifier(sampler=SMC(n_islands=2), random_state=i).fit(X, y) for i in range(3)]
        >>> Posterior.merge(fit.posterior_ for fit in fits).n_islands
        6
        """
        parts = merging.check_posteriors(posteriors, Posterior)
        first = parts[0]
        return Posterior.from_islands(
            merging.independent_islands(parts),
            leaf=first.leaf,
            prior=first.prior,
            n_features=first.n_features,
            feature_names=first.feature_names,
            target=first.target,
            fingerprint=first.fingerprint,
            island_weighting=island_weighting,
            kept_rows=next((part.kept_rows for part in parts if part.kept_rows is not None), None),
            provenance=merge_provenances([part.provenance for part in parts]),
        )

    @property
    def n_islands(self) -> int:
        """Number of islands (or chains)."""
        return self.island_shares.size

    @property
    def is_exact(self) -> bool:
        """Whether predictions and evidence are sums over all trees rather than over those that are listed."""
        return False

    @property
    def is_chain(self) -> bool:
        """Whether the runs are Markov chains, whose trace tells the tree of every kept iteration."""
        return self.provenance.kind == CHAIN

    def along_chains(self, values: ArrayLike) -> list[NDArray[Any]]:
        """Return, for each chain, the values of the trees that its kept iterations visit, in order.

        Examples
        --------
        `posterior.along_chains(posterior.n_leaves)` is what a trace plot of the number of leaves shows.
        """
        return chains.along_chains(self, values)

    def until(self, iteration: int) -> Posterior:
        """Return the posterior as it was after the first iterations of each chain, without fitting again.

        It has the trees that were visited by then and no others. Together with the field `seconds` of the trace it
        shows how answers improve with time.

        Parameters
        ----------
        iteration : int
            Number of iterations of each chain, counted from its start, burn-in included.
        """
        return chains.until(self, iteration)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Posterior probability of each tree; read-only, because it follows from the islands."""
        weights = np.asarray(self.island_weights.T @ self.island_shares, dtype=np.float64)
        weights.flags.writeable = False
        return weights

    @property
    def trees(self) -> Trees:
        """The distinct trees, as a sequence that makes each one when it is asked for."""
        return Trees(self.forest, self.target, self.leaf, self.feature_names)

    @property
    def root_statistics(self) -> NDArray[np.float64]:
        """The statistics of all training rows, which the root of any tree holds."""
        return np.asarray(self.forest.statistics[self.forest.nodes["block"][self.forest.roots[0]]])

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
        """Log prior probability of each tree, its thresholds taken anywhere in their gaps: the density times the gaps.

        A density has the units of the features in it, a probability has not.
        """
        return self.log_priors + self.forest.log_gap_volumes

    @property
    def effective_sample_size(self) -> float:
        """How many equally weighted distinct trees would be as informative: 1 / sum of squared weights."""
        return float(1.0 / np.square(self.weights).sum())

    @property
    def log_evidence(self) -> float:
        """Log of the mean of the islands' evidences p(Y | X); nan if the sampler gives none."""
        return float("nan") if self.log_evidences is None else float(evidence.log_mean(self.log_evidences))

    @cached_property
    def log_evidence_se(self) -> float:
        """Standard error of `log_evidence` from the spread of the islands (``evidence.py``); nan for a single island.

        It is that of the log of a mean, in which the largest islands decide, and knows nothing of trees that all
        islands have missed: compare `log_evidence_bound`.
        """
        return float("nan") if self.log_evidences is None else evidence.standard_error(self.log_evidences)

    @cached_property
    def log_evidence_bound(self) -> float:
        """A lower bound of the log evidence: the summed prior probability times likelihood of the distinct trees.

        It holds whatever the sampler did (``evidence.py``). Where it exceeds `log_evidence`, that estimate is too low.
        """
        return evidence.log_lower_bound(self.forest, self.log_prior_masses + self.log_likelihoods)

    def best_tree(self) -> Tree:
        """Return the most probable tree, where trees that differ only by thresholds within the same gaps are the same.

        That is the highest `log_prior_masses + log_likelihoods`; among equals the first.
        """
        scores = self.log_prior_masses + self.log_likelihoods
        return self.trees[int(np.argmax(np.isclose(scores, scores.max(), rtol=1e-12, atol=1e-9)))]

    def sample(
        self, n: int = 1, random_state: int | np.random.Generator | np.random.RandomState | None = None
    ) -> list[Tree]:
        """Draw `n` trees from the posterior, independently; the same tree may come up more than once."""
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
        """The answers to rows that have been checked already; what is compiled for the first serves the others."""
        return Predictions(self)

    def predictive(self, X: ArrayLike, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the posterior predictive class probabilities or means of each row, shape (n_rows, n_outputs).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows; a frame must have the columns that the posterior was fitted to.
        n_jobs : int, default None
            How many batches of rows are handled at a time, in threads; None means 1.
        """
        return self.predictions.means(self._check_rows(X), n_jobs)

    def predictive_interval(self, X: ArrayLike, level: float = 0.9, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return equal-tailed credible intervals of the class probabilities or means, shape (n_rows, n_outputs, 2).

        Parameters
        ----------
        X, n_jobs
            As in `predictive`.
        level : float, default 0.9
            Posterior probability that the class probability or mean lies in its interval, strictly between 0 and 1.
        """
        check_level(level)
        return self.predictions.intervals(self._check_rows(X), float(level), n_jobs)

    def feature_importances(self) -> NDArray[np.float64]:
        """Return the share of each feature in the gain in log marginal likelihood (``importances.py``)."""
        return importances.feature_importances(self)

    def inclusion_probabilities(self) -> NDArray[np.float64]:
        """Return the posterior probability that a tree cuts each feature at least once, shape (n_features,)."""
        return importances.inclusion_probabilities(self)

    @cached_property
    def agreement(self) -> Agreement:
        """How far the islands or chains agree on predictions and importances (``agreement.py``)."""
        return self.kept_agreement or measure_agreement(self)

    def leaf_blocks_of_kept_rows(self) -> NDArray[np.int32] | None:
        """Return the block of the leaf that each kept row falls into in each tree; None if no rows were kept."""
        if self.kept_rows is None:
            return None
        return _kernel.apply(np.ascontiguousarray(self.kept_rows), as_bytes(self.forest), self.forest.roots)

    def summary(self) -> Summary:
        """Summarise the posterior and say in plain words how far it can be trusted; `print` it."""
        return summarize(self)

    def to_arviz(self, n_draws: int = 1000, random_state: int | np.random.Generator = 0) -> Any:
        """Hand over to ArviZ: an `InferenceData` (ArviZ 0.x) or `DataTree` (1.x); see ``arviz.py``.

        Parameters
        ----------
        n_draws : int, default 1000
            Draws from each island of particles. A chain has as many as it has kept iterations.
        random_state : int or Generator, default 0
            Of the draws from the islands.
        """
        return to_arviz(self, n_draws, random_state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the posterior to a file, in the open format of ``storage.py``."""
        storage.save(path, self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Posterior:
        """Read a posterior from a file; nothing in the file is executed, and a damaged file raises a `ValueError`."""
        try:
            posterior = Posterior(**storage.load(path))
            posterior.check()
        except ValueError as error:
            raise ValueError(f"Cannot load a posterior from {os.fspath(path)}: {error}") from error
        return posterior

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # hostile numbers are refused, without a warning
    def check(self) -> None:
        """Raise a `ValueError` that names the rule if the parts do not fit together (``validity.py``)."""
        check_posterior(self)

    def __repr__(self) -> str:
        trees = "1 tree" if self.forest.n_trees == 1 else f"{self.forest.n_trees} trees"
        run = "chain" if self.is_chain else "island"
        runs = f"1 {run}" if self.n_islands == 1 else f"{self.n_islands} {run}s"
        return f"{type(self).__name__}({trees} from {runs})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what follows from them is worked out anew, and the kernel's part cannot travel.

        Rows of the training data do not travel either, so what they tell is worked out first.
        """
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return state | {"kept_rows": None, "kept_agreement": self.agreement}

    def _check_rows(self, X: ArrayLike) -> NDArray[np.float64]:
        return check_rows(X, self.n_features, self.feature_names)
