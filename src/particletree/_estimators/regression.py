"""The regressor: Bayesian decision trees for numbers, counts and waiting times with scikit-learn's interface."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from particletree._data import TrainingData, check_regression_data
from particletree._data.row_columns import checked_new_columns, checked_row_columns
from particletree._data.target import check_numbers_to_predict
from particletree._estimators.base import of_one_fit
from particletree._estimators.seeds import seed_sequence
from particletree._estimators.single_trees import SAMPLERS, BayesianTree
from particletree._model.leaves import Exponential, Gaussian, GaussianKnownVariance, Poisson
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import TreePrior
from particletree._model.row_columns import RowColumns
from particletree._model.target import Numbers
from particletree._posterior.predictions.trees import Variances, check_level

Self = TypeVar("Self", bound="BayesianTreeRegressor")
Floats = NDArray[np.float64]
WHAT = ("observation", "mean")


class BayesianTreeRegressor(RegressorMixin, BayesianTree):  # type: ignore[misc]
    """Bayesian decision trees for regression: a posterior over trees, and predictive distributions averaged over it.

    Several targets can be fitted at once; they share the tree and are independent given it.

    With `leaf=Poisson()` and `fit(X, y, exposure=e)`, y are counts over the exposure e, and `predict` returns rates:
    counts per unit of exposure. `score` and `predict_log_density`, which compare predictions with counts that were
    observed, then need the exposure of these counts; methods that predict new counts take an exposure of 1 if none is
    given.

    Parameters
    ----------
    prior : TreePrior or MondrianPrior, default None
        The prior over trees, which controls their size; None means `TreePrior(alpha=0.95, beta=0.2)`. In `prior` and
        `sampler` single parameters can be None too: `TreePrior(max_depth=3)` has this alpha and beta.
    leaf : Gaussian, GaussianKnownVariance, Poisson or Exponential, default None
        The model of the target in a leaf; None means `Gaussian()`. `Poisson()` is for counts, `Exponential()` for
        waiting times. Leaf models for numbers that are defined outside the package are accepted too. Parameters that
        are None are estimated from the data; `posterior_.leaf` has their values.
    sampler : SMC, MCMC, ParticleGibbs or Exact, default None
        The algorithm that computes the posterior; None means `SMC` with the lookahead proposal and 3 particles per
        island, and four to ten islands, depending on the number of distinct values in the table. `SMC(n_islands=50)`
        changes one number and leaves the rest; `SMC.paper()` has the paper's settings.
    categorical_features : "from_dtype", None, or array-like of bool, int or str, default "from_dtype"
        Which features are categorical. "from_dtype" means the columns of a pandas or polars frame that are categories,
        text or booleans, and the columns of an array of objects that contain text; a mask, indices or names select
        features; None means none. Their levels are those of the rows with positive weight; thousands are possible. At
        prediction each split sends the levels that were not in the training data left or right at random, all of them
        the same way; likewise a missing value where the node's training rows had none.
    n_jobs : int, default None
        Number of joblib threads, for islands or chains in `fit` and for batches of rows in predictions; None means 1
        and -1 all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default None
        Seed; with an integer, fits are reproducible bit by bit.
    verbose : int, default 0
        1 shows a progress bar with the islands done, the stage and the effective sample size.
    warm_start : bool, default False
        Whether `fit` adds islands or chains to those of the previous fit, on the same data, instead of replacing them.

    Attributes
    ----------
    posterior_ : Posterior
        The weighted trees.
    sampler_ : SMC, MCMC, ParticleGibbs or Exact
        The sampler of the last fit, with the settings that were chosen for these data instead of None. To change one
        setting for the next fit, write ``reg.set_params(sampler__n_islands=50)``.
    prior_ : TreePrior or MondrianPrior
        The prior that was used: the one that was given, with the values chosen for these data instead of None and
        "auto".
    leaf_ : Gaussian, Poisson or other leaf model
        The leaf model that was used, likewise, with parameters that are estimated from `y` in the place of None.
    log_evidence_ : float
        Log evidence (log marginal likelihood) of the model, log p(y | X): exact for `Exact`, an estimate for `SMC`; not
        available for Markov chains. The default leaf model takes location and scale from `y`, so that this is an
        empirical Bayes evidence, which uses `y` twice; the same holds for "auto".
    log_evidence_se_ : float
        Its standard error from the spread of the islands; nan for a single island, 0 for `Exact`. Two of them hold the
        exact value in 86% of small tables; nearly all misses are estimates that are too low. It cannot account for
        trees that all islands have missed; `posterior_.log_evidence_bound` is a lower bound that always holds.
    n_outputs_ : int
        Number of targets.
    feature_importances_ : ndarray, shape (n_features,)
        Share of each feature in the variance of the mean function, see `Posterior.feature_importances`;
        `posterior_.gain_shares()` has the shares in the gain in log marginal likelihood.
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

    Counts over different exposures:

    >>> import numpy as np
    >>> from particletree import Poisson
    >>> years = np.tile([1.0, 5.0, 10.0], 20)
    >>> X, y = np.repeat([[0.0], [1.0]], 30, axis=0), np.repeat([2, 4], 30) * years
    >>> counts = BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(X, y, exposure=years)
    >>> counts.predict([[0.0], [1.0]]).round(1)
    array([2., 4.])
    >>> bool(counts.score(X, y, exposure=years) > 0.9)
    True
    """

    target_type = Numbers
    parts = {  # noqa: RUF012
        "prior": (TreePrior, MondrianPrior),
        "leaf": (Gaussian, GaussianKnownVariance, Poisson, Exponential),
        "sampler": SAMPLERS,
    }

    def fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        **row_columns: ArrayLike | None,
    ) -> Self:
        """Compute the posterior over trees.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers and categories (see `categorical_features`); no encoding or imputation is needed. NaN, None and
            pandas' NA are missing values, which are part of the model. Infinite values are refused.
        y : array-like or data frame, shape (n_rows,) or (n_rows, n_targets)
            The target or targets, finite numbers.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts; fractions are allowed. A row of weight 0 is ignored.
        exposure : array-like, shape (n_rows,), default None
            With `leaf=Poisson()`: the exposure of each row's count, for example the time of observation. In a
            pipeline, a search or a cross-validation it is passed through metadata routing, which
            `set_fit_request(exposure=True)` and `set_score_request(exposure=True)` ask for.
        **row_columns : array-like, shape (n_rows,)
            What else a leaf model from outside the package declares that it can use of a row, by name. The other
            methods take such columns too.

        Returns
        -------
        BayesianTreeRegressor
            The fitted estimator itself.
        """
        return self._fit_or_keep(X, y, sample_weight, {"exposure": exposure, **row_columns})

    def _check_data(self, *args: Any) -> TrainingData:
        *table, row_columns = args
        return check_regression_data(self, *table, categorical_features=self.categorical_features, **row_columns)

    @of_one_fit
    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Return the predictive mean of each row, shape (n_rows,) or (n_rows, n_targets).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        return_std : bool, default False
            Whether to also return the standard deviation of a new observation, the square root of the sum of
            `predict_variance`; for counts that of a count over an exposure of 1.

        Returns
        -------
        mean : ndarray
            The predictive mean; with `leaf=Poisson()` the rate, the mean count per unit of exposure.
        std : ndarray
            The standard deviation, only if `return_std` is true.
        """
        rows, predictions = self._checked(X)
        mean = self._shaped(predictions.means(rows, self.n_jobs))
        if not return_std:
            return mean
        return mean, self._shaped(predictions.deviations(rows, self.n_jobs))

    @of_one_fit
    def score(
        self,
        /,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        **row_columns: ArrayLike | None,
    ) -> float:
        """Return R², the share of the variance of the observations that the predictive mean explains.

        Several targets are averaged.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        y : array-like, shape (n_rows,) or (n_rows, n_targets)
            The observations; counts, if the leaf model is `Poisson()`.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts.
        exposure : array-like, shape (n_rows,), default None
            With `leaf=Poisson()`: the exposure of the counts y, which are compared with rate times exposure. It may
            only be left out if the fit had none. In a search or a cross-validation it is passed through metadata
            routing, `set_score_request(exposure=True)`. A scorer that is chosen by its name, such as
            `scoring="neg_mean_squared_error"`, gets no exposure and compares the rates with y.
        """
        rows, predictions = self._checked(X)
        columns = self._columns_of_observed(len(rows), exposure=exposure, **row_columns)
        expected = self._posterior().leaf.expected(predictions.means(rows, self.n_jobs), columns)
        return float(r2_score(y, self._shaped(expected), sample_weight=sample_weight))

    @of_one_fit
    def predict_variance(self, X: ArrayLike) -> Variances:
        """Return the variance of a new observation in three parts, each of shape (n_rows,) or (n_rows, n_targets).

        `noise` remains however many data there are. `parameters` (the parameters of a leaf with few rows are uncertain)
        and `trees` (the trees disagree) would vanish with more data. For counts: over an exposure of 1. A variance
        beyond the largest float, 1.8e308, is infinite; its square root, `predict(X, return_std=True)[1]`, is finite.
        """
        rows, predictions = self._checked(X)
        return Variances(*(self._shaped(part) for part in predictions.variances(rows, self.n_jobs)))

    @of_one_fit
    def predict_interval(
        self,
        /,
        X: ArrayLike,
        level: float = 0.9,
        *,
        of: str = "observation",
        exposure: ArrayLike | None = None,
        **row_columns: ArrayLike | None,
    ) -> Floats:
        """Return an equal-tailed interval for each row, shape (n_rows, 2) or (n_rows, n_targets, 2).

        Its ends are exact quantiles of the mixture of the leaves' distributions over trees, without sampling.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        level : float, default 0.9
            Posterior probability of the interval, strictly between 0 and 1.
        of : {"observation", "mean"}, default "observation"
            Whether the interval is for a new observation or for the mean at the row (the rate, for counts).
        exposure : array-like, shape (n_rows,), default None
            With `leaf=Poisson()`: the exposure of the new counts; None means 1. It is refused with `of="mean"`, the
            interval of the rate per unit of exposure.
        """
        check_level(level)
        if of not in WHAT:
            raise ValueError(f"of must be one of {', '.join(WHAT)}, got {of!r}.")
        rows, predictions = self._checked(X)
        if of == "mean":
            self._refuse_columns_of_mean(exposure=exposure, **row_columns)
            return self._shaped(predictions.intervals(rows, float(level), self.n_jobs))
        ends = ((1 - level) / 2, (1 + level) / 2)
        columns = self._columns_of_new(len(rows), exposure=exposure, **row_columns)
        return self._shaped(predictions.quantiles(rows, ends, columns, self.n_jobs))

    @of_one_fit
    def predict_quantiles(
        self,
        /,
        X: ArrayLike,
        q: float | Sequence[float],
        exposure: ArrayLike | None = None,
        **row_columns: ArrayLike | None,
    ) -> Floats:
        """Return quantiles of a new observation.

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
            Of shape (n_rows,) or (n_rows, n_targets), with a last axis for `q` if it is a sequence. For counts, the
            smallest count whose cumulative probability is at least q.
        """
        probabilities = check_probabilities(q)
        rows, predictions = self._checked(X)
        columns = self._columns_of_new(len(rows), exposure=exposure, **row_columns)
        quantiles = predictions.quantiles(rows, probabilities, columns, self.n_jobs)
        return self._shaped(quantiles[..., 0] if isinstance(q, numbers.Real) else quantiles)

    @of_one_fit
    def predict_log_density(
        self, /, X: ArrayLike, y: ArrayLike, exposure: ArrayLike | None = None, **row_columns: ArrayLike | None
    ) -> Floats:
        """Return the log predictive density (for counts: log probability) of observations, shape (n_rows,).

        With several targets it is their joint density.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        y : array-like, shape (n_rows,) or (n_rows, n_targets)
            The observations.
        exposure : array-like, shape (n_rows,), default None
            With `leaf=Poisson()`: the exposure of the counts y. It may only be left out if the fit had none.
        """
        rows, predictions = self._checked(X)
        observed, target = check_numbers_to_predict(y, len(rows))
        if target.n_targets != self.n_outputs_:
            raise ValueError(f"y has {target.n_targets} targets, but the fit had {self.n_outputs_}.")
        columns = self._columns_of_observed(len(rows), exposure=exposure, **row_columns)
        densities: Floats = predictions.log_densities(rows, observed, columns, self.n_jobs)
        return densities

    @of_one_fit
    def sample_predictive(
        self,
        /,
        X: ArrayLike,
        n: int = 1,
        random_state: Any = None,
        exposure: ArrayLike | None = None,
        **row_columns: ArrayLike | None,
    ) -> Floats:
        """Draw observations at each row from the posterior predictive distribution.

        The result has shape (n_rows, n) or (n_rows, n, n_targets). The i-th draws of all rows have the same tree, and
        in the same leaf the same parameters, so that they are draws from the joint distribution of the rows.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        n : int, default 1
            Draws per row.
        random_state : int, RandomState, Generator or None, default None
            Seed of the draws.
        exposure : array-like, shape (n_rows,), default None
            As in `predict_interval`.
        """
        check_n_draws(n)
        rows, predictions = self._checked(X)
        generator = np.random.default_rng(seed_sequence(random_state))
        columns = self._columns_of_new(len(rows), exposure=exposure, **row_columns)
        draws: Floats = predictions.observations(rows, int(n), generator, columns)
        return draws[..., 0] if self.n_outputs_ == 1 else draws

    def _shaped(self, values: Floats) -> Floats:
        """Return values of shape (n_rows, n_targets, ...), without the axis of targets if there is only one."""
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _columns_of_new(self, n_rows: int, **given: ArrayLike | None) -> RowColumns:
        """Return the row columns of observations that are still to come, checked."""
        return checked_new_columns(self._posterior().leaf, given, n_rows)

    def _columns_of_observed(self, n_rows: int, **given: ArrayLike | None) -> RowColumns:
        """Return the row columns of observations, checked; refuse to go without one that the fit had."""
        posterior = self._posterior()
        for name in posterior.row_columns:
            if given.get(name) is None:
                is_routed = name in signature(self.fit).parameters  # scikit-learn passes on named arguments only
                routing = (
                    " A search or a cross-validation passes it on after "
                    f"sklearn.set_config(enable_metadata_routing=True), with set_fit_request({name}=True) and "
                    f"set_score_request({name}=True)."
                )
                raise ValueError(
                    f"The model was fitted with {name}, without which its predictions cannot be compared with "
                    f"observations: pass {name}=..., one number for each row.{routing if is_routed else ''}"
                )
        return checked_row_columns(posterior.leaf, given, n_rows)

    def _refuse_columns_of_mean(self, **given: ArrayLike | None) -> None:
        words = self._posterior().leaf.mean_words(given)
        for name, values in given.items():
            if values is not None:
                raise ValueError(
                    f'{name} has no meaning with of="mean", the interval of the {words.noun}{words.per}; leave it out.'
                )

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def check_probabilities(q: float | Sequence[float]) -> tuple[float, ...]:
    """Return the probabilities of quantiles as a tuple; refuse any that is not strictly between 0 and 1."""
    try:
        values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"q must be a number or a list of numbers strictly between 0 and 1, got {q!r}.") from None
    if values.ndim != 1 or not ((values > 0) & (values < 1)).all():
        raise ValueError(f"q must be a number or a list of numbers strictly between 0 and 1, got {q!r}.")
    return tuple(float(value) for value in values)


def check_n_draws(n: object) -> None:
    """Refuse a number of draws for each row that is not an integer of at least 1."""
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be an integer of at least 1, the number of draws for each row, got {n!r}.")
