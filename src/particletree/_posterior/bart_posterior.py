"""The posterior of sums of trees (BART): draws from Markov chains, with predictions, diagnostics and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._model.bart import Scaling, SumPrior
from particletree._model.parameters import Parameters
from particletree._model.target import ClassLabels
from particletree._posterior.base import BasePosterior, Storage
from particletree._posterior.exports.arviz import LIBRARY, in_the_form_of_arviz
from particletree._posterior.files import sums as storage
from particletree._posterior.predictions.sums import ClassPredictions, NumberPredictions
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs import sum_convergence as agreement
from particletree._posterior.runs.sum_convergence import SumConvergence
from particletree._posterior.runs.sum_records import SumRecord
from particletree._posterior.state.sums_validity import check_posterior
from particletree._posterior.structure import sum_importances as importances
from particletree._posterior.words.bart_summary import BARTSummary, summarize

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BARTPosterior(BasePosterior):
    """The posterior of sums of trees: draws of the trees and of the noise.

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

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from particletree import BARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BARTRegressor(random_state=0).fit(X, y)
    >>> posterior = model.posterior_
    >>> posterior
    BARTPosterior(1000 draws of 200 trees from 4 chains)
    >>> posterior.n_draws, posterior.predictive_draws(X[:3]).shape
    (1000, (3, 1000, 1))
    """

    family: ClassVar[str] = "sums of trees"
    storage: ClassVar[Storage] = storage

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
        return ClassPredictions(self) if self.is_classes else NumberPredictions(self)

    def along_chains(self, values: ArrayLike) -> list[NDArray[Any]]:
        """Return, for each chain, the values of its draws in order: `along_chains(posterior.noise_sd)` is a trace."""
        of_draws = np.asarray(values)
        return [of_draws[self.chain == number] for number in range(self.n_chains)]

    def to_arviz(self, X: ArrayLike | None = None) -> Any:
        """Convert to ArviZ: an `InferenceData` (ArviZ 0.x) or `DataTree` (1.x).

        The variables are `noise_sd` (for regression), `n_leaves` of all trees together, `log_likelihood`, and, if `X`
        is given, `function` or `probability` at its rows; all by chain and draw.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from particletree import BARTRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BARTRegressor(random_state=0).fit(X, y)
        >>> model.posterior_.to_arviz(X[:3]).posterior["function"].shape
        (4, 250, 3)
        """
        if not self.records:
            raise ValueError("There is a single class: no chain was run, and ArviZ has nothing to show.")
        traces = np.stack([record.trace for record in self.records])
        variables: dict[str, NDArray[Any]] = {"n_leaves": traces["n_leaves"].sum(axis=0)}
        variables["log_likelihood"] = traces["log_likelihood"].sum(axis=0)
        if not self.is_classes:
            variables["noise_sd"] = self.noise_sd
        if X is not None:
            draws = np.moveaxis(self.predictive_draws(X), 1, 0)
            variables |= {"probability": draws} if self.is_classes else {"function": draws[..., 0]}
        by_chain = {name: np.stack(self.along_chains(values)) for name, values in variables.items()}
        return in_the_form_of_arviz({"posterior": by_chain}, LIBRARY | {"sampler": "BARTChains"})

    def predictive_draws(self, X: ArrayLike) -> Floats:
        """Return the function or the class probabilities under each draw, shape (n_rows, n_draws, n_outputs).

        For many rows this is a large array; `predictive`, `predictive_interval` and `predictive_quantiles` avoid it.
        """
        draws: Floats = self.predictions.draws(self.as_numbers(X))
        return draws

    def predictive_quantiles(self, X: ArrayLike, q: Sequence[float], n_jobs: int | None = None) -> Floats:
        """Return quantiles of the function or the class probabilities, shape (n_rows, n_outputs, len(q))."""
        quantiles: Floats = self.predictions.function_quantiles(self.as_numbers(X), q, n_jobs)
        return quantiles

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

    def feature_importances(self, X: ArrayLike | None = None) -> Floats:
        """Return the share of each feature in the variance of the mean function, shape (n_features,).

        It is the variance that is lost if the feature's values are replaced by those of other rows, divided by the sum
        over features (``additive/importances.py`` has the formula). Features that do not matter are near 0, however
        many splits they have; `variable_use` counts splits.

        Parameters
        ----------
        X : array-like or data frame, default None
            The rows, of which at most 100 are used; None means some rows of the training data.
        """
        if X is not None:
            return importances.feature_importances(self, agreement.some_rows(self.as_numbers(X)))
        return self._importances.copy()

    @cached_property
    def _importances(self) -> Floats:
        """The importances at the kept rows."""
        return importances.feature_importances(self, self._rows_or_kept(None))

    def convergence(self, X: ArrayLike | None = None) -> SumConvergence:
        """Return R-hat and effective sample sizes of the noise and of the sums at some rows, at most 100 of X.

        Parameters
        ----------
        X : array-like or data frame, default None
            The rows; None means some rows of the training data.
        """
        if X is not None:
            return agreement.measure_convergence(self, agreement.some_rows(self.as_numbers(X)))
        return self._convergence

    @cached_property
    def _convergence(self) -> SumConvergence:
        """The convergence at the kept rows."""
        return agreement.measure_convergence(self, agreement.some_rows(self._rows_or_kept(None)))

    def summary(self) -> BARTSummary:
        """Return a summary of the posterior, with a verdict on its convergence; `print` it."""
        return summarize(self)

    def check(self) -> None:
        """Raise a `ValueError` that names the rule if the parts do not fit together (``additive/validity.py``)."""
        check_posterior(self)

    def extended(self, later: BARTPosterior) -> BARTPosterior:
        """Return the posterior with later draws of the same chains added."""
        pairs = list(zip(self.sums, later.sums, strict=True))
        records = list(zip(self.records, later.records, strict=True))
        return replace(
            later,
            sums=tuple(TreeSums.join(pair) for pair in pairs),
            records=tuple(SumRecord.join(pair) for pair in records),
            n_iterations=self.n_iterations + later.n_iterations,
            n_burn_in=self.n_burn_in,
        )

    def __repr__(self) -> str:
        sums = f"{len(self.sums)} sums of " if len(self.sums) > 1 else ""
        counts = ((self.n_draws, "draw"), (self.n_trees, "tree"), (self.n_chains, "chain"))
        draws, trees, chains = (f"1 {noun}" if n == 1 else f"{n} {noun}s" for n, noun in counts)
        return f"{type(self).__name__}({draws} of {sums}{trees} from {chains})"
