"""A live report page on the site: the one of the gallery's example, written when the site is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from palmerpenguins import load_penguins
from sklearn.model_selection import train_test_split

from particletree import BayesianTreeClassifier
from particletree.report import write_report

PAGE = "penguins_report.html"


def write(path: Path) -> None:
    """Fit the penguins data, and write the report."""
    X = load_penguins().drop(columns="year")
    y = X.pop("species")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    clf = BayesianTreeClassifier(random_state=0).fit(X_train, y_train)
    write_report(clf, path, X_train, y_train, X_test=X_test, y_test=y_test, target_name="species")


def on_build_finished(app: Any, error: Exception | None) -> None:
    """Write the page into the output folder."""
    if error is None and app.builder.format == "html":
        write(Path(app.outdir) / PAGE)


def setup(app: Any) -> dict[str, bool]:
    """Register the handler for the end of the build."""
    app.connect("build-finished", on_build_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
