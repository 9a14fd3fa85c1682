"""Bayesian decision trees, grown top-down by a particle filter, behind scikit-learn's interface.

After Lakshminarayanan, Roy & Teh, *Top-down particle filtering for Bayesian decision trees* (ICML 2013).

Examples
--------
>>> from sklearn.datasets import load_breast_cancer
>>> from particletree import BayesianTreeClassifier
>>> X, y = load_breast_cancer(return_X_y=True)
>>> clf = BayesianTreeClassifier(random_state=0).fit(X, y)
>>> clf.predict_proba(X[:2]).shape
(2, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from particletree._version import __version__

if TYPE_CHECKING:
    from particletree._estimators import BARTClassifier, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor
    from particletree._inference import MCMC, SMC, Exact, ParticleGibbs, TruncatedTreesWarning
    from particletree._model import (
        Categorical,
        Exponential,
        Flat,
        Gaussian,
        GaussianKnownVariance,
        MondrianPrior,
        Poisson,
        TreePrior,
    )
    from particletree._posterior import BARTPosterior, Posterior, load

__all__ = [
    "MCMC",
    "SMC",
    "BARTClassifier",
    "BARTPosterior",
    "BARTRegressor",
    "BayesianTreeClassifier",
    "BayesianTreeRegressor",
    "Categorical",
    "Exact",
    "Exponential",
    "Flat",
    "Gaussian",
    "GaussianKnownVariance",
    "MondrianPrior",
    "ParticleGibbs",
    "Poisson",
    "Posterior",
    "TreePrior",
    "TruncatedTreesWarning",
    "__version__",
    "load",
]

# The module of each name above. Names are imported at their first use (PEP 562), because scikit-learn takes a second to
# import and `particletree --help` does not need it.
_HOMES = {
    "MCMC": "_inference",
    "SMC": "_inference",
    "BARTPosterior": "_posterior",
    "BARTClassifier": "_estimators",
    "BARTRegressor": "_estimators",
    "BayesianTreeClassifier": "_estimators",
    "BayesianTreeRegressor": "_estimators",
    "Categorical": "_model",
    "Exact": "_inference",
    "Exponential": "_model",
    "Flat": "_model",
    "Gaussian": "_model",
    "GaussianKnownVariance": "_model",
    "ParticleGibbs": "_inference",
    "Poisson": "_model",
    "Posterior": "_posterior",
    "MondrianPrior": "_model",
    "TreePrior": "_model",
    "TruncatedTreesWarning": "_inference",
    "load": "_posterior",
}

_FACADES = {"datasets", "extending", "inference", "plots", "report", "results"}


if not TYPE_CHECKING:  # type checkers read the imports above; with `__getattr__` they would accept any name

    def __getattr__(name: str) -> Any:
        """Import and return a public name, or one of the public submodules."""
        if name in _HOMES:
            value = getattr(import_module(f"particletree.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        if name in _FACADES:
            return import_module(f"particletree.{name}")
        raise AttributeError(f"module 'particletree' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, imported or not yet."""
    return sorted({*globals(), *__all__})
