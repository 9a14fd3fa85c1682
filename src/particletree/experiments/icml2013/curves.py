"""Quality against time: when a method reaches a level, and how good it is after a given time.

A method's points (numbers of particles, readings of a chain) are put in the order of their mean times; between two of
them quality is a straight line in log time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from particletree.benchmarks.markdown import duration, ratio
from particletree.benchmarks.samplers import first_crossing
from particletree.experiments.icml2013.summaries import Point, seconds
from particletree.experiments.spread import Spread


def time_to_reach(points: Sequence[Point], level: float, measure: str = "log_probability") -> float | None:
    """Return the seconds after which a method is at a level, None if it never is."""
    ordered = sorted(points, key=seconds)
    times, values = np.array([seconds(p) for p in ordered]), np.array([p[measure].mean for p in ordered])
    return first_crossing(times, values, level)


def quality_after(points: Sequence[Point], time: float, measure: str = "log_probability") -> float | None:
    """Return how good a method is after so many seconds; None before its first point, its last value after the last."""
    ordered = sorted(points, key=seconds)
    if time < seconds(ordered[0]):
        return None
    log_times = np.log([seconds(p) for p in ordered])
    return float(np.interp(np.log(time), log_times, [p[measure].mean for p in ordered]))


@dataclass(frozen=True)
class Race:
    """How much longer a rival takes to be as good as a method is at one of its points."""

    seconds: float
    level: Spread
    rival_seconds: float  # until the level is reached, or all the time that the rival had
    reached: bool

    @classmethod
    def run(cls, point: Point, rival: Sequence[Point], measure: str = "log_probability") -> Race:
        """Hold the rival's curve, by `measure`, against the log-probability of a point."""
        level = point["log_probability"]
        reached_after = time_to_reach(rival, level.mean, measure)
        longest = max(seconds(p) for p in rival)
        return cls(
            seconds(point), level, longest if reached_after is None else reached_after, reached_after is not None
        )

    @property
    def ratio(self) -> float:
        """The ratio of the two times, a lower bound where the rival does not reach the level."""
        return self.rival_seconds / self.seconds

    def short(self) -> str:
        """Return the ratio, and the rival's time."""
        more = "" if self.reached else "more than "
        return f"takes {more}{ratio(self.ratio)} times as long ({more}{duration(self.rival_seconds)})"

    def __str__(self) -> str:
        """Return the rival's time, and the ratio."""
        if self.reached:
            return f"{duration(self.rival_seconds)}, {ratio(self.ratio)} times as long"
        return f"not within {duration(self.rival_seconds)}, more than {ratio(self.ratio)} times as long"
