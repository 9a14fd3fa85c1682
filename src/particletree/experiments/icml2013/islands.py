"""Figure 4 and appendix C: a fixed number of particles, shared by more and more islands."""

from __future__ import annotations

from particletree.experiments.icml2013 import looks
from particletree.experiments.icml2013.cells import Cell, over_seeds
from particletree.experiments.icml2013.experiment import Claim, Experiment, by_data, judge
from particletree.experiments.icml2013.methods import Filter
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Point, Points, line
from particletree.experiments.panels import Above, Panel
from particletree.experiments.spread import Difference

ENOUGH = 100  # particles in an island, below which the paper sees quality drop
LEAST_ISLANDS = 5


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: numbers of islands that share a fixed number of particles."""
    methods = [Filter(scale.n_total // n, n_islands=n) for n in scale.islands]
    return over_seeds(scale.data, methods, scale.n_seeds)


def panels(points: Points) -> list[Panel]:
    """Return log-probability and accuracy against islands, for each data set."""
    n_total = settings_of(points.all[0]).total
    return [
        Panel(
            data,
            "number of islands",
            y_label,
            [line(f"prior, {n_total:,} particles in all", looks.PRIOR, ladder(points, data), n_islands, measure)],
            above=Above("particles in each island", n_total),
        )
        for data in points.data
        for measure, y_label in looks.SCORES.items()
    ]


def settings_of(point: Point) -> Filter:
    """Return a point's settings."""
    assert isinstance(point.method, Filter)
    return point.method


def n_islands(point: Point) -> int:
    """Return a point's number of islands."""
    return settings_of(point).n_islands


def per_island(point: Point) -> int:
    """Return a point's particles in each island."""
    return settings_of(point).n_particles


def ladder(points: Points, data: str) -> list[Point]:
    """Return the points by number of islands."""
    return sorted(points.filters(data), key=n_islands)


def best_of(points: list[Point]) -> Point:
    """Return the point with the highest log-probability."""
    return max(points, key=lambda p: p["log_probability"].mean)


def reading(points: Points) -> str:
    """Tell what the picture shows."""
    parts = []
    for data in points.data:
        found = ladder(points, data)
        best = best_of(found)
        parts.append(
            f"On {data} one island gives {found[0]['log_probability']}; the best is {n_islands(best)} islands of "
            f"{per_island(best)} with {best['log_probability']} and accuracy {best['accuracy']}; "
            f"{n_islands(found[-1])} islands of {per_island(found[-1])} fall to {found[-1]['log_probability']}."
        )
    parts.append(
        "Islands of 10 particles or fewer never resample: the effective sample size is at least 1, and the threshold "
        "is a tenth of the particles. That is where the cliff is."
    )
    return " ".join(parts)


def claims(points: Points) -> list[Claim]:
    """Judge section 4.1.3."""
    return [small_islands_fail(points), islands_help(points)]


def small_islands_fail(points: Points) -> Claim:
    """Ask whether quality drops as soon as islands have fewer than 100 particles, and for all smaller ones."""
    texts, holds = {}, []
    for data in points.data:
        found = ladder(points, data)
        last_enough = [p for p in found if per_island(p) >= ENOUGH or p is found[0]][-1]
        smaller = [p for p in found if per_island(p) < per_island(last_enough)]
        drops = {per_island(p): Difference(last_enough["log_probability"], p["log_probability"]) for p in smaller}
        holds += [drop.is_clear_gain for drop in drops.values()]
        listed = ", ".join(f"{n}: {-drop.value:+.3f}" for n, drop in drops.items())
        texts[data] = (
            f"{last_enough['log_probability']} with {per_island(last_enough)} in each island; with fewer, the change "
            f"is {listed}"
        )
    return Claim(
        f"Test quality drops sharply below {ENOUGH} particles an island",
        by_data(texts),
        judge(*holds),
        "Islands of 40 or 50 particles are worse one by one, but there are more of them to average, and both effects "
        "are of the same size; the sharp drop comes at 20 particles and below.",
    )


def islands_help(points: Points) -> Claim:
    """Ask whether several islands beat one while each has enough particles."""
    texts, holds = {}, []
    for data in points.data:
        found = ladder(points, data)
        several = [
            p
            for p in found
            if n_islands(p) >= LEAST_ISLANDS and (per_island(p) >= ENOUGH or n_islands(p) == LEAST_ISLANDS)
        ]
        gains = {n_islands(p): Difference(p["log_probability"], found[0]["log_probability"]) for p in several}
        holds += [gain.is_clear_gain for gain in gains.values()]
        texts[data] = "against one island, " + ", ".join(f"{n} islands {gain}" for n, gain in gains.items())
    return Claim(
        f"From {LEAST_ISLANDS} islands on, as long as each has {ENOUGH} particles or more, several islands beat one",
        by_data(texts),
        judge(*holds),
    )


EXPERIMENT = Experiment(
    name="islands",
    title="Islands",
    paper="Figure 4 (pen-digits) and appendix C (MAGIC): 2,000 particles of the prior proposal in all, shared by 1 "
    "to 400 islands whose predictions are averaged.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=claims,
)
