"""Quality against time."""

import pytest

from particletree.experiments.icml2013.curves import Race, quality_after, time_to_reach
from particletree.experiments.icml2013.methods import Filter
from particletree.experiments.icml2013.summaries import Point
from particletree.experiments.spread import Spread


def point(seconds, log_probability):
    measures = {"seconds": Spread(seconds, 0.0, 3), "log_probability": Spread(log_probability, 0.01, 3)}
    return Point("MAGIC", Filter(10), measures)


CURVE = [point(100.0, -1.0), point(1.0, -3.0)]  # not in order of time


def test_between_two_points_quality_is_a_line_in_log_time():
    assert quality_after(CURVE, 10.0) == pytest.approx(-2.0)
    assert time_to_reach(CURVE, -2.0) == pytest.approx(10.0)


def test_beyond_the_ends():
    assert quality_after(CURVE, 0.5) is None
    assert quality_after(CURVE, 1000.0) == -1.0
    assert time_to_reach(CURVE, -3.5) == 1.0
    assert time_to_reach(CURVE, -0.5) is None


def test_a_race_is_won_by_the_ratio_of_times():
    race = Race.run(point(0.1, -2.0), CURVE)
    assert race.reached
    assert race.ratio == pytest.approx(100.0)
    assert "100 times as long" in str(race)


def test_a_rival_that_does_not_arrive_gives_a_lower_bound():
    race = Race.run(point(0.1, -0.5), CURVE)
    assert not race.reached
    assert race.ratio == pytest.approx(1000.0)
    assert "more than 1,000 times as long" in str(race)
