"""The question: how do time and memory grow with rows, features, classes and particles.

Every point is measured in a process of its own (``probe.py``). Time is that of the whole fit, and the part of it that
prepares the data; memory is the rise of the process's peak during the fit (``memory.py``), also in units of the
prepared data (ranks, distinct values, offsets and labels). X, which the caller holds, is not counted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks import markdown
from benchmarks.data_sets import paper_data_sets
from benchmarks.models import describe
from benchmarks.probe import Task, run_in_new_process
from benchmarks.settings import Settings
from particletree.datasets import VARIABLE
from particletree.inference import SMC

TWO_THOUSAND = SMC.paper(n_particles=2000, n_islands=1)
HUNDRED = SMC.paper(n_particles=100, n_islands=1)
OPTIMAL = SMC.paper(n_particles=1, n_islands=1, proposal="optimal")
TWO_THOUSAND_NAME = describe(TWO_THOUSAND)
CART_ONCE_FROM = 10**7  # cells of X from which CART is timed once
CART_NEVER_FROM = 10**8


@dataclass(frozen=True)
class Point:
    """One fit on one size of data."""

    axis: str
    value: int
    method: str
    data: str
    seconds: float
    prepare_seconds: float
    cart_ratio: float | None
    peak_bytes: int | None
    prepared_bytes: int

    @property
    def peak_ratio(self) -> float | None:
        """Peak memory in units of the prepared data."""
        return None if self.peak_bytes is None else self.peak_bytes / self.prepared_bytes


def measure_rows(settings: Settings) -> Iterator[Point]:
    """Grow the number of rows at 20 features."""
    values = settings.choose(tiny=[300, 600], quick=[10_000, 100_000], full=[10**4, 10**5, 10**6, 10**7])
    for value in values:
        n_rounds = settings.choose(tiny=1, quick=2, full=max(1, min(9, 10**6 // value + 1)))
        task = Task(n_rows=value, n_features=20, n_rounds=n_rounds)
        yield from measure_point(settings, "rows", value, task, [TWO_THOUSAND, HUNDRED])


def measure_features(settings: Settings) -> Iterator[Point]:
    """Grow the number of features at 10,000 rows."""
    n_rows = settings.choose(tiny=300, quick=3_000, full=10_000)
    for value in settings.choose(tiny=[3, 6], quick=[10, 100], full=[10, 50, 200, 1000, 2000]):
        n_rounds = settings.choose(tiny=1, quick=2, full=max(2, min(9, 1000 // value)))
        task = Task(n_rows=n_rows, n_features=value, n_rounds=n_rounds)
        yield from measure_point(settings, "features", value, task, [HUNDRED, OPTIMAL])


def measure_classes(settings: Settings) -> Iterator[Point]:
    """Grow the number of classes at 30,000 rows."""
    n_rows = settings.choose(tiny=300, quick=5_000, full=30_000)
    for value in settings.choose(tiny=[2, 3], quick=[2, 30], full=[2, 10, 30, 100, 300]):
        task = Task(n_rows=n_rows, n_classes=value, n_rounds=settings.choose(tiny=1, quick=2, full=5))
        yield from measure_point(settings, "classes", value, task, [HUNDRED, OPTIMAL])


def measure_particles(settings: Settings) -> Iterator[Point]:
    """Grow the number of particles of one island."""
    task = particles_data(settings)
    for value in settings.choose(tiny=[5, 10], quick=[10, 100, 1000], full=[10, 100, 1000, 10_000]):
        n_rounds = settings.choose(tiny=1, quick=2, full=7 if value <= 1000 else 4)
        sampler = SMC.paper(n_particles=value, n_islands=1)
        yield from measure_point(settings, "particles", value, replace(task, n_rounds=n_rounds), [sampler])


def particles_data(settings: Settings) -> Task:
    """Return a task on pen-digits if they are available, otherwise on generated data of that size."""
    if settings.scale != "tiny" and list(paper_data_sets(settings, ["pen-digits"])):
        return Task(pendigits_dir=os.fspath(settings.data_dir or os.environ[VARIABLE]))
    return Task(n_rows=settings.choose(tiny=300, quick=7_500, full=7_500), n_features=16, n_classes=10)


def measure_point(settings: Settings, axis: str, value: int, task: Task, samplers: Sequence[SMC]) -> Iterator[Point]:
    """Fit every sampler on one size, each in its own process."""
    for sampler in samplers:
        method = str(sampler.proposal) if axis == "particles" else describe(sampler)
        settings.say(f"{value:,}, {method}")
        reading = run_in_new_process(
            replace(task, sampler=sampler.get_params(), n_cart_rounds=cart_rounds(settings, task))
        )
        yield Point(
            axis=axis,
            value=value,
            method=method,
            data=f"{reading.n_rows:,} x {reading.n_features:,}, {reading.n_classes} classes",
            seconds=reading.seconds,
            prepare_seconds=reading.prepare_seconds,
            cart_ratio=None if reading.cart_seconds is None else reading.seconds / reading.cart_seconds,
            peak_bytes=reading.peak_bytes,
            prepared_bytes=reading.prepared_bytes,
        )


def cart_rounds(settings: Settings, task: Task) -> int:
    """Return how often CART is timed: less often if it is slow, not at all if it takes minutes."""
    n_cells = task.n_rows * task.n_features
    if n_cells >= CART_NEVER_FROM or (settings.scale == "quick" and n_cells >= 10**6):
        return 0
    return 1 if n_cells >= CART_ONCE_FROM or task.n_classes >= 100 else task.n_rounds


def growth_of_work(axis: str, smallest: int, value: int) -> float:
    """Return by how much the work should grow: with rows x log rows, or in proportion.

    Examples
    --------
    >>> growth_of_work("rows", 100, 10_000), growth_of_work("features", 10, 100)
    (200.0, 10.0)
    """
    growth = value / smallest
    return growth * math.log(value) / math.log(smallest) if axis == "rows" else growth


def growth_of_time(points: Sequence[Point], point: Point) -> float:
    """Return the time of a point in units of the same method's time at the smallest value."""
    return point.seconds / smallest_of(points, point).seconds


def relative_growth(points: Sequence[Point], point: Point) -> float:
    """Return the growth of the time divided by that of the work: 1 if time is proportional, less if better."""
    return growth_of_time(points, point) / growth_of_work(point.axis, smallest_of(points, point).value, point.value)


def smallest_of(points: Sequence[Point], point: Point) -> Point:
    """Return the point of the same method at the smallest value."""
    return min((p for p in points if p.method == point.method), key=lambda p: p.value)


def exponent(points: Sequence[Point], method: str) -> float:
    """Return the exponent of the growth of time with the value, from the smallest to the largest."""
    ours = sorted((p for p in points if p.method == method), key=lambda p: p.value)
    return math.log(ours[-1].seconds / ours[0].seconds) / math.log(ours[-1].value / ours[0].value)


def to_markdown(points: Sequence[Point]) -> str:
    """Return one row per method: its largest fit, and the power by which the time grows."""
    axis = points[0].axis
    rows = []
    for method in dict.fromkeys(p.method for p in points):
        own = [p for p in points if p.method == method]
        last = max(own, key=lambda p: p.value)
        rows.append(
            [
                method,
                f"{min(p.value for p in own):,} to {last.value:,}",
                markdown.duration(last.seconds),
                markdown.duration(last.prepare_seconds),
                markdown.ratio(last.cart_ratio),
                markdown.mebibytes(last.peak_bytes),
                markdown.ratio(last.peak_ratio),
                f"{exponent(points, method):.2f}" if last.value > own[0].value else markdown.ABSENT,
            ]
        )
    names = [
        "longest fit",
        "of it preparing",
        "x CART",
        "peak, MiB",
        "x prepared data",
        f"time grows as {axis} to the power",
    ]
    return markdown.table(["method"], [axis, *names], rows)
