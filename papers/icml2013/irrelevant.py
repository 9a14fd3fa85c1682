"""Figure 3: irrelevant features. Madelon has 20 relevant features of 500, which cuts from the prior seldom use."""

from __future__ import annotations

from benchmarks.markdown import duration
from papers.harness.panels import Panel
from papers.harness.spread import Difference
from papers.icml2013 import looks
from papers.icml2013.cells import Cell, over_seeds
from papers.icml2013.curves import Race, gains_at_same_time, mean_of
from papers.icml2013.experiment import TRADE_OFF, Claim, Experiment, Judged, judge_data
from papers.icml2013.methods import Filter
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Points, line, seconds, total

SERIES = (("prior", looks.PRIOR), ("optimal", looks.OPTIMAL))


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: two proposals x particles, in one island."""
    methods = [
        *(Filter(n) for n in (*scale.prior, *scale.prior_far)),
        *(Filter(n, "optimal") for n in scale.optimal),
    ]
    return over_seeds([scale.irrelevant], methods, scale.n_seeds)


def panels(points: Points) -> list[Panel]:
    """Return log-probability and accuracy against time and against particles."""
    (data,) = points.data
    return [
        Panel(
            data,
            x_label,
            y_label,
            [line(name, look, points.filters(data, proposal=name), x, measure) for name, look in SERIES],
        )
        for measure, y_label in looks.SCORES.items()
        for x, x_label in ((seconds, looks.SECONDS), (total, looks.PARTICLES))
    ]


def claims(points: Points) -> list[Claim]:
    """Judge the claims of section 4.1.2, by particles and by time."""

    def rule(data: str) -> Judged:
        prior, optimal = (points.filters(data, proposal=name) for name in ("prior", "optimal"))
        numbers = {total(p): p["log_probability"] for p in prior}
        by_particles = [Difference(p["log_probability"], numbers[total(p)]) for p in optimal if total(p) in numbers]
        best = max(optimal, key=lambda p: p["log_probability"].mean)
        by_time = {total(p): Race.run(p, prior) for p in (optimal[0], best)}
        behind = mean_of(gains_at_same_time(prior, optimal))
        ahead = Difference(behind.b, behind.a)
        least = min(by_particles, key=lambda difference: difference.value)
        times = "; ".join(f"{race.when} against {duration(race.seconds)} ({n})" for n, race in by_time.items())
        words = (
            f"with as many particles it is ahead by {least} nats or more; the prior proposal is as good as so many "
            f"optimal particles after {times}; after the same time the optimal proposal is ahead by {ahead} nats on "
            "average"
        )
        parts = [*(d.gain() for d in by_particles), *(not race.is_lost for race in by_time.values())]
        return words, [*parts, ahead.gain(TRADE_OFF)]

    return [
        judge_data(
            "The optimal proposal beats the prior proposal on Madelon, with as many particles and by time (sooner as "
            f"good, and {TRADE_OFF} nats ahead after the same time)",
            points,
            rule,
            "With tens of thousands of particles, which cost us about a second, the prior proposal comes close: some "
            "particles hit the useful features by chance, and resampling keeps them.",
        )
    ]


EXPERIMENT = Experiment(
    name="irrelevant",
    title="Irrelevant features",
    paper="Figure 3: log-probability and accuracy on Madelon's validation data against run time and against particles.",
    cells=cells,
    panels=panels,
    claims=claims,
)
