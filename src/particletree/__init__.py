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

from particletree.version import __version__

if TYPE_CHECKING:
    from particletree.estimators import BARTClassifier, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor
    from particletree.inference import MCMC, SMC, Exact, ParticleGibbs, TruncatedTreesWarning
    from particletree.model import (
        Categorical,
        Exponential,
        Flat,
        Gaussian,
        GaussianKnownVariance,
        Poisson,
        TreePrior,
    )
    from particletree.posterior import AdditivePosterior, Posterior, load

__all__ = [
    "MCMC",
    "SMC",
    "AdditivePosterior",
    "BARTClassifier",
    "BARTRegressor",
    "BayesianTreeClassifier",
    "BayesianTreeRegressor",
    "Categorical",
    "Exact",
    "Exponential",
    "Flat",
    "Gaussian",
    "GaussianKnownVariance",
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
    "MCMC": "inference",
    "SMC": "inference",
    "AdditivePosterior": "posterior",
    "BARTClassifier": "estimators",
    "BARTRegressor": "estimators",
    "BayesianTreeClassifier": "estimators",
    "BayesianTreeRegressor": "estimators",
    "Categorical": "model",
    "Exact": "inference",
    "Exponential": "model",
    "Flat": "model",
    "Gaussian": "model",
    "GaussianKnownVariance": "model",
    "ParticleGibbs": "inference",
    "Poisson": "model",
    "Posterior": "posterior",
    "TreePrior": "model",
    "TruncatedTreesWarning": "inference",
    "load": "posterior",
}


if not TYPE_CHECKING:  # type checkers read the imports above; with `__getattr__` they would accept any name

    def __getattr__(name: str) -> Any:
        """Import and return a public name, or one of the submodules that contain them."""
        if name in _HOMES:
            value = getattr(import_module(f"particletree.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        if name in {*_HOMES.values(), "plots", "report"}:
            return import_module(f"particletree.{name}")
        raise AttributeError(f"module 'particletree' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, imported or not yet."""
    return sorted({*globals(), *__all__})
