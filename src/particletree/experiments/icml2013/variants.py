"""Section 4.1.1, in passing: choices that the paper calls alike and does not plot.

The empirical proposal beside the prior one, the block with the lowest marginal likelihood first instead of the oldest,
and systematic instead of multinomial resampling. Two are called alike when no number of particles shows a clear
difference in log-probability, the number of comparisons allowed for.
"""

from __future__ import annotations

from particletree.experiments.icml2013 import looks
from particletree.experiments.icml2013.cells import Cell, over_seeds
from particletree.experiments.icml2013.experiment import Claim, Experiment, Verdict, by_data
from particletree.experiments.icml2013.methods import Filter
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Point, Points, line, seconds, total
from particletree.experiments.panels import Look, Panel
from particletree.experiments.spread import Difference, n_clear_in_family

USUAL = {"priority": "oldest", "resampling": "multinomial"}
SERIES = (
    ("prior", looks.PRIOR, {"proposal": "prior"}),
    ("empirical", looks.EMPIRICAL, {"proposal": "empirical"}),
    ("prior, lowest likelihood first", Look(4), {"proposal": "prior", "priority": "likelihood"}),
    ("prior, systematic resampling", Look(3), {"proposal": "prior", "resampling": "systematic"}),
    ("optimal", looks.OPTIMAL, {"proposal": "optimal"}),
    ("optimal, lowest likelihood first", Look(5, marker=5), {"proposal": "optimal", "priority": "likelihood"}),
    ("optimal, systematic resampling", Look(6, marker=6), {"proposal": "optimal", "resampling": "systematic"}),
)


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
    """Return log-probability against particles and against time, for each data set."""
    return [
        Panel(
            data,
            x_label,
            looks.LOG_PROBABILITY,
            [
                line(label, look, series(points, data, settings), x, "log_probability")
                for label, look, settings in SERIES
            ],
        )
        for data in points.data
        for x, x_label in ((seconds, looks.SECONDS), (total, looks.PARTICLES))
    ]


def reading(points: Points) -> str:
    """Tell what the picture shows."""
    parts = []
    for data in points.data:
        ends = [(label, series(points, data, settings)[-1]) for label, _, settings in SERIES]
        scores = ", ".join(f"{label} {p['log_probability'].mean:.3f} in {seconds(p):.2g} s" for label, p in ends)
        parts.append(f"With the most particles, on {data}: {scores}.")
    return " ".join(parts)


def claims(points: Points) -> list[Claim]:
    """Judge the three claims."""
    return [
        alike(points, "The empirical proposal performs like the prior proposal", [(0, 1)]),
        alike(
            points,
            "Both priorities (oldest block first, lowest marginal likelihood first) perform alike",
            [(0, 2), (4, 5)],
        ),
        alike(points, "Multinomial and systematic resampling perform alike", [(0, 3), (4, 6)]),
    ]


def alike(points: Points, text: str, pairs: list[tuple[int, int]]) -> Claim:
    """Compare pairs of lines, by their numbers, at every number of particles."""
    texts, clear, largest_of_all = {}, 0, 0.0
    for data in points.data:
        found: list[tuple[Difference, Point]] = []
        for usual, other in pairs:
            both = zip(*(series(points, data, SERIES[i][2]) for i in (usual, other)), strict=True)
            found += [(Difference(a["log_probability"], b["log_probability"]), b) for a, b in both]
        n_clear = n_clear_in_family([difference for difference, _ in found])
        largest, where = max(found, key=lambda pair: abs(pair[0].value))
        later = [d for d, p in found if total(p) >= 100]
        bound = max((abs(d.value) for d in later), default=0.0)
        clear += n_clear
        largest_of_all = max(largest_of_all, bound)
        texts[data] = (
            f"clear differences at {n_clear} of {len(found)} settings; the largest is {largest} nats at "
            f"{total(where):,} "
            f"particles, and {bound:.3f} from 100 particles on"
        )
    verdict = Verdict.HOLDS if clear == 0 else Verdict.DIFFERS
    reason = "The differences that are clear are small beside what the number of particles changes."
    return Claim(text, by_data(texts), verdict, reason)


EXPERIMENT = Experiment(
    name="variants",
    title="Choices that make no difference in the paper",
    paper="Section 4.1.1 says, without a figure, that the empirical proposal performs like the prior one, that both "
    "priorities perform alike, and that systematic resampling is not significantly different from multinomial.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=claims,
)
