"""Input: from what people hold in their hands to what the samplers see.

This is the one place that checks input; everything behind it trusts what it is given, and nothing is checked twice.
Features become ranks (:class:`Table`), categories and labels become numbers from 0 on, missing values stay missing, and
rows are put in the order of their labels (:class:`TrainingData`). What cannot be used is an error that names the column
and the row, counted from 0, and says what to do.
"""

from particletree.data.features import check_features, check_rows
from particletree.data.fingerprint import DataFingerprint
from particletree.data.table import Table, make_table
from particletree.data.training import (
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
