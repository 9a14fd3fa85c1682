"""What the module of a figure offers: its grid, its picture, its words, and what it says about the paper's claims."""

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

Judged: TypeAlias = tuple[str, Sequence[bool | None]]  # what was measured, and which parts of a claim hold
ENOUGH = 100  # particles with which the prior proposal begins to work
NEVER_RESAMPLED = 10  # particles up to which the effective sample size, at least 1, cannot pass a threshold of a tenth
SMALL = 0.02  # nats: less is called no gain
# Margins: two methods that differ by less are alike. Kass and Raftery (1995) call a log Bayes factor of 5 very strong.
ALIKE = {"log_probability": SMALL, "accuracy": 0.01, "log_evidence": 5.0}
UNITS = {"log_probability": " nats", "accuracy": " in accuracy", "log_evidence": " nats"}
TRADE_OFF = 0.01  # nats: less, on average after the same time, is no better trade-off of time and quality
TESTED = "Put to the test in `reasons`."  # ends a likely reason


class Verdict(Enum):
    """What our results say about a claim of the paper."""

    HOLDS = "holds"
    DIFFERS = "differs"  # in part, in degree, or in another way
    FAILS = "does not hold"
    OPEN = "undecided"  # the spread over seeds is too large to tell


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and what came of it.

    Attributes
    ----------
    text : str
        The claim, in our words, with its place in the paper.
    measured : str
        Our numbers.
    verdict : Verdict
        Whether they support it, by the rule that the module states.
    reason : str
        Where they do not, in our full run: why that may be so. A guess of ours, tested at most in `reasons`.
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
        Where it stands in the paper, and what is varied there.
    cells : callable
        The grid of a scale.
    panels : callable
        The picture, from the points of these cells.
    reading : callable
        A paragraph that says what the picture shows, with the numbers of this run.
    claims : callable
        The paper's claims that it tests.
    n_columns : int
        Panels side by side.
    """

    name: str
    title: str
    paper: str
    cells: Callable[[Scale], list[Cell]]
    panels: Callable[[Points], list[Panel]]
    reading: Callable[[Points], str]
    claims: Callable[[Points], list[Claim]]
    n_columns: int = 2


def judge(parts: Iterable[bool | None]) -> Verdict:
    """Judge a claim by its parts: which of them hold (True), do not (False), or are open (None).

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
    """Judge whether two methods are alike in a measure: every setting, given by its difference, is a part."""
    margin = ALIKE[measure]
    parts = [lies_between(difference, -margin, margin) for difference in differences]
    words = f"{parts.count(True)} of {len(parts)} settings exclude a difference of {margin:g}{UNITS[measure]}"
    n_against = parts.count(False)
    against = f", {n_against} {'shows' if n_against == 1 else 'show'} one" if n_against else ""
    return words + against, parts


def loses_nothing(gain: Difference, measure: str) -> bool | None:
    """Return whether a method is as good as another in a measure: a loss as large as the margin is excluded."""
    return lies_between(gain, -ALIKE[measure], math.inf)


def judge_data(text: str, points: Points, rule: Callable[[str], Judged], reason: str = "") -> Claim:
    """Judge a claim by a rule that returns, for each data set, what was measured and which parts hold."""
    found = {data: rule(data) for data in points.data}
    measured = " ".join(f"{data}: {words}." for data, (words, _) in found.items())
    return Claim(text, measured, judge(part for _, parts in found.values() for part in parts), reason)
