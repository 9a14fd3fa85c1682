"""Input: validates the user's data and converts them to the form that the samplers use.

All input is checked here, once; the rest of the package relies on it. Features become ranks (:class:`Table`),
categories and labels become integers from 0 on, missing values stay missing, and rows are sorted by label
(:class:`TrainingData`). Invalid input raises an error that names the column and the row, counted from 0, and says what
to do.
"""

from particletree._data.features import check_features, check_rows
from particletree._data.fingerprint import DataFingerprint
from particletree._data.table import Table, make_table
from particletree._data.training import (
    TrainingData,
    check_classification_data,
    check_regression_data,
    make_regression_data,
    make_training_data,
)

__all__ = [
    "DataFingerprint",
    "Table",
    "TrainingData",
    "check_classification_data",
    "check_features",
    "check_regression_data",
    "check_rows",
    "make_regression_data",
    "make_table",
    "make_training_data",
]
