"""The base of all estimators: parts and their defaults, a fit that replaces the old one in one step, and a posterior.

Estimators of single trees (``single_trees.py``) and of sums of trees (``bart.py``) differ in their parts, their
sampler and the type of target; each kind of target has its methods.

Threads may predict while another one fits the same estimator. So `fit` works on a copy and then replaces all attributes
at once, and each prediction takes all of them from one fit (`of_one_fit`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from particletree._data import TrainingData, check_features
from particletree._estimators.unknown_parameters import INSTEAD, refuse_unknown_to_set
from particletree._inference.sampler import Sampler
from particletree._model.parameters import Parameters
from particletree._model.prior import Prior
from particletree._model.target import ClassLabels, class_labels
from particletree._posterior.base import BasePosterior, only_elsewhere

Self = TypeVar("Self", bound="PosteriorEstimator")
Estimator = TypeVar("Estimator", bound=BaseEstimator)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def fit_at_once(estimator: Estimator, fit: Callable[[Estimator], object]) -> Estimator:
    """Fit a copy of the estimator, and give the estimator its attributes; if that fails, it keeps its own.

    The parameters stay, which another thread may have set meanwhile.
    """
    fitted = copy(estimator)
    fit(fitted)
    parameters = {name: getattr(estimator, name) for name in estimator.get_params(deep=False)}
    estimator.__dict__ = vars(fitted) | parameters
    return estimator


def of_one_fit(
    method: Callable[Concatenate[Estimator, Arguments], Result],
) -> Callable[Concatenate[Estimator, Arguments], Result]:
    """Make a method of an estimator see the attributes of one fit only, if another thread fits it meanwhile."""

    @wraps(method)
    def call(estimator: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        view = object.__new__(type(estimator))
        view.__dict__ = vars(estimator)  # which `fit_at_once` replaces, and does not change
        return method(view, *args, **kwargs)

    return call


class PosteriorEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; subclasses name their parts and say how they make their sampler and model.

    A *part* is a parameter that is an object with parameters of its own, or None, the estimator's choice. None in one
    of its parameters is the estimator's choice for that one.
    """

    target_type: ClassVar[type]  # ClassLabels or Numbers
    posterior_type: ClassVar[type[BasePosterior]]
    parts: ClassVar[dict[str, tuple[type[Any], ...]]]  # the usual types of each part, the default first
    instead: ClassVar[dict[str, str]] = INSTEAD
    counterpart: ClassVar[type[PosteriorEstimator] | None] = None  # what has methods that this one cannot have

    categorical_features: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    posterior_: Any

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters; nested ones such as `prior__beta` also work if the part is None, the default."""
        refuse_unknown_to_set(type(self), params)
        for name, (default, *_) in self.parts.items():
            is_nested = any(key.startswith(f"{name}__") for key in params)
            if is_nested and params.get(name, getattr(self, name)) is None:
                setattr(self, name, default())
                params.pop(name, None)
        super().set_params(**params)
        return self

    @classmethod
    def from_posterior(cls: type[Self], posterior: Any) -> Self:
        """Return a fitted estimator that predicts with a given posterior, for example a saved one.

        Its model is that of the posterior; the other parameters (the sampler, `random_state`), which matter if it is
        fitted again, are the defaults.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
        >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
        >>> BayesianTreeClassifier.from_posterior(posterior).predict([[0.2], [2.7]]).tolist()
        ['a', 'b']
        """
        kind = cls.posterior_type
        if not isinstance(posterior, kind):
            raise TypeError(
                f"{cls.__name__} needs a {kind.__name__}, of {kind.family}, got {type(posterior).__name__}: pass "
                'posterior_ of a fitted estimator of these, or particletree.load("file.npz").'
            )
        if not isinstance(posterior.target, cls.target_type):
            raise TypeError(
                f"{cls.__name__} needs a posterior of {cls.target_type.__name__}, got one of {posterior.target!r}; "
                "from_posterior of the estimator for these takes it."
            )
        estimator = cls(**cls._model_parameters(posterior))
        estimator._take(posterior)
        return estimator

    @classmethod
    def _model_parameters(cls, posterior: Any) -> dict[str, Any]:
        """Return the parameters of the estimator that are the model of a posterior."""
        raise NotImplementedError

    @property
    def prior_(self) -> Prior:
        """The prior over trees that was used, every parameter with a value."""
        prior: Prior = self._posterior().prior
        return prior

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the variance of the mean function; see `feature_importances` of the posterior."""
        importances: NDArray[np.float64] = self._posterior().feature_importances()
        return importances

    def _fit_or_keep(self: Self, *args: Any) -> Self:
        """Fit; if that fails or is interrupted, the attributes of an earlier fit stay."""
        return fit_at_once(self, lambda estimator: estimator._take(estimator._sample(estimator._check_data(*args))))

    def _check_data(self, *args: Any) -> TrainingData:
        """Check the arguments of `fit`."""
        raise NotImplementedError

    def _sample(self, data: TrainingData) -> Any:
        """Return the posterior; with `warm_start` it has the runs of the earlier fit too."""
        raise NotImplementedError

    def _run(
        self,
        sampler: Sampler[Any, Any, Any],
        data: TrainingData,
        prior: Prior,
        leaf: Parameters,
        seed: np.random.SeedSequence,
    ) -> Any:
        """Run a sampler with the estimator's settings."""
        return sampler.run(
            data,
            prior,
            leaf,
            seed=seed,
            feature_names=self._feature_names(),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            earlier=self._earlier(),
        )

    def _feature_names(self) -> list[str] | None:
        """Return the names of the features, if X has any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _earlier(self) -> Any:
        """Return the posterior to which `fit` adds, if any."""
        return getattr(self, "posterior_", None) if self.warm_start else None

    def _take(self, posterior: Any) -> None:
        """Set the fitted attributes from a posterior."""
        self.posterior_ = posterior
        self._columns = posterior.columns
        self.n_features_in_ = posterior.n_features
        if posterior.feature_names is not None:
            self.feature_names_in_ = np.array(posterior.feature_names, dtype=object)
        if isinstance(posterior.target, ClassLabels):
            self.classes_ = class_labels(posterior.target)
        else:
            self.n_outputs_ = posterior.target.n_outputs

    def _part(self, name: str, default: Any) -> Any:
        """Return a part, with the default's parameters in the place of None."""
        part = getattr(self, name)
        if part is None:
            return default
        if not self._accepts(name, part):
            kinds = " or ".join(kind.__name__ for kind in self.parts[name])
            others = f", or of another leaf model for {self.target_type.__name__}" if name == "leaf" else ""
            raise TypeError(
                f"{name} must be an object of type {kinds}{others}, or None, got {part!r}. "
                f"Write for example {name}={default!r}."
            )
        return part.completed(default)

    def _accepts(self, name: str, part: object) -> bool:
        """Tell whether an object can be a part: priors and leaf models can come from outside the package."""
        return isinstance(part, (Prior,) if name == "prior" else self.parts[name])

    def _posterior(self) -> Any:
        check_is_fitted(self, "posterior_")
        return self.posterior_

    def _checked(self, X: Any) -> tuple[NDArray[np.float64], Any]:
        """Return rows to predict, checked and with levels as numbers, and the predictions of the posterior."""
        posterior = self._posterior()
        return check_features(self, X, self._columns), posterior.predictions

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Raise an error that says what to use instead of what only the counterpart has."""
            owner, other = type(self), self.counterpart
            if other is not None and not name.startswith("_") and hasattr(other, name) and not hasattr(owner, name):
                raise AttributeError(only_elsewhere(owner, name, other.__name__), name=name, obj=self)
            return object.__getattribute__(self, name)  # raises the usual error, or that of a property
