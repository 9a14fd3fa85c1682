"""Estimators of single trees: their parameters, the choice of the model, and exports."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

from particletree._data import TrainingData
from particletree._estimators.base import PosteriorEstimator, of_one_fit
from particletree._estimators.decision_tree import to_decision_tree
from particletree._estimators.seeds import seed_sequence
from particletree._estimators.unknown_parameters import refuse_unknown
from particletree._inference.defaults import default_leaf, default_prior
from particletree._inference.exact.sampler import Exact
from particletree._inference.mcmc import MCMC
from particletree._inference.particle_gibbs import ParticleGibbs
from particletree._inference.selection import choose_settings
from particletree._inference.smc import SMC
from particletree._model.leaf import LeafModel
from particletree._model.prior import Prior
from particletree._model.tree.tree import Tree
from particletree._posterior import Posterior
from particletree._posterior.explanation.explanation import Explanation

SAMPLERS = (SMC, MCMC, ParticleGibbs, Exact)


class BayesianTree(PosteriorEstimator):
    """Base of the estimators of single trees; subclasses set the type of target and the usual leaf models."""

    posterior_type: ClassVar[type[Posterior]] = Posterior

    @refuse_unknown
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

    @classmethod
    def _model_parameters(cls, posterior: Posterior) -> dict[str, Any]:
        return {"prior": posterior.prior, "leaf": posterior.leaf}

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
        posterior: Posterior = self._posterior()
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
        evidence: float = self._posterior().log_evidence
        return evidence

    @property
    def log_evidence_se_(self) -> float:
        """Standard error of the log evidence, from the spread of the islands; nan for a single one.

        Two of them hold the exact value in 86% (numbers) and 89% (classes) of small tables by default; nearly all
        misses are estimates that are too low. Trees that all islands have missed cannot be seen.
        """
        error: float = self._posterior().log_evidence_se
        return error

    @property
    def leaf_(self) -> LeafModel:
        """The leaf model that was used, every parameter with a value."""
        leaf: LeafModel = self._posterior().leaf
        return leaf

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
        explanation: Explanation = self._posterior().explain(x, of=of, level=level, X=X, n_neighbours=n_neighbours)
        return explanation

    def _sample(self, data: TrainingData) -> Posterior:
        seed, earlier = seed_sequence(self.random_state), self._earlier()
        sampler = self._part("sampler", SMC())
        self.sampler_ = copy(sampler.for_data(data))
        prior = self._part("prior", default_prior(data, self.prior))
        leaf = self._part("leaf", default_leaf(data))
        if earlier is not None and earlier.choice is not None:
            prior, leaf, choice = earlier.prior, earlier.leaf, earlier.choice
        else:
            prior, leaf, choice = choose_settings(data, prior, leaf, seed, self.n_jobs, self._feature_names())
        posterior: Posterior = self._run(sampler, data, prior, leaf, seed)
        return replace(posterior, choice=choice)

    def _accepts(self, name: str, part: object) -> bool:
        if name == "leaf":
            return isinstance(part, LeafModel) and part.target_type is self.target_type
        return super()._accepts(name, part)
