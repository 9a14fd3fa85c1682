"""The scikit-learn estimators: they hold parameters, check data, and call a sampler and its posterior."""

from particletree._estimators.bart import BARTClassifier, BARTRegressor
from particletree._estimators.classification import BayesianTreeClassifier
from particletree._estimators.regression import BayesianTreeRegressor

__all__ = ["BARTClassifier", "BARTRegressor", "BayesianTreeClassifier", "BayesianTreeRegressor"]
