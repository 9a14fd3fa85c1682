"""The page of a run: the verdicts on the paper's claims, then every figure with its data and a description."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.markdown import table
from papers.icml2013.experiment import ALIKE, Claim, Experiment, Verdict
from papers.icml2013.scale import Scale

FOLDER = "reproduction"  # of the figures and their data, next to the page
CLAIMS = "claims.csv"
PAGE = "reproduction.md"
INTRODUCTION = """\
Section 4 and appendices B to E of Lakshminarayanan, Roy & Teh, *Top-down particle filtering for Bayesian decision
trees* (ICML 2013), run again with particletree. This page is written by the command that runs the experiments. The
likely reasons are guesses of ours; four of them are put to the test, under `reasons`."""
RULES = f"""\
## How to read it

- Numbers are mean ± standard deviation over seeds; differences are given ± their standard error, and are clear when
  Welch's test gives a p-value below 0.01. Bands in the pictures are one standard deviation.
- A claim *holds* if our numbers support all its parts (data sets, numbers of particles), *differs* if they speak
  against some, *does not hold* if against all that they decide, and is *undecided* if against none while some stay
  open. What stands in brackets behind a claim is how we judge it.
- That two methods are alike, or one no worse, is judged by a margin, in which the difference ± two standard errors must
  lie: {ALIKE["log_probability"]} nats for the log-probability, {ALIKE["accuracy"]} for the accuracy, \
{ALIKE["log_evidence"]:g} nats for the log evidence.
- Log-probability is the mean over test rows of the log of the probability given to the right class, in nats. Times are
  processor seconds of the fit on one thread, without predictions, as the paper's are. A chain's predictions are the
  mean over up to 1,000 of its trees from all iterations so far.
- With 10 particles or fewer a filter never resamples: the effective sample size is at least 1, and the threshold is a
  tenth of the particles."""
COUNTED = {  # one claim, and several
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DIFFERS: ("differs", "differ"),
    Verdict.FAILS: ("does not hold", "do not hold"),
    Verdict.OPEN: ("is undecided", "are undecided"),
}


@dataclass(frozen=True)
class Run:
    """Facts about a run for its page."""

    command: str
    seconds: float
    n_cells: int
    scale: Scale
    machine: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """A figure with its text, its claims, and the reasons of ours that it puts to the test."""

    experiment: Experiment
    reading: str
    claims: Sequence[Claim]
    trials: Sequence[Claim] = ()


def to_markdown(run: Run, sections: Sequence[Section], missing: Sequence[str]) -> str:
    """Return the whole page; experiments without results are named at the end."""
    parts = ["# The paper's evaluation, reproduced", INTRODUCTION, how_it_was_run(run)]
    if any(section.claims for section in sections):
        parts.append(verdicts(sections))
    parts.append(RULES)
    for section in sections:
        parts += section_to_markdown(section)
    if missing:
        parts += ["## Not run", f"No results yet: {', '.join(missing)}."]
    return "\n\n".join(parts) + "\n"


def how_it_was_run(run: Run) -> str:
    """Return text: command, time, machine and versions."""
    minutes = f"{run.seconds / 60:.0f} minutes" if run.seconds >= 120 else f"{run.seconds:.0f} seconds"
    size = (
        ""
        if run.scale.name == "full"
        else f" This was a **{run.scale.name}** run: fewer seeds, particles and iterations."
    )
    machine = "; ".join(f"{name}: {value}" for name, value in run.machine.items())
    fits = f"Run with `{run.command}`: {run.n_cells:,} fits with {run.scale.n_seeds} seeds in {minutes}.{size}"
    return f"{fits}\n\nMachine and versions: {machine}."


def verdicts(sections: Sequence[Section]) -> str:
    """Return the table of claims, and how many hold."""
    claims = [(section, claim) for section in sections for claim in section.claims]
    numbers = {v: sum(claim.verdict is v for _, claim in claims) for v in Verdict}
    counts = ", ".join(f"{n} {COUNTED[v][n > 1]}" for v, n in numbers.items() if n)
    rows = [
        [
            f"{claim.text}.",
            f"[{section.experiment.name}](#{anchor(section.experiment.title)})",
            word(claim.verdict),
            why(claim),
        ]
        for section, claim in claims
    ]
    heading = ["the paper says", "tested in", "verdict", "if not, a likely reason"]
    return (
        f"## The paper's claims\n\nOf {len(claims)} claims: {counts}. What we measure for each: "
        f"[claims.csv]({FOLDER}/{CLAIMS}).\n\n{table(heading, [], rows)}"
    )


def word(verdict: Verdict) -> str:
    """Return a verdict as text for the table, emphasised if the claim does not hold."""
    return verdict.value if verdict is Verdict.HOLDS else f"**{verdict.value}**"


def why(claim: Claim) -> str:
    """Return a likely reason if our numbers do not, or may not, support the claim."""
    return "" if claim.verdict is Verdict.HOLDS else claim.reason


def claims_to_csv(sections: Sequence[Section]) -> str:
    """Return what was measured for every claim of the paper, and for every reason of ours that is put to the test."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["claim", "whose", "tested in", "verdict", "measured"])
    for section in sections:
        for whose, claims in (("the paper's", section.claims), ("a reason of ours", section.trials)):
            for claim in claims:
                writer.writerow([claim.text, whose, section.experiment.name, claim.verdict.value, claim.measured])
    return text.getvalue()


def section_to_markdown(section: Section) -> list[str]:
    """Return heading, reference to the paper, figure, description and data."""
    experiment = section.experiment
    file = f"{FOLDER}/{experiment.name}"
    return [
        f"## {experiment.title}",
        f"In the paper: {experiment.paper}",
        f"![{experiment.title}]({file}.png)",
        *([section.reading] if section.reading else []),
        f"Data: [{experiment.name}.csv]({file}.csv). Alone: `python -m papers.icml2013 {experiment.name}`.",
    ]


def anchor(title: str) -> str:
    """Return a heading's anchor, as GitHub generates it.

    Examples
    --------
    >>> anchor("Against CART, and two ensembles")
    'against-cart-and-two-ensembles'
    """
    kept = (c for c in title.lower() if c.isalnum() or c in " -")
    return "".join(kept).replace(" ", "-")
