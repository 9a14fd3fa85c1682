"""Figure 4 and appendix C: a fixed number of particles, divided among different numbers of islands."""

from __future__ import annotations

from papers.harness.panels import Above, Panel
from papers.harness.spread import Difference
from papers.icml2013 import looks
from papers.icml2013.cells import Cell, over_seeds
from papers.icml2013.experiment import ENOUGH, SMALL, TESTED, Claim, Experiment, Judged, judge_data
from papers.icml2013.methods import Filter
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Point, Points, line

LEAST_ISLANDS = 5


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: a fixed number of particles, divided among different numbers of islands."""
    return over_seeds(scale.data, methods(scale), scale.n_seeds)


def methods(scale: Scale) -> list[Filter]:
    """Return filters with a fixed number of particles and increasing numbers of islands."""
    return [Filter(scale.n_total // n, n_islands=n) for n in scale.islands]


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
    """Return text that describes the figure."""
    parts = []
    for data in points.data:
        found = ladder(points, data)
        best = best_of(found)
        parts.append(
            f"On {data} one island gives {found[0]['log_probability']}; the best is {n_islands(best)} islands of "
            f"{per_island(best)} with {best['log_probability']} and accuracy {best['accuracy']}; "
            f"{n_islands(found[-1])} islands of {per_island(found[-1])} fall to {found[-1]['log_probability']}."
        )
    return "\n\n".join(parts)


def claims(points: Points) -> list[Claim]:
    """Judge the claims of section 4.1.3."""
    return [small_islands_fail(points), islands_help(points)]


def small_islands_fail(points: Points) -> Claim:
    """Test whether quality drops by more than the margin for all islands of fewer than 100 particles."""

    def rule(data: str) -> Judged:
        found = ladder(points, data)
        enough = [p for p in found if per_island(p) >= ENOUGH][-1]
        drops = {
            per_island(p): Difference(enough["log_probability"], p["log_probability"])
            for p in found
            if per_island(p) < ENOUGH
        }
        listed = ", ".join(f"{n}: {-drop.value:+.3f}" for n, drop in drops.items())
        words = (
            f"{enough['log_probability']} with {per_island(enough)} in each island; with fewer, the change is {listed}"
        )
        return words, [drop.gain() if drop.value >= SMALL else False for drop in drops.values()]

    return judge_data(
        f"Test quality drops sharply (by {SMALL} nats or more) below {ENOUGH} particles an island",
        points,
        rule,
        "Smaller islands are worse one by one, but there are more of them to average, so that quality falls gently "
        f"down to 20 particles; the steep fall comes below, where filters never resample. {TESTED}",
    )


def islands_help(points: Points) -> Claim:
    """Test whether several islands are better than one if each has enough particles."""

    def rule(data: str) -> Judged:
        found = ladder(points, data)
        several = [p for p in found if n_islands(p) >= LEAST_ISLANDS and per_island(p) >= ENOUGH]
        gains = {n_islands(p): Difference(p["log_probability"], found[0]["log_probability"]) for p in several}
        words = "against one island, " + ", ".join(f"{n} islands {gain}" for n, gain in gains.items())
        return words, [gain.gain(SMALL) for gain in gains.values()]

    return judge_data(
        f"From {LEAST_ISLANDS} islands on, as long as each has {ENOUGH} particles or more, several islands beat one",
        points,
        rule,
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
