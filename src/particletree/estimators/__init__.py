"""The scikit-learn estimators: they hold parameters, check data, and call a sampler and its posterior."""

from particletree.estimators.additive import BARTClassifier, BARTRegressor
from particletree.estimators.classification import BayesianTreeClassifier
from particletree.estimators.regression import BayesianTreeRegressor

__all__ = ["BARTClassifier", "BARTRegressor", "BayesianTreeClassifier", "BayesianTreeRegressor"]
