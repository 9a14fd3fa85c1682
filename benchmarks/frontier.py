"""The question: which settings of the particle filter predict best for the time that they take.

The model is the default's throughout, so that evidences can be compared; what varies is the proposal, the number of
particles, islands and candidates, and the threshold of resampling. A setting is on the frontier if none that is as
quick predicts better; it is left out where fewer particles or islands take 5 times CART's time already. Time is CPU
time in units of CART's in the same run, on one thread. Log-probability and evidence are means over three seeds of the
sampler (one in a quick run, and for slow settings); seeds alone move the log-probability on pen-digits by about 0.01.

The verdicts set lookahead (the default is one of its settings) against every setting of a rival that predicts better
than CART and than all quicker ones of its kind: the best of lookahead that took no longer, and the quickest of
lookahead that predicts no worse.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import markdown
from benchmarks.settings import Settings
from benchmarks.tables import CLASSES
from benchmarks.targets import Target
from benchmarks.targets import to_markdown as verdicts_to_markdown
from benchmarks.timing import time_once
from particletree import SMC, BayesianTreeClassifier
from particletree._commands.cart import make_cart, mean_log_probability, smoothed_probabilities
from particletree.datasets import Split

TABLES = ("pen-digits", "MAGIC", "Madelon", "spam7", "credit scores", "leaves of 32 species")
CART, DEFAULT = "CART", "default"
PROPOSALS = ("prior", "empirical", "optimal", "lookahead")
ISLANDS = (1, 4, 8, 16)
PARTICLES = (1, 10, 100, 1000)
CANDIDATES = ("1", "5", "d/4", "d")
LONGEST = 5.0  # times CART's fit time; settings larger than one that takes longer are left out
DUELS = {"Madelon": "optimal", "pen-digits": "prior", "MAGIC": "prior"}  # rivals of lookahead
MARGIN = 0.005  # nats per row that count as no worse: less than the differences between seeds
MOST_ROUNDS, ENOUGH = 3, 0.2  # number of timed fits, and seconds from which one is enough


@dataclass(frozen=True)
class Point:
    """One setting on one table."""

    data: str
    proposal: str  # or CART, DEFAULT
    setting: str
    ratio: float  # of the fit time to CART's
    log_probability: float
    log_evidence: float | None


@dataclass(frozen=True)
class Rung:
    """A particle filter without its number of islands; candidates as text, since they depend on the features."""

    proposal: str
    n_particles: int
    ess_threshold: float
    candidates: str | None = None

    def sampler(self, n_islands: int, n_features: int) -> SMC:
        """Return the particle filter with this number of islands, for this number of features."""
        return SMC.paper(
            n_particles=self.n_particles,
            n_islands=n_islands,
            proposal=self.proposal,
            ess_threshold=self.ess_threshold,
            n_candidates=None if self.candidates is None else n_candidates(self.candidates, n_features),
        )

    def describe(self, n_islands: int) -> str:
        """Return the setting as text."""
        of = "" if self.candidates is None else f", {self.candidates} candidates"
        return f"{self.proposal}, {n_islands} x {self.n_particles}{of}, threshold {self.ess_threshold:g}"


def n_candidates(words: str, n_features: int) -> int:
    """Return a number of candidates.

    Examples
    --------
    >>> n_candidates("5", 40), n_candidates("d/4", 40), n_candidates("d", 40)
    (5, 10, 40)
    """
    return {"d": n_features, "d/4": max(1, n_features // 4)}.get(words) or int(words)


def ladders(settings: Settings) -> Iterator[list[Rung]]:
    """Yield sequences of particle filters with increasing numbers of particles."""
    particles = settings.choose(tiny=PARTICLES[:2], quick=PARTICLES[:3], full=PARTICLES)
    for proposal in PROPOSALS:
        for threshold in (0.0, 0.1, 0.5) if proposal == "optimal" else (0.1, 0.5):
            for candidates in CANDIDATES if proposal == "lookahead" else (None,):
                yield [Rung(proposal, n, threshold, candidates) for n in particles]


def measure(settings: Settings) -> Iterator[Point]:
    """Measure every setting on every table."""
    for name in settings.choose(tiny=("iris",), quick=TABLES[:2], full=TABLES):
        data = CLASSES[name](settings, 0)
        if data is not None:
            settings.say(name)
            yield from measure_table(data, settings)


def measure_table(data: Split, settings: Settings) -> Iterator[Point]:
    """Measure CART, the default, and the sequences of filters."""
    cart, default = make_cart(), BayesianTreeClassifier(random_state=0)
    seeds = range(settings.choose(tiny=1, quick=1, full=3))
    cart_seconds = fit_seconds(cart, data)
    probabilities = smoothed_probabilities(cart, data.X_test)
    score = mean_log_probability(probabilities, cart.classes_, data.y_test)
    yield Point(data.name, CART, CART, 1.0, score, None)
    yield point(data, DEFAULT, DEFAULT, default, fit_seconds(default, data) / cart_seconds, seeds)
    for ladder in ladders(settings):
        yield from climb(data, ladder, cart_seconds, seeds)


def climb(data: Split, ladder: Sequence[Rung], cart_seconds: float, seeds: range) -> Iterator[Point]:
    """Measure a sequence as far as time allows: no more islands than were fast enough with fewer particles."""
    allowed = len(ISLANDS)
    for rung in ladder:
        n_quick = 0
        for n_islands in ISLANDS[:allowed]:
            sampler = rung.sampler(n_islands, data.X_train.shape[1])
            model = BayesianTreeClassifier(sampler=sampler, random_state=0)
            ratio = fit_seconds(model, data) / cart_seconds
            yield point(data, rung.proposal, rung.describe(n_islands), model, ratio, seeds)
            if ratio > LONGEST:
                break
            n_quick += 1
        allowed = n_quick


def fit_seconds(model: Any, data: Split) -> float:
    """Return the best time of a few fits, or of one if that takes long."""
    seconds = [time_once(partial(model.fit, data.X_train, data.y_train), time.process_time)]
    while len(seconds) < MOST_ROUNDS and sum(seconds) < ENOUGH:
        seconds.append(time_once(partial(model.fit, data.X_train, data.y_train), time.process_time))
    return min(seconds)


def point(data: Split, proposal: str, setting: str, model: BayesianTreeClassifier, ratio: float, seeds: range) -> Point:
    """Score a model that is fitted with the first seed, and fit and score it with the others."""
    scores = [score(data, model)]
    for seed in seeds[1:] if ratio <= LONGEST else ():
        scores.append(score(data, model.set_params(random_state=seed).fit(data.X_train, data.y_train)))
    return Point(data.name, proposal, setting, ratio, *map(float, np.mean(scores, axis=0)))


def score(data: Split, model: BayesianTreeClassifier) -> tuple[float, float]:
    """Return the mean test log-probability and the log evidence of a fitted model."""
    probabilities = model.predict_proba(data.X_test)
    return mean_log_probability(probabilities, model.classes_, data.y_test), model.log_evidence_


@dataclass(frozen=True)
class Summary:
    """One setting over all tables."""

    setting: str
    ratio: float  # geometric mean
    gain: float  # mean log-probability less CART's
    worst_gain: float
    evidence: float  # mean log evidence less that of the default


def summaries(points: Sequence[Point]) -> list[Summary]:
    """Return the settings that were measured on all tables, the fastest first."""
    tables = list(dict.fromkeys(p.data for p in points))
    found: dict[str, dict[str, Point]] = {}
    for p in points:
        found.setdefault(p.setting, {})[p.data] = p
    cart, default = found.pop(CART), found[DEFAULT]
    rows = []
    for setting, here in found.items():
        if len(here) == len(tables):
            gains = [here[data].log_probability - cart[data].log_probability for data in tables]
            evidence = np.mean([(here[d].log_evidence or 0.0) - (default[d].log_evidence or 0.0) for d in tables])
            ratio = np.exp(np.mean([np.log(here[data].ratio) for data in tables]))
            rows.append(Summary(setting, float(ratio), float(np.mean(gains)), min(gains), float(evidence)))
    return sorted(rows, key=lambda row: row.ratio)


def non_dominated(rows: Sequence[Summary]) -> list[Summary]:
    """Return the Pareto frontier: settings that predict better than all faster ones; input is sorted by time."""
    best, kept = -np.inf, []
    for row in rows:
        if row.gain > best:
            best = row.gain
            kept.append(row)
    return kept


@dataclass(frozen=True)
class Duel:
    """A setting of a rival compared with lookahead on the same table; None if no setting of lookahead qualifies."""

    rival: Point
    in_its_time: Point | None  # the best that took no longer
    as_good: Point | None  # the quickest that is no worse

    @property
    def shortfall(self) -> float:
        """By how much the rival predicts better in its time."""
        return self.rival.log_probability - (self.in_its_time.log_probability if self.in_its_time else -np.inf)

    @property
    def share_of_time(self) -> float:
        """The share of the rival's time in which lookahead predicts no worse."""
        return self.as_good.ratio / self.rival.ratio if self.as_good else np.inf


def duels(points: Sequence[Point], data: str, proposal: str) -> list[Duel]:
    """Compare lookahead with the settings of a rival that beat CART and all faster ones of its kind."""
    here = sorted((p for p in points if p.data == data), key=lambda p: p.ratio)
    ours = [p for p in here if p.proposal in ("lookahead", DEFAULT)]
    best = max((p.log_probability for p in here if p.proposal == CART), default=-np.inf)
    found = []
    for rival in (p for p in here if p.proposal == proposal):
        if rival.log_probability > best:
            best = rival.log_probability
            quick = [p for p in ours if p.ratio <= rival.ratio]
            as_good = [p for p in ours if p.log_probability >= best]
            found.append(
                Duel(rival, max(quick, key=lambda p: p.log_probability, default=None), next(iter(as_good), None))
            )
    return found


def promises(points: Sequence[Point]) -> list[Target]:
    """Compare lookahead with its targets, on the tables that were measured."""
    rows = []
    for data, proposal in DUELS.items():
        found = duels(points, data, proposal)
        if not found:
            continue
        if proposal == "optimal":
            duel = found[-1]
            goal = "as good as the best of optimal in at most half of its time"
            rows.append(Target(data, goal, f"{duel.share_of_time:.2f} of its time", duel.share_of_time <= 0.5))
        else:
            worst = max(duel.shortfall for duel in found)
            goal = f"in the time of any setting of {proposal}, worse by at most {MARGIN:g}"
            rows.append(Target(data, goal, f"{-worst:+.4f} where {proposal} does best", worst <= MARGIN))
    return rows


def to_markdown(points: Sequence[Point]) -> str:
    """Return the frontier over all tables, and the position of the default."""
    rows = summaries(points)
    kept = non_dominated(rows)
    shown = [row for row in rows if row in kept or row.setting == DEFAULT]
    names = [
        "fit, x CART",
        "log-probability - CART's, mean",
        "at worst",
        "log evidence - the default's",
        "on the frontier",
    ]
    means = "Means over the tables (of times: geometric).\n\n" + markdown.table(
        ["setting"],
        names,
        [
            [
                row.setting,
                markdown.ratio(row.ratio),
                f"{row.gain:+.3f}",
                f"{row.worst_gain:+.3f}",
                f"{row.evidence:+,.0f}",
                "yes" if row in kept else "no",
            ]
            for row in shown
        ],
    )
    met = promises(points)
    return f"{means}\n\n{verdicts_to_markdown(met)}" if met else means
