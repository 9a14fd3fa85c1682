"""The posterior of sums of trees (BART): draws from Markov chains, with predictions, diagnostics and files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data import check_rows
from particletree._posterior import kept_rows
from particletree._posterior.exports.arviz import LIBRARY, in_the_form_of_arviz
from particletree._posterior.files import sums as storage
from particletree._posterior.files.archive import errors_about, read_archive
from particletree._posterior.posterior import Posterior
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.predictions.trees import check_level
from particletree._posterior.runs.traces import SumRecord
from particletree._posterior.structure import importances
from particletree._posterior.summary.sums import BARTSummary, SumConvergence, measure_convergence, some_rows, summarize
from particletree._posterior.sums_of_trees import SumsOfTrees
from particletree._posterior.validity import check_sums_of_trees

Floats = NDArray[np.float64]
_NO_TREE = "A sum has no single tree to show; particletree._plots.plot_dependence shows the effect of a feature."
_NO_SPLITS = "variable_use() has the shares of features in the splits, feature_importances() what they explain."
_NO_EVIDENCE = "Chains over sums do not estimate the evidence; compare models by cross-validation."
INSTEAD = {
    "findings": "summary() says whether the chains agree and what to do, convergence() has the numbers.",
    "agreement": "convergence() compares the chains.",
    "explain": "particletree._plots.plot_dependence shows the effect of a feature.",
    "merge": "To add draws, set warm_start=True and fit again to the same data.",
    "sample": "predictive_draws(X) has the function under each draw.",
    "to_onnx": "save() writes the sums to a file.",
    **dict.fromkeys(("best_tree", "consensus_tree", "trees", "forest"), _NO_TREE),
    **dict.fromkeys(("splits", "credible_splits", "inclusion_probabilities"), _NO_SPLITS),
    **dict.fromkeys(("log_evidence", "log_evidence_se", "log_evidence_bound", "log_evidences"), _NO_EVIDENCE),
}


@dataclass(frozen=True, eq=False, repr=False)
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
        return in_the_form_of_arviz({"posterior": by_chain}, LIBRARY | {"sampler": "SumChains"})

    def predictive(self, X: ArrayLike, n_jobs: int | None = None) -> Floats:
        """Return the predictive mean or the class probabilities of each row, shape (n_rows, n_outputs)."""
        means: Floats = self.predictions.means(self._check_rows(X), n_jobs)
        return means

    def predictive_draws(self, X: ArrayLike) -> Floats:
        """Return the function or the class probabilities under each draw, shape (n_rows, n_draws, n_outputs).

        For many rows this is a large array; `predictive`, `predictive_interval` and `predictive_quantiles` avoid it.
        """
        draws: Floats = self.predictions.draws(self._check_rows(X))
        return draws

    def predictive_interval(self, X: ArrayLike, level: float = 0.9, n_jobs: int | None = None) -> Floats:
        """Return equal-tailed intervals of the function or the class probabilities, shape (n_rows, n_outputs, 2)."""
        check_level(level)
        return self.predictive_quantiles(X, ((1 - level) / 2, (1 + level) / 2), n_jobs)

    def predictive_quantiles(self, X: ArrayLike, q: Sequence[float], n_jobs: int | None = None) -> Floats:
        """Return quantiles of the function or the class probabilities, shape (n_rows, n_outputs, len(q))."""
        quantiles: Floats = self.predictions.quantiles(self._check_rows(X), q, n_jobs)
        return quantiles

    def feature_importances(self, X: ArrayLike | None = None) -> Floats:
        """Return the share of each feature in the variance of the mean function, shape (n_features,).

        It is the variance that is lost if the feature's values are replaced by those of other rows, divided by the sum
        over features (``structure/importances.py`` has the formula). Features that do not matter are near 0, however
        many splits they have; `variable_use` counts splits.

        Parameters
        ----------
        X : array-like or data frame, default None
            The rows, of which at most 100 are used; None means some rows of the training data.
        """
        if X is not None:
            return importances.variance_importances(self, some_rows(self._check_rows(X)))
        return self._importances.copy()

    @cached_property
    def _importances(self) -> Floats:
        """The importances at the kept rows."""
        return importances.variance_importances(self, kept_rows.required(self.kept_rows))

    def convergence(self, X: ArrayLike | None = None) -> SumConvergence:
        """Return R-hat and effective sample sizes of the noise and of the sums at some rows, at most 100 of X.

        Parameters
        ----------
        X : array-like or data frame, default None
            The rows; None means some rows of the training data.
        """
        if X is not None:
            return measure_convergence(self, some_rows(self._check_rows(X)))
        return self._convergence

    @cached_property
    def _convergence(self) -> SumConvergence:
        """The convergence at the kept rows."""
        return measure_convergence(self, some_rows(kept_rows.required(self.kept_rows)))

    def summary(self) -> BARTSummary:
        """Return a summary of the posterior, with a verdict on its convergence; `print` it."""
        if self.kept_rows is None:
            return summarize(self, convergence=None, importances=None)
        return summarize(self, self.convergence(), self.feature_importances())

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        return self.summary()._repr_html_()

    def without_rows(self) -> BARTPosterior:
        """Return the posterior without the rows of the training data that it has kept, for example to pickle it."""
        return replace(self, kept_rows=None, kept_row_numbers=None)

    def save(self, path: str | os.PathLike[str], keep_rows: bool = True) -> None:
        """Write the posterior to a file, in an open format: a zip archive of JSON and NumPy arrays.

        Parameters
        ----------
        path : str or path
            The file, which `particletree.load` reads.
        keep_rows : bool, default True
            Whether the file contains the rows of the training data that the posterior has kept, at most 1,000. Without
            them `feature_importances` and `convergence` need rows.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from particletree import BARTRegressor, load
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 1.2, 3.1, 2.9]
        >>> model = BARTRegressor(n_trees=5, n_iterations=200, n_chains=1, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.posterior_.save(Path(folder) / "sums.npz")
        ...     loaded = load(Path(folder) / "sums.npz")
        >>> bool((loaded.predictive(X)[:, 0] == model.predict(X)).all())
        True
        """
        storage.save(path, self if keep_rows else self.without_rows())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> BARTPosterior:
        """Read a posterior of sums as `particletree.load` does; a file of single trees raises a `ValueError`."""
        with errors_about(path):
            return BARTPosterior.from_members(read_archive(path))

    @staticmethod
    def from_members(members: dict[str, bytes]) -> BARTPosterior:
        """Return the posterior in the members of a file, checked."""
        posterior = BARTPosterior(**storage.decode(members))
        posterior.check()
        return posterior

    def check(self) -> None:
        """Raise a `ValueError` that names the rule if the parts do not fit together (``additive/validity.py``)."""
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: the fields without cached properties, which include kernel objects."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Raise an error that says what to use instead of what only posteriors of single trees have."""
            is_known = hasattr(Posterior, name) or name in Posterior.__dataclass_fields__
            if is_known and not name.startswith("_") and not hasattr(type(self), name):
                text = f"{type(self).__name__} has no {name}, which only a Posterior of single trees has. "
                raise AttributeError((text + INSTEAD.get(name, "")).strip(), name=name, obj=self)
            return object.__getattribute__(self, name)  # raises the usual error, or that of a property

    def _check_rows(self, X: ArrayLike) -> Floats:
        return check_rows(X, self.n_features, self.feature_names, self.columns)
