"""The regressor: a Bayesian decision tree for numbers, counts and waiting times behind scikit-learn's interface."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from particletree.data import TrainingData, check_regression_data
from particletree.data.exposure import check_exposure
from particletree.data.numbers import check_numbers_to_predict
from particletree.estimators.base import BayesianTree
from particletree.estimators.seeds import seed_sequence
from particletree.model.leaves import Exponential, Gaussian, GaussianKnownVariance, Poisson
from particletree.model.target import Numbers
from particletree.posterior import Posterior
from particletree.posterior.predictions import Predictions, Variances, check_level

Self = TypeVar("Self", bound="BayesianTreeRegressor")
Floats = NDArray[np.float64]
WHAT = ("observation", "mean")


class BayesianTreeRegressor(RegressorMixin, BayesianTree):  # type: ignore[misc]
    """A Bayesian decision tree for numbers: a posterior over trees, and predictive distributions averaged over it.

    Several targets may be given at once; they are independent given one shared tree.

    Parameters
    ----------
    prior : TreePrior, default None
        The prior over trees; None means `TreePrior(alpha=0.95, beta=0.2)`.
    leaf : Gaussian, GaussianKnownVariance, Poisson or Exponential, default None
        The model of the numbers in a leaf; None means `Gaussian()`. `Poisson()` is for counts, `Exponential()` for
        waiting times. Other leaf models for numbers, from outside the package, are taken as well. Parameters that are
        left open are taken from the data; `posterior_.leaf` has their values.
    sampler : SMC, MCMC, ParticleGibbs or Exact, default None
        How the posterior is computed; None means islands of 3 particles that look ahead, four to ten by the number of
        distinct values in the table (``inference/defaults.py``).
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default "from_dtype"
        Which features are categorical: with "from_dtype" the columns of a pandas or polars frame that are categories,
        text or booleans, and the columns of an array of objects that hold text; or a mask, indices or names; None
        means no feature. Their levels are the values of the rows with positive weight, thousands if need be. Another
        level, when predicting, goes left or right by a coin that is part of each tree, as a missing value does.
    n_jobs : int, default None
        Islands or chains that run at the same time, and batches of rows that are predicted at the same time, in threads
        through joblib; None means 1 and -1 all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default None
        Seed; an integer makes the fit reproducible to the bit.
    verbose : int, default 0
        1 shows a progress bar with the islands done, the stage and the effective sample size.
    warm_start : bool, default False
        Whether `fit` adds islands or chains to those of the fit before, on the same data, instead of starting anew.

    Attributes
    ----------
    posterior_ : Posterior
        The weighted trees.
    sampler_ : SMC, MCMC, ParticleGibbs or Exact
        The sampler of the last fit with its settings: what was given, or what the default was for these data, to change
        a part of it (``dataclasses.replace(clf.sampler_, n_islands=50)``).
    log_evidence_ : float
        Log evidence of the model, log p(y | X): exact for `Exact`, an estimate for `SMC`; not there for Markov chains.
    log_evidence_se_ : float
        Its standard error from the spread of the islands; nan for a single island, 0 for `Exact`.
    n_outputs_ : int
        Number of targets.
    feature_importances_ : ndarray, shape (n_features,)
        Share of each feature in the gain in log marginal likelihood; see `Posterior.feature_importances`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from particletree import BayesianTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = BayesianTreeRegressor(random_state=0).fit(X, y)
    >>> bool(reg.score(X, y) > 0.4)
    True
    >>> reg.predict_interval(X[:2], level=0.9).shape
    (2, 2)
    """

    target_type = Numbers
    leaf_models = (Gaussian, GaussianKnownVariance, Poisson, Exponential)
    default_leaf = Gaussian()

    def fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Compute the posterior over trees.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers and categories, as they are: NaN, None and pandas' NA are missing values, which are part of the
            model, and which feature is categorical `categorical_features` says. Infinite values are refused.
        y : array-like or data frame, shape (n_rows,) or (n_rows, n_targets)
            The numbers to predict.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts; fractions are allowed. A row of weight 0 is ignored.
        exposure : array-like, shape (n_rows,), default None
            With `leaf=Poisson()`: how long, or over how many, each row's count was taken. In a pipeline or a search it
            is passed through metadata routing, `set_fit_request(exposure=True)`.

        Returns
        -------
        BayesianTreeRegressor
            The fitted estimator itself.
        """
        return self._fit_or_keep(X, y, sample_weight, exposure)

    def _check_data(self, *args: Any) -> TrainingData:
        data = check_regression_data(self, *args, categorical_features=self.categorical_features)
        self.n_outputs_ = data.observations.target.n_outputs
        return data

    def _take(self, posterior: Posterior) -> None:
        super()._take(posterior)
        self.n_outputs_ = posterior.target.n_outputs

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Return the predictive mean of each row, shape (n_rows,) or (n_rows, n_targets).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        return_std : bool, default False
            Whether to return the standard deviation of one more observation as well: the root of all three parts of
            `predict_variance`.

        Returns
        -------
        mean : ndarray
            With `leaf=Poisson()` the rate, the mean count per unit of exposure.
        std : ndarray
            Only if asked for.
        """
        rows, predictions = self._checked(X)
        mean = self._shaped(predictions.means(rows, self.n_jobs))
        if not return_std:
            return mean
        return mean, self._shaped(predictions.deviations(rows, self.n_jobs))

    def predict_variance(self, X: ArrayLike) -> Variances:
        """Return the variance of one more observation in three parts, each of shape (n_rows,) or (n_rows, n_targets).

        `noise` stays however much data there are; more data would remove `parameters` (the leaves' parameters are
        uncertain because their rows are few) and `trees` (the trees disagree).
        """
        rows, predictions = self._checked(X)
        return Variances(*(self._shaped(part) for part in predictions.variances(rows, self.n_jobs)))

    def predict_interval(
        self, X: ArrayLike, level: float = 0.9, *, of: str = "observation", exposure: ArrayLike | None = None
    ) -> Floats:
        """Return an equal-tailed interval for each row, shape (n_rows, 2) or (n_rows, n_targets, 2).

        Its ends are exact quantiles of the mixture of the leaves' distributions over trees; nothing is drawn.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        level : float, default 0.9
            Posterior probability of the interval, strictly between 0 and 1.
        of : {"observation", "mean"}, default "observation"
            Whether the interval is to hold one more observation, or the mean at the row (the rate, for counts).
        exposure : array-like, shape (n_rows,), default None
            With `leaf=Poisson()`: the exposure of the counts to come; None means 1.
        """
        check_level(level)
        if of not in WHAT:
            raise ValueError(f"of must be one of {', '.join(WHAT)}, got {of!r}.")
        rows, predictions = self._checked(X)
        if of == "mean":
            return self._shaped(predictions.intervals(rows, float(level), self.n_jobs))
        ends = ((1 - level) / 2, (1 + level) / 2)
        return self._shaped(predictions.quantiles(rows, ends, self._exposure(exposure, len(rows)), self.n_jobs))

    def predict_quantiles(self, X: ArrayLike, q: float | Sequence[float], exposure: ArrayLike | None = None) -> Floats:
        """Return quantiles of one more observation.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        q : float or sequence of floats
            Probabilities, strictly between 0 and 1.
        exposure : array-like, shape (n_rows,), default None
            As in `predict_interval`.

        Returns
        -------
        ndarray
            Of shape (n_rows,) or (n_rows, n_targets), with a last axis for `q` if it is a sequence. For counts it is
            the smallest one that is reached with probability q.
        """
        probabilities = check_probabilities(q)
        rows, predictions = self._checked(X)
        quantiles = predictions.quantiles(rows, probabilities, self._exposure(exposure, len(rows)), self.n_jobs)
        return self._shaped(quantiles[..., 0] if isinstance(q, numbers.Real) else quantiles)

    def predict_log_density(self, X: ArrayLike, y: ArrayLike, exposure: ArrayLike | None = None) -> Floats:
        """Return the log predictive density (for counts: log probability) of observations, shape (n_rows,).

        Where there are several targets it is that of all of them together.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        y : array-like, shape (n_rows,) or (n_rows, n_targets)
            The observations.
        exposure : array-like, shape (n_rows,), default None
            As in `predict_interval`.
        """
        rows, predictions = self._checked(X)
        observed, target = check_numbers_to_predict(y, len(rows))
        if target.n_targets != self.n_outputs_:
            raise ValueError(f"y has {target.n_targets} targets, but the fit had {self.n_outputs_}.")
        return predictions.log_densities(rows, observed, self._exposure(exposure, len(rows)), self.n_jobs)

    def sample_predictive(
        self, X: ArrayLike, n: int = 1, random_state: Any = None, exposure: ArrayLike | None = None
    ) -> Floats:
        """Draw observations at each row, shape (n_rows, n) or (n_rows, n, n_targets).

        Each draw has a tree and a leaf parameter of its own; all targets of a draw come from the same leaf.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        n : int, default 1
            Draws for each row.
        random_state : int, RandomState, Generator or None, default None
            Seed of the draws.
        exposure : array-like, shape (n_rows,), default None
            As in `predict_interval`.
        """
        if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n must be an integer of at least 1, the number of draws for each row, got {n!r}.")
        rows, predictions = self._checked(X)
        generator = np.random.default_rng(seed_sequence(random_state))
        draws = predictions.draws(rows, int(n), generator, self._exposure(exposure, len(rows)))
        return draws[..., 0] if self.n_outputs_ == 1 else draws

    def _checked(self, X: ArrayLike) -> tuple[Floats, Predictions]:
        posterior = self._posterior()
        return self._check_rows(X), posterior.predictions

    def _shaped(self, values: Floats) -> Floats:
        """Return values of shape (n_rows, n_targets, ...) without the axis of targets where there is one only."""
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _exposure(self, exposure: ArrayLike | None, n_rows: int) -> Floats | None:
        if exposure is None:
            return None
        if not self._posterior().leaf.uses_exposure:
            raise ValueError("exposure is for counts; leave it out, or fit with leaf=Poisson().")
        return check_exposure(exposure, n_rows)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def check_probabilities(q: float | Sequence[float]) -> tuple[float, ...]:
    """Return the probabilities of quantiles as a tuple, if they are strictly between 0 and 1."""
    values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if values.ndim != 1 or not ((values > 0) & (values < 1)).all():
        raise ValueError(f"q must be a number or a list of numbers strictly between 0 and 1, got {q!r}.")
    return tuple(float(value) for value in values)
