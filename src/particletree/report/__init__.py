"""A page about a posterior, to read and to send on: one HTML file that needs no network.

=======================  ==============================================================================================
:func:`report_data`      what the page shows, as plain values that JSON can hold
:func:`render`           the page of such values: template, styles and scripts of this folder, all in one text
:func:`write_report`     both, into a file
=======================  ==============================================================================================

The page holds the trees (every distinct subtree once), so that its reader can type in a row and see where each tree
sends it; the scripts compute what `predict_proba` or `predict` would. It holds no row of the data: counts, means and
quantiles only, the values between which trees cut, and the names of features, classes and levels.

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

from particletree.report.data import report_data
from particletree.report.page import render, write_report

__all__ = ["render", "report_data", "write_report"]
