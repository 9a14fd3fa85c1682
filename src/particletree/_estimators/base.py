"""Base of the tree estimators: shared parameters, a fit that replaces the old one in one step, and exports.

Threads may predict while another one fits the same estimator. So `fit` works on a copy and then replaces all attributes
at once, and each prediction takes all of them from one fit (`of_one_fit`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from particletree._data import TrainingData, check_features
from particletree._estimators.decision_tree import to_decision_tree
from particletree._estimators.seeds import seed_sequence
from particletree._estimators.unknown_parameters import refuse_habits, refuse_habits_to_set
from particletree._inference.defaults import default_leaf, default_prior
from particletree._inference.exact.sampler import Exact
from particletree._inference.mcmc import MCMC
from particletree._inference.particle_gibbs import ParticleGibbs
from particletree._inference.selection import choose_settings
from particletree._inference.smc import SMC
from particletree._model.leaf import LeafModel
from particletree._model.mondrian import MondrianPrior
from particletree._model.prior import Prior, TreePrior
from particletree._model.tree.tree import Tree
from particletree._posterior import Posterior
from particletree._posterior.explanation.explanation import Explanation

Self = TypeVar("Self", bound="BayesianTree")
Estimator = TypeVar("Estimator", bound=BaseEstimator)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
SAMPLERS = (SMC, MCMC, ParticleGibbs, Exact)


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


class BayesianTree(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; subclasses set the type of target, and their usual leaf models, the default first."""

    target_type: ClassVar[type]  # ClassLabels or Numbers
    leaf_models: ClassVar[tuple[type[LeafModel], ...]]
    posterior_: Posterior

    @refuse_habits
    def __init__(
        self,
        prior: Prior | None = None,
        leaf: LeafModel | None = None,
        sampler: SMC | MCMC | ParticleGibbs | Exact | None = None,
        categorical_features: Any = "from_dtype",
        *,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.prior = prior
        self.leaf = leaf
        self.sampler = sampler
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters; nested ones such as `sampler__n_particles` also work if the part is None, the default."""
        refuse_habits_to_set(type(self), params)
        for name, (default, *_) in self._kinds().items():
            is_nested = any(key.startswith(f"{name}__") for key in params)
            if is_nested and params.get(name, getattr(self, name)) is None:
                setattr(self, name, default())
                params.pop(name, None)
        super().set_params(**params)
        return self

    @classmethod
    def from_posterior(cls: type[Self], posterior: Posterior) -> Self:
        """Return a fitted estimator that predicts with a given posterior, for example a saved one.

        Its prior and leaf model are those of the posterior; the other parameters (the sampler, `random_state`), which
        matter if it is fitted again, are the defaults.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
        >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
        >>> BayesianTreeClassifier.from_posterior(posterior).predict([[0.2], [2.7]]).tolist()
        ['a', 'b']
        """
        if not isinstance(posterior, Posterior):
            raise TypeError(
                f"{cls.__name__} needs a Posterior, of single trees, got {type(posterior).__name__}: pass posterior_ "
                'of a fitted BayesianTreeClassifier or BayesianTreeRegressor, or particletree.load("file.npz").'
            )
        if not isinstance(posterior.target, cls.target_type):
            raise TypeError(
                f"{cls.__name__} needs a posterior of {cls.target_type.__name__}, got one of {posterior.target!r}; "
                "the other estimator's from_posterior takes it."
            )
        estimator = cls(prior=posterior.prior, leaf=posterior.leaf)
        estimator._take(posterior)
        return estimator

    def _take(self, posterior: Posterior) -> None:
        """Set the fitted attributes from a posterior."""
        self.posterior_ = posterior
        self._columns = posterior.columns
        self.n_features_in_ = posterior.n_features
        if posterior.feature_names is not None:
            self.feature_names_in_ = np.array(posterior.feature_names, dtype=object)

    @of_one_fit
    def to_sklearn(self, tree: Tree | None = None) -> Any:
        """Return one tree as a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor` of scikit-learn.

        It sends the training rows, missing values included, to the same leaves and predicts the same; scikit-learn's
        plots and text exports and SHAP work on it. It compares values in float32, so a new row whose value is
        within about 1e-7, relatively, of a threshold can reach another leaf.

        Parameters
        ----------
        tree : Tree, default None
            Any tree of the posterior, `rounded()` or not; None means the consensus tree. A tree that splits on a
            categorical feature is refused, because scikit-learn's trees cut numbers only.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> decision_tree = BayesianTreeClassifier(random_state=0).fit(X, y).to_sklearn()
        >>> decision_tree, int(decision_tree.get_n_leaves())
        (DecisionTreeClassifier(), 5)
        """
        posterior = self._posterior()
        chosen = posterior.consensus_tree() if tree is None else tree
        if chosen.target != posterior.target:
            raise ValueError(f"The tree predicts {chosen.target!r}, but this model {posterior.target!r}.")
        return to_decision_tree(chosen, posterior.n_features)

    def to_onnx(self) -> Any:
        """Return the predictions as an ONNX model of one tree ensemble; see `Posterior.to_onnx`."""
        return self._posterior().to_onnx()

    @property
    def log_evidence_(self) -> float:
        """Log evidence (log marginal likelihood) of the model, log p(y | X).

        Parameters of the leaf model that are None are estimated from `y` first, and those that are "auto" are chosen by
        the evidence: it is then an empirical Bayes evidence, which uses `y` twice. Give all of them to compare models.
        """
        return self._posterior_with_evidence().log_evidence

    @property
    def log_evidence_se_(self) -> float:
        """Standard error of the log evidence, from the spread of the islands; nan for a single one.

        Two of them hold the exact value in 86% (numbers) and 89% (classes) of small tables by default; nearly all
        misses are estimates that are too low. Trees that all islands have missed cannot be seen.
        """
        return self._posterior_with_evidence().log_evidence_se

    @property
    def prior_(self) -> Prior:
        """The prior over trees that was used, every parameter with a value."""
        return self._posterior().prior

    @property
    def leaf_(self) -> LeafModel:
        """The leaf model that was used, every parameter with a value."""
        return self._posterior().leaf

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the gain in log marginal likelihood."""
        return self._posterior().feature_importances()

    def explain(
        self, x: Any, *, of: object = None, level: float = 0.9, X: Any = None, n_neighbours: int = 5
    ) -> Explanation:
        """Explain the prediction for one row: the effect of each condition, trees that disagree, and similar rows.

        Parameters
        ----------
        x : mapping, Series, frame of one row, list or array
            The row: by feature name in a mapping or a Series, in the order of the features in a list or an array.
        of : object, default None
            The class to explain, or the name or number of the target; None means the most probable class, or the first
            target.
        level : float, default 0.9
            Posterior probability of the intervals, strictly between 0 and 1.
        X : array-like or data frame, shape (n_rows, n_features), default None
            Rows among which neighbours are searched; None means the training rows that the posterior has kept.
        n_neighbours : int, default 5
            Maximal number of neighbours.

        Returns
        -------
        Explanation
            Numbers, with a text for `print`. The effects of the conditions and the mean of all training rows add up to
            the prediction; they are neither Shapley values nor causal effects.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier
        >>> clf = BayesianTreeClassifier(random_state=0).fit([[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9)
        >>> why = clf.explain([7.0])
        >>> why.output_name, why.rules[0].kind
        ('b', 'above')
        """
        return self._posterior().explain(x, of=of, level=level, X=X, n_neighbours=n_neighbours)

    def _fit_or_keep(self: Self, *args: Any) -> Self:
        """Fit; if that fails or is interrupted, the attributes of an earlier fit stay."""

        def fit(estimator: Self) -> None:
            data = estimator._check_data(*args)
            estimator._columns = data.columns
            estimator._sample(data)

        return fit_at_once(self, fit)

    def _check_data(self, *args: Any) -> TrainingData:
        """Check the arguments of `fit`."""
        raise NotImplementedError

    def _check_rows(self, X: Any) -> NDArray[np.float64]:
        """Check the rows to predict, and encode their levels as numbers."""
        return check_features(self, X, self._columns)

    def _sample(self, data: TrainingData) -> None:
        names = getattr(self, "feature_names_in_", None)
        earlier = getattr(self, "posterior_", None) if self.warm_start else None
        if earlier is not None:
            self._check_same_rows(earlier, data)
        seed = seed_sequence(self.random_state)
        sampler = self._part("sampler", SMC())
        self.sampler_ = copy(sampler.for_data(data))
        prior, leaf, choice = self._model(data, seed, earlier)
        posterior = sampler.run(
            data,
            prior,
            leaf,
            seed=seed,
            feature_names=None if names is None else [str(name) for name in names],
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            first_run=0 if earlier is None else earlier.n_islands,
            choice=choice,
        )
        weighting = getattr(sampler, "island_weighting", "uniform")
        self.posterior_ = posterior if earlier is None else self._added(earlier, posterior, weighting)

    @staticmethod
    def _check_same_rows(earlier: Posterior, data: TrainingData) -> None:
        """Refuse to add runs to those of other rows, before the runs are made."""
        difference = earlier.fingerprint and earlier.fingerprint.difference(data.fingerprint, earlier.feature_names)
        if difference:
            raise ValueError(
                "warm_start=True adds runs to the previous fit, but the rows are not those of that fit: they differ in "
                f"{difference}. Pass the same X, y and weights again, or set warm_start=False to start anew."
            )

    @staticmethod
    def _added(earlier: Posterior, later: Posterior, island_weighting: str) -> Posterior:
        """Return the posterior of the runs of an earlier and a later fit."""
        try:
            return Posterior.merge([earlier, later], island_weighting)
        except ValueError as error:
            raise ValueError(
                f"warm_start=True adds runs to the previous fit, which must have the same data and model: {error} For "
                "other data, set warm_start=False."
            ) from error

    def _model(self, data: TrainingData, seed: np.random.SeedSequence, earlier: Posterior | None) -> tuple[Any, ...]:
        """Return the prior, the leaf model and how they were chosen; with `warm_start` those of the earlier fit."""
        prior = self._part("prior", TreePrior())
        prior = prior.completed(default_prior(data, prior))
        leaf = self._part("leaf", default_leaf(data))
        if earlier is not None and earlier.choice is not None:
            return earlier.prior, earlier.leaf, earlier.choice
        return choose_settings(data, prior, leaf, seed, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _kinds(self) -> dict[str, tuple[type[Any], ...]]:
        """Return the package's types of each parameter object, the default first."""
        return {"prior": (TreePrior, MondrianPrior), "leaf": self.leaf_models, "sampler": SAMPLERS}

    def _part(self, name: str, default: Any) -> Any:
        """Return the parameter object `name`, or the default where it is None."""
        part, usual = getattr(self, name), self._kinds()[name]
        if part is None:
            return default
        if not (isinstance(part, (Prior,) if name == "prior" else usual) or self._is_leaf(name, part)):
            kinds = " or ".join(kind.__name__ for kind in usual)
            others = f", or of another leaf model for {self.target_type.__name__}" if name == "leaf" else ""
            raise TypeError(
                f"{name} must be an object of type {kinds}{others}, or None, got {part!r}. "
                f"Write for example {name}={usual[0]()!r}."
            )
        return part

    def _is_leaf(self, name: str, part: object) -> bool:
        """Tell whether a part is a leaf model for this estimator's type of target, defined here or elsewhere."""
        return name == "leaf" and isinstance(part, LeafModel) and part.target_type is self.target_type

    def _posterior(self) -> Posterior:
        check_is_fitted(self, "posterior_")
        return self.posterior_

    def _posterior_with_evidence(self) -> Posterior:
        posterior = self._posterior()
        if posterior.log_evidences is None:
            raise AttributeError("A Markov chain gives no estimate of the evidence; fit with sampler=SMC() for one.")
        return posterior
