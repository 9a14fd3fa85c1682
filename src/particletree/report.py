"""A report about a posterior: one self-contained HTML file that needs no network.

=======================  ==============================================================================================
:func:`report_data`      the data of the page, as plain values for JSON
:func:`render`           the page for such data: template, styles and scripts of this folder, all in one text
:func:`write_report`     both, into a file
=======================  ==============================================================================================

The page contains the trees (every distinct subtree once), so that its reader can enter a row and see its path in each
tree; the scripts compute the same as `predict_proba` or `predict`. It contains no row of the data, only counts, means
and quantiles, the values between which trees cut, and the names of features, classes and levels.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from particletree import BayesianTreeClassifier
>>> from particletree.report import report_data
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> model = BayesianTreeClassifier(random_state=0).fit(X, y)
>>> report_data(model, X, y, target_name="species")["title"]
'Predicting species'
"""

from particletree._report.data import report_data
from particletree._report.page import render, write_report

__all__ = ["render", "report_data", "write_report"]
