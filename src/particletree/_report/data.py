"""The data of the page, as plain values for JSON."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._model.text import json_numbers, one_line
from particletree._plots.names import checked_rows, feature_names, output_names, posterior_of
from particletree._plots.style import coloured_classes
from particletree._posterior import BARTPosterior, Posterior
from particletree._posterior.findings import HeldOut, find
from particletree._report import words
from particletree._report.figures import dependence_section, gain_shares_section, runs_section, sizes_section
from particletree._report.rows import GivenRows, table_of, typical_row
from particletree._report.scores import observed_values, scores_section
from particletree._report.trees import Singled, class_blocks, number_blocks, trees_section
from particletree._version import __version__

Floats = NDArray[np.float64]


def report_data(
    model: Any,
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
) -> dict[str, Any]:
    """Return the data of the page.

    Parameters
    ----------
    model : estimator or Posterior
        The fitted model.
    X : array-like or data frame, optional
        The training rows, or similar ones: for the consensus tree, the partial dependence and the initial row of the
        form. None means the rows that the posterior has kept.
    y : array-like, optional
        The targets of X, on which predictions are scored if there are no test rows.
    X_test : array-like or data frame, optional
        Held-out rows, on which predictions are scored.
    y_test : array-like, optional
        Their targets.
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
        `exposure_test` that of y_test. If the fit had such a column, predictions are only scored where it is given.

    Returns
    -------
    dict
        The contents of the page, as plain values for JSON.

    Examples
    --------
    >>> from particletree import BayesianTreeRegressor
    >>> from particletree.report import report_data
    >>> model = BayesianTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.1, 4.9, 5.0])
    >>> data = report_data(model)
    >>> data["target"]["kind"], data["scores"]
    ('numbers', None)
    """
    if isinstance(getattr(model, "posterior_", model), BARTPosterior):
        raise TypeError("There is no report for sums of trees yet; print(posterior_.summary()) describes them.")
    check_limit("n_dependence", n_dependence, 0, "the number of features whose dependence is shown")
    check_limit("max_trees", max_trees, 1, "the largest number of trees in the page")
    posterior = posterior_of(model)
    of_test = {name: values for name, values in row_columns.items() if name.endswith("_test")}
    given = GivenRows(X, y, {name: values for name, values in row_columns.items() if name not in of_test})
    of_test = {name.removesuffix("_test"): values for name, values in of_test.items()}
    test = GivenRows(X_test, y_test, of_test, "_test")
    for rows_given in (given, test):
        rows_given.check(posterior)
    if test.X is not None and test.y is None:
        raise ValueError("X_test was given without y_test: give the targets to score, or leave X_test out.")
    is_held_out = test.y is not None
    scored = test if is_held_out else given
    table = table_of(posterior, X)
    rows = None if table is None else checked_rows(posterior, table)
    typical, summary = typical_row(posterior, rows), posterior.summary()
    scores, held_out = None, None
    if scored.y is not None and not scored.lacking(posterior):
        known_rows, targets, columns = scored.known(posterior)
        scores = scores_section(posterior, known_rows, targets, is_held_out, columns)
        if is_held_out:
            held_out = HeldOut(known_rows, observed_values(posterior, targets), columns)
    unscored = words.why_unscored(posterior, scored)
    trees, statistics = trees_section(posterior, singled_out(posterior, table), max_trees)
    return {
        "version": __version__,
        "title": words.title_of(posterior, target_name) if title is None else one_line(title),
        "target": describe_target(posterior, target_name),
        "sentences": words.sentences(posterior, summary, target_name, scores, unscored),
        "figures": words.figures(posterior, summary, scores),
        "findings": words.findings(find(posterior, posterior.agreement, held_out)),
        "features": describe_features(posterior, typical),
        "exact": posterior.is_exact,
        "trees": trees,
        "blocks": class_blocks(statistics, posterior.leaf)
        if isinstance(posterior.target, ClassLabels)
        else number_blocks(statistics, posterior.leaf, posterior.target.n_outputs),
        "gain_shares": gain_shares_section(posterior),
        "dependence": dependence_section(posterior, table, typical, n_dependence),
        "scores": scores,
        "unscored": unscored,
        "sizes": sizes_section(posterior, table),
        "runs": runs_section(posterior),
        "provenance": words.provenance(posterior, summary),
    }


def check_limit(name: str, value: object, least: int, meaning: str) -> None:
    """Refuse a limit of the page that is not an integer of at least `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, {meaning}, got {value!r}.")


def singled_out(posterior: Posterior, X: Any) -> list[Singled]:
    """Return the trees that are shown separately, with rounded thresholds: consensus and most probable tree."""
    found: list[Singled] = []
    if X is not None:
        tree = posterior.consensus_tree(X).rounded()
        share = posterior.explained_share(tree, X)
        remark = f"One tree put together from the splits of all. It explains {share:.0%} of what they predict together."
        found.append(("Consensus tree", remark, tree))
    remark = "The single most probable tree."
    return [*found, ("Most probable tree", remark, posterior.best_tree().rounded())]


def describe_target(posterior: Posterior, target_name: str | None) -> dict[str, Any]:
    """Return the target: names of classes or targets, and the classes that have their own colour."""
    names, name = output_names(posterior.target), words.target_name_of(posterior, target_name)
    mean = words.mean_words(posterior)
    about = {"name": name, "outputs": names, "mean": mean._asdict()}
    if not isinstance(posterior.target, ClassLabels):
        only = [name or mean.noun] if len(names) == 1 else names
        return about | {"kind": "numbers", "outputs": only, "coloured": []}
    shares = posterior.leaf.mean(posterior.root_statistics)
    return about | {"kind": "classes", "coloured": coloured_classes(shares).tolist()}


def describe_features(posterior: Posterior, typical: Floats) -> list[dict[str, Any]]:
    """Return name, levels, missing values, typical value and gain share of each feature."""
    gain_shares = posterior.gain_shares()
    levels = posterior.columns.levels
    return [
        {
            "name": one_line(name),
            "levels": [one_line(level) for level in levels[number]] if number in levels else None,
            "missing": number in posterior.columns.missing,
            "typical": json_numbers(typical[number], 5),
            "gain_share": json_numbers(gain_shares[number], 6),
        }
        for number, name in enumerate(feature_names(posterior))
    ]
