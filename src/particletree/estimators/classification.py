"""The classifier: a Bayesian decision tree behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from particletree.data import TrainingData, check_classification_data
from particletree.estimators.base import BayesianTree
from particletree.model.leaves import Categorical
from particletree.model.target import ClassLabels, class_labels
from particletree.posterior import Posterior
from particletree.posterior.predictions import check_level

Self = TypeVar("Self", bound="BayesianTreeClassifier")


class BayesianTreeClassifier(ClassifierMixin, BayesianTree):  # type: ignore[misc]
    """A Bayesian decision tree for classification: a posterior over trees, and predictions averaged over it.

    Parameters
    ----------
    prior : TreePrior, default None
        The prior over trees; None means `TreePrior(alpha=0.95, beta=0.2)`, and with 10,000 rows or more, where there is
        time for larger trees, `TreePrior(alpha=0.99, beta=0.1)`.
    leaf : Categorical, default None
        The model of the labels in a leaf; None means `Categorical(concentration=0.3)`. Other leaf models for class
        labels, from outside the package too, are taken as well.
    sampler : SMC, MCMC, ParticleGibbs or Exact, default None
        How the posterior is computed; None means islands of 10 particles that look ahead, seven or more by the size of
        the table (``inference/defaults.py``). `SMC()`, `TreePrior()` and `Categorical()` are the paper's settings.
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
        Its standard error from the spread of the islands; nan for a single island, 0 for `Exact`. What all islands
        have missed it cannot show: `posterior_.log_evidence_bound` is a lower bound that holds in any case.
    classes_ : ndarray
        The class labels.
    feature_importances_ : ndarray, shape (n_features,)
        Share of each feature in the gain in log marginal likelihood; see `Posterior.feature_importances`.
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

    target_type = ClassLabels
    leaf_models = (Categorical,)
    default_leaf = Categorical(concentration=0.3)

    def fit(self: Self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the posterior over trees.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers and categories, as they are: NaN, None and pandas' NA are missing values, which are part of the
            model, and which feature is categorical `categorical_features` says. Infinite values are refused.
        y : array-like, shape (n_rows,)
            Class labels: integers, text, booleans, or floats that are whole numbers.
        sample_weight : array-like, shape (n_rows,), default None
            How often each row counts; fractions are allowed. A row of weight 0 is ignored, its label included. The sum
            is the number of rows that the data count as, so weights should not be scaled to sum to 1.

        Returns
        -------
        BayesianTreeClassifier
            The fitted estimator itself.
        """
        return self._fit_or_keep(X, y, sample_weight)

    def _check_data(self, *args: Any) -> TrainingData:
        data = check_classification_data(self, *args, categorical_features=self.categorical_features)
        self.classes_ = class_labels(data.observations.target)
        return data

    def _take(self, posterior: Posterior) -> None:
        super()._take(posterior)
        self.classes_ = class_labels(posterior.target)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        posterior = self._posterior()
        return posterior.predictions.means(self._check_rows(X), self.n_jobs)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logs of the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> NDArray[np.float64]:
        """Return credible intervals of the class probabilities, shape (n_rows, n_classes, 2).

        The class probability at a row is uncertain because the tree is, and because the labels in a leaf are few; the
        interval has both. It is equal-tailed: a share of (1 - level) / 2 of the posterior lies on either side. Where
        the truth is a tree of the prior it holds it as often as `level` says; a smooth truth, which no tree is, it
        holds less often (90% intervals in 70 to 79% of the cases, ``benchmarks/coverage.py``).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        level : float, default 0.9
            Posterior probability of the interval, strictly between 0 and 1.
        """
        posterior = self._posterior()
        check_level(level)
        return posterior.predictions.intervals(self._check_rows(X), float(level), self.n_jobs)
