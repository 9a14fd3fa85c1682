"""Predictions of sums: few rows follow their paths, many rows go through the trees in batches, to the same bits."""

import numpy as np
import pytest

from particletree import _kernel
from particletree._model.rule import (
    CUT_MISSING_LEFT,
    CUT_MISSING_RIGHT,
    LEAF,
    LEVELS,
    NODE,
    SCATTERED_LEVELS,
    goes_left,
)

N_FEATURES, N_DRAWS, N_TREES = 4, 6, 5
NUMBERS = [-1.0, -0.0, 0.0, 0.5, 2.0, np.inf]  # few thresholds, so that trees have rules in common


def tree(rng, n_splits):
    """Return a random tree in preorder, whose leaves are numbered in order; the last feature has levels."""
    nodes, n_leaves = [], 0

    def add(n):
        nonlocal n_leaves
        node = np.array(LEAF, dtype=NODE)
        at = len(nodes)
        nodes.append(node)
        if n == 0:
            node["block"] = n_leaves
            n_leaves += 1
            return
        node["feature"] = rng.integers(N_FEATURES)
        if node["feature"] < N_FEATURES - 1:
            node["kind"] = rng.choice([CUT_MISSING_RIGHT, CUT_MISSING_LEFT])
            node["threshold"] = rng.choice(NUMBERS)
        else:
            node["kind"] = rng.choice([LEVELS, SCATTERED_LEVELS])
            node["threshold"] = rng.integers(1, 8, dtype=np.uint64).view(np.float64)
        n_left = rng.integers(n)
        node["left"] = at + 1
        add(n_left)
        node["right"] = len(nodes)
        add(n - 1 - n_left)

    add(n_splits)
    return np.array(nodes)


def value_at(nodes, values, row):
    node = nodes[0]
    while node["feature"] >= 0:
        side = "left" if goes_left(row[node["feature"], None], node[None])[0] else "right"
        node = nodes[node[side]]
    return values[node["block"]]


@pytest.fixture
def sums():
    """Trees of draws that share structures, rows with missing values, and the sums, added in the order of the trees."""
    rng = np.random.default_rng(0)
    trees = [tree(rng, n) for n in [0, 0, 1, 2, 3, 3, 5, 9, 20]]
    structure_of = rng.integers(len(trees), size=(N_DRAWS, N_TREES)).astype(np.int32)
    values = [[rng.normal(size=(len(trees[i]) + 1) // 2) for i in draw] for draw in structure_of]
    rows = rng.choice([*NUMBERS, -np.inf, 0.3, np.nan], size=(40, N_FEATURES))
    rows[:, -1] = rng.integers(0, 6, size=40)
    expected = np.zeros((40, N_DRAWS))
    for draw in range(N_DRAWS):
        for i, of_leaves in zip(structure_of[draw], values[draw], strict=True):
            expected[:, draw] += [value_at(trees[i], of_leaves, row) for row in rows]
    nodes = np.concatenate(trees).view(np.uint8).reshape(-1, NODE.itemsize)
    starts = np.cumsum([0] + [len(nodes) for nodes in trees])
    of_all = np.concatenate([leaf for draw in values for leaf in draw])
    return _kernel.SumDraws(nodes, starts, structure_of, of_all), rows, expected


@pytest.mark.parametrize("n_rows", [1, 2, 4, 5])
def test_the_draws_at_few_rows_are_those_of_a_batch(sums, n_rows):
    draws, rows, expected = sums
    np.testing.assert_array_equal(draws.predict(rows, 0, N_DRAWS), expected)
    for first in range(0, len(rows), n_rows):
        part = slice(first, first + n_rows)
        np.testing.assert_array_equal(draws.predict(rows[part], 0, N_DRAWS), expected[part])
        np.testing.assert_array_equal(draws.predict(rows[part], 2, 4), expected[part, 2:4])


@pytest.mark.parametrize("n_rows", [1, 2, 4, 5])
def test_the_mean_at_few_rows_is_that_of_a_batch(sums, n_rows):
    draws, rows, expected = sums
    means = draws.mean(rows)
    np.testing.assert_allclose(means, expected.mean(axis=1), rtol=0, atol=1e-13)
    for first in range(0, len(rows), n_rows):
        part = slice(first, first + n_rows)
        np.testing.assert_array_equal(draws.mean(rows[part]), means[part])
