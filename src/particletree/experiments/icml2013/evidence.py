"""Appendix D: the log evidence of the training data against particles, for both proposals."""

from __future__ import annotations

from particletree.experiments.icml2013 import looks
from particletree.experiments.icml2013.cells import Cell, over_seeds
from particletree.experiments.icml2013.experiment import Claim, Experiment, Verdict, by_data
from particletree.experiments.icml2013.methods import Filter
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Point, Points, line, total
from particletree.experiments.panels import Line, Panel
from particletree.experiments.spread import Difference

ENOUGH = 100  # particles of the prior proposal from which the close-up begins
REMAINDER = 0.02  # of the first gap: a gap below is called closed, though it may still be clear
SERIES = (("prior", looks.PRIOR), ("optimal", looks.OPTIMAL))


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: two proposals x particles, in one island."""
    methods = [
        *(Filter(n) for n in (*scale.prior, *scale.prior_far)),
        *(Filter(n, "optimal") for n in scale.optimal),
    ]
    return over_seeds(scale.data, methods, scale.n_seeds)


def panels(points: Points) -> list[Panel]:
    """Return the evidence against particles for each data set, all of it and the end once more."""
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


def reading(points: Points) -> str:
    """Tell what the picture shows."""
    parts = []
    for data in points.data:
        first, last, single, most = ends(points, data)
        best = max(points.filters(data, proposal="optimal"), key=lambda p: p["log_evidence"].mean)
        parts.append(
            f"On {data} the prior proposal's log evidence rises from {nats(first)} with {total(first)} particles to "
            f"{nats(last)} with {total(last):,}; the optimal proposal's is {nats(single)} with one particle, "
            f"{nats(most)} with {total(most):,}, and highest with {total(best):,}: {nats(best)}."
        )
    parts.append(
        "Each estimate of the evidence is unbiased whatever the number of particles, and so its logarithm is too low "
        "on average: of two curves the higher one is nearer to the truth. Filters of 10 particles or fewer never "
        "resample (the effective sample size is at least 1, and the threshold a tenth of the particles), and it is "
        "there that the optimal proposal's curve is highest: its resampling is short-sighted, and keeps trees that "
        "gained early."
    )
    return " ".join(parts)


def nats(point: Point) -> str:
    """Return mean and standard deviation of a point's log evidence."""
    return f"{point['log_evidence'].mean:.0f} ± {point['log_evidence'].sd:.0f}"


def claims(points: Points) -> list[Claim]:
    """Judge appendix D: convergence holds if the last means do not differ clearly, or by next to nothing."""
    texts, verdicts = {}, []
    for data in points.data:
        first, last, single, most = ends(points, data)
        before = first["log_evidence"].mean - single["log_evidence"].mean
        gap = Difference(last["log_evidence"], most["log_evidence"])
        verdicts.append(verdict(gap, before))
        texts[data] = (
            f"prior minus optimal is {before:.0f} nats with the fewest particles of each and {gap.value:+.1f} ± "
            f"{gap.se:.1f} with the most ({total(last):,} and {total(most):,})"
        )
    worst = max(verdicts, key=list(Verdict).index)
    return [
        Claim(
            "The log evidences of the prior and the optimal proposal converge",
            by_data(texts),
            worst,
            "The gap is closed but for a small rest. Resampling after each decision favours trees that gain early, "
            "and with more particles it does so more often: the optimal proposal's log evidence falls beyond about "
            "10 particles before it rises again.",
        )
    ]


def verdict(gap: Difference, before: float) -> Verdict:
    """Judge the remaining gap on one data set."""
    if not gap.is_clear:
        return Verdict.HOLDS
    return Verdict.DIFFERS if abs(gap.value) < REMAINDER * abs(before) else Verdict.FAILS


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
