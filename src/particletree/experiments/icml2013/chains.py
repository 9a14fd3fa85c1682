"""Figure 5: the particle filter with 5 islands against the Markov chain, and CART, against run time.

The paper runs one chain and averages over all iterations so far; so do we. Beside it stands a stronger rival: five
chains that share the time and are averaged, as the islands are. The two samplers are compared by the time that they
need to reach the same log-probability: that of the filter with 5 islands of 100 particles.
"""

from __future__ import annotations

from collections.abc import Sequence

from particletree.benchmarks.markdown import duration, table
from particletree.experiments.icml2013 import looks
from particletree.experiments.icml2013.cells import Cell, over_seeds
from particletree.experiments.icml2013.curves import Race
from particletree.experiments.icml2013.experiment import Claim, Experiment, Judged, judge, judge_data
from particletree.experiments.icml2013.methods import Cart, Chain, Filter, Method
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Point, Points, line, seconds, total
from particletree.experiments.panels import Level, Panel
from particletree.experiments.spread import Difference

STANDARD = 100  # particles in each of 5 islands: our default
AT_LEAST, ABOUT = 10.0, 100.0  # times faster, says the paper
TURNING_POINT = 2000  # particles in all, beyond which the paper sees quality fall on pen-digits
CRITERIA = ("gini", "entropy")


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: filters of 5 islands x particles, one chain and five, CART with two criteria."""
    methods: list[Method] = [
        *(Filter(n, n_islands=5) for n in scale.prior_in_5),
        *(Filter(n, "optimal", n_islands=5) for n in scale.optimal_in_5),
        Chain(scale.iterations),
        Chain(scale.iterations // 5, n_chains=5),
        *(Cart(criterion) for criterion in CRITERIA),
    ]
    return over_seeds(scale.data, methods, scale.n_seeds)


def panels(points: Points) -> list[Panel]:
    """Return log-probability and accuracy against time, for each data set."""
    return [
        Panel(
            data,
            looks.SECONDS,
            y_label,
            [
                line("SMC, prior", looks.PRIOR, points.filters(data, proposal="prior"), seconds, measure),
                line("SMC, optimal", looks.OPTIMAL, points.filters(data, proposal="optimal"), seconds, measure),
                line("MCMC, one chain", looks.ONE_CHAIN, points.chain(data, n_chains=1), seconds, measure),
                line("MCMC, five chains", looks.FIVE_CHAINS, points.chain(data, n_chains=5), seconds, measure),
            ],
            [Level(f"CART, {c}", points.one(data, Cart(c))[measure].mean) for c in CRITERIA],
        )
        for data in points.data
        for measure, y_label in looks.SCORES.items()
    ]


def standard(prior: Sequence[Point]) -> Point:
    """Return the point of the default setting, or the largest below it."""
    return [p for p in prior if total(p) <= 5 * STANDARD][-1]


def races(points: Points, data: str) -> dict[str, Race]:
    """Hold the chains against the filter in its default setting."""
    ours = standard(points.filters(data, proposal="prior"))
    one, five = (points.chain(data, n_chains=n) for n in (1, 5))
    return {
        "one chain": Race.run(ours, one),
        "five chains": Race.run(ours, five),
        "five chains without their first half": Race.run(ours, five, "log_probability_second_half"),
    }


def reading(points: Points) -> str:
    """Tell how long chains take to be as good as the filter, and where all of them end."""
    rows = [
        [data, name, duration(race.seconds), str(race.level), *race.cells()]
        for data in points.data
        for name, race in races(points, data).items()
    ]
    numbers = ["filter's time", "its log-probability", "as good after", "x the filter's time", "within 1 s.e."]
    ends = " ".join(end_of(points, data) for data in points.data)
    return f"{table(['data', 'rival'], numbers, rows)}\n\n{ends}"


def end_of(points: Points, data: str) -> str:
    """Tell the best of the filter, and where the chains end."""
    best = max(points.filters(data), key=lambda p: p["log_probability"].mean)
    one, five = (points.chain(data, n_chains=n)[-1] for n in (1, 5))
    return (
        f"On {data} the best that a filter reaches is {best['log_probability']} (accuracy {best['accuracy']}), in "
        f"{duration(seconds(best))}. One chain ends at {one['log_probability']} ({one['accuracy']}) after "
        f"{duration(seconds(one))}, five chains at {five['log_probability']} ({five['accuracy']}) after "
        f"{duration(seconds(five))} in all."
    )


def claims(points: Points) -> list[Claim]:
    """Judge section 4.2."""
    return [filter_is_faster(points), more_particles_predict_worse(points)]


def filter_is_faster(points: Points) -> Claim:
    """Compare the times to the same log-probability; the verdict is against one chain, as in the paper."""

    def rule(data: str) -> Judged:
        found = races(points, data)
        times = "; ".join(f"{name} {race}" for name, race in found.items())
        words = f"to be as good as the filter after {duration(found['one chain'].seconds)} takes {times}"
        return words, [found["one chain"].at_least(AT_LEAST), found["one chain"].at_least(ABOUT / 2)]

    return judge_data(
        "SMC is at least 10 times faster than MCMC at equal quality, about 100 (50 or more) on pen-digits and MAGIC",
        points,
        rule,
    )


def more_particles_predict_worse(points: Points) -> Claim:
    """Ask whether test quality falls on pen-digits beyond 2,000 particles while the evidence still rises."""
    data = points.data[0]
    prior = points.filters(data, proposal="prior")
    turning, last = [p for p in prior if total(p) <= TURNING_POINT][-1], prior[-1]
    falls = Difference(turning["log_probability"], last["log_probability"]).gain()
    rises = Difference(last["log_evidence"], turning["log_evidence"]).gain()
    measured = (
        f"From {total(turning):,} to {total(last):,} particles in 5 islands the log-probability changes from "
        f"{turning['log_probability']} to {last['log_probability']}, the log evidence from "
        f"{turning['log_evidence'].mean:.0f} ± {turning['log_evidence'].sd:.0f} to {last['log_evidence'].mean:.0f} ± "
        f"{last['log_evidence'].sd:.0f}."
    )
    return Claim(
        f"On {data}, test quality of the prior proposal falls beyond 2,000 particles while the evidence still rises",
        measured,
        judge([falls, rises]) if falls else judge([falls]),
    )


EXPERIMENT = Experiment(
    name="chains",
    title="Particle filter against Markov chain",
    paper="Figure 5: log-probability and accuracy on test data against run time, for SMC with 5 islands (both "
    "proposals), MCMC and CART.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=claims,
)
