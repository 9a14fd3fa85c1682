"""Figure 5: the particle filter with 5 islands against the Markov chain, and CART, against run time.

The paper runs one chain and averages over all iterations so far; so do we. We add a stronger rival: five chains that
share the time and are averaged, like the islands. The two samplers are compared by the time that they need to reach the
same log-probability: that of the filter with 5 islands of 100 particles.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.markdown import duration, table
from papers.harness.panels import Level, Panel
from papers.harness.spread import Difference
from papers.icml2013 import looks
from papers.icml2013.cells import Cell, over_seeds
from papers.icml2013.curves import Race, in_sight
from papers.icml2013.experiment import (
    ALIKE,
    SMALL,
    TESTED,
    Claim,
    Experiment,
    Judged,
    judge,
    judge_data,
    loses_nothing,
)
from papers.icml2013.methods import Cart, Chain, Filter, Method
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Point, Points, line, seconds, total

STANDARD = 100  # particles in each of 5 islands: our default
AT_LEAST, ABOUT = 10.0, 100.0  # times faster, says the paper
TURNING_POINT = 2000  # particles in all, beyond which quality decreases on pen-digits according to the paper
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
    return [panel(points, data, measure) for data in points.data for measure in looks.SCORES]


def panel(points: Points, data: str, measure: str) -> Panel:
    """Return a score against time; readings of chains that are far below everything else are left out."""
    prior, optimal = (points.filters(data, proposal=name) for name in ("prior", "optimal"))
    carts = [points.one(data, Cart(criterion)) for criterion in CRITERIA]
    one, five = (in_sight(points.chain(data, n_chains=n), [*prior, *optimal, *carts], measure) for n in (1, 5))
    lines = [
        line("SMC, prior", looks.PRIOR, prior, seconds, measure),
        line("SMC, optimal", looks.OPTIMAL, optimal, seconds, measure),
        line("MCMC, one chain", looks.ONE_CHAIN, one, seconds, measure),
        line("MCMC, five chains", looks.FIVE_CHAINS, five, seconds, measure),
    ]
    levels = [Level(f"CART, {c}", cart[measure].mean) for c, cart in zip(CRITERIA, carts, strict=True)]
    return Panel(data, looks.SECONDS, looks.SCORES[measure], lines, levels)


def standard(prior: Sequence[Point]) -> Point:
    """Return the point of the default setting, or the largest below it."""
    return [p for p in prior if total(p) <= 5 * STANDARD][-1]


def races(points: Points, data: str) -> dict[str, Race]:
    """Compare the chains with the filter in its default setting."""
    ours = standard(points.filters(data, proposal="prior"))
    one, five = (points.chain(data, n_chains=n) for n in (1, 5))
    return {
        "one chain": Race.run(ours, one),
        "five chains": Race.run(ours, five),
        # At the first two readings there is no first half to leave out.
        "five chains without their first half": Race.run(ours, five[2:], rival_score="log_probability_second_half"),
        "one chain, by accuracy": Race.run(ours, one, "accuracy"),
        "five chains, by accuracy": Race.run(ours, five, "accuracy"),
    }


def reading(points: Points) -> str:
    """Return text: how long chains take to be as good as the filter."""
    rows = [
        [data, name, duration(race.seconds), str(race.level), race.when, race.times, race.range]
        for data in points.data
        for name, race in races(points, data).items()
        if not name.endswith("by accuracy")
    ]
    numbers = ["filter's time", "its score", "as good after", "x the filter's time", "within one standard error"]
    return (
        f"How long chains take to be as good as the filter with 5 islands of {STANDARD} "
        f"particles:\n\n{table(['data', 'rival'], numbers, rows)}\n\nWhere a line of the optimal proposal folds back, "
        "more particles took less time: filters that never resample have fewer blocks in common. The picture leaves "
        "out early readings of chains that lie far below the rest."
    )


def claims(points: Points) -> list[Claim]:
    """Judge the claims of section 4.2, and those of section 4.3 about MCMC."""
    return [
        filter_is_faster(points),
        filter_is_as_good(points),
        chain_beats_cart(points),
        more_particles_predict_worse(points),
    ]


def filter_is_faster(points: Points) -> Claim:
    """Compare the times to the same log-probability; the verdict is against one chain, as in the paper."""

    def rule(data: str) -> Judged:
        found = races(points, data)
        rivals = ("one chain", "five chains", "five chains without their first half")
        times = "; ".join(f"{name} {found[name]}" for name in rivals)
        words = f"in times of the filter's {duration(found['one chain'].seconds)}, {times}"
        return words, [found["one chain"].at_least(AT_LEAST), found["one chain"].at_least(ABOUT / 2)]

    return judge_data(
        "SMC is at least 10 times faster than MCMC at equal quality, about 100 times on pen-digits and MAGIC (one "
        "chain, as in the paper; 50 or more)",
        points,
        rule,
    )


def filter_is_as_good(points: Points) -> Claim:
    """Compare the best filter with the final scores of the chains."""

    def rule(data: str) -> Judged:
        best = max(points.filters(data), key=lambda p: p["log_probability"].mean)
        ends = {n: points.chain(data, n_chains=n)[-1] for n in (1, 5)}
        gains = {n: Difference(best["log_probability"], end["log_probability"]) for n, end in ends.items()}
        words = (
            f"5 islands reach at best {best['log_probability']} in {duration(seconds(best))}; one chain ends at "
            f"{ends[1]['log_probability']} after {duration(seconds(ends[1]))}, five chains at "
            f"{ends[5]['log_probability']} after {duration(seconds(ends[5]))} in all; the islands are at {gains[1]} "
            f"nats against one chain, and at {gains[5]} against five"
        )
        return words, [loses_nothing(gain, "log_probability") for gain in gains.values()]

    return judge_data(
        "SMC reaches a predictive performance similar to MCMC's (its loss is below "
        f"{ALIKE['log_probability']} nats, against one chain and against five)",
        points,
        rule,
        "Given a hundred times the filter's time, averaged chains are the better approximation: they go on moving, "
        "where five islands hold few distinct trees, since the particles of an island descend from few ancestors. "
        f"{TESTED}",
    )


def against_cart(points: Points, data: str, ours: Point) -> Judged:
    """Compare both scores with those of the better CART: no loss of accuracy, and a clear gain in log-probability."""
    carts = [points.one(data, Cart(criterion)) for criterion in CRITERIA]
    best = {m: max((c[m] for c in carts), key=lambda s: s.mean) for m in looks.SCORES}
    accuracy = Difference(ours["accuracy"], best["accuracy"])
    words = (
        f"accuracy {ours['accuracy']} against {best['accuracy']}, log-probability {ours['log_probability']} against "
        f"{best['log_probability']}"
    )
    gain = Difference(ours["log_probability"], best["log_probability"]).gain(SMALL)
    return words, [loses_nothing(accuracy, "accuracy"), gain]


def chain_beats_cart(points: Points) -> Claim:
    """Compare the final score of one chain with CART, the better of the two criteria."""

    def rule(data: str) -> Judged:
        return against_cart(points, data, points.chain(data, n_chains=1)[-1])

    return judge_data("MCMC too matches or beats CART's accuracy and clearly beats its log-probability", points, rule)


def more_particles_predict_worse(points: Points) -> Claim:
    """Test whether quality decreases on pen-digits beyond 2,000 particles while the evidence still increases."""
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
