"""The interface of a figure's module: its grid, its figure, its text, and its verdicts on the paper's claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from papers.harness.panels import Panel
from papers.harness.spread import Difference, lies_between
from papers.icml2013.cells import Cell
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Points

Judged: TypeAlias = tuple[str, Sequence[bool | None]]  # the measurements as text, and which parts of a claim hold
ENOUGH = 100  # particles from which the prior proposal works
NEVER_RESAMPLED = 10  # particles up to which the effective sample size, at least 1, is never below a tenth of them
SMALL = 0.02  # nats: a smaller difference counts as no gain
# Margins: two methods that differ by less are alike. Kass and Raftery (1995) call a log Bayes factor of 5 very strong.
ALIKE = {"log_probability": SMALL, "accuracy": 0.01, "log_evidence": 5.0}
UNITS = {"log_probability": " nats", "accuracy": " in accuracy", "log_evidence": " nats"}
TRADE_OFF = 0.01  # nats: a smaller mean difference at equal times counts as no better trade-off
TESTED = "Put to the test in `reasons`."  # ends a likely reason


class Verdict(Enum):
    """The verdict of our results on a claim of the paper."""

    HOLDS = "holds"
    DIFFERS = "differs"  # in part, in degree, or in another way
    FAILS = "does not hold"
    OPEN = "undecided"  # the spread over seeds is too large to tell


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and our verdict on it.

    Attributes
    ----------
    text : str
        The claim, in our words, with its place in the paper.
    measured : str
        Our numbers.
    verdict : Verdict
        Whether they support it, by the rule in the module.
    reason : str
        If they do not, in our full run: a likely reason. It is a guess, tested at most in `reasons`.
    """

    text: str
    measured: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class Experiment:
    """One figure of the paper, or several that share their results.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
        Heading of its section.
    paper : str
        Its place in the paper, and what is varied there.
    cells : callable
        The grid of a scale.
    panels : callable
        The figure, from the points of these cells.
    claims : callable
        The paper's claims that it tests.
    reading : callable
        A paragraph with what neither the claims nor the figure say; may be empty.
    n_columns : int
        Panels per row.
    trials : callable
        Likely reasons of ours that it puts to the test, as claims.
    """

    name: str
    title: str
    paper: str
    cells: Callable[[Scale], list[Cell]]
    panels: Callable[[Points], list[Panel]]
    claims: Callable[[Points], list[Claim]]
    reading: Callable[[Points], str] = lambda _: ""
    n_columns: int = 2
    trials: Callable[[Points], list[Claim]] = lambda _: []


def judge(parts: Iterable[bool | None]) -> Verdict:
    """Judge a claim by its parts: which of them hold (True), do not (False), or are undecided (None).

    Examples
    --------
    >>> judge([True, True]).value, judge([True, False]).value, judge([False, None]).value, judge([True, None]).value
    ('holds', 'differs', 'does not hold', 'undecided')
    """
    found = list(parts)
    if not found:
        raise ValueError("A claim needs at least one part.")
    if False in found:
        return Verdict.DIFFERS if True in found else Verdict.FAILS
    return Verdict.OPEN if None in found else Verdict.HOLDS


def judge_alike(differences: Sequence[Difference], measure: str) -> Judged:
    """Judge whether two methods are alike in a measure; the difference in each setting is one part."""
    margin = ALIKE[measure]
    parts = [lies_between(difference, -margin, margin) for difference in differences]
    words = f"{parts.count(True)} of {len(parts)} settings exclude a difference of {margin:g}{UNITS[measure]}"
    n_against = parts.count(False)
    against = f", {n_against} {'shows' if n_against == 1 else 'show'} one" if n_against else ""
    return words + against, parts


def loses_nothing(gain: Difference, measure: str) -> bool | None:
    """Return whether a method is not worse than another in a measure by the margin (a non-inferiority test)."""
    return lies_between(gain, -ALIKE[measure], math.inf)


def judge_data(text: str, points: Points, rule: Callable[[str], Judged], reason: str = "") -> Claim:
    """Judge a claim by a rule that returns, for each data set, the measurements and which parts hold."""
    found = {data: rule(data) for data in points.data}
    measured = " ".join(f"{data}: {words}." for data, (words, _) in found.items())
    return Claim(text, measured, judge(part for _, parts in found.values() for part in parts), reason)
