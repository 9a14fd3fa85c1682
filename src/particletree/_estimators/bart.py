"""BART with scikit-learn's interface: sums of trees for regression and classification."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from particletree._data import TrainingData, check_classification_data, check_features, check_regression_data
from particletree._data.numeric_target import check_numbers_to_predict
from particletree._estimators.base import BayesianTree, fit_at_once, of_one_fit
from particletree._estimators.classification import BayesianTreeClassifier
from particletree._estimators.regression import WHAT, BayesianTreeRegressor, check_probabilities
from particletree._estimators.seeds import seed_sequence
from particletree._estimators.unknown_parameters import (
    INSTEAD_IN_SUMS,
    METHODS_IN_SUMS,
    refuse_habits_in_init,
    refuse_habits_to_set,
)
from particletree._inference.bart.sampler import SumChains, SumMoves
from particletree._model.bart import SumPrior
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import Prior, TreePrior
from particletree._model.target import ClassLabels, Numbers, class_labels
from particletree._posterior.bart_posterior import BARTPosterior
from particletree._posterior.predictions.trees import check_level
from particletree._user_warnings import warn_caller

Self = TypeVar("Self", bound="AdditiveTrees")
Floats = NDArray[np.float64]
DEFAULT_PRIOR = TreePrior(alpha=0.95, beta=2.0)
DEFAULT_MONDRIAN_PRIOR = MondrianPrior(rate=0.5)


@dataclass(eq=False, repr=False, kw_only=True)
class AdditiveTrees(BaseEstimator):  # type: ignore[misc]
    """Base of the BART estimators: shared parameters, a fit that replaces the old one in one step, and importances."""

    parts: ClassVar[dict[str, type[Any]]] = {"prior": Prior, "moves": SumMoves}
    habits: ClassVar[dict[str, str]] = INSTEAD_IN_SUMS
    target_type: ClassVar[type]
    of_single_trees: ClassVar[type[BayesianTree]]

    n_trees: int = 200
    prior: Prior | None = None
    k: float = 2.0
    n_iterations: int = 500
    burn_in: int | None = None
    n_chains: int = 4
    thin: int = 1
    moves: SumMoves | None = None
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters; nested ones such as `prior__beta` also work if the part is None, the default."""
        refuse_habits_to_set(type(self), params)
        defaults = {"prior": TreePrior(), "moves": SumMoves()}
        for name, default in defaults.items():
            is_nested = any(key.startswith(f"{name}__") for key in params)
            if is_nested and params.get(name, getattr(self, name)) is None:
                setattr(self, name, default)
                params.pop(name, None)
        super().set_params(**params)
        return self

    @classmethod
    def from_posterior(cls: type[Self], posterior: BARTPosterior) -> Self:
        """Return a fitted estimator that predicts with a given posterior, for example a saved one.

        Its priors are those of the posterior; the other parameters, which matter if it is fitted again, are the
        defaults.
        """
        if not isinstance(posterior, BARTPosterior):
            raise TypeError(
                f"{cls.__name__} needs a BARTPosterior, of sums of trees, got {type(posterior).__name__}: pass "
                'posterior_ of a fitted BARTClassifier or BARTRegressor, or particletree.load("file.npz").'
            )
        if not isinstance(posterior.target, cls.target_type):
            raise TypeError(
                f"{cls.__name__} needs a posterior of {cls.target_type.__name__}, got one of {posterior.target!r}."
            )
        known = {name: value for name, value in posterior.sum_prior.get_params().items() if name in cls().get_params()}
        estimator = cls(prior=posterior.prior, **known)
        estimator._take(posterior)
        estimator.n_features_in_ = posterior.n_features
        if posterior.feature_names is not None:
            estimator.feature_names_in_ = np.array(posterior.feature_names, dtype=object)
        return estimator

    @property
    def prior_(self) -> Prior:
        """The prior of each tree that was used, every parameter with a value."""
        return self._posterior().prior

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the variance of the mean function."""
        return self._posterior().feature_importances()

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Raise an error that says what to use instead of what only single trees have."""
            owner, single = type(self), self.of_single_trees
            if not name.startswith("_") and hasattr(single, name) and not hasattr(owner, name):
                advice = METHODS_IN_SUMS.get(name, "")
                text = f"{owner.__name__} has no {name}, which only {single.__name__} has. {advice}"
                raise AttributeError(text.strip(), name=name, obj=self)
            return object.__getattribute__(self, name)  # raises the usual error, or that of a property

    def _fit_or_keep(self: Self, *args: Any) -> Self:
        """Fit; if that fails or is interrupted, the attributes of an earlier fit stay."""
        fit_at_once(self, lambda estimator: estimator._take(estimator._sample(estimator._check_data(*args))))
        convergence = self.posterior_.convergence()
        if not convergence.has_settled:
            warn_caller(convergence.verdict(), ConvergenceWarning)
        return self

    def _check_data(self, *args: Any) -> TrainingData:
        """Check the arguments of `fit`."""
        raise NotImplementedError

    def _sum_prior(self) -> SumPrior:
        return SumPrior(n_trees=self.n_trees, k=self.k)

    def _sample(self, data: TrainingData) -> BARTPosterior:
        names = getattr(self, "feature_names_in_", None)
        with errors_named_after(type(self).__name__):
            chains, sum_prior = self._chains(), self._sum_prior()
        return chains.run(
            data,
            self._part("prior", DEFAULT_MONDRIAN_PRIOR if isinstance(self.prior, MondrianPrior) else DEFAULT_PRIOR),
            sum_prior,
            seed=seed_sequence(self.random_state),
            feature_names=None if names is None else [str(name) for name in names],
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            earlier=getattr(self, "posterior_", None) if self.warm_start else None,
        )

    def _chains(self) -> SumChains:
        return SumChains(
            n_iterations=self.n_iterations,
            burn_in=self.burn_in,
            thin=self.thin,
            n_chains=self.n_chains,
            moves=self._part("moves", SumMoves()),
        )

    def _part(self, name: str, default: Any) -> Any:
        """Return the parameter object `name`, or the default where it is None."""
        part, kind = getattr(self, name), self.parts[name]
        if part is not None and not isinstance(part, kind):
            raise TypeError(
                f"{name} must be an object of type {type(default).__name__}, or None, got {part!r}. Write for example "
                f"{name}={default!r}."
            )
        return default if part is None else part.completed(default)

    def _take(self, posterior: BARTPosterior) -> None:
        """Set the fitted attributes from a posterior."""
        self.posterior_ = posterior
        self._columns = posterior.columns

    def _posterior(self) -> BARTPosterior:
        check_is_fitted(self, "posterior_")
        return self.posterior_

    def _checked(self, X: ArrayLike) -> tuple[Floats, Any]:
        """Return the checked rows, and the predictions of the posterior."""
        posterior = self._posterior()
        return check_features(self, X, self._columns), posterior.predictions

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


@contextmanager
def errors_named_after(owner: str) -> Iterator[None]:
    """Make errors of parameters name the estimator, where users set them, not the object that they are passed to."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(re.sub(r"^(SumPrior|SumChains)\.", f"{owner}.", str(error))) from None


@refuse_habits_in_init
@dataclass(eq=False, repr=False, kw_only=True)
class BARTRegressor(RegressorMixin, AdditiveTrees):  # type: ignore[misc]
    """Bayesian additive regression trees (BART): the target is a sum of many small trees plus normal noise.

    Markov chains with moves of Chipman, George & McCulloch and of particle Gibbs draw the trees and the noise from
    their posterior, so that every prediction comes with its uncertainty.

    Parameters
    ----------
    n_trees : int, default 200
        Number of trees in the sum; more can fit a more detailed function and take proportionally longer.
    prior : TreePrior, default None
        The prior of each tree; None, also for a single parameter as in `TreePrior(max_depth=3)`, means those of
        `TreePrior(alpha=0.95, beta=2.0)`: mostly two or three leaves.
    k : float, default 2.0
        Shrinkage: the number of prior standard deviations of the sum between the middle and an end of the target's
        range. Larger values shrink the leaf values more, which gives a smoother function.
    noise_df, noise_quantile : float, default 3.0 and 0.9
        Prior of the noise: its degrees of freedom, and the probability that its standard deviation is below the
        residual standard deviation of a linear fit. More degrees of freedom make the prior stronger; a higher quantile
        expects less noise.
    n_iterations : int, default 500
        Sweeps per chain, in each of which every tree is updated once; more reduce the Monte Carlo error.
    burn_in : int, default None
        Sweeps at the start of each chain that are discarded; None means half of `n_iterations`.
    n_chains : int, default 4
        Number of independent chains; at least two are needed for convergence diagnostics.
    thin : int, default 1
        Keep every `thin`-th sweep after the burn-in; larger values save memory.
    moves : SumMoves, default None
        How trees are updated (``particletree.inference.SumMoves``); None means `SumMoves()`.
    categorical_features, n_jobs, random_state, verbose
        As in `BayesianTreeRegressor`; chains run in parallel.
    warm_start : bool, default False
        Whether `fit` continues the chains of the previous fit, on the same data, for `n_iterations` more sweeps, and
        adds their draws to the posterior.

    Attributes
    ----------
    posterior_ : BARTPosterior
        The draws from the posterior.
    prior_ : TreePrior
        The prior of the trees that was used, every parameter with a value.
    feature_importances_ : ndarray, shape (n_features,)
        Share of each feature in the variance of the mean function, see `BARTPosterior.feature_importances`;
        `posterior_.variable_use()` has its share in the splits.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from particletree import BARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BARTRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    >>> model.predict_interval(X[:2], level=0.9).shape
    (2, 2)
    """

    target_type = Numbers
    of_single_trees = BayesianTreeRegressor

    noise_df: float = 3.0
    noise_quantile: float = 0.9

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BARTRegressor:
        """Draw from the posterior of sums of trees.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers and categories; no encoding or imputation is needed, missing values are part of the model.
        y : array-like, shape (n_rows,)
            The target, finite numbers.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts; fractions are allowed. A row of weight 0 is ignored.
        """
        return self._fit_or_keep(X, y, sample_weight)

    def _check_data(self, *args: Any) -> TrainingData:
        data = check_regression_data(self, *args, categorical_features=self.categorical_features)
        if np.asarray(args[1]).ndim == 2 and data.observations.target.n_outputs == 1:
            text = "A column-vector y was passed when a 1d array was expected. Use y.ravel()."
            warn_caller(text, DataConversionWarning)
        return data

    def _sum_prior(self) -> SumPrior:
        return SumPrior(self.n_trees, self.k, self.noise_df, self.noise_quantile)

    @of_one_fit
    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Return the predictive mean of each row, shape (n_rows,).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        return_std : bool, default False
            Whether to also return the standard deviation of a new observation, noise included.
        """
        rows, predictions = self._checked(X)
        mean = predictions.means(rows, self.n_jobs)[:, 0]
        return (mean, predictions.deviations(rows, self.n_jobs)) if return_std else mean

    @of_one_fit
    def predict_interval(self, X: ArrayLike, level: float = 0.9, *, of: str = "observation") -> Floats:
        """Return an equal-tailed interval for each row, shape (n_rows, 2).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        level : float, default 0.9
            Posterior probability of the interval, strictly between 0 and 1.
        of : {"observation", "mean"}, default "observation"
            Whether the interval is for a new observation (noise included) or for the sum of trees at the row.
        """
        check_level(level)
        if of not in WHAT:
            raise ValueError(f"of must be one of {', '.join(WHAT)}, got {of!r}.")
        rows, predictions = self._checked(X)
        ends = ((1 - level) / 2, (1 + level) / 2)
        if of == "mean":
            return np.asarray(predictions.quantiles(rows, ends, self.n_jobs)[:, 0])
        return np.asarray(predictions.observation_quantiles(rows, ends, self.n_jobs))

    @of_one_fit
    def predict_quantiles(self, X: ArrayLike, q: float | Sequence[float]) -> Floats:
        """Return quantiles of a new observation, shape (n_rows,), with a last axis for `q` if it is a sequence."""
        probabilities = check_probabilities(q)
        rows, predictions = self._checked(X)
        quantiles: Floats = predictions.observation_quantiles(rows, probabilities, self.n_jobs)
        return quantiles[:, 0] if isinstance(q, numbers.Real) else quantiles

    @of_one_fit
    def predict_log_density(self, X: ArrayLike, y: ArrayLike) -> Floats:
        """Return the log predictive density of each observation, shape (n_rows,): a mixture of normals over draws."""
        rows, predictions = self._checked(X)
        observed, target = check_numbers_to_predict(y, len(rows))
        if target.n_targets != 1:
            raise ValueError(f"y has {target.n_targets} targets, but the fit had 1.")
        return np.asarray(predictions.log_densities(rows, observed[:, 0], self.n_jobs))

    @of_one_fit
    def sample_predictive(self, X: ArrayLike, n: int = 1, random_state: Any = None) -> Floats:
        """Draw observations at each row from the posterior predictive distribution, shape (n_rows, n).

        The i-th draws of all rows have the same trees and noise level, so they are draws from the joint distribution.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        n : int, default 1
            Draws per row.
        random_state : int, RandomState, Generator or None, default None
            Seed of the draws.
        """
        if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n must be an integer of at least 1, the number of draws for each row, got {n!r}.")
        rows, predictions = self._checked(X)
        generator = np.random.default_rng(seed_sequence(random_state))
        return np.asarray(predictions.observations(rows, int(n), generator))


@refuse_habits_in_init
@dataclass(eq=False, repr=False, kw_only=True)
class BARTClassifier(ClassifierMixin, AdditiveTrees):  # type: ignore[misc]
    """Bayesian additive trees (BART) for classification: a probit model of sums of many small trees.

    Two classes need one sum of trees. K classes need K - 1: each models the probability of one class given that it is
    none of the classes before, the most frequent class first. The likelihood is then
    exactly a product of K - 1 probit regressions, which are fitted independently. The prior of the k-th sum
    depends on the rows of its regression, and so on the labels: rules are drawn among the values of these rows.

    Parameters
    ----------
    n_trees, prior, k, n_iterations, burn_in, n_chains, thin, moves, categorical_features, n_jobs, random_state, verbose
        As in `BARTRegressor`, for each sum.
    warm_start : bool, default False
        As in `BARTRegressor`.

    Attributes
    ----------
    posterior_ : BARTPosterior
        The draws from the posterior.
    prior_ : TreePrior
        The prior of the trees that was used, every parameter with a value.
    classes_ : ndarray
        The class labels.
    feature_importances_ : ndarray, shape (n_features,)
        As in `BARTRegressor`, for all sums on the probit scale.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import BARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BARTClassifier(n_trees=50, n_iterations=1000, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> model.predict_interval(X[:1]).shape
    (1, 3, 2)
    """

    target_type = ClassLabels
    of_single_trees = BayesianTreeClassifier

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BARTClassifier:
        """Draw from the posterior of sums of trees.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers and categories; no encoding or imputation is needed, missing values are part of the model.
        y : array-like, shape (n_rows,)
            Class labels: integers, text, booleans, or floats that are whole numbers.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts: whole numbers. A row of weight 0 is ignored, its label included.
        """
        return self._fit_or_keep(X, y, sample_weight)

    def _check_data(self, *args: Any) -> TrainingData:
        return check_classification_data(self, *args, categorical_features=self.categorical_features)

    def _take(self, posterior: BARTPosterior) -> None:
        super()._take(posterior)
        self.classes_ = class_labels(posterior.target)

    @of_one_fit
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        rows, predictions = self._checked(X)
        return np.asarray(predictions.means(rows, self.n_jobs))

    @of_one_fit
    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logs of the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        return np.asarray(np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny)))

    @of_one_fit
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @of_one_fit
    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> Floats:
        """Return equal-tailed credible intervals of the class probabilities, shape (n_rows, n_classes, 2)."""
        check_level(level)
        rows, predictions = self._checked(X)
        return np.asarray(predictions.quantiles(rows, ((1 - level) / 2, (1 + level) / 2), self.n_jobs))
