"""Ranks against np.unique, value by value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from particletree import _kernel


def assert_ranked(X):
    ranks, values, offsets = _kernel.rank_columns(X)
    assert ranks.shape == X.shape[::-1]
    assert offsets[0] == 0
    for f in range(X.shape[1]):
        expected_values, expected_ranks = np.unique(X[:, f], return_inverse=True)
        np.testing.assert_array_equal(values[offsets[f] : offsets[f + 1]], expected_values)
        np.testing.assert_array_equal(ranks[f], expected_ranks)
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
    assert assert_ranked(np.asarray(X, order=order)).dtype == np.uint16


def test_positive_and_negative_zero_are_one_value():
    ranks, values, _ = _kernel.rank_columns(np.array([[0.0], [-0.0], [1.0]]))
    assert ranks.tolist() == [[0, 0, 1]]
    assert values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("n_distinct", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_ranks_widen_when_16_bits_are_too_few(n_distinct, dtype):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 3, n_distinct), rng.permutation(n_distinct)]).astype(float)
    assert assert_ranked(X).dtype == dtype


def test_a_strided_view_is_read_in_place():
    X = np.random.default_rng(3).normal(size=(40, 6))
    assert_ranked(X[::2, 1::2])
