"""Classification: what all classifiers do, and the classifier of single trees."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from particletree._data import TrainingData, check_classification_data
from particletree._estimators.base import PosteriorEstimator, of_one_fit
from particletree._estimators.single_trees import SAMPLERS, BayesianTree
from particletree._model.leaves import Categorical
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import TreePrior
from particletree._model.target import ClassLabels
from particletree._posterior.predictions.trees import check_level

Self = TypeVar("Self", bound="PosteriorClassifier")


class PosteriorClassifier(ClassifierMixin, PosteriorEstimator):  # type: ignore[misc]
    """Base of the classifiers: the fit to class labels, and predictions of them."""

    target_type = ClassLabels

    def fit(self: Self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the posterior.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers and categories (see `categorical_features`); no encoding or imputation is needed. NaN, None and
            pandas' NA are missing values, which are part of the model. Infinite values are refused.
        y : array-like, shape (n_rows,)
            Class labels: integers, text, booleans, or floats that are whole numbers.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts; fractions are allowed, but not in sums of trees. A row of weight 0 is ignored,
            its label included. The sum of the weights acts as the number of rows, so they should not be scaled to sum
            to 1.

        Returns
        -------
        The fitted estimator itself.
        """
        return self._fit_or_keep(X, y, sample_weight)

    def _check_data(self, *args: Any) -> TrainingData:
        return check_classification_data(self, *args, categorical_features=self.categorical_features)

    @of_one_fit
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        rows, predictions = self._checked(X)
        probabilities: NDArray[np.float64] = predictions.means(rows, self.n_jobs)
        return probabilities

    @of_one_fit
    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logs of the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        return np.asarray(np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny)))

    @of_one_fit
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @of_one_fit
    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> NDArray[np.float64]:
        """Return credible intervals of the class probabilities, shape (n_rows, n_classes, 2).

        The interval covers the uncertainty of the trees and that of the class probabilities in leaves with few labels.
        It is equal-tailed: a share of (1 - level) / 2 of the posterior lies on either side. With single trees its
        coverage is `level` if the true function is a tree drawn from the prior; it is lower for smooth functions, which
        no tree represents (70 to 79% for 90% intervals in our benchmarks).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        level : float, default 0.9
            Posterior probability of the interval, strictly between 0 and 1.
        """
        check_level(level)
        rows, predictions = self._checked(X)
        intervals: NDArray[np.float64] = predictions.intervals(rows, float(level), self.n_jobs)
        return intervals


class BayesianTreeClassifier(PosteriorClassifier, BayesianTree):
    """Bayesian decision trees for classification: a posterior over trees, and predictions averaged over it.

    Parameters
    ----------
    prior : TreePrior or MondrianPrior, default None
        The prior over trees, which controls their size; None means `TreePrior(alpha=0.95, beta=0.2)`, or, with 10,000
        rows or more, `TreePrior(alpha=0.99, beta=0.1)`, which allows larger trees. In `prior`, `leaf` and `sampler`
        single parameters can be None too: `TreePrior(max_depth=3)` has this alpha and beta.
    leaf : Categorical, default None
        The model of the labels in a leaf; None means `Categorical(concentration=0.3)`. Leaf models for class labels
        that are defined outside the package are accepted too.
    sampler : SMC, MCMC, ParticleGibbs or Exact, default None
        The algorithm that computes the posterior; None means `SMC` with the lookahead proposal and 7 to 12
        islands of 10 particles, from 10,000 rows on of 5; `SMC(n_islands=50)` changes one number and leaves the rest.
        The paper's settings are `SMC.paper()`, `TreePrior.paper()` and `Categorical.paper()`.
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
        setting for the next fit, write ``clf.set_params(sampler__n_islands=50)``.
    prior_ : TreePrior or MondrianPrior
        The prior that was used: the one that was given, with the values chosen for these data instead of None and
        "auto".
    leaf_ : Categorical
        The leaf model that was used, likewise, with parameters that are estimated from `y` in the place of None.
    log_evidence_ : float
        Log evidence (log marginal likelihood) of the model, log p(y | X): exact for `Exact`, an estimate for `SMC`; not
        available for Markov chains. With "auto" it is that of settings that were fitted to `y`.
    log_evidence_se_ : float
        Its standard error from the spread of the islands; nan for a single island, 0 for `Exact`. Two of them hold the
        exact value in 89% of small tables; nearly all misses are estimates that are too low. It cannot account for
        trees that all islands have missed; `posterior_.log_evidence_bound` is a lower bound that always holds.
    classes_ : ndarray
        The class labels.
    feature_importances_ : ndarray, shape (n_features,)
        Share of each feature in the variance of the mean function, see `Posterior.feature_importances`;
        `posterior_.gain_shares()` has the shares in the gain in log marginal likelihood.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if `X` had names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = BayesianTreeClassifier(random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.9)
    True
    >>> clf.predict_interval(X[:1], level=0.9).shape
    (1, 3, 2)
    """

    parts = {"prior": (TreePrior, MondrianPrior), "leaf": (Categorical,), "sampler": SAMPLERS}  # noqa: RUF012
