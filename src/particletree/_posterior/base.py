"""The base of all posteriors: what those of single trees and of sums of trees can do alike.

The same name means the same in both. What only one of them can have raises an `AttributeError` in the other, with one
sentence and what to use instead (:data:`INSTEAD`); the estimators use the same sentence.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data import DataFingerprint, check_rows
from particletree._model.columns import Columns
from particletree._model.parameters import Parameters
from particletree._model.prior import Prior
from particletree._model.target import Target
from particletree._posterior.archive import errors_about, read_archive
from particletree._posterior.predictions.trees import check_level

AnyPosterior = TypeVar("AnyPosterior", bound="BasePosterior")
Floats = NDArray[np.float64]

NO_ROWS = (
    "This posterior has kept no rows of its training data: pass X, the rows of the training data, as in "
    "posterior.consensus_tree(X), posterior.convergence(X) or posterior.explain(x, X=X)."
)
NO_EVIDENCE = (
    "Markov chains do not estimate the evidence: compare models by cross-validation, or fit single trees with "
    "sampler=SMC()."
)
_NO_TREE = "A sum has no single tree to show; particletree.plots.plot_dependence shows the effect of a feature."
_NO_SPLITS = "variable_use() has the shares of features in the splits, feature_importances() what they explain."
_NO_SHARES = "inclusion_probabilities() says how probable it is that a tree splits on a feature."
# By the name of what only single trees, or only sums, have; of posteriors and of estimators.
INSTEAD = {
    "findings": "summary() says whether the chains agree and what to do, convergence() has the numbers.",
    "agreement": "convergence() compares the chains.",
    "explain": "particletree.plots.plot_dependence shows the effect of a feature.",
    "merge": "To add draws, set warm_start=True and fit again to the same data.",
    "sample": "predictive_draws(X) has the function under each draw.",
    "to_sklearn": "A sum has no single tree to export; posterior_.save writes all of them to a file.",
    "to_onnx": "Sums cannot be exported to ONNX; save() of the posterior writes them to a file.",
    "predict_variance": "predict(X, return_std=True) returns the standard deviation of a new observation, and "
    "posterior_.noise_sd that of the noise.",
    **dict.fromkeys(("best_tree", "consensus_tree", "trees", "forest"), _NO_TREE),
    **dict.fromkeys(("splits", "credible_splits", "inclusion_probabilities", "gain_shares"), _NO_SPLITS),
    **dict.fromkeys(("log_evidence", "log_evidence_se", "log_evidence_bound", "log_evidences"), NO_EVIDENCE),
    **dict.fromkeys(("log_evidence_", "log_evidence_se_"), NO_EVIDENCE),
    "noise_sd": "Each leaf has noise of its own: predict_variance(X) of the estimator has its mean at each row.",
    "predictive_draws": "sample(n) draws trees, and sample_predictive(X, n) of the estimator draws observations.",
    "predictive_quantiles": "predictive_interval(X, level) has quantiles of the mean or the class probabilities, and "
    "predict_quantiles(X, q) of the estimator those of a new observation.",
    **dict.fromkeys(("split_shares", "variable_use"), _NO_SHARES),
}


def only_elsewhere(owner: type, name: str, where: str) -> str:
    """Return the sentence that something does not exist here, where it does, and what to use instead."""
    return f"{owner.__name__} has no {name}, which only {where} has. {INSTEAD.get(name, '')}".strip()


def some_rows(rows: Floats, n: int) -> Floats:
    """Return at most n rows, evenly spaced."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.int64))]


class Storage(Protocol):
    """A module of ``files/``: how one kind of posterior is written, and read as its fields."""

    def save(self, path: str | os.PathLike[str], posterior: Any) -> None: ...
    def decode(self, members: dict[str, bytes]) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BasePosterior(ABC):
    """What all posteriors have: the model, the data, and what is computed from them.

    Attributes
    ----------
    prior : Prior
        The prior over trees.
    target : ClassLabels or Numbers
        The type of target.
    n_features : int
        Number of features of the data.
    feature_names : list of str or None
        Their names.
    columns : Columns
        The kinds of the features: numbers or levels, and whether values are missing.
    fingerprint : DataFingerprint or None
        Hashes of the training data, by which data of another fit are recognised; None if they are not known.
    kept_rows : ndarray, shape (n, n_features), or None
        Some rows of the training data, at most 1,000, on which trees and runs are compared: numbers, nan for missing
        ones, and the numbers of levels. They are pickled and saved, unless `without_rows` leaves them out.
    kept_row_numbers : ndarray of int64, shape (n,), or None
        The number of each kept row in the table that was fitted, counted from 0, because rows are sorted by label
        before they are kept; None if that is its place.
    """

    family: ClassVar[str]  # what is drawn: single trees or sums of trees
    families: ClassVar[list[type[BasePosterior]]] = []
    storage: ClassVar[Storage]

    prior: Prior
    target: Target
    n_features: int
    feature_names: list[str] | None
    columns: Columns = field(default_factory=lambda: Columns(0))
    fingerprint: DataFingerprint | None = None
    kept_rows: Floats | None = None
    kept_row_numbers: NDArray[np.int64] | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "family" in vars(cls):
            BasePosterior.families.append(cls)

    @property
    @abstractmethod
    def model(self) -> tuple[Parameters, ...]:
        """The parts of the model, every parameter with a value: the prior over trees, and that of the leaves."""

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """The posterior probability of each tree, or of each draw of a sum."""

    @property
    @abstractmethod
    def predictions(self) -> Any:
        """The predictions for rows that have been checked already."""

    @abstractmethod
    def along_chains(self, values: ArrayLike) -> list[NDArray[Any]]:
        """Return, for each chain, the values of its trees or draws, in order."""

    @abstractmethod
    def _importances(self, rows: Floats) -> Floats:
        """Return the importance of each feature at rows that have been checked, shape (n_features,)."""

    @abstractmethod
    def convergence(self) -> Any:
        """Return R-hat and effective sample sizes of the Markov chains."""

    @abstractmethod
    def summary(self) -> Any:
        """Return a summary of the posterior, with a verdict on how far its runs agree; `print` it."""

    @abstractmethod
    def to_arviz(self) -> Any:
        """Convert to ArviZ: an `InferenceData` (ArviZ 0.x) or `DataTree` (1.x)."""

    @abstractmethod
    def check(self) -> None:
        """Raise a `ValueError` that names the rule if the parts do not fit together."""

    def as_numbers(self, X: ArrayLike) -> Floats:
        """Return rows in the form that `Tree` methods use: numbers, nan for missing, and the numbers of levels."""
        return check_rows(X, self.n_features, self.feature_names, self.columns)

    def predictive(self, X: ArrayLike, n_jobs: int | None = None) -> Floats:
        """Return the posterior predictive class probabilities or means of each row, shape (n_rows, n_outputs).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows; a data frame must have the columns of the fit.
        n_jobs : int, default None
            Number of threads, each for a batch of rows; None means 1.
        """
        means: Floats = self.predictions.means(self.as_numbers(X), n_jobs)
        return means

    def predictive_interval(self, X: ArrayLike, level: float = 0.9, n_jobs: int | None = None) -> Floats:
        """Return equal-tailed credible intervals of the class probabilities or means, shape (n_rows, n_outputs, 2).

        Parameters
        ----------
        X, n_jobs
            As in `predictive`.
        level : float, default 0.9
            Posterior probability that the class probability or mean lies in its interval, strictly between 0 and 1.
        """
        check_level(level)
        ends: Floats = self.predictions.intervals(self.as_numbers(X), float(level), n_jobs)
        return ends

    def feature_importances(self, X: ArrayLike | None = None) -> Floats:
        """Return the share of each feature in the variance of the mean function, shape (n_features,).

        It is the variance of the predictions that is lost if the feature's values are replaced by those of other rows,
        divided by the sum over features: the sum is 1, or 0 if nothing varies (``structure/importances.py`` has the
        formula). Predictions are class probabilities or means; those of sums for class labels are taken on the probit
        scale. Features that do not matter are near 0, however many splits they have.

        Parameters
        ----------
        X : array-like or data frame, default None
            The rows, of which at most 200 are used for single trees and 1,000 for sums; None means the rows of the
            training data that the posterior has kept.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
        >>> posterior.feature_importances().round(2).tolist()
        [0.0, 0.0, 0.32, 0.68]
        """
        return self._kept_importances.copy() if X is None else self._importances(self.as_numbers(X))

    @cached_property
    def _kept_importances(self) -> Floats:
        """The importances at the kept rows."""
        return self._importances(self._rows_or_kept(None))

    def without_rows(self: AnyPosterior) -> AnyPosterior:
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
            them what compares trees or runs at rows needs `X`, and says so.

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
        self.storage.save(path, self if keep_rows else self.without_rows())

    @classmethod
    def load(cls: type[AnyPosterior], path: str | os.PathLike[str]) -> AnyPosterior:
        """Read a posterior of this kind as `particletree.load` does; a file of another kind raises a `ValueError`."""
        with errors_about(path):
            return cls.from_members(read_archive(path))

    @classmethod
    def from_members(cls: type[AnyPosterior], members: dict[str, bytes]) -> AnyPosterior:
        """Return the posterior in the members of a file, checked."""
        posterior = cls(**cls.storage.decode(members))
        posterior.check()
        return posterior

    def _rows_or_kept(self, X: ArrayLike | None) -> Floats:
        """Return rows, checked; the kept ones if none are given."""
        if X is not None:
            return self.as_numbers(X)
        if self.kept_rows is None:
            raise ValueError(NO_ROWS)
        return self.kept_rows

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        text: str = self.summary()._repr_html_()
        return text

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: the fields without cached properties, which include kernel objects."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Raise an error that says what to use instead of what only other posteriors have."""
            is_own = name.startswith("_") or hasattr(type(self), name) or name in self.__dataclass_fields__
            for other in () if is_own else self.families:
                if hasattr(other, name) or name in other.__dataclass_fields__:
                    where = f"a {other.__name__} of {other.family}"
                    raise AttributeError(only_elsewhere(type(self), name, where), name=name, obj=self)
            return object.__getattribute__(self, name)  # raises the usual error, or that of a property
