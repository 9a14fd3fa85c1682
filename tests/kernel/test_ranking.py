"""Ranks against np.unique, value by value."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from particletree import _kernel

IN_PLACE = np.empty(0, dtype=np.uint32)
NUMBERS = np.empty(0, dtype=np.uint32)  # no column has levels


def assert_ranked(X, positions=IN_PLACE):
    ranks, values, offsets = _kernel.rank_columns(X, positions, NUMBERS)
    assert ranks.shape == X.shape[::-1]
    assert offsets[0] == 0
    for f in range(X.shape[1]):
        expected_values, expected_ranks = np.unique(X[:, f], return_inverse=True)
        np.testing.assert_array_equal(values[offsets[f] : offsets[f + 1]], expected_values)
        np.testing.assert_array_equal(ranks[f] if positions.size == 0 else ranks[f][positions], expected_ranks)
    return ranks


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_any_finite_numbers(X):
    assert_ranked(X)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["normal", "integers", "float32", "huge", "constant"])
def test_columns_long_enough_for_the_radix_sort(kind, order):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 3))
    if kind == "integers":
        X = rng.integers(-50, 50, size=X.shape).astype(float)
    elif kind == "float32":
        X = X.astype(np.float32).astype(float)
    elif kind == "huge":
        X = X * 10.0 ** rng.integers(-300, 300, size=X.shape)
    elif kind == "constant":
        X[:] = -3.5
    n_distinct = max(np.unique(column).size for column in X.T)
    assert assert_ranked(np.asarray(X, order=order)).dtype == (np.uint8 if n_distinct <= 256 else np.uint16)


def test_positive_and_negative_zero_are_one_value():
    ranks, values, _ = _kernel.rank_columns(np.array([[0.0], [-0.0], [1.0]]), IN_PLACE, NUMBERS)
    assert ranks.tolist() == [[0, 0, 1]]
    assert values.tolist() == [0.0, 1.0]


WIDTHS = [(256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.uint32)]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
@pytest.mark.parametrize(("n_distinct", "dtype"), WIDTHS)
def test_ranks_have_as_few_bits_as_hold_them(n_distinct, dtype, order):
    rng = np.random.default_rng(2)
    n_rows = max(n_distinct, 500)
    columns = [
        rng.integers(0, 3, n_rows),
        rng.permutation(n_rows) % min(n_distinct, 300),
        np.arange(n_rows) % n_distinct,
    ]
    X = np.column_stack([columns[i] for i in order]).astype(float)
    assert assert_ranked(X, rng.permutation(n_rows).astype(np.uint32)).dtype == dtype


MANY = 150_000  # rows that are split into pieces before they are sorted


def columns_of(kind, n, rng):
    """Return columns that lead the sorting of many rows into its corners."""
    normal = rng.normal(size=n)
    return {
        "normal": normal,
        "sorted": np.sort(normal),
        "rounded": normal.round(1) + 0.05,
        "half the same": np.where(rng.random(n) < 0.5, 0.1, normal),
        "nearly all the same": np.where(np.arange(n) == n // 2, 7.5, 0.1),
        "neighbours": np.nextafter(1.0, 2.0 * rng.integers(0, 2, n)),
        "low bits": 1.0 + rng.permutation(n) * 2.0**-52,
        "one far away": np.where(np.arange(n) == 5, -1e300, 1.0 + rng.permutation(n) * 2.0**-52),
        "every scale": normal * 10.0 ** rng.integers(-300, 300, n),
        "large integers": rng.integers(-(2**40), 2**40, n).astype(float),
        "periodic": np.arange(n) % 1024 + 0.5,
        "small integers, but one": np.where(np.arange(n) == n - 1, 0.5, rng.integers(-9, 9, n)),
    }[kind]


KINDS = ["normal", "sorted", "rounded", "half the same", "nearly all the same", "neighbours", "low bits"]
KINDS += ["one far away", "every scale", "large integers", "periodic", "small integers, but one"]


@pytest.mark.parametrize("n_rows", [199, 5_000, MANY])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_every_kind_and_length(kind, n_rows):
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 2, n_rows), columns_of(kind, n_rows, rng), rng.integers(-9, 3, n_rows)]
    X = np.column_stack(columns).astype(float)
    assert_ranked(X, rng.permutation(n_rows).astype(np.uint32))


@pytest.mark.parametrize("largest", [4_095, 4_096, 2**31, 2**60])
def test_whole_numbers_of_any_size(largest):
    X = np.array([[0, largest], [-largest, 1], [largest, -largest], [-0.0, 2]], dtype=float)
    assert_ranked(X)
    assert_ranked(np.repeat(X, 100, axis=0))


@pytest.mark.parametrize("kind", ["normal", "rounded", "integers"])
@pytest.mark.parametrize("n_rows", [9, 3_000, MANY])
def test_rows_can_be_left_out(n_rows, kind):
    rng = np.random.default_rng(6)
    column = rng.integers(0, 50, n_rows).astype(float) if kind == "integers" else columns_of(kind, n_rows, rng)
    kept = np.flatnonzero(rng.random(n_rows) < 0.7)
    positions = np.full(n_rows, 2**32 - 1, dtype=np.uint32)
    positions[kept] = rng.permutation(kept.size)
    ranks, values, _ = _kernel.rank_columns(column[:, None], positions, NUMBERS)
    expected_values, expected_ranks = np.unique(column[kept], return_inverse=True)
    np.testing.assert_array_equal(values, expected_values)
    assert ranks.shape == (1, kept.size)
    np.testing.assert_array_equal(ranks[0][positions[kept]], expected_ranks)


@pytest.mark.parametrize("n_rows", [7, 1000])
def test_rows_go_where_they_are_told(n_rows):
    rng = np.random.default_rng(4)
    assert_ranked(rng.normal(size=(n_rows, 3)).round(1), rng.permutation(n_rows).astype(np.uint32))


@pytest.mark.parametrize(("positions", "message"), [([0, 1], "one entry per row"), ([0, 1, 3], "out of range")])
def test_positions_outside_the_table_are_refused(positions, message):
    with pytest.raises(ValueError, match=message):
        _kernel.rank_columns(np.zeros((3, 2)), np.array(positions, dtype=np.uint32), NUMBERS)


def test_a_strided_view_is_read_in_place():
    X = np.random.default_rng(3).normal(size=(40, 6))
    assert_ranked(X[::2, 1::2])


def refused_while_changing(first, second, n_levels):
    """Rank a column, all of whose rows are one cell, while a thread changes it; return the first error."""
    cell = np.array([first])
    X = np.lib.stride_tricks.as_strided(cell, (200_000, 1), (0, 8))
    is_done = threading.Event()

    def change():
        while not is_done.is_set():
            cell[0] = second
            cell[0] = first

    thread = threading.Thread(target=change)
    thread.start()
    deadline = time.monotonic() + 30
    try:
        while time.monotonic() < deadline:
            ranks, values, _ = _kernel.rank_columns(X, IN_PLACE, np.array([n_levels], dtype=np.uint32))
            assert ranks.max() < values.size
    except ValueError as error:
        return str(error)
    finally:
        is_done.set()
        thread.join()
    return "none"


@pytest.mark.parametrize("other", [1e300, -5e6, np.nan, 4_000.0])
def test_a_table_that_another_thread_changes_is_refused(other):
    """The kernel reads integers twice, and their table of ranks once more: the GIL is released meanwhile."""
    assert "X changed while it was read" in refused_while_changing(3.0, other, n_levels=0)


def test_a_level_that_another_thread_changes_is_refused():
    """Which reading sees the change first is up to the threads; either refuses the table."""
    refusal = refused_while_changing(1.0, 1e300, n_levels=2)
    assert "a level is out of range" in refusal or "X changed while it was read" in refusal
