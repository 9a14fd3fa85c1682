"""Section 4.1.1: variants that the paper calls alike and does not plot.

The empirical instead of the prior proposal, the block with the lowest marginal likelihood instead of the oldest first,
and systematic instead of multinomial resampling. Two variants are called alike if every number of particles excludes a
relevant difference, in log-probability and in accuracy. Filters of 10 particles or fewer never resample, so they give
no information about resampling and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from papers.harness.panels import Level, Line, Look, Panel
from papers.harness.spread import Difference
from papers.icml2013 import looks
from papers.icml2013.cells import Cell, over_seeds
from papers.icml2013.experiment import (
    NEVER_RESAMPLED,
    Claim,
    Experiment,
    Judged,
    judge_alike,
    judge_data,
)
from papers.icml2013.methods import Filter
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Point, Points, line, seconds, total

USUAL = {"priority": "oldest", "resampling": "multinomial"}


@dataclass(frozen=True)
class Variant:
    """An alternative to the paper's choice: its plot style, its settings, and those that it is compared with."""

    label: str
    look: Look
    settings: dict[str, str]
    against: dict[str, str]


PRIOR, OPTIMAL = {"proposal": "prior"}, {"proposal": "optimal"}
EMPIRICAL = Variant("empirical instead of prior", looks.EMPIRICAL, {"proposal": "empirical"}, PRIOR)
PRIORITIES = (
    Variant("lowest likelihood first, prior", Look(4), PRIOR | {"priority": "likelihood"}, PRIOR),
    Variant("lowest likelihood first, optimal", Look(5, marker=5), OPTIMAL | {"priority": "likelihood"}, OPTIMAL),
)
RESAMPLING = (
    Variant("systematic resampling, prior", Look(3), PRIOR | {"resampling": "systematic"}, PRIOR),
    Variant("systematic resampling, optimal", Look(6, marker=6), OPTIMAL | {"resampling": "systematic"}, OPTIMAL),
)
VARIANTS = (EMPIRICAL, *PRIORITIES, *RESAMPLING)


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: the paper's choices and their alternatives, x particles, in one island."""
    methods = [
        *(Filter(n) for n in scale.prior),
        *(Filter(n, "empirical") for n in scale.prior),
        *(Filter(n, priority="likelihood") for n in scale.prior),
        *(Filter(n, resampling="systematic") for n in scale.prior),
        *(Filter(n, "optimal") for n in scale.optimal),
        *(Filter(n, "optimal", priority="likelihood") for n in scale.optimal),
        *(Filter(n, "optimal", resampling="systematic") for n in scale.optimal),
    ]
    return over_seeds(scale.data, methods, scale.n_seeds)


def series(points: Points, data: str, settings: dict[str, str]) -> list[Point]:
    """Return the points of one line."""
    return points.filters(data, **(USUAL | settings))


def panels(points: Points) -> list[Panel]:
    """Return for each data set both scores against time, and their differences from the paper's choice."""
    return [
        panel(points, data, measure) for data in points.data for panel in (quality, change) for measure in looks.SCORES
    ]


def quality(points: Points, data: str, measure: str) -> Panel:
    """Return a score of all variants against time."""
    usual = [("prior, as in the paper", looks.PRIOR, PRIOR), ("optimal, as in the paper", looks.OPTIMAL, OPTIMAL)]
    everything = usual + [(v.label, v.look, v.settings) for v in VARIANTS]
    lines = [line(label, look, series(points, data, s), seconds, measure) for label, look, s in everything]
    return Panel(data, looks.SECONDS, looks.SCORES[measure], lines)


def change(points: Points, data: str, measure: str) -> Panel:
    """Return each variant's difference from the paper's choice with its standard error, if filters resample."""
    lines = []
    for variant in VARIANTS:
        found = {n: d for n, d in differences(points, data, variant, measure).items() if n > NEVER_RESAMPLED}
        values, errors = tuple(d.value for d in found.values()), tuple(d.se for d in found.values())
        lines.append(Line(variant.label, variant.look, tuple(found), values, errors))
    label = "difference in log-probability, nats" if measure == "log_probability" else "difference in accuracy"
    title = f"{data}, against the paper's choice"
    return Panel(title, looks.PARTICLES, label, lines, [Level("no difference", 0.0)])


def differences(points: Points, data: str, variant: Variant, measure: str = "log_probability") -> dict[int, Difference]:
    """Return by how much a variant is better than the paper's choice, by number of particles."""
    both = zip(series(points, data, variant.settings), series(points, data, variant.against), strict=True)
    return {total(a): Difference(a[measure], b[measure]) for a, b in both}


def reading(points: Points) -> str:
    """Return text that describes the figure."""
    times = {
        data: [seconds(series(points, data, s)[-1]) for s in (PRIORITIES[0].settings, PRIOR)] for data in points.data
    }
    slower = ", ".join(f"{likelihood / oldest:.1f} ({data})" for data, (likelihood, oldest) in times.items())
    return (
        "With the prior proposal and the most particles, taking the block with the lowest likelihood first takes "
        f"{slower} times as long as taking the oldest. Bands on the right are one standard error of the difference."
    )


def claims(points: Points) -> list[Claim]:
    """Judge the three claims."""
    return [
        alike(points, "The empirical proposal performs like the prior proposal", (EMPIRICAL,)),
        alike(points, "Both priorities (oldest block, or lowest marginal likelihood first) perform alike", PRIORITIES),
        alike(points, "Multinomial and systematic resampling perform alike", RESAMPLING),
    ]


def alike(points: Points, text: str, variants: Sequence[Variant]) -> Claim:
    """Compare variants with the paper's choice, in both scores, at all numbers of particles that resample."""

    def rule(data: str) -> Judged:
        found = {
            measure: [
                (n, difference)
                for variant in variants
                for n, difference in differences(points, data, variant, measure).items()
                if n > NEVER_RESAMPLED
            ]
            for measure in looks.SCORES
        }
        judged = [judge_alike([d for _, d in pairs], measure) for measure, pairs in found.items()]
        n, largest = max(found["log_probability"], key=lambda pair: abs(pair[1].value))
        counts = "; ".join(words for words, _ in judged)
        return f"{counts}; the largest is {largest} nats, at {n:,} particles", [p for _, parts in judged for p in parts]

    return judge_data(f"{text} (more than {NEVER_RESAMPLED} particles)", points, rule)


EXPERIMENT = Experiment(
    name="variants",
    title="Choices that make no difference in the paper",
    paper="Section 4.1.1 says, without a figure, that the empirical proposal performs like the prior one, that both "
    "priorities perform alike, and that systematic resampling is not significantly different from multinomial.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=claims,
    n_columns=4,
)
