"""What the module of a figure offers: its grid, its picture, its words, and what it says about the paper's claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from particletree.experiments.icml2013.cells import Cell
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Points
from particletree.experiments.panels import Panel


class Verdict(Enum):
    """What our results say about a claim of the paper."""

    HOLDS = "holds"
    DIFFERS = "differs"  # in part, in degree, or in another way
    FAILS = "does not hold"


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
        Where they do not: why that may be so.
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


def judge(*parts: bool) -> Verdict:
    """Return HOLDS if all parts of a claim hold, FAILS if none does, DIFFERS otherwise.

    Examples
    --------
    >>> judge(True, True), judge(True, False), judge(False, False)
    (<Verdict.HOLDS: 'holds'>, <Verdict.DIFFERS: 'differs'>, <Verdict.FAILS: 'does not hold'>)
    """
    return Verdict.HOLDS if all(parts) else Verdict.DIFFERS if any(parts) else Verdict.FAILS


def by_data(texts: dict[str, str]) -> str:
    """Join what was measured on each data set.

    Examples
    --------
    >>> by_data({"MAGIC": "0.86", "Madelon": "0.8"})
    'MAGIC: 0.86. Madelon: 0.8.'
    """
    return " ".join(f"{data}: {text}." for data, text in texts.items())
