"""The parts that the benchmarks are made of: taking turns, memory, made-up data, one fit in a process of its own."""

import numpy as np
import pytest

from benchmarks import machine, memory, probe
from benchmarks.data_sets import SHAPES, generate
from benchmarks.settings import Settings
from benchmarks.timing import best_times


def test_contestants_take_turns():
    order = []
    best_times({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, n_rounds=3)
    assert order == ["a", "b"] * 3


def test_a_slow_contestant_may_leave_early():
    order = []
    contestants = {name: lambda name=name: order.append(name) for name in "abc"}
    best = best_times(contestants, {"a": 3, "b": 1, "c": 0})
    assert order == ["a", "b", "a", "a"]
    assert best.keys() == {"a", "b"}


@pytest.mark.parametrize("scale", ["tiny", "quick", "full"])
def test_settings_choose_by_scale(scale):
    assert Settings(scale).choose(tiny="tiny", quick="quick", full="full") == scale


@pytest.mark.parametrize(
    ("shape", "n_distinct_rows", "n_values"),
    [
        ("mixed", 4000, [4000, 10, 4000]),
        ("all values distinct", 4000, [4000] * 3),
        ("two values a feature", 2**6, [2] * 3),
        ("every row 100 times", 40, [40] * 3),
    ],
)
def test_made_up_data_have_the_shape_that_was_asked_for(shape, n_distinct_rows, n_values):
    X, y = generate(4000, 6, n_classes=5, shape=shape)
    assert X.shape == (4000, 6)
    assert len(np.unique(X, axis=0)) == n_distinct_rows
    assert [len(np.unique(column)) for column in X.T[:3]] == n_values
    assert np.unique(y).tolist() == [0, 1, 2, 3, 4]


def test_made_up_labels_follow_a_tree_with_noise():
    X, y = generate(20_000, 20, n_classes=4)
    again = generate(20_000, 20, n_classes=4)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    cart = probe.make_cart().fit(X[:15_000], y[:15_000])
    assert cart.score(X[15_000:], y[15_000:]) > 0.85  # of at most 0.925: one label in ten is drawn at random
    assert set(SHAPES) > {"mixed"}


def test_an_unknown_shape_is_refused():
    with pytest.raises(ValueError, match=r"shape must be one of mixed, .* got 'round'"):
        generate(10, 2, shape="round")


@pytest.mark.skipif(not memory.STATUS.exists(), reason="the peak can be set back on Linux alone")
def test_memory_is_that_of_the_call():
    bystander = np.ones(2**23)
    rise = memory.peak_rise(lambda: np.ones(2**22).sum())  # 32 MiB that are gone when it ends
    assert 0.9 * 2**25 < rise < 1.5 * 2**25
    assert memory.peak_rise(lambda: None) < 2**22
    assert bystander.size == 2**23


def test_a_fit_in_a_process_of_its_own():
    task = probe.Task(n_rows=3000, sampler={"n_particles": 20, "n_islands": 1}, n_rounds=2, n_cart_rounds=1)
    reading = probe.run_in_new_process(task)
    assert (reading.n_rows, reading.n_features, reading.n_classes) == (3000, 20, 3)
    assert reading.prepare_seconds > 0
    assert reading.seconds > 0
    assert reading.cart_seconds > 0
    assert reading.prepared_bytes > 2 * 20 * 3000  # two bytes a rank, and the values
    if memory.STATUS.exists():
        assert reading.peak_bytes > 0.5 * reading.prepared_bytes


def test_a_process_that_fails_is_told():
    with pytest.raises(RuntimeError, match=r"ended with status 1: ValueError: .*shape must be one of"):
        probe.run_in_new_process(probe.Task(shape="round"))


def test_the_machine_is_described():
    description = machine.describe_machine("1.2.3")
    assert description["particletree"] == "1.2.3"
    assert int(description["cores"]) >= 1
    assert {"processor", "memory", "system", "Python", "scikit-learn", "numpy", "date"} <= description.keys()
