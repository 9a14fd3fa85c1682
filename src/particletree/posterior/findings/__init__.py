"""Diagnostics with advice: what was found in a posterior, the number behind it, and what to do.

Each check is a small function of a :class:`Case` that returns a :class:`Finding` or None; its docstring states the
threshold and the reason for it, and ``docs/diagnostics.md`` is generated from these docstrings. A finding is good (it
supports the result), a note (for information) or a warning (something should be done). The agreement of runs uses the
numbers, limits and texts of the summary's verdict (``verdict.py``), so that the two cannot contradict each other.
Checks use the posterior alone: the absence of warnings is no proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from particletree.posterior.findings import agreement_checks, chain_checks, filter_checks, tree_checks
from particletree.posterior.findings.advice import ADVICE
from particletree.posterior.findings.case import Case, Check
from particletree.posterior.findings.finding import LEVELS, Finding, Findings

if TYPE_CHECKING:
    from particletree.posterior.posterior import Posterior

__all__ = ["ADVICE", "CHECKS", "Case", "Finding", "Findings", "findings"]

CHECKS: tuple[Check, ...] = (
    *agreement_checks.CHECKS,
    *filter_checks.CHECKS,
    *chain_checks.CHECKS,
    *tree_checks.CHECKS,
)


def findings(posterior: Posterior) -> Findings:
    """Return the findings about a posterior, warnings first, each with its number and what to do about it.

    Returns
    -------
    Findings
        A tuple of `Finding`, each with `level` ("good", "note" or "warning"), `name`, `finding`, `number`, `threshold`
        and `advice`; `print` it to read it. ``docs/diagnostics.md`` lists them all.

    Examples
    --------
    >>> from particletree import SMC, BayesianTreeClassifier
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
    >>> posterior = BayesianTreeClassifier(sampler=SMC.paper(n_islands=1), random_state=0).fit(X, y).posterior_
    >>> found = posterior.findings()
    >>> found[0].level, found[0].name, found[0].advice
    ('warning', 'one_island', 'Run two or more (n_islands).')
    """
    case = Case(posterior)
    found = [finding for check in CHECKS if (finding := check(case)) is not None]
    return Findings(sorted(found, key=lambda finding: LEVELS.index(finding.level)))
