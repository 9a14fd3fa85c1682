"""The question: is there a shape of data on which the time grows with the square of the rows.

Each shape is fitted with n rows and with four times as many. Time in proportion to rows x log rows grows a little more
than 4 times, a square 16 times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import markdown
from benchmarks.data_sets import SHAPES
from benchmarks.growth import HUNDRED, OPTIMAL, growth_of_work
from benchmarks.models import describe
from benchmarks.probe import Task, run_in_new_process
from benchmarks.settings import Settings

TIMES_LARGER = 4


@dataclass(frozen=True)
class Result:
    """One shape and one method, at n and at 4n rows."""

    shape: str
    method: str
    n_rows: int
    seconds: float
    seconds_larger: float
    growth: float
    expected: float  # growth of rows x log rows
    peak_ratio: float | None  # of the memory at 4n rows to the prepared data


def measure(settings: Settings) -> Iterator[Result]:
    """Measure every shape."""
    n_rows = settings.choose(tiny=200, quick=5_000, full=50_000)
    n_rounds = settings.choose(tiny=1, quick=2, full=5)
    for shape in settings.choose(tiny=SHAPES[:1], quick=SHAPES[1:], full=SHAPES):
        for sampler in settings.choose(tiny=(HUNDRED,), quick=(HUNDRED,), full=(HUNDRED, OPTIMAL)):
            settings.say(f"{shape}, {describe(sampler)}")
            sizes = [n_rows, TIMES_LARGER * n_rows]
            small, large = (
                run_in_new_process(Task(n_rows=n, shape=shape, sampler=sampler.get_params(), n_rounds=n_rounds))
                for n in sizes
            )
            yield Result(
                shape=shape,
                method=describe(sampler),
                n_rows=n_rows,
                seconds=small.seconds,
                seconds_larger=large.seconds,
                growth=large.seconds / small.seconds,
                expected=growth_of_work("rows", *sizes),
                peak_ratio=None if large.peak_bytes is None else large.peak_bytes / large.prepared_bytes,
            )


def to_markdown(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table."""
    return markdown.table(
        ["shape", "method"],
        ["n", "fit, n rows", "fit, 4n rows", "grows by", "rows x log rows grows by", "peak, x prepared data"],
        [
            [
                r.shape,
                r.method,
                f"{r.n_rows:,}",
                markdown.duration(r.seconds),
                markdown.duration(r.seconds_larger),
                markdown.ratio(r.growth),
                markdown.ratio(r.expected),
                markdown.ratio(r.peak_ratio),
            ]
            for r in results
        ],
    )
