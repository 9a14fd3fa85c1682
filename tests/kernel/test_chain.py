"""The kernel's border for chains: whatever a caller gives, a wrong initial tree is refused before it is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from particletree import Categorical, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.parallel import Task
from particletree._model import rule
from particletree._model.rule import NODE
from particletree._posterior.runs.traces import MOVES

LEAF = np.nan
EVEN = (0.25, 0.25, 0.25, 0.25)


def run_chain(
    feature: list[int], threshold: list[float], move_weights: Any = EVEN, **regrow: Any
) -> _kernel.ChainArrays:
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    task = Task.prepare(make_training_data(X, [0, 0, 1, 1], 2), TreePrior.paper(), Categorical.paper())
    nodes = np.full(len(feature), rule.LEAF)
    nodes["feature"], nodes["threshold"] = feature, threshold
    return _kernel.run_chain(
        task.problem,
        n_iterations=20,
        burn_in=0,
        thin=1,
        move_weights=np.array(move_weights, dtype=float),
        initial_nodes=nodes.view(np.uint8).reshape(nodes.size, NODE.itemsize),
        generator=np.random.PCG64(0),
        monitor=_kernel.Monitor(1),
        chain=0,
        **regrow,
    )


@pytest.mark.parametrize(
    ("feature", "threshold", "message"),
    [
        ([2, -1, -1], [1.5, LEAF, LEAF], "a feature of the initial tree is out of range"),
        ([2**31 - 1, -1, -1], [1.5, LEAF, LEAF], "a feature of the initial tree is out of range"),
        ([0, -1, -1], [np.nan, LEAF, LEAF], "a threshold of the initial tree is not finite"),
        ([0, -1, -1], [-np.inf, LEAF, LEAF], "a threshold of the initial tree is not finite"),
        ([0, -1, -1], [np.inf, LEAF, LEAF], "leaves one of its sides without rows"),
        ([], [], "ends before its last leaf"),
        ([0], [1.5], "ends before its last leaf"),
        ([0, -1], [1.5, LEAF], "ends before its last leaf"),
        ([-1, 0], [LEAF, 1.5], "nodes after its last leaf"),
        ([0, -1, -1, -1], [1.5, LEAF, LEAF, LEAF], "nodes after its last leaf"),
        ([0, -1, -1], [3.0, LEAF, LEAF], "leaves one of its sides without rows"),
        ([0, -1, -1], [-0.5, LEAF, LEAF], "leaves one of its sides without rows"),
        ([0, 1, -1, -1, -1], [1.5, 5.5, LEAF, LEAF, LEAF], "leaves one of its sides without rows"),
    ],
)
def test_wrong_initial_trees_are_refused(feature: list[int], threshold: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_chain(feature, threshold)


@pytest.mark.parametrize("threshold", [0.0, 1.5, 2.999])
def test_right_initial_trees_are_not(threshold: float) -> None:
    assert run_chain([0, -1, -1], [threshold, LEAF, LEAF])["trace_tree"].size == 20


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, 1, np.nan), (1, 1, 1, np.inf), (1, 1, -1, 1)])
def test_wrong_weights_of_moves_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="weights of moves"):
        run_chain([-1], [LEAF], weights)


@pytest.mark.parametrize("move", MOVES)
def test_moves_have_the_numbers_of_their_names(move: str) -> None:
    """A chain in which one move has all the weight, wherever it is possible."""
    weights = [float(name == move) for name in MOVES[:4]]
    regrow = {"n_particles": 2, "proposal": "prior", "n_candidates": 1, "ess_threshold": 0.5}
    three_splits = [0, 0, -1, -1, 0, -1, -1], [1.5, 0.5, LEAF, LEAF, 2.5, LEAF, LEAF]
    trace = run_chain(*three_splits, weights, regrow_share=float(move == "regrow"), **regrow)["trace_move"]
    assert trace[0] == MOVES.index(move)
