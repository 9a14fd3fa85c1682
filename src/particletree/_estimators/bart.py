"""BART with scikit-learn's interface: sums of trees for regression and classification."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from particletree._data import TrainingData, check_regression_data
from particletree._data.target import check_numbers_to_predict
from particletree._estimators.base import PosteriorEstimator, of_one_fit
from particletree._estimators.classification import BayesianTreeClassifier, PosteriorClassifier
from particletree._estimators.regression import WHAT, BayesianTreeRegressor, check_n_draws, check_probabilities
from particletree._estimators.seeds import seed_sequence
from particletree._estimators.unknown_parameters import INSTEAD_IN_SUMS, refuse_unknown_in_init
from particletree._inference.bart.sampler import BARTChains, BARTMoves, default_prior_of_sums
from particletree._model.bart import SumPrior
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import Prior, TreePrior
from particletree._model.target import Numbers
from particletree._posterior.bart_posterior import BARTPosterior
from particletree._posterior.predictions.trees import check_level
from particletree._user_warnings import warn_caller

Self = TypeVar("Self", bound="BARTEstimator")
Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class BARTEstimator(PosteriorEstimator):
    """Base of the BART estimators: their parameters, and the warning about chains that have not settled."""

    posterior_type: ClassVar[type[BARTPosterior]] = BARTPosterior
    parts: ClassVar[dict[str, tuple[type[Any], ...]]] = {"prior": (TreePrior, MondrianPrior), "moves": (BARTMoves,)}
    instead: ClassVar[dict[str, str]] = INSTEAD_IN_SUMS

    n_trees: int = 200
    prior: Prior | None = None
    k: float = 2.0
    n_iterations: int = 500
    burn_in: int | None = None
    n_chains: int = 4
    thin: int = 1
    moves: BARTMoves | None = None
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False

    @classmethod
    def _model_parameters(cls, posterior: BARTPosterior) -> dict[str, Any]:
        names = cls().get_params()
        known = {name: value for name, value in posterior.sum_prior.get_params().items() if name in names}
        return {"prior": posterior.prior} | known

    def _fit_or_keep(self: Self, *args: Any) -> Self:
        super()._fit_or_keep(*args)
        convergence = self.posterior_.convergence()
        if not convergence.has_settled:
            warn_caller(convergence.verdict(), ConvergenceWarning)
        return self

    def _sample(self, data: TrainingData) -> Any:
        moves, prior = self._part("moves", BARTMoves()), self._part("prior", default_prior_of_sums(self.prior))
        length = {name: getattr(self, name) for name in ("n_iterations", "burn_in", "thin", "n_chains")}
        with errors_named_after(type(self).__name__):
            chains, sum_prior = BARTChains(**length, moves=moves), self._sum_prior()
        return self._run(chains, data, prior, sum_prior, seed_sequence(self.random_state))

    def _sum_prior(self) -> SumPrior:
        return SumPrior(n_trees=self.n_trees, k=self.k)


@contextmanager
def errors_named_after(owner: str) -> Iterator[None]:
    """Make errors of parameters name the estimator, where users set them, not the object that they are passed to."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(re.sub(r"^(SumPrior|BARTChains)\.", f"{owner}.", str(error))) from None


@refuse_unknown_in_init
@dataclass(eq=False, repr=False, kw_only=True)
class BARTRegressor(RegressorMixin, BARTEstimator):  # type: ignore[misc]
    """Bayesian additive regression trees (BART): the target is a sum of many small trees plus normal noise.

    Markov chains with moves of Chipman, George & McCulloch and of particle Gibbs draw the trees and the noise from
    their posterior, so that every prediction comes with its uncertainty.

    Parameters
    ----------
    n_trees : int, default 200
        Number of trees in the sum; more can fit a more detailed function and take proportionally longer.
    prior : TreePrior or MondrianPrior, default None
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
    moves : BARTMoves, default None
        How trees are updated (``particletree.inference.BARTMoves``); None means `BARTMoves()`.
    categorical_features, n_jobs, random_state, verbose
        As in `BayesianTreeRegressor`; chains run in parallel.
    warm_start : bool, default False
        Whether `fit` continues the chains of the previous fit, on the same data, for `n_iterations` more sweeps, and
        adds their draws to the posterior.

    Attributes
    ----------
    posterior_ : BARTPosterior
        The draws from the posterior.
    prior_ : TreePrior or MondrianPrior
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
    counterpart = BayesianTreeRegressor

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
        return (mean, predictions.deviations(rows, self.n_jobs)[:, 0]) if return_std else mean

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
            return np.asarray(predictions.intervals(rows, float(level), self.n_jobs)[:, 0])
        return np.asarray(predictions.quantiles(rows, ends, self.n_jobs)[:, 0])

    @of_one_fit
    def predict_quantiles(self, X: ArrayLike, q: float | Sequence[float]) -> Floats:
        """Return quantiles of a new observation, shape (n_rows,), with a last axis for `q` if it is a sequence."""
        probabilities = check_probabilities(q)
        rows, predictions = self._checked(X)
        quantiles: Floats = predictions.quantiles(rows, probabilities, self.n_jobs)[:, 0]
        return quantiles[:, 0] if isinstance(q, numbers.Real) else quantiles

    @of_one_fit
    def predict_log_density(self, X: ArrayLike, y: ArrayLike) -> Floats:
        """Return the log predictive density of each observation, shape (n_rows,): a mixture of normals over draws."""
        rows, predictions = self._checked(X)
        observed, target = check_numbers_to_predict(y, len(rows))
        if target.n_targets != 1:
            raise ValueError(f"y has {target.n_targets} targets, but the fit had 1.")
        return np.asarray(predictions.log_densities(rows, observed, self.n_jobs))

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
        check_n_draws(n)
        rows, predictions = self._checked(X)
        generator = np.random.default_rng(seed_sequence(random_state))
        return np.asarray(predictions.observations(rows, int(n), generator)[..., 0])


@refuse_unknown_in_init
@dataclass(eq=False, repr=False, kw_only=True)
class BARTClassifier(PosteriorClassifier, BARTEstimator):
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
    prior_ : TreePrior or MondrianPrior
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

    counterpart = BayesianTreeClassifier
