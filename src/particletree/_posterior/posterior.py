r"""The posterior over trees, the result of a sampler, with all its methods.

All results are averages over the weighted trees (``weighted_trees.py``): the predictive distribution and credible
intervals (``predictions/``), the structure of the trees (``structure/``) and others. Each has a room of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data import DataFingerprint
from particletree._model.columns import Columns
from particletree._model.leaf import LeafModel
from particletree._model.prior import Prior
from particletree._model.target import Target
from particletree._model.tree.tree import Tree
from particletree._posterior.base import Storage
from particletree._posterior.explanation.explanation import explain
from particletree._posterior.exports.arviz import to_arviz
from particletree._posterior.exports.onnx import to_onnx
from particletree._posterior.files import trees as storage
from particletree._posterior.findings import Findings, checked_rows, find
from particletree._posterior.joining import Island, check_posteriors, independent_islands, join_islands
from particletree._posterior.predictions.trees import check_level
from particletree._posterior.runs.convergence import ConvergenceReport
from particletree._posterior.runs.provenance import Provenance, infer_provenance, merge_provenances
from particletree._posterior.structure import consensus, importances
from particletree._posterior.structure.splits import NodeProbabilities, SplitGraph
from particletree._posterior.structure.support import CredibleSplit, Decisions, TreeDecisions, credible_splits, supports
from particletree._posterior.summary.agreement import Agreement, measure_agreement
from particletree._posterior.summary.trees import Summary, report_convergence, summarize
from particletree._posterior.validity import check_weighted_trees
from particletree._posterior.weighted_trees import WeightedTrees


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Posterior(WeightedTrees):
    """The posterior over decision trees given the data: weighted trees, with the attributes of `WeightedTrees`.

    Examples
    --------
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    >>> posterior
    Posterior(61 trees from 7 islands)
    >>> posterior.predictive([[1.0], [2.0]]).round(3)
    array([[0.907, 0.093],
           [0.807, 0.193]])
    >>> posterior.predictive_interval([[1.0]], level=0.9).round(3)
    array([[[0.457, 1.   ],
            [0.   , 0.543]]])
    >>> print(posterior.best_tree())
    x[0] <= 2.020016795321074
    ├── yes: class 0, p = 0.95 (3 rows: 3 of class 0)
    └── no: class 1, p = 0.95 (3 rows: 3 of class 1)
    """

    family: ClassVar[str] = "single trees"
    storage: ClassVar[Storage] = storage

    @classmethod
    def from_islands(
        cls,
        islands: Sequence[Island],
        *,
        leaf: LeafModel,
        prior: Prior,
        n_features: int,
        target: Target,
        feature_names: list[str] | None = None,
        fingerprint: DataFingerprint | None = None,
        island_weighting: str = "uniform",
        kept_rows: NDArray[np.float64] | None = None,
        provenance: Provenance | None = None,
    ) -> Posterior:
        """Join islands; a tree that occurs in several particles or islands is kept once, with the sum of its weights.

        The features are taken as numbers without missing values, unless `columns` is replaced.

        Parameters
        ----------
        islands : sequence of Island
            At least one.
        leaf, prior, n_features, target, feature_names, fingerprint, kept_rows
            As in the class.
        island_weighting : {"uniform", "evidence"}
            Whether islands have equal weights, or weights in proportion to their evidence.
        provenance : Provenance, optional
            How the islands were made; None infers their kind from their traces.
        """
        return cls(
            **join_islands(islands, island_weighting),
            leaf=leaf,
            prior=prior,
            n_features=n_features,
            target=target,
            feature_names=feature_names,
            columns=Columns(n_features),
            kept_rows=kept_rows,
            fingerprint=fingerprint,
            provenance=provenance or infer_provenance([island.trace for island in islands]),
        )

    @staticmethod
    def merge(posteriors: Iterable[Posterior], island_weighting: str = "uniform") -> Posterior:
        """Merge posteriors of separate fits, on several machines or days, as if one fit had run all their islands.

        They must have the same model, the same data and the same kind of sampler, with different seeds; otherwise the
        error says what differs.

        Parameters
        ----------
        posteriors : iterable of Posterior
            At least one; they may have been loaded from files.
        island_weighting : {"uniform", "evidence"}
            Whether islands have equal weights (a posterior of three islands counts three times as much as one of a
            single island), or weights in proportion to their evidence. The earlier weights of islands are not used.

        Examples
        --------
        >>> from particletree import SMC, BayesianTreeClassifier, Posterior
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> fits = [BayesianTreeClassifier(sampler=SMC(n_islands=2), random_state=i).fit(X, y) for i in range(3)]
        >>> Posterior.merge(fit.posterior_ for fit in fits).n_islands
        6
        """
        parts = check_posteriors(posteriors, Posterior)
        first = parts[0]
        with_rows = next((part for part in parts if part.kept_rows is not None), first)
        merged = Posterior.from_islands(
            independent_islands(parts),
            leaf=first.leaf,
            prior=first.prior,
            n_features=first.n_features,
            feature_names=first.feature_names,
            target=first.target,
            fingerprint=first.fingerprint,
            island_weighting=island_weighting,
            kept_rows=with_rows.kept_rows,
            provenance=merge_provenances([part.provenance for part in parts]),
        )
        numbers = with_rows.kept_row_numbers
        return replace(merged, choice=first.choice, columns=first.columns, kept_row_numbers=numbers)

    def _importances(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return importances.importances_of_trees(self, rows)

    def gain_shares(self) -> NDArray[np.float64]:
        """Return the share of each feature in the gain in log marginal likelihood of all splits, shape (n_features,).

        It needs no rows; a gain is that of the split of a block into two (``structure/importances.py``).
        `feature_importances` is the share in what the predictions explain.
        """
        return importances.gain_shares(self)

    def inclusion_probabilities(self) -> NDArray[np.float64]:
        """Return the posterior probability that a tree cuts each feature at least once, shape (n_features,)."""
        return importances.inclusion_probabilities(self)

    @cached_property
    def splits(self) -> SplitGraph:
        """The decisions on every block of the trees, with their posterior probabilities (``splits.py``)."""
        return SplitGraph.from_forest(self.forest, self.weights)

    @property
    def first_decisions(self) -> Decisions:
        """What the trees decide at the root (``support.py``)."""
        return TreeDecisions.of(self, self.forest.roots, np.arange(self.forest.n_trees))

    def node_probabilities(self, tree: Tree) -> NodeProbabilities:
        """Return the posterior probabilities of the decision (split or stop) at each node of a tree.

        Parameters
        ----------
        tree : Tree
            A tree of this posterior: `best_tree()`, an element of `trees`, or one of these rounded.

        Returns
        -------
        NodeProbabilities
            For each node its `support`: the probability that a tree makes about the same splits from the root down to
            the node, where cuts of a feature that move at most 10% of the rows are about the same; and the number of
            islands or chains in which a tree does so (`n_runs`). What one run alone has found may be an accident. The
            other probabilities are of exactly these rows and sides: of the decision given the node's rows
            (`conditional`), that a tree has the node with this decision (`marginal`), and of all decisions from the
            root to the node (`path`). For sampled trees these are frequencies: rows that stand together in only one
            tree have conditional probability 1.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier, Exact
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
        >>> posterior = BayesianTreeClassifier(sampler=Exact(), random_state=0).fit(X, y).posterior_
        >>> tree = posterior.best_tree().rounded()
        >>> tree.rules
        ['x[0] <= 1.5', 'x[0] <= 0.5', '', '', 'x[0] <= 2.5', '', '']
        >>> posterior.node_probabilities(tree).support.round(2).tolist()
        [0.42, 0.31, 0.31, 0.31, 0.31, 0.31, 0.31]
        """
        exact = self.splits.probabilities(tree)
        return NodeProbabilities(*exact, *supports(tree, self.first_decisions, self.columns))

    def credible_splits(self, level: float = 0.9, tree: Tree | None = None, node: int = 0) -> list[CredibleSplit]:
        """Return the credible set of splits: the smallest set of decisions of a node with probability `level` or more.

        Parameters
        ----------
        level : float, default 0.9
            Posterior probability of the set, strictly between 0 and 1.
        tree : Tree, default None
            The tree of the node; None means `best_tree()`. The root is the same for all trees.
        node : int, default 0
            Index of the node in the tree; the probabilities are those of the trees that make about the same splits
            above it.

        Returns
        -------
        list of CredibleSplit
            The decisions, the most probable first, each with its feature, rule as text, probability, range of
            thresholds and number of runs. Cuts of a feature that move at most 10% of the node's rows count as one
            decision, as in the `support` of `node_probabilities`. Stopping is a decision too.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier, Exact
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
        >>> posterior = BayesianTreeClassifier(sampler=Exact(), random_state=0).fit(X, y).posterior_
        >>> tree = posterior.best_tree().rounded()
        >>> [(split.rule, round(split.probability, 2)) for split in posterior.credible_splits(tree=tree)]
        [('x[0] <= 1.5', 0.42), ('x[0] <= 0.5', 0.28), ('x[0] <= 2.5', 0.28)]
        """
        check_level(level)
        return credible_splits(self.first_decisions, float(level), self.best_tree() if tree is None else tree, node)

    def consensus_tree(self, X: ArrayLike | None = None) -> Tree:
        """Return the single tree whose predictions are closest to those of the whole posterior.

        It is assembled from the splits of all trees, and need not be one of them; a split must improve the expected log
        probability by one. On test rows it predicts better than `best_tree()`, the most probable tree.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features), default None
            Rows of the training data, on which predictions are compared; at most 5,000 of them, evenly spaced, are
            used. None means the rows that the posterior has kept, at most 1,000.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
        >>> tree = posterior.consensus_tree()
        >>> tree.n_leaves, round(posterior.explained_share(tree), 2)
        (5, 0.99)
        """
        return consensus.consensus_tree(self, self._rows_or_kept(X))

    def explained_share(self, tree: Tree, X: ArrayLike | None = None) -> float:
        """Return the share of the variance of the posterior's predictions that one tree explains (R squared).

        1 means that the tree alone predicts the same as all trees together, 0 that it is no better than their mean. `X`
        is as in `consensus_tree`, but need not be training rows.
        """
        return consensus.explained_share(self, tree, self._rows_or_kept(X))

    explain = explain
    to_onnx = to_onnx

    def findings(
        self, X_test: ArrayLike | None = None, y_test: ArrayLike | None = None, **row_columns: ArrayLike | None
    ) -> Findings:
        """Return the findings about the posterior, warnings first, each with its number and what to do about it.

        Parameters
        ----------
        X_test : array-like or data frame, shape (n_rows, n_features), default None
            Held-out rows, on which the predictions are compared with a constant; nothing else shows that they are
            better.
        y_test : array-like, default None
            Their targets.
        **row_columns : array-like, shape (n_rows,)
            What the fit knew of each row besides, with the ending "_test": `exposure_test` for the counts y_test of
            `leaf=Poisson()`, if the fit had an exposure.

        Returns
        -------
        Findings
            A tuple of `Finding`, each with `level` ("good", "note" or "warning"), `name`, `finding`, `number`,
            `threshold` and `advice`; `print` it to read it. ``docs/diagnostics.md`` lists them all.

        Examples
        --------
        >>> from particletree import SMC, BayesianTreeClassifier
        >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
        >>> posterior = BayesianTreeClassifier(sampler=SMC(n_islands=1), random_state=0).fit(X, y).posterior_
        >>> found = posterior.findings()
        >>> found[0].level, found[0].name, found[0].advice
        ('warning', 'one_island', 'Run two or more (n_islands).')
        """
        return find(self, self.agreement, checked_rows(self, X_test, y_test, row_columns))

    @cached_property
    def agreement(self) -> Agreement:
        """Agreement of the islands or chains on predictions and gain shares (``agreement.py``)."""
        return measure_agreement(self)

    def convergence(self) -> ConvergenceReport:
        """Return R-hat and effective sample sizes of the log posterior and the trees' sizes, and acceptance rates.

        They are of Markov chains; of islands of particles `summary()` says how far they agree.
        """
        if not self.is_chain:
            raise ValueError(
                "These runs are islands of particles, not Markov chains, and have no R-hat: summary() says how far "
                "they agree, and agreement has the numbers."
            )
        return report_convergence(self)

    def summary(self) -> Summary:
        """Return a summary of the posterior, with a verdict on how far its runs agree; `print` it."""
        return summarize(self, self.agreement)

    def to_arviz(self, n_draws: int = 1000, random_state: int | np.random.Generator = 0) -> Any:
        """Convert to ArviZ: an `InferenceData` (ArviZ 0.x) or `DataTree` (1.x) of numbers of each tree.

        Parameters
        ----------
        n_draws : int, default 1000
            Draws per island of particles; the draws of a Markov chain are its kept iterations.
        random_state : int or Generator, default 0
            Seed of the draws from the islands.
        """
        return to_arviz(self, n_draws, random_state)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # invalid numbers raise errors, not warnings
    def check(self) -> None:
        """Raise a `ValueError` that names the rule if the parts do not fit together (``validity.py``)."""
        check_weighted_trees(self)
