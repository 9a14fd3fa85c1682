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

from particletree.estimators import BayesianTreeClassifier
from particletree.inference import MCMC, SMC, Exact, TruncatedTreesWarning
from particletree.model import Categorical, Flat, TreePrior
from particletree.posterior import Posterior

__version__ = "0.1.0"

__all__ = [
    "MCMC",
    "SMC",
    "BayesianTreeClassifier",
    "Categorical",
    "Exact",
    "Flat",
    "Posterior",
    "TreePrior",
    "TruncatedTreesWarning",
    "__version__",
]
