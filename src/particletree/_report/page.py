"""One HTML file from the data of a report: template, styles and scripts of this folder, without external resources.

The data are in a block of JSON in which `<`, `>`, `&` and the line separators of Unicode are escaped, so that no name
can end it; the scripts insert names as text only. The page's content security policy allows this style and this script,
by their hashes, and nothing else: no request and no other script, whatever the names contain.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from particletree._atomic_files import open_atomically
from particletree._report.data import report_data

SCRIPTS = (
    *("distributions.js", "forest.js", "elements.js", "charts.js"),
    *("figures.js", "prediction.js", "tree_view.js", "tree_list.js", "node_details.js", "explorer.js", "page.js"),
)
POLICY = "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'"
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render(data: Mapping[str, Any]) -> str:
    """Return the page for the result of `report_data`.

    Examples
    --------
    >>> from particletree import BayesianTreeClassifier
    >>> from particletree.report import render, report_data
    >>> model = BayesianTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "<b>"])
    >>> page = render(report_data(model))
    >>> page.startswith("<!doctype html>"), "<b>" in page
    (True, False)
    """
    style, script = read("style.css"), "".join(map(read, SCRIPTS))
    script = f'"use strict";\n(() => {{\n{script}}})();\n'
    parts = {
        "title": html.escape(str(data["title"])),
        "policy": POLICY.format(_hash(style), _hash(script)),
        "style": style,
        "data": to_json(data),
        "script": script,
    }
    head, *rest = read("template.html").split("{{")
    return head + "".join(parts[name] + text for name, text in (part.split("}}", 1) for part in rest))


def to_json(data: Mapping[str, Any]) -> str:
    r"""Return JSON that is safe inside a script element, whatever the data contain.

    Examples
    --------
    >>> from particletree._report.page import to_json
    >>> print(to_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(ESCAPES)


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    title: str | None = None,
    target_name: str | None = None,
    n_dependence: int = 6,
    max_trees: int = 2_000,
    **row_columns: Any,
) -> None:
    """Write a report about a posterior to an HTML file, completely or not at all.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    path : path-like
        The file, usually with the extension `.html`.
    X : array-like or data frame, optional
        The training rows, or similar ones: for the consensus tree, the partial dependence and the initial row of the
        form. None means the rows that the posterior has kept.
    y : array-like, optional
        The targets of X, on which predictions are scored if there are no test rows.
    X_test, y_test : optional
        Held-out rows and their targets, on which predictions are scored.
    title : str, optional
        The page's heading; None makes one from `target_name`.
    target_name : str, optional
        Name of the target.
    n_dependence : int, default 6
        Number of features, those with the largest gain shares, whose partial dependence is shown.
    max_trees : int, default 2000
        Maximal number of trees in the page, those with the largest weights.
    **row_columns : array-like, shape (n_rows,), optional
        What the fit knew of each row besides: with `leaf=Poisson()`, `exposure` is that of the counts y, and
        `exposure_test` that of y_test. If the fit had such a column, predictions are only scored where it is given;
        without it the page says why they are not.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from particletree import BayesianTreeClassifier
    >>> from particletree.report import write_report
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = BayesianTreeClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, Path(folder, "report.html"), X, y, target_name="letter")
    ...     "Predicting letter" in Path(folder, "report.html").read_text("utf-8")
    True
    """
    data = report_data(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        title=title,
        target_name=target_name,
        n_dependence=n_dependence,
        max_trees=max_trees,
        **row_columns,
    )
    page = render(data)
    with open_atomically(Path(path), text=True) as file:
        file.write(page)


def read(name: str) -> str:
    """Return the text of one of the page's parts."""
    return files("particletree._report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
