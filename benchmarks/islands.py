"""The question: what do islands cost, and what do two cores save.

The same fit runs with `n_jobs=1` and `n_jobs=2` in turn; preparing the data, which is not shared out, is part of both.
Memory is measured in processes of their own (``memory.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchmarks import markdown
from benchmarks.growth import particles_data
from benchmarks.models import bayesian_tree
from benchmarks.probe import Task, load, run_in_new_process
from benchmarks.settings import Settings
from benchmarks.timing import best_times
from particletree.inference import SMC


@dataclass(frozen=True)
class Result:
    """One number of islands, on one core and on two."""

    data: str
    n_islands: int
    n_particles: int
    seconds: float
    seconds_on_two: float
    speed_up: float
    peak_bytes: int | None
    peak_bytes_on_two: int | None
    prepared_bytes: int


def measure(settings: Settings) -> Iterator[Result]:
    """Measure 1 to 100 islands, and a longer fit of two."""
    n_rounds = settings.choose(tiny=1, quick=3, full=9)
    task = particles_data(settings)
    for n_islands in settings.choose(tiny=[1, 2], quick=[1, 4], full=[1, 2, 5, 10, 20, 50, 100]):
        settings.say(f"{n_islands} x 100")
        rounds = n_rounds if n_islands <= 10 else max(1, n_rounds // 2)
        yield compare(
            task, SMC.paper(n_islands=n_islands, n_particles=settings.choose(tiny=5, quick=100, full=100)), rounds
        )
    long_fit = SMC.paper(n_islands=2, n_particles=settings.choose(tiny=10, quick=1000, full=2000))
    settings.say(f"2 x {long_fit.n_particles}")
    rows = settings.choose(tiny=300, quick=30_000, full=100_000)
    yield compare(Task(n_rows=rows), long_fit, settings.choose(tiny=1, quick=2, full=5))


def compare(task: Task, sampler: SMC, n_rounds: int) -> Result:
    """Time one fit on one core and on two, in turn, and measure its memory."""
    X, y = load(task)
    models = {"one": bayesian_tree(sampler), "two": bayesian_tree(sampler, n_jobs=2)}
    seconds = best_times({name: partial(model.fit, X, y) for name, model in models.items()}, n_rounds)
    readings = [
        run_in_new_process(replace(task, sampler=sampler.get_params(), n_jobs=n_jobs, n_rounds=1)) for n_jobs in (1, 2)
    ]
    return Result(
        data=f"{X.shape[0]:,} x {X.shape[1]}",
        n_islands=sampler.n_islands or 0,
        n_particles=sampler.n_particles or 0,
        seconds=seconds["one"],
        seconds_on_two=seconds["two"],
        speed_up=seconds["one"] / seconds["two"],
        peak_bytes=readings[0].peak_bytes,
        peak_bytes_on_two=readings[1].peak_bytes,
        prepared_bytes=readings[0].prepared_bytes,
    )


def to_markdown(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    return markdown.table(
        ["data", "islands x particles"],
        ["one core", "two cores", "times faster", "peak, MiB", "on two cores"],
        [
            [
                r.data,
                f"{r.n_islands} x {r.n_particles}",
                markdown.duration(r.seconds),
                markdown.duration(r.seconds_on_two),
                markdown.ratio(r.speed_up),
                markdown.mebibytes(r.peak_bytes),
                markdown.mebibytes(r.peak_bytes_on_two),
            ]
            for r in results
        ],
    )
