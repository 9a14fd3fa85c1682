"""Figure 3: irrelevant features. On Madelon, with 20 useful features of 500, blind cuts seldom hit a useful one."""

from __future__ import annotations

from particletree.benchmarks.markdown import duration
from particletree.experiments.icml2013 import looks
from particletree.experiments.icml2013.cells import Cell, over_seeds
from particletree.experiments.icml2013.curves import quality_after, time_to_reach
from particletree.experiments.icml2013.experiment import Claim, Experiment, judge
from particletree.experiments.icml2013.methods import Filter
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Points, line, seconds, total
from particletree.experiments.panels import Panel
from particletree.experiments.spread import Difference

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


def reading(points: Points) -> str:
    """Tell what the picture shows."""
    (data,) = points.data
    prior, optimal = (points.filters(data, proposal=name) for name in ("prior", "optimal"))
    single, most = optimal[0], prior[-1]
    needed = time_to_reach(prior, single["log_probability"].mean)
    catches_up = (
        f"It is as good as one optimal particle after {duration(needed)}, against {duration(seconds(single))}."
        if needed is not None
        else f"It never is as good as one optimal particle ({duration(seconds(single))})."
    )
    return (
        f"One particle of the optimal proposal has accuracy {single['accuracy']} and log-probability "
        f"{single['log_probability']}. The prior proposal is at {prior[0]['accuracy']} with {total(prior[0])} "
        f"particles, hardly better than guessing, and at {most['accuracy']} and {most['log_probability']} with "
        f"{total(most):,}. {catches_up}"
    )


def claims(points: Points) -> list[Claim]:
    """Judge section 4.1.2, by particles and by time."""
    (data,) = points.data
    prior, optimal = (points.filters(data, proposal=name) for name in ("prior", "optimal"))
    numbers = {total(p): p for p in prior}
    by_particles = [
        Difference(p["log_probability"], numbers[total(p)]["log_probability"]) for p in optimal if total(p) in numbers
    ]
    at_time = [(p, quality_after(prior, seconds(p))) for p in optimal]
    by_time = [p["log_probability"].mean - quality for p, quality in at_time if quality is not None]
    least = min(by_particles, key=lambda d: d.value)
    measured = (
        f"With as many particles it is ahead by {least} nats or more. After the same time it is ahead in "
        f"{sum(gain > 0 for gain in by_time)} of {len(by_time)} points ({min(by_time):+.3f} to {max(by_time):+.3f} "
        f"nats); with {total(prior[-1]):,} particles ({duration(seconds(prior[-1]))}) the prior proposal reaches "
        f"{prior[-1]['log_probability']}, one optimal particle ({duration(seconds(optimal[0]))}) "
        f"{optimal[0]['log_probability']}."
    )
    holds = [*(d.is_clear_gain for d in by_particles), *(gain > 0 for gain in by_time)]
    return [
        Claim(
            "The optimal proposal beats the prior proposal on Madelon, by particles and by time",
            measured,
            judge(*holds),
            "With tens of thousands of particles, which cost us about a second, the prior proposal comes close: some "
            "particles hit the useful features by chance, and resampling keeps them. The optimal proposal is ahead "
            "at first and level in the end.",
        )
    ]


EXPERIMENT = Experiment(
    name="irrelevant",
    title="Irrelevant features",
    paper="Figure 3: log-probability and accuracy on Madelon's validation data against run time and against particles.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=claims,
)
