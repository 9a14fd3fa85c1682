"""The classifier: a Bayesian decision tree behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from particletree.data import check_classification_data, check_features
from particletree.estimators.seeds import seed_sequence
from particletree.inference.exact import Exact
from particletree.inference.mcmc import MCMC
from particletree.inference.smc import SMC
from particletree.model.leaves import Categorical
from particletree.model.prior import TreePrior
from particletree.model.target import class_labels
from particletree.posterior import Posterior
from particletree.posterior.predictions import check_level

Self = TypeVar("Self", bound="BayesianTreeClassifier")
SAMPLERS = (SMC, MCMC, Exact)
DEFAULTS = {"prior": TreePrior, "leaf": Categorical, "sampler": SMC}


class BayesianTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian decision tree for classification: a posterior over trees, and predictions averaged over it.

    Parameters
    ----------
    prior : TreePrior, default None
        The prior over trees; None means `TreePrior(alpha=0.95, beta=0.5)`.
    leaf : Categorical, default None
        The model of the labels in a leaf; None means `Categorical(concentration=5.0)`.
    sampler : SMC, MCMC or Exact, default None
        How the posterior is computed; None means `SMC(n_particles=100, n_islands=5)`.
    n_jobs : int, default None
        Islands or chains that run at the same time, and batches of rows that are predicted at the same time, in threads
        through joblib; None means 1 and -1 all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default None
        Seed; an integer makes the fit reproducible to the bit.
    verbose : int, default 0
        1 shows a progress bar with the islands done, the stage and the effective sample size.

    Attributes
    ----------
    posterior_ : Posterior
        The weighted trees.
    log_evidence_ : float
        Log evidence of the model, log p(y | X): exact for `Exact`, an estimate for `SMC`; not there for `MCMC`.
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

    def __init__(
        self,
        prior: TreePrior | None = None,
        leaf: Categorical | None = None,
        sampler: SMC | MCMC | Exact | None = None,
        *,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.leaf = leaf
        self.sampler = sampler
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters; `sampler__n_particles` and the like also work where the part is still the default, None."""
        for name, default in DEFAULTS.items():
            is_nested = any(key.startswith(f"{name}__") for key in params)
            if is_nested and params.get(name, getattr(self, name)) is None:
                setattr(self, name, default())
                params.pop(name, None)
        super().set_params(**params)
        return self

    def fit(self: Self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the posterior over trees.

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            Numbers without missing values.
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
        before = dict(vars(self))
        try:
            self._fit(X, y, sample_weight)
        except BaseException:  # refused or interrupted: an earlier fit stays as it was
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        data = check_classification_data(self, X, y, sample_weight)
        self.classes_ = class_labels(data.observations.target)
        names = getattr(self, "feature_names_in_", None)
        self.posterior_: Posterior = self._part("sampler").run(
            data,
            self._part("prior"),
            self._part("leaf"),
            seed=seed_sequence(self.random_state),
            feature_names=None if names is None else [str(name) for name in names],
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the posterior predictive class probabilities, shape (n_rows, n_classes)."""
        posterior = self._posterior()
        return posterior.predictions.means(check_features(self, X), self.n_jobs)

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
        holds less often (90% intervals in 68 to 72% of the cases, ``benchmarks/coverage.py``).

        Parameters
        ----------
        X : array-like or data frame, shape (n_rows, n_features)
            The rows.
        level : float, default 0.9
            Posterior probability of the interval, strictly between 0 and 1.
        """
        posterior = self._posterior()
        check_level(level)
        return posterior.predictions.intervals(check_features(self, X), float(level), self.n_jobs)

    @property
    def log_evidence_(self) -> float:
        """Log evidence of the model, log p(y | X)."""
        return self._posterior_with_evidence().log_evidence

    @property
    def log_evidence_se_(self) -> float:
        """Standard error of the log evidence, from the spread of the islands."""
        return self._posterior_with_evidence().log_evidence_se

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the gain in log marginal likelihood."""
        return self._posterior().feature_importances()

    def _part(self, name: str) -> Any:
        """Return the parameter object `name`, or the default where it is None."""
        part, default = getattr(self, name), DEFAULTS[name]
        if part is None:
            return default()
        allowed = SAMPLERS if name == "sampler" else (default,)
        if not isinstance(part, allowed):
            kinds = " or ".join(kind.__name__ for kind in allowed)
            raise TypeError(
                f"{name} must be an object of type {kinds}, or None, got {part!r}. "
                f"Write for example {name}={default()!r}."
            )
        return part

    def _posterior(self) -> Posterior:
        check_is_fitted(self, "posterior_")
        return self.posterior_

    def _posterior_with_evidence(self) -> Posterior:
        posterior = self._posterior()
        if posterior.log_evidences is None:
            raise AttributeError("A Markov chain gives no estimate of the evidence; fit with sampler=SMC() for one.")
        return posterior
