"""Quality against time."""

import pytest

from papers.harness.spread import Difference, Spread
from papers.icml2013.curves import (
    Race,
    begins_above,
    gains_at_same_time,
    in_sight,
    mean_of,
    quality_after,
    time_to_reach,
)
from papers.icml2013.methods import Filter
from papers.icml2013.summaries import Point


def point(seconds, log_probability):
    measures = {"seconds": Spread(seconds, 0.0, 3), "log_probability": Spread(log_probability, 0.01, 3)}
    return Point("MAGIC", Filter(10), measures)


CURVE = [point(100.0, -1.0), point(1.0, -3.0)]  # not in order of time


def test_between_two_points_quality_is_a_line_in_log_time():
    assert quality_after(CURVE, 10.0).mean == pytest.approx(-2.0)
    assert time_to_reach(CURVE, -2.0) == pytest.approx(10.0)


def test_beyond_the_ends():
    assert quality_after(CURVE, 0.5) is None
    assert quality_after(CURVE, 1000.0).mean == -1.0
    assert time_to_reach(CURVE, -3.5) == 1.0
    assert time_to_reach(CURVE, -0.5) is None


def test_who_begins_above_a_level_may_have_been_there_earlier():
    assert begins_above(CURVE, -3.0)
    assert not begins_above(CURVE, -2.9)


def test_gains_at_the_times_of_the_others():
    others = [point(0.5, -5.0), point(10.0, -2.5), point(1000.0, -0.5)]
    gains = gains_at_same_time(CURVE, others)
    assert [gain.value for gain in gains] == pytest.approx([0.5, -0.5])  # nothing is known before the first point


def test_readings_far_below_the_rest_are_out_of_sight():
    others = [point(1.0, -0.3), point(1.0, -0.5)]
    readings = [point(1.0, -0.8), point(2.0, -0.69), point(3.0, -0.2)]
    assert in_sight(readings, others, "log_probability") == readings[1:]
    assert in_sight(readings[:1], others, "log_probability") == readings[:1]  # a line is never empty


def test_the_average_of_differences():
    found = mean_of(
        [Difference(Spread(1.0, 0.1, 10), Spread(0.0, 0.1, 10)), Difference(Spread(3.0, 0.1, 10), Spread(0.0, 0.1, 10))]
    )
    assert found.value == pytest.approx(2.0)
    assert found.se == pytest.approx(0.1 / 10**0.5)


def test_a_race_is_won_by_the_ratio_of_times():
    race = Race.run(point(0.1, -2.0), CURVE)
    assert race.reached
    assert not race.is_lost
    assert race.ratio == pytest.approx(100.0)
    assert race.at_least(50.0) is True
    assert race.at_least(200.0) is False
    assert race.earliest < race.rival_seconds < race.latest
    assert race.when == "10.0 s"
    assert str(race) == "100 (98.1 to 102)"


def test_a_race_can_be_lost():
    race = Race.run(point(50.0, -2.0), CURVE)
    assert race.is_lost
    assert race.times == "0.20"


def test_a_rival_that_does_not_arrive_gives_a_lower_bound():
    race = Race.run(point(0.1, -0.5), CURVE)
    assert not race.reached
    assert not race.is_lost
    assert race.ratio == pytest.approx(1000.0)
    assert race.at_least(1000.0) is True
    assert race.at_least(2000.0) is None
    assert race.when == "not in 100 s"
    assert str(race) == "more than 1,000"


def test_a_rival_that_is_there_at_once_gives_an_upper_bound():
    race = Race.run(point(0.1, -3.5), CURVE)
    assert race.when == "at most 1.00 s"
    assert str(race) == "at most 10.0"


def test_a_rival_that_just_arrives_might_not_have():
    race = Race.run(point(0.1, -1.001), CURVE)
    assert race.reached
    assert race.latest is None
    assert str(race).endswith("to never)")
