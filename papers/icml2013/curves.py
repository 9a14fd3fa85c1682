"""Quality against time: when a method reaches a level, and how long another takes to be as good.

A method's points (numbers of particles, readings of a chain) are sorted by their mean times; between two of them
quality is interpolated linearly in log time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.markdown import ABSENT, duration, ratio
from benchmarks.samplers import first_crossing
from papers.harness.spread import Difference, Spread, average
from papers.icml2013.summaries import Point, seconds


def in_order(points: Sequence[Point]) -> list[Point]:
    """Return a method's points in the order of their times."""
    return sorted(points, key=seconds)


def time_to_reach(points: Sequence[Point], level: float, measure: str = "log_probability") -> float | None:
    """Return the seconds after which a method reaches a level, None if it never does."""
    ordered = in_order(points)
    times, values = np.array([seconds(p) for p in ordered]), np.array([p[measure].mean for p in ordered])
    return first_crossing(times, values, level)


def begins_above(points: Sequence[Point], level: float, measure: str = "log_probability") -> bool:
    """Return whether a method is at a level already at its first point, so that it may have reached it earlier."""
    return in_order(points)[0][measure].mean >= level


def quality_after(points: Sequence[Point], time: float) -> Spread | None:
    """Return the quality of a method after `time` seconds; None before its first point, constant after the last."""
    ordered = in_order(points)
    if time < seconds(ordered[0]):
        return None
    log_times = np.log([seconds(p) for p in ordered])
    spreads = [p["log_probability"] for p in ordered]
    mean, sd = (np.interp(np.log(time), log_times, [getattr(s, name) for s in spreads]) for name in ("mean", "sd"))
    return Spread(float(mean), float(sd), spreads[0].n)


def gains_at_same_time(ours: Sequence[Point], others: Sequence[Point]) -> list[Difference]:
    """Return how much better one method is than another, at the times of the other's points."""
    found = ((quality_after(ours, seconds(other)), other["log_probability"]) for other in others)
    return [Difference(quality, theirs) for quality, theirs in found if quality is not None]


def in_sight(readings: Sequence[Point], others: Sequence[Point], measure: str) -> list[Point]:
    """Leave out readings of a chain that are below all other points by more than the range of these."""
    means = [p[measure].mean for p in others]
    floor = min(means) - (max(means) - min(means))
    return [p for p in readings if p[measure].mean >= floor] or [readings[-1]]


def mean_of(differences: Iterable[Difference]) -> Difference:
    """Return the average over several comparisons."""
    found = list(differences)
    return Difference(average([d.a for d in found]), average([d.b for d in found]))


@dataclass(frozen=True)
class Race:
    """How much longer a rival takes to be as good as a method is at one of its points.

    Attributes
    ----------
    seconds : float
        Time of the method.
    level : Spread
        Its score.
    rival_seconds : float
        Time until the rival reaches that level, or its total time.
    reached : bool
        Whether the rival reaches the level.
    at_once : bool
        Whether it does so already at its first point, and perhaps earlier.
    earliest, latest : float or None
        The rival's time if the level were one standard error lower or higher (the method's and the rival's together);
        None if it is not reached.
    """

    seconds: float
    level: Spread
    rival_seconds: float
    reached: bool
    at_once: bool
    earliest: float | None
    latest: float | None

    @classmethod
    def run(
        cls, point: Point, rival: Sequence[Point], score: str = "log_probability", rival_score: str | None = None
    ) -> Race:
        """Compare the rival's curve with the score of a point; the rival's score may have another name."""
        level, name = point[score], rival_score or score
        last = in_order(rival)[-1]
        error = math.hypot(level.se, last[name].se)
        earliest, middle, latest = (time_to_reach(rival, level.mean + k * error, name) for k in (-1, 0, 1))
        return cls(
            seconds=seconds(point),
            level=level,
            rival_seconds=seconds(last) if middle is None else middle,
            reached=middle is not None,
            at_once=begins_above(rival, level.mean, name),
            earliest=earliest,
            latest=latest,
        )

    @property
    def ratio(self) -> float:
        """The ratio of the two times, a lower bound if the rival does not reach the level."""
        return self.rival_seconds / self.seconds

    @property
    def is_lost(self) -> bool:
        """Whether the rival reaches the level before the method."""
        return self.reached and self.ratio < 1.0

    def at_least(self, times: float) -> bool | None:
        """Return whether the rival takes `times` as long; None if it was stopped too early to tell."""
        if self.ratio >= times:
            return True
        return False if self.reached else None

    @property
    def times(self) -> str:
        """The ratio as text, marked if it is a bound."""
        bound = "at most " if self.at_once else "" if self.reached else "more than "
        return f"{bound}{ratio(self.ratio)}"

    @property
    def range(self) -> str:
        """The ratio's range within one standard error as text, if there is one."""
        if self.at_once or not self.reached:
            return ABSENT
        low, high = ("never" if t is None else ratio(t / self.seconds) for t in (self.earliest, self.latest))
        return f"{low} to {high}"

    @property
    def when(self) -> str:
        """The rival's time as text."""
        time = duration(self.rival_seconds)
        return f"not in {time}" if not self.reached else f"{'at most ' if self.at_once else ''}{time}"

    def __str__(self) -> str:
        """Return the ratio with its range."""
        return self.times if self.range == ABSENT else f"{self.times} ({self.range})"
