"""scikit-learn's side: estimators that hold parameters, check data and ask the posterior. No mathematics."""

from particletree.estimators.additive import BARTClassifier, BARTRegressor
from particletree.estimators.classification import BayesianTreeClassifier
from particletree.estimators.regression import BayesianTreeRegressor

__all__ = ["BARTClassifier", "BARTRegressor", "BayesianTreeClassifier", "BayesianTreeRegressor"]
