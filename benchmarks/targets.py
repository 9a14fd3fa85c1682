"""The performance targets, and whether a run meets them.

Each row is a target with the figure that this run measured; nothing is measured here. A row whose case was not run, or
whose data were missing, says so. A target for several data sets, sizes or settings is met if the worst of them meets
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import fit, growth, islands, markdown, predict, samplers

PAPER_DATA = ("pen-digits", "MAGIC")
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Target:
    """One target, and the measured figure; `met` is None if nothing was measured."""

    work: str
    target: str
    measured: str
    met: bool | None


def fit_targets(results: Sequence[fit.Result]) -> Iterator[Target]:
    """Compare fits with CART's, on the paper's two data sets."""
    promises = (("prior, 5 x 100", 0.5), ("prior, 1 x 2000", 1.0), ("optimal, 1 x 1", 1.0))
    for method, limit in promises:
        must_be_better = method == "prior, 5 x 100"
        goal = f"<= {limit} x CART" + (", accuracy and log-probability above CART's" if must_be_better else "")
        for data in PAPER_DATA:
            found = {r.method: r for r in results if r.data == data}
            work = f"fit of {data}, {method}"
            if method not in found:
                yield Target(work, goal, f"{NOT_MEASURED}: needs the case fit and --data-dir", None)
                continue
            ours, cart = found[method], found[fit.CART]
            is_better = ours.accuracy > cart.accuracy and ours.log_probability > cart.log_probability
            scores = f"accuracy {ours.accuracy:.3f} (CART {cart.accuracy:.3f}), "
            scores += f"log-probability {ours.log_probability:.3f} ({cart.log_probability:.3f})"
            met = ours.ratio <= limit and (is_better or not must_be_better)
            yield Target(work, goal, f"{markdown.ratio(ours.ratio)} x CART; {scores}", met)


def sampler_targets(results: Sequence[samplers.Comparison]) -> Iterator[Target]:
    """Compare the filter with the chain; the better of one chain and four counts."""
    goal = ">= 100 times faster"
    for data in PAPER_DATA:
        work = f"SMC against our MCMC at equal log-probability, {data}"
        found = [r for r in results if r.data == data]
        if not found:
            yield Target(work, goal, f"{NOT_MEASURED}: needs the case samplers and --data-dir", None)
            continue
        rival = min(found, key=lambda r: (not r.reached, r.ratio))
        at_least = "" if rival.reached else "more than "
        unknown = not rival.reached and rival.ratio < 100
        figure = f"{at_least}{markdown.ratio(rival.ratio)} times"
        note = "; the chain was stopped too early to tell" if unknown else ""
        yield Target(work, goal, figure + note, None if unknown else rival.ratio >= 100)


def row_targets(points: Sequence[growth.Point]) -> Iterator[Target]:
    """Compare the growth of time and memory with that of the rows."""
    span = f" ({min(p.value for p in points):,} to {max(p.value for p in points):,})" if points else ""
    time_work, time_goal = f"time with rows{span}", "grows no faster than rows x log rows"
    memory_work = f"peak memory at 2,000 particles{span}"
    memory_goal = "<= 3 x the prepared data"
    largest = [p for p in points if p.value == max(q.value for q in points)]
    if not largest or largest[0].value == min(p.value for p in points):
        yield Target(time_work, time_goal, f"{NOT_MEASURED}: needs the case rows", None)
    else:
        relative = {p.method: growth.relative_growth(points, p) for p in largest}
        figure = "; ".join(f"{method}: {markdown.ratio(value)} x that" for method, value in relative.items())
        yield Target(time_work, time_goal, figure, max(relative.values()) <= 1.0)
    peaks = {p.value: p.peak_ratio for p in points if p.method == growth.TWO_THOUSAND_NAME and p.peak_ratio is not None}
    if not peaks:
        yield Target(memory_work, memory_goal, f"{NOT_MEASURED}: needs the case rows", None)
    else:
        figure = "; ".join(f"{n:,} rows: {markdown.ratio(value)} x" for n, value in peaks.items())
        yield Target(memory_work, memory_goal, figure, max(peaks.values()) <= 3.0)


def particle_targets(points: Sequence[growth.Point]) -> list[Target]:
    """Compare the time of 10,000 particles with that of 100."""
    work, goal = "time from 100 to 10,000 particles", "grows by at most 30 times"
    seconds = {p.value: p.seconds for p in points}
    if not {100, 10_000} <= seconds.keys():
        return [Target(work, goal, f"{NOT_MEASURED}: needs the case particles, in full", None)]
    factor = seconds[10_000] / seconds[100]
    return [Target(work, goal, f"{markdown.ratio(factor)} times, {points[0].data}", factor <= 30)]


def predict_targets(results: Sequence[predict.Result]) -> list[Target]:
    """Compare the time of predictions with a random forest's."""
    work, goal = "predict_proba", "<= 0.5 x a random forest with as many trees of similar size"
    if not results:
        return [Target(work, goal, f"{NOT_MEASURED}: needs the case predict", None)]
    best, worst = min(results, key=lambda r: r.ratio), max(results, key=lambda r: r.ratio)
    figure = f"from {markdown.ratio(best.ratio)} to {markdown.ratio(worst.ratio)} x ({worst.data}, {worst.method}, "
    return [Target(work, goal, f"{figure}{worst.n_rows:,} rows)", worst.ratio <= 0.5)]


def island_targets(results: Sequence[islands.Result]) -> list[Target]:
    """Compare two cores with one, in the longest fit of two islands."""
    work, goal = "2 islands on 2 cores", ">= 1.8 times faster than on one"
    twos = [r for r in results if r.n_islands == 2]
    if not twos:
        return [Target(work, goal, f"{NOT_MEASURED}: needs the case islands", None)]
    longest = max(twos, key=lambda r: r.seconds)
    figure = f"{markdown.ratio(longest.speed_up)} times, {longest.data}, 2 x {longest.n_particles}"
    return [Target(work, goal, figure, longest.speed_up >= 1.8)]


TARGETS: dict[str, Callable[[Sequence[Any]], Iterable[Target]]] = {
    "fit": fit_targets,
    "samplers": sampler_targets,
    "rows": row_targets,
    "particles": particle_targets,
    "predict": predict_targets,
    "islands": island_targets,
}


def targets(results: Mapping[str, Sequence[Any]], cases: Iterable[str] = TARGETS) -> list[Target]:
    """Compare the results of the cases, by name, with the targets."""
    return [row for name in cases if name in TARGETS for row in TARGETS[name](results.get(name, []))]


def to_markdown(rows: Sequence[Target]) -> str:
    """Return the table of targets."""
    verdict = {True: "met", False: "**not met**", None: markdown.ABSENT}
    cells = [[row.work, row.target, row.measured, verdict[row.met]] for row in rows]
    return markdown.table(["work", "target", "measured", "verdict"], [], cells)
