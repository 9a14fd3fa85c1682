"""Diagnostics with advice: what was found in a posterior, the number behind it, and what to do.

Each check is a small function of a :class:`Case` that returns a :class:`Finding` or None; its docstring states the
threshold and the reason for it, and ``docs/diagnostics.md`` is generated from these docstrings. A finding is good (it
supports the result), a note (for information) or a warning (something should be done). The agreement of runs uses the
numbers, limits and texts of the summary's verdict (``verdict.py``), so that the two cannot contradict each other.
Checks use the posterior alone, but for one that needs held-out rows: the absence of warnings does not prove anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data.exposure import check_exposure
from particletree._model.target import ClassLabels
from particletree._posterior.findings.finding import ADVICE, LEVELS, Case, Check, Finding, Findings, HeldOut
from particletree._posterior.findings.run_checks import AGREEMENT_CHECKS, CHAIN_CHECKS, FILTER_CHECKS
from particletree._posterior.findings.tree_checks import HELD_OUT_CHECKS, TREE_CHECKS

if TYPE_CHECKING:
    from particletree._posterior.posterior import Posterior

__all__ = ["ADVICE", "CHECKS", "GROUPS", "Case", "Finding", "Findings", "HeldOut", "find", "findings"]

# By the sections of docs/diagnostics.md, which is made from them.
GROUPS: dict[str, tuple[Check, ...]] = {
    "Held-out rows": HELD_OUT_CHECKS,
    "What independent runs agree on": AGREEMENT_CHECKS,
    "Particle filters": FILTER_CHECKS,
    "Markov chains": CHAIN_CHECKS,
    "The trees": TREE_CHECKS,
}
CHECKS = tuple(check for group in GROUPS.values() for check in group)


def findings(
    posterior: Posterior,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    exposure_test: ArrayLike | None = None,
) -> Findings:
    """Return the findings about a posterior, warnings first, each with its number and what to do about it.

    Parameters
    ----------
    X_test : array-like or data frame, shape (n_rows, n_features), default None
        Held-out rows, on which the predictions are compared with a constant; nothing else shows that they are better.
    y_test : array-like, default None
        Their targets.
    exposure_test : array-like, shape (n_rows,), default None
        The exposure of the counts y_test, if the fit had one.

    Returns
    -------
    Findings
        A tuple of `Finding`, each with `level` ("good", "note" or "warning"), `name`, `finding`, `number`, `threshold`
        and `advice`; `print` it to read it. ``docs/diagnostics.md`` lists them all.

    Examples
    --------
    >>> from particletree import SMC, BayesianTreeClassifier
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
    >>> posterior = BayesianTreeClassifier(sampler=SMC(n_islands=1), random_state=0).fit(X, y).posterior_
    >>> found = posterior.findings()
    >>> found[0].level, found[0].name, found[0].advice
    ('warning', 'one_island', 'Run two or more (n_islands).')
    """
    return find(Case(posterior, _checked(posterior, X_test, y_test, exposure_test)))


def find(case: Case) -> Findings:
    """Return the findings about a case, warnings first."""
    found = [finding for check in CHECKS if (finding := check(case)) is not None]
    return Findings(sorted(found, key=lambda finding: LEVELS.index(finding.level)))


def _checked(
    posterior: Posterior, X: ArrayLike | None, y: ArrayLike | None, exposure: ArrayLike | None
) -> HeldOut | None:
    """Check held-out rows against the posterior; None if there are none."""
    if X is None and y is None and exposure is None:
        return None
    if X is None or y is None:
        raise ValueError("Held-out rows need both X_test and y_test: give both, or neither.")
    if (exposure is None) == posterior.had_exposure:
        need = "was fitted with exposure: give exposure_test" if exposure is None else "had none: leave it out"
        raise ValueError(f"exposure_test must be given if and only if the fit had an exposure; this one {need}.")
    rows, targets = posterior.as_numbers(X), _targets(posterior, np.asarray(y))
    if len(targets) != len(rows):
        raise ValueError(f"X_test has {len(rows)} rows, but y_test has {len(targets)} values: give one for each row.")
    return HeldOut(rows, targets, None if exposure is None else check_exposure(exposure, len(rows), np.ones(len(rows))))


def _targets(posterior: Posterior, y: NDArray[Any]) -> NDArray[Any]:
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
