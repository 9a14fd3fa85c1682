"""The posterior of sums of trees (BART): draws from Markov chains, with predictions, diagnostics and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._posterior.base import Storage, some_rows
from particletree._posterior.exports.arviz import LIBRARY, in_the_form_of_arviz
from particletree._posterior.files import sums as storage
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.runs.traces import SumRecord
from particletree._posterior.structure import importances
from particletree._posterior.summary.sums import MANY_ROWS, BARTSummary, SumConvergence, measure_convergence, summarize
from particletree._posterior.sums_of_trees import SumsOfTrees
from particletree._posterior.validity import check_sums_of_trees

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BARTPosterior(SumsOfTrees):
    """The posterior of sums of trees: draws of the trees and of the noise, with the attributes of `SumsOfTrees`.

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

    def _importances(self, rows: Floats) -> Floats:
        return importances.importances_of_sums(self, rows)

    def convergence(self, X: ArrayLike | None = None) -> SumConvergence:
        """Return R-hat and effective sample sizes of the noise and of the sums at some rows, at most 100 of X.

        Parameters
        ----------
        X : array-like or data frame, default None
            The rows; None means some rows of the training data.
        """
        if X is not None:
            return measure_convergence(self, some_rows(self.as_numbers(X), MANY_ROWS))
        return self._convergence

    @cached_property
    def _convergence(self) -> SumConvergence:
        """The convergence at the kept rows."""
        return measure_convergence(self, some_rows(self._rows_or_kept(None), MANY_ROWS))

    def summary(self) -> BARTSummary:
        """Return a summary of the posterior, with a verdict on its convergence; `print` it."""
        if self.kept_rows is None:
            return summarize(self, convergence=None, importances=None)
        return summarize(self, self.convergence(), self.feature_importances())

    def check(self) -> None:
        """Raise a `ValueError` that names the rule if the parts do not fit together (``validity.py``)."""
        check_sums_of_trees(self)

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
