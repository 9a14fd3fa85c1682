"""Appendix D: the log evidence of the training data against particles, for both proposals."""

from __future__ import annotations

from papers.harness.panels import Line, Panel
from papers.harness.spread import Difference, lies_between
from papers.icml2013 import looks
from papers.icml2013.cells import Cell, over_seeds
from papers.icml2013.experiment import (
    ALIKE,
    ENOUGH,
    TESTED,
    Claim,
    Experiment,
    Judged,
    judge_alike,
    judge_data,
)
from papers.icml2013.methods import Filter
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Point, Points, line, total

REMAINDER = 0.02  # share of the first gap below which it counts as closed
SERIES = (("prior", looks.PRIOR), ("optimal", looks.OPTIMAL))


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: two proposals x particles, in one island."""
    methods = [
        *(Filter(n) for n in (*scale.prior, *scale.prior_far)),
        *(Filter(n, "optimal") for n in scale.optimal),
    ]
    return over_seeds(scale.data, methods, scale.n_seeds)


def panels(points: Points) -> list[Panel]:
    """Return the evidence against particles for each data set, the whole range and the end enlarged."""
    return [
        Panel(
            f"{data}{what}",
            looks.PARTICLES,
            "log evidence of the training data, nats",
            [curve(points, data, name, at_least) for name, at_least in (("prior", least), ("optimal", 1))],
        )
        for data in points.data
        for what, least in (("", 1), (", close-up", ENOUGH))
    ]


def curve(points: Points, data: str, proposal: str, at_least: int) -> Line:
    """Return one proposal's line."""
    chosen = [p for p in points.filters(data, proposal=proposal) if total(p) >= at_least]
    return line(proposal, dict(SERIES)[proposal], chosen, total, "log_evidence")


def ends(points: Points, data: str) -> tuple[Point, Point, Point, Point]:
    """Return the first and last point of the prior proposal, then of the optimal one."""
    prior, optimal = (points.filters(data, proposal=name) for name, _ in SERIES)
    return prior[0], prior[-1], optimal[0], optimal[-1]


def highest(points: Points, data: str) -> Point:
    """Return the optimal proposal's point with the highest log evidence."""
    return max(points.filters(data, proposal="optimal"), key=lambda p: p["log_evidence"].mean)


def reading(points: Points) -> str:
    """Return text: which curve is nearer to the truth."""
    return (
        "Each estimate of the evidence is unbiased whatever the number of particles, and so its logarithm is too low "
        "on average: of two curves the higher one is nearer to the truth."
    )


def nats(point: Point) -> str:
    """Return mean and standard deviation of a point's log evidence."""
    return f"{point['log_evidence'].mean:.0f} ± {point['log_evidence'].sd:.0f}"


def claims(points: Points) -> list[Claim]:
    """Judge appendix D: the prior proposal's final evidence must match the optimal one's final and highest values."""

    def rule(data: str) -> Judged:
        first, last, _, most = ends(points, data)
        best = highest(points, data)
        before = Difference(first["log_evidence"], best["log_evidence"])
        at_end, at_best = (Difference(last["log_evidence"], p["log_evidence"]) for p in (most, best))
        words = (
            f"prior minus optimal goes from {before.value:.0f} nats ({total(first)} particles, {total(best)} optimal) "
            f"to {at_end.value:+.1f} ± {at_end.se:.1f} ({total(last):,}, {total(most):,} optimal); against the "
            f"optimal proposal's highest value, with {total(best)} particles, {at_best.value:+.1f} ± {at_best.se:.1f} "
            "is left"
        )
        remainder = REMAINDER * abs(before.value)
        is_closed = lies_between(at_best, -remainder, remainder)
        return words, [is_closed, *judge_alike([at_end, at_best], "log_evidence")[1]]

    return [
        judge_data(
            "The log evidences of the prior and the optimal proposal converge (with the most particles, and to the "
            f"optimal proposal's highest value: within {ALIKE['log_evidence']:g} nats, and within {REMAINDER:.0%} of "
            "the first gap)",
            points,
            rule,
            "With the most particles both are below the optimal proposal with 10 particles, which never resamples: "
            f"resampling loses evidence. {TESTED} It may be short-sighted, and keep trees that gained "
            "early. The prior proposal cannot do without it.",
        )
    ]


EXPERIMENT = Experiment(
    name="evidence",
    title="Evidence",
    paper="Appendix D: mean log marginal likelihood of the training data over 10 runs against the number of "
    "particles, for both proposals.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=claims,
)
