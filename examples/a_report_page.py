"""
How do I show this to somebody without Python?
==============================================

``write_report`` writes one HTML file that needs no network: a summary in words, diagnostics, calibration on held-out
data, the features that matter, and the trees to explore. :doc:`/report` describes its sections, and `here is the page
<../penguins_report.html>`__ that this example writes.
"""

# sphinx_gallery_thumbnail_path = "images/report.png"

import tempfile
from pathlib import Path

from palmerpenguins import load_penguins
from sklearn.model_selection import train_test_split

from particletree import BayesianTreeClassifier
from particletree.report import report_data, write_report

X = load_penguins().drop(columns="year")
y = X.pop("species")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
clf = BayesianTreeClassifier(random_state=0).fit(X_train, y_train)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "penguins.html"
    write_report(clf, path, X_train, y_train, X_test=X_test, y_test=y_test, target_name="species")
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")

# %%
# ``report_data`` returns the contents of the page as plain values, for a page of your own.

values = report_data(clf, X_train, y_train, X_test=X_test, y_test=y_test, target_name="species")
print(values["title"])
print("sections:", ", ".join(values))
