"""Diagnostics with advice: what was found in a posterior, the number behind it, and what to do.

Each check is a small function of the examined posterior that returns a :class:`Finding` or None; its docstring states
the threshold and the reason for it, and ``docs/diagnostics.md`` is generated from these docstrings. A finding is good
(it supports the result), a note (for information) or a warning (something should be done). The agreement of runs uses
the numbers, limits and texts of the summary's verdict (``verdict.py``), so that the two cannot contradict each other.
Checks use the posterior alone, but for one that needs held-out rows: the absence of warnings does not prove anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data.row_columns import checked_row_columns
from particletree._model.target import ClassLabels
from particletree._posterior.findings.finding import ADVICE, LEVELS, Check, Examined, Finding, Findings, HeldOut
from particletree._posterior.findings.run_checks import AGREEMENT_CHECKS, CHAIN_CHECKS, FILTER_CHECKS
from particletree._posterior.findings.tree_checks import HELD_OUT_CHECKS, TREE_CHECKS
from particletree._posterior.summary.agreement import Agreement
from particletree._posterior.weighted_trees import WeightedTrees

__all__ = ["ADVICE", "CHECKS", "GROUPS", "Examined", "Finding", "Findings", "HeldOut", "checked_rows", "find"]

# By the sections of docs/diagnostics.md, which is made from them.
GROUPS: dict[str, tuple[Check, ...]] = {
    "Held-out rows": HELD_OUT_CHECKS,
    "What independent runs agree on": AGREEMENT_CHECKS,
    "Particle filters": FILTER_CHECKS,
    "Markov chains": CHAIN_CHECKS,
    "The trees": TREE_CHECKS,
}
CHECKS = tuple(check for group in GROUPS.values() for check in group)


def find(posterior: WeightedTrees, agreement: Agreement, held_out: HeldOut | None = None) -> Findings:
    """Return the findings about a posterior whose runs agree as given, warnings first."""
    examined = Examined(posterior, agreement, held_out)
    found = [finding for check in CHECKS if (finding := check(examined)) is not None]
    return Findings(sorted(found, key=lambda finding: LEVELS.index(finding.level)))


def checked_rows(
    posterior: WeightedTrees, X: ArrayLike | None, y: ArrayLike | None, row_columns: Mapping[str, ArrayLike | None]
) -> HeldOut | None:
    """Check held-out rows against the posterior; None if there are none."""
    given = {name: values for name, values in row_columns.items() if values is not None}
    if X is None and y is None and not given:
        return None
    if X is None or y is None:
        raise ValueError("Held-out rows need both X_test and y_test: give both, or neither.")
    for name in given:
        if not name.endswith("_test"):
            raise TypeError(
                f"findings() got {name!r}, which is not known: a column of the held-out rows ends with _test."
            )
    for name in posterior.row_columns:
        if f"{name}_test" not in given:
            raise ValueError(
                f"The posterior was fitted with {name}: give {name}_test, one number for each row of X_test."
            )
    rows, targets = posterior.as_numbers(X), _targets(posterior, np.asarray(y))
    if len(targets) != len(rows):
        raise ValueError(f"X_test has {len(rows)} rows, but y_test has {len(targets)} values: give one for each row.")
    columns = {name.removesuffix("_test"): values for name, values in given.items()}
    return HeldOut(rows, targets, checked_row_columns(posterior.leaf, columns, len(rows), "_test"))


def _targets(posterior: WeightedTrees, y: NDArray[Any]) -> NDArray[Any]:
    """Return targets in the form of the leaf model: numbers of classes, or a table of numbers."""
    target = posterior.target
    if isinstance(target, ClassLabels):
        is_class = y.astype(object)[:, None] == target.classes.astype(object)
        if not is_class.any(axis=1).all():
            raise ValueError(f"y_test has labels that are not among the classes of the fit, {target.classes.tolist()}.")
        return np.asarray(is_class.argmax(axis=1))
    values = y.astype(np.float64).reshape(len(y), -1)
    if values.shape[1] != target.n_outputs or not np.isfinite(values).all():
        raise ValueError(f"y_test must be finite numbers, {target.n_outputs} for each row.")
    return values
