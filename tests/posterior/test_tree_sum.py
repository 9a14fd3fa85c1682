"""A mean of trees as a sum of fewer: it is the same function, and what trees share stands once."""

from __future__ import annotations

import numpy as np
import pytest

from forests import make_posterior
from model.made_forests import make_forest
from particletree._model import rule
from particletree._posterior.exports.tree_sum import sum_of_trees


def evaluate(trees, forest, row):
    """Add up what the trees of a sum say of one row, node by node."""
    total = 0.0
    for tree in trees:
        node = 0
        while tree.rule[node] >= 0:
            record = forest.nodes[tree.rule[node]]
            is_left = rule.goes_left(row[record["feature"]], record)
            node = tree.left[node] if is_left else tree.right[node]
        total = total + tree.values[node]
    return total


@pytest.mark.parametrize("seed", range(5))
def test_is_the_mean(seed):
    posterior, X = make_posterior(seed, n_trees=15)
    values = posterior.leaf.mean(posterior.forest.statistics)
    trees = sum_of_trees(posterior.forest, posterior.weights, values)
    rows = np.concatenate([X, np.full((1, X.shape[1]), np.nan)])
    sums = np.array([evaluate(trees, posterior.forest, row) for row in rows])
    assert np.abs(sums - posterior.predictive(rows)).max() < 1e-12


def test_equal_decisions_stand_once():
    """The trees are x0 <= 1.5 with a further cut, a root alone, and x0 <= 1.5: together they are the first."""
    forest = make_forest()
    (tree,) = sum_of_trees(forest, np.array([0.5, 0.2, 0.3]), np.arange(5.0)[:, np.newaxis])
    assert len(tree.rule) == 5
    said = {evaluate([tree], forest, np.array(row))[0] for row in ([1.0, 0.0], [2.0, 0.0], [2.0, 1.0])}
    # blocks 1, 3 and 4 of the first tree; 0 of the second; 1 and 2 of the third
    assert sorted(said) == pytest.approx([0.5 * 1 + 0.3 * 1, 0.5 * 3 + 0.3 * 2, 0.5 * 4 + 0.3 * 2])


def test_other_decisions_become_a_tree_that_says_nothing_elsewhere():
    posterior, _ = make_posterior(1, n_islands=1, n_trees=30)
    trees = sum_of_trees(posterior.forest, posterior.weights, np.ones((posterior.forest.n_blocks, 1)))
    assert len(trees) > 1
    row = np.zeros(3)
    said = [evaluate([tree], posterior.forest, row)[0] for tree in trees]
    assert sum(said) == pytest.approx(1)
    assert 0 in said
