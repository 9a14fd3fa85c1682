"""Tests of four of our likely reasons: if a reason names a cause that can be changed, we change it.

Filters of few particles never resample: make them resample. Resampling loses evidence: do not resample. Five islands
have few distinct trees: average a hundred. Smoothing protects small leaves of CART: smooth less. Each reason predicts
the result. It is *supported* if the prediction holds everywhere, *in part* if it holds in some places and *not
supported* if in none; undecided if errors are too large to tell. A correct prediction makes a cause likely, but does
not prove it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.markdown import duration, table
from papers.harness.panels import Look, Panel
from papers.harness.spread import Difference, Estimate, way
from papers.icml2013 import islands, looks
from papers.icml2013.cells import Cell, over_seeds
from papers.icml2013.chains import CRITERIA
from papers.icml2013.classic import MUCH
from papers.icml2013.curves import in_sight, mean_of
from papers.icml2013.evidence import nats
from papers.icml2013.experiment import (
    NEVER_RESAMPLED,
    Claim,
    Experiment,
    Judged,
    Verdict,
    judge_data,
)
from papers.icml2013.islands import best_of, n_islands, per_island, settings_of
from papers.icml2013.methods import Cart, Chain, Filter, Method
from papers.icml2013.scale import Scale
from papers.icml2013.summaries import Point, Points, line, seconds, total

PAPERS, HALF, NEVER = 0.1, 0.5, 0.0  # resampling thresholds, as shares of the particles
MANY = 100  # islands
USUAL, LITTLE = 5.0, 0.1  # pseudo-counts in a leaf
LEAVES = (1, 10)  # rows in a leaf of CART, at least
MOST = 0.5  # share of a loss that must vanish with a cause for the cause to explain it
WORDS = {
    Verdict.HOLDS: "supported",
    Verdict.DIFFERS: "in part",
    Verdict.FAILS: "not supported",
    Verdict.OPEN: "undecided",
}


def cells(scale: Scale) -> list[Cell]:
    """Return the grid: the settings of each reason, as in the paper and with the cause changed."""
    sharing = islands.methods(scale)
    one_island = [Filter(n, "optimal") for n in scale.optimal_unresampled]
    methods: list[Method] = [
        *sharing,
        *(replace(method, ess_threshold=HALF) for method in sharing),
        *one_island,
        *(replace(method, ess_threshold=NEVER) for method in one_island),
        *(Filter(n, n_islands=5) for n in scale.prior_in_5),
        *(Filter(n, n_islands=MANY) for n in scale.prior_in_many),
        Chain(scale.iterations // 5, n_chains=5),
        *(Cart(c, n, concentration) for c in CRITERIA for n in LEAVES for concentration in (USUAL, LITTLE)),
    ]
    return over_seeds(scale.data, methods, scale.n_seeds)


def by_islands(points: Points, data: str, ess_threshold: float) -> list[Point]:
    """Return the points with a fixed total of particles, by number of islands; both thresholds were run."""
    resampled_more = sorted(points.filters(data, ess_threshold=HALF), key=n_islands)
    return [points.one(data, replace(settings_of(p), ess_threshold=ess_threshold)) for p in resampled_more]


def optimal(points: Points, data: str, ess_threshold: float) -> list[Point]:
    """Return the points of the optimal proposal, by number of particles."""
    return points.filters(data, proposal="optimal", ess_threshold=ess_threshold)


def in_islands(points: Points, data: str, n: int) -> list[Point]:
    """Return the points of the prior proposal with n islands, by number of particles."""
    return points.filters(data, proposal="prior", n_islands=n, ess_threshold=PAPERS)


def panels(points: Points) -> list[Panel]:
    """Return one row of panels per reason about filters, one column per data set."""
    return [panel(points, data) for panel in (small_islands, lost_evidence, more_islands) for data in points.data]


def small_islands(points: Points, data: str) -> Panel:
    """Return quality against islands, for two thresholds."""
    found = (("as in the paper", PAPERS, looks.PRIOR), ("resampled below 50%", HALF, Look(2)))
    lines = [
        line(f"prior, {name}", look, by_islands(points, data, threshold), n_islands, "log_probability")
        for name, threshold, look in found
    ]
    n_total = total(by_islands(points, data, HALF)[0])
    return Panel(f"{data}, {n_total:,} particles in all", "number of islands", looks.LOG_PROBABILITY, lines)


def lost_evidence(points: Points, data: str) -> Panel:
    """Return evidence against particles, with and without resampling."""
    found = (("as in the paper", PAPERS, looks.OPTIMAL), ("never resampled", NEVER, Look(4)))
    lines = [
        line(f"optimal, {name}", look, optimal(points, data, threshold), total, "log_evidence")
        for name, threshold, look in found
    ]
    return Panel(f"{data}, one island", looks.PARTICLES, "log evidence, nats", lines)


def more_islands(points: Points, data: str) -> Panel:
    """Return quality against time for five islands, many islands, and chains."""
    five, many = (in_islands(points, data, n) for n in (5, MANY))
    chains = in_sight(points.chain(data, n_chains=5), [*five, *many], "log_probability")
    lines = [
        line("prior, as in the paper", looks.PRIOR, five, seconds, "log_probability"),
        line(f"prior, {MANY} islands", Look(5, marker=5), many, seconds, "log_probability"),
        line("MCMC, five chains", looks.FIVE_CHAINS, chains, seconds, "log_probability"),
    ]
    return Panel(f"{data}, 5 or {MANY} islands", looks.SECONDS, looks.LOG_PROBABILITY, lines)


def win_back(points: Points, data: str) -> Judged:
    """Measure how much of the loss of small islands vanishes if they resample, beyond the gain of larger ones."""
    usual, half = (by_islands(points, data, threshold) for threshold in (PAPERS, HALF))
    scores = [(per_island(p), p["log_probability"], q["log_probability"]) for p, q in zip(usual, half, strict=True)]
    n, before, after = [s for s in scores if s[0] > NEVER_RESAMPLED][-1]
    elsewhere = Difference(after, before)
    words, parts = [f"islands of {n} gain {elsewhere}"], []
    for size, low, raised in scores:
        if size <= NEVER_RESAMPLED:
            gain, fall = Difference(raised, low), Difference(before, low)
            more = gain.minus(elsewhere)
            share = way(low, before, Estimate(low.mean + more.value, more.se))
            words.append(f"islands of {size} gain {gain}, {share.percent} of their fall below islands of {n}")
            parts.append(share.at_least(MOST) if fall.gain() else None)
    return ", ".join(words), parts


def keep_evidence(points: Points, data: str) -> Judged:
    """Test whether the evidence is higher without resampling, where it must increase with particles."""
    never, usual = (optimal(points, data, threshold) for threshold in (NEVER, PAPERS))
    gains = {
        total(p): Difference(p["log_evidence"], q["log_evidence"])
        for p, q in zip(never, usual, strict=True)
        if total(p) > NEVER_RESAMPLED
    }
    listed = ", ".join(f"{n}: {gain.value:+.0f} ± {gain.se:.0f}" for n, gain in gains.items())
    words = f"the change in nats is {listed}, to {nats(never[-1])} with {total(never[-1])} particles"
    return words, [mean_of(gains.values()).gain()]


def catch_up(points: Points, data: str) -> Judged:
    """Measure how much of the difference between five islands and five chains vanishes with many islands."""
    five, many = (best_of(in_islands(points, data, n)) for n in (5, MANY))
    chains = points.chain(data, n_chains=5)[-1]
    low, high, reached = (p["log_probability"] for p in (five, chains, many))
    share = way(low, high, Estimate(reached.mean, reached.se))
    words = (
        f"at best {low} with 5 islands, and {reached} with {MANY} islands of {per_island(many)} in "
        f"{duration(seconds(many))}; five chains end at {high} after {duration(seconds(chains))} in all"
    )
    if not Difference(high, low).gain():
        return f"{words}, not clearly above 5 islands", [None]
    return f"{words}; {share.percent} of the lack is made up for", [share.at_least(MOST)]


def smooth_less(points: Points, data: str) -> Judged:
    """Test whether small leaves of CART are much worse than large ones with less smoothing."""
    words, parts = [], []
    for criterion in CRITERIA:
        usual, little = (
            Difference(*(points.one(data, Cart(criterion, n, concentration))["log_probability"] for n in LEAVES))
            for concentration in (USUAL, LITTLE)
        )
        words.append(f"{criterion} {usual} with {USUAL:g} pseudo-counts, {little} with {LITTLE:g}")
        parts.append(usual.minus(little).at_least(MUCH))
    return f"leaves of {LEAVES[0]} row against {LEAVES[1]}: " + "; ".join(words), parts


@dataclass(frozen=True)
class Reason:
    """A likely reason: the claim it belongs to, its text, what we change, and the rule that judges a data set."""

    given_in: str
    text: str
    trial: str
    rule: Callable[[Points, str], Judged]

    def judge(self, points: Points) -> Claim:
        """Return the measurements, and whether they support the reason."""
        return judge_data(self.text, points, lambda data: self.rule(points, data))


REASONS = (
    Reason(
        "islands",
        f"Quality falls steeply in islands of {NEVER_RESAMPLED} particles or fewer because they never resample",
        "resample when the effective sample size is below half the particles: most of the fall below the smallest "
        "islands that do resample should go",
        win_back,
    ),
    Reason(
        "evidence",
        "Resampling makes the optimal proposal lose evidence",
        "never resample: the evidence should be higher on average over the numbers of particles",
        keep_evidence,
    ),
    Reason(
        "chains",
        "Five islands hold few distinct trees, and so end below five chains",
        f"average {MANY} islands: most of the lack should go",
        catch_up,
    ),
    Reason(
        "classic",
        "Smoothing keeps CART's small leaves from claiming too much",
        f"smooth less: small leaves should fall behind large ones by another {MUCH} nats or more",
        smooth_less,
    ),
)


def trials(points: Points) -> list[Claim]:
    """Return the reasons with their verdicts."""
    return [reason.judge(points) for reason in REASONS]


def reading(points: Points) -> str:
    """Return a table of the reasons, what we change, and whether what they predict is seen."""
    rows = [
        [f"{reason.text} (`{reason.given_in}`).", f"{reason.trial}.", WORDS[claim.verdict]]
        for reason, claim in zip(REASONS, trials(points), strict=True)
    ]
    return (
        table(["the likely reason", "so we", "it is"], [], rows)
        + "\n\nA reason is supported if what it predicts is seen in all places (data sets, sizes), in part if in some, "
        "and not supported if in none; it is undecided if some place is within two standard errors of the bound. A "
        "prediction that comes true makes a cause likely, and proves nothing: averaging more islands, for example, "
        "helps whatever makes them differ."
    )


EXPERIMENT = Experiment(
    name="reasons",
    title="Our reasons, put to the test",
    paper="nothing of this. Where one of our likely reasons names a cause that can be changed, we change it.",
    cells=cells,
    panels=panels,
    reading=reading,
    claims=lambda _: [],
    trials=trials,
)
