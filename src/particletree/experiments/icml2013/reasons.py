"""Our own likely reasons, put to the test: each says what would change if something else did, and here it does.

Four verdicts on the paper's claims come with a reason of which we can do without the cause: filters of few particles
that never resample (let them resample), a resampling that loses evidence (do without it), few distinct trees in few
islands (take many), smoothing that protects small leaves (smooth less). A reason is *supported* if what it predicts
is seen everywhere, *in part* if it is seen in some places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from particletree.benchmarks.markdown import duration, table
from particletree.experiments.icml2013 import looks
from particletree.experiments.icml2013.cells import Cell, over_seeds
from particletree.experiments.icml2013.chains import CRITERIA
from particletree.experiments.icml2013.curves import in_sight
from particletree.experiments.icml2013.evidence import nats
from particletree.experiments.icml2013.experiment import ENOUGH, NEVER_RESAMPLED, Experiment, Judged, Verdict, judge
from particletree.experiments.icml2013.islands import best_of, n_islands, per_island, settings_of
from particletree.experiments.icml2013.methods import Cart, Chain, Filter, Method
from particletree.experiments.icml2013.scale import Scale
from particletree.experiments.icml2013.summaries import Point, Points, line, seconds, total
from particletree.experiments.panels import Look, Panel
from particletree.experiments.spread import Difference

PAPERS, HALF, NEVER = 0.1, 0.5, 0.0  # thresholds of resampling, as shares of the particles
MANY = 100  # islands
LITTLE = 0.1  # pseudo-counts in a leaf, instead of 5
LEAVES = (1, 10)  # rows in a leaf of CART, at least
MOST = 0.5  # of a loss: a cause explains it if that much goes when the cause goes
MUCH = 0.05  # nats
WORDS = {
    Verdict.HOLDS: "supported",
    Verdict.DIFFERS: "in part",
    Verdict.FAILS: "not supported",
    Verdict.OPEN: "undecided",
}


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: what each reason is about, with its cause and without."""
    shared = [Filter(scale.n_total // n, n_islands=n) for n in scale.islands]
    optimal = [Filter(n, "optimal") for n in scale.never_resampled]
    methods: list[Method] = [
        *shared,
        *(replace(method, ess_threshold=HALF) for method in shared),
        *optimal,
        *(replace(method, ess_threshold=NEVER) for method in optimal),
        *(Filter(n, n_islands=5) for n in scale.prior_in_5),
        *(Filter(n, n_islands=MANY) for n in scale.prior_in_many),
        Chain(scale.iterations // 5, n_chains=5),
        *(Cart(criterion, n, concentration=LITTLE) for criterion in CRITERIA for n in LEAVES),
    ]
    return over_seeds(scale.data, methods, scale.n_seeds)


def by_islands(points: Points, data: str, ess_threshold: float) -> list[Point]:
    """Return the points of islands that share their particles, by number of islands."""
    twins = sorted(points.filters(data, ess_threshold=HALF), key=n_islands)
    return [points.one(data, replace(settings_of(p), ess_threshold=ess_threshold)) for p in twins]


def optimal(points: Points, data: str, ess_threshold: float) -> list[Point]:
    """Return the points of the optimal proposal, by number of particles."""
    return points.filters(data, proposal="optimal", ess_threshold=ess_threshold)


def in_islands(points: Points, data: str, n: int) -> list[Point]:
    """Return the points of the prior proposal in so many islands, by number of particles."""
    return points.filters(data, proposal="prior", n_islands=n, ess_threshold=PAPERS)


def panels(points: Points) -> list[Panel]:
    """Return a row of panels for each reason about filters, a column for each data set."""
    return [panel(points, data) for panel in (small_islands, lost_evidence, more_islands) for data in points.data]


def small_islands(points: Points, data: str) -> Panel:
    """Return quality against islands, for two thresholds."""
    found = ((PAPERS, looks.PRIOR), (HALF, Look(2)))
    lines = [
        line(f"prior, resampled below {t:g}", look, by_islands(points, data, t), n_islands, "log_probability")
        for t, look in found
    ]
    n_total = total(by_islands(points, data, HALF)[0])
    title = f"{data}, {n_total:,} particles in all"
    return Panel(title, "number of islands", looks.LOG_PROBABILITY, lines)


def lost_evidence(points: Points, data: str) -> Panel:
    """Return evidence against particles, with and without resampling."""
    found = (("resampled below 0.1", PAPERS, looks.OPTIMAL), ("never resampled", NEVER, Look(4)))
    lines = [line(f"optimal, {name}", look, optimal(points, data, t), total, "log_evidence") for name, t, look in found]
    return Panel(data, looks.PARTICLES, "log evidence, nats", lines)


def more_islands(points: Points, data: str) -> Panel:
    """Return quality against time for few islands, many islands, and chains."""
    five, many = (in_islands(points, data, n) for n in (5, MANY))
    chains = in_sight(points.chain(data, n_chains=5), [*five, *many], "log_probability")
    lines = [
        line("prior, 5 islands", looks.PRIOR_LAYER, five, seconds, "log_probability"),
        line(f"prior, {MANY} islands", Look(5, marker=5), many, seconds, "log_probability"),
        line("MCMC, five chains", looks.FIVE_CHAINS, chains, seconds, "log_probability"),
    ]
    return Panel(data, looks.SECONDS, looks.LOG_PROBABILITY, lines)


@dataclass(frozen=True)
class Reason:
    """A likely reason: where it was given, what it says, what we try, and the rule that judges it on a data set."""

    given_in: str
    text: str
    trial: str
    rule: Callable[[Points, str], Judged]


def win_back(points: Points, data: str) -> Judged:
    """Ask how much of what small islands lose comes back when they resample."""
    usual, half = (by_islands(points, data, t) for t in (PAPERS, HALF))
    enough = [p for p in usual if per_island(p) >= ENOUGH][-1]["log_probability"]
    words, parts = [], []
    for before, after in zip(usual, half, strict=True):
        if per_island(before) > NEVER_RESAMPLED:
            continue
        gain = Difference(after["log_probability"], before["log_probability"])
        share = gain.value / (enough.mean - before["log_probability"].mean)
        words.append(
            f"{n_islands(before)} islands of {per_island(before)} go from {before['log_probability']} to "
            f"{after['log_probability']}, {share:.0%} of the way to islands of {ENOUGH}"
        )
        parts.append(share >= MOST if gain.gain() else gain.gain())
    return "; ".join(words), parts


def keep_evidence(points: Points, data: str) -> Judged:
    """Ask whether the evidence is higher without resampling, and goes on rising."""
    never = optimal(points, data, NEVER)
    usual = {total(p): p for p in optimal(points, data, PAPERS)}
    gains = {
        total(p): Difference(p["log_evidence"], usual[total(p)]["log_evidence"])
        for p in never
        if total(p) > NEVER_RESAMPLED
    }
    rise = Difference(never[-1]["log_evidence"], never[0]["log_evidence"])
    listed = ", ".join(f"{n}: {gain.value:+.0f} ± {gain.se:.0f}" for n, gain in gains.items())
    words = (
        f"from {nats(never[0])} with {total(never[0])} particle to {nats(never[-1])} with {total(never[-1])}; against "
        f"resampling {listed}"
    )
    return words, [rise.gain(), *(gain.gain() for gain in gains.values())]


def catch_up(points: Points, data: str) -> Judged:
    """Ask whether many islands are better than five, and as good as five chains at their end."""
    five, many = (best_of(in_islands(points, data, n)) for n in (5, MANY))
    chains = points.chain(data, n_chains=5)[-1]
    words = (
        f"{MANY} islands of {per_island(many)} reach {many['log_probability']} in {duration(seconds(many))}, 5 islands "
        f"at best {five['log_probability']}; five chains end at {chains['log_probability']} after "
        f"{duration(seconds(chains))} in all"
    )
    gain = Difference(many["log_probability"], five["log_probability"]).gain()
    loss = Difference(chains["log_probability"], many["log_probability"]).gain()
    return words, [gain, loss is not True]


def smooth_less(points: Points, data: str) -> Judged:
    """Ask whether smaller leaves of CART have a much lower log-probability when there is little smoothing."""
    words, parts = [], []
    for criterion in CRITERIA:
        small, large = (points.one(data, Cart(criterion, n, LITTLE))["log_probability"] for n in LEAVES)
        words.append(f"{criterion} {small} with leaves of {LEAVES[0]} row or more, {large} with {LEAVES[1]}")
        parts.append(Difference(large, small).value >= MUCH)
    return "; ".join(words), parts


REASONS = (
    Reason(
        "islands",
        f"The steep fall of islands with {NEVER_RESAMPLED} particles or fewer comes from never resampling",
        f"resample when the effective sample size is below half the particles; then most ({MOST:.0%}) of the loss "
        "should go",
        win_back,
    ),
    Reason(
        "evidence",
        "Resampling makes the optimal proposal lose evidence",
        "never resample; then the evidence should be higher, and go on rising",
        keep_evidence,
    ),
    Reason(
        "chains",
        "Five islands end below five chains because each descends from few ancestors",
        f"take {MANY} islands; then the filter should gain, and be as good as the chains",
        catch_up,
    ),
    Reason(
        "classic",
        "5 pseudo-counts keep CART's small leaves from claiming too much",
        f"take {LITTLE} pseudo-counts; then small leaves should be worse by {MUCH} nats or more, as in the paper",
        smooth_less,
    ),
)


def judge_reason(reason: Reason, points: Points) -> tuple[str, Verdict]:
    """Return what was measured, and whether it supports a reason."""
    found = {data: reason.rule(points, data) for data in points.data}
    measured = " ".join(f"{data}: {words}." for data, (words, _) in found.items())
    return measured, judge(part for _, parts in found.values() for part in parts)


def reading(points: Points) -> str:
    """Return the reasons with what became of them."""
    rows = []
    for reason in REASONS:
        measured, verdict = judge_reason(reason, points)
        rows.append([f"{reason.text} (`{reason.given_in}`).", f"{reason.trial}.", WORDS[verdict], measured])
    return table(["the reason", "so we", "it is", "we measure"], [], rows)


EXPERIMENT = Experiment(
    name="reasons",
    title="Our reasons, put to the test",
    paper="nothing of this. Four of the likely reasons above name a cause that can be taken away; here it is.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=lambda _: [],
)
