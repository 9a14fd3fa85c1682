"""The table holds the values and their order, in as few bits as can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from inputs import restore
from particletree._data import make_table


@settings(deadline=None)
@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-3, 3).map(np.round)))
def test_the_table_holds_the_values_and_their_order(X: np.ndarray) -> None:
    table = make_table(X)
    np.testing.assert_array_equal(restore(table), X)
    assert (table.n_rows, table.n_features) == X.shape
    for feature in range(table.n_features):
        np.testing.assert_array_equal(table.feature_values(feature), np.unique(X[:, feature]))


WIDTHS = [(256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)]


@pytest.mark.parametrize(("n_distinct", "dtype"), WIDTHS)
def test_ranks_have_as_few_bits_as_hold_them(n_distinct: int, dtype: type) -> None:
    table = make_table(np.arange(n_distinct, dtype=np.float64)[::-1, None])
    assert table.ranks.dtype == dtype
    assert table.ranks.flags.c_contiguous
    assert table.ranks[0, 0] == n_distinct - 1
