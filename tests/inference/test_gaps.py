"""Every sampler tells between which values of the data each threshold lies, and the printed rules follow from that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from forests import printed_thresholds
from particletree import MCMC, SMC, BayesianTreeClassifier, Exact, _kernel
from particletree._model.tree.tree import Tree
from particletree._model.validity import check_forest

RNG = np.random.default_rng(3)
YEARS = np.column_stack((RNG.integers(1998, 2018, 80), RNG.normal(size=80).round(1), RNG.integers(0, 2, 80)))
RECENT = np.where(RNG.random(80) < 0.2, RNG.integers(0, 2, 80), YEARS[:, 0] > 2007).astype(int)
SAMPLERS = [
    *(SMC.paper(n_particles=30, n_islands=2, proposal=proposal) for proposal in _kernel.PROPOSALS),
    SMC.paper(n_particles=30, n_islands=2, expansion="layer"),
    MCMC(n_iterations=2000, n_chains=2),
]


def expected_gaps(tree: Tree, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (low, high) of each node, by sending the rows down."""
    gaps = np.full((tree.n_nodes, 2), np.nan)

    def visit(node: int, rows: NDArray[np.float64]) -> None:
        if tree.feature[node] >= 0:
            values = rows[:, tree.feature[node]]
            is_left = values <= tree.threshold[node]
            gaps[node] = values[is_left].max(), values[~is_left].min()
            visit(tree.left[node], rows[is_left])
            visit(tree.right[node], rows[~is_left])

    visit(0, X)
    return gaps


def check_trees(sampler: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    posterior = BayesianTreeClassifier(sampler=sampler, random_state=0).fit(X, y).posterior_
    check_forest(posterior.forest, X.shape[1])
    assert posterior.forest.n_leaves.max() > 2
    for tree in posterior.trees[:100]:
        np.testing.assert_array_equal(np.column_stack((tree.gap_low, tree.gap_high)), expected_gaps(tree, X))
        np.testing.assert_array_equal(printed_thresholds(tree), tree.threshold)
        np.testing.assert_array_equal(printed_thresholds(tree.rounded()), tree.rounded().threshold)
        assert tree.rounded().apply(X).tolist() == tree.apply(X).tolist()


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_gaps_lie_between_neighbouring_values_of_the_block(sampler: Any) -> None:
    check_trees(sampler, YEARS, RECENT)


def test_gaps_of_exact_draws() -> None:
    check_trees(Exact(n_draws=100), YEARS[:14, :2], RECENT[:14])
