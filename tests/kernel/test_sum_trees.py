"""Trees of sums that are as deep, or as large, as no good data make them."""

import threading

import numpy as np
import pytest

from particletree import TreePrior, _kernel
from particletree._data import make_table
from particletree._inference.parallel import prior_for_kernel
from particletree._model.rule import LEAF, NODE
from particletree.inference import BARTMoves

DEPTH = 10_000
GROW_AND_PRUNE = BARTMoves(regrow_share=0.0, move_weights=(0.5, 0.5, 0.0, 0.0))
GROW = BARTMoves(regrow_share=0.0, move_weights=(0.999, 0.001, 0.0, 0.0))


def chain(is_left: bool):
    """Return a tree of which every split has a leaf on one side and the next split on the other."""
    nodes = np.full(2 * DEPTH + 1, LEAF, dtype=NODE)
    splits = np.arange(DEPTH) if is_left else np.arange(0, 2 * DEPTH, 2)
    cuts = np.arange(DEPTH)[::-1] if is_left else np.arange(DEPTH)
    nodes["feature"][splits], nodes["threshold"][splits] = 0, cuts + 0.5
    nodes["left"][splits] = splits + 1
    nodes["right"][splits] = 2 * DEPTH - splits if is_left else splits + 2
    nodes["block"][nodes["feature"] < 0] = np.arange(DEPTH + 1)
    return nodes


def in_a_thread_of_little_stack(work):
    """Return the result of a function, in a thread with a stack of 512 kB."""
    results = []
    before = threading.stack_size(2**19)
    try:
        thread = threading.Thread(target=lambda: results.append(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return results[0]


def run(rows, target, moves, *, n_iterations=1, n_trees=1, prior=(0.999, 0.0), **settings):
    table = make_table(rows)
    problem = _kernel.SumProblem(
        table.ranks, table.values, table.offsets, table.n_levels, np.empty(0), **prior_for_kernel(TreePrior(*prior))
    )
    settings = {"initial": None, "n_start": 0} | settings
    return _kernel.run_sum_of_trees(
        problem=problem, target=target, is_probit=False, offset=0.0, n_trees=n_trees, leaf_sd=0.5, noise_df=0.0,
        noise_scale=0.0, noise_sd=0.1, n_before=0, n_iterations=n_iterations, burn_in=0, thin=1,
        generator=np.random.PCG64(0), monitor=_kernel.Monitor(1), chain=0, **moves.kernel_settings() | settings,
    )  # fmt: skip


@pytest.mark.parametrize("is_left", [True, False], ids=["left", "right"])
def test_a_tree_of_ten_thousand_levels_needs_little_stack(is_left):
    """It is restored, moved, written, and predicts; each leaf has one row."""
    rows, values = np.arange(DEPTH + 1.0)[:, None], np.random.default_rng(0).normal(size=DEPTH + 1)
    state = {
        "nodes": chain(is_left).view(np.uint8).reshape(2 * DEPTH + 1, -1),
        "starts": np.array([0, 2 * DEPTH + 1]),
        "values": values,
        "latent": np.empty(0),
        "noise_sd": 0.1,
    }

    def work():
        result = run(rows, values, GROW_AND_PRUNE, initial=state)
        arrays = [result[name] for name in ("nodes", "starts", "structure_of", "values")]
        draws = _kernel.SumDraws(*arrays)
        return result, draws.mean(rows), draws.predict(rows, 0, 1)

    result, means, draws = in_a_thread_of_little_stack(work)
    assert abs(result["trace_n_leaves"][0] - (DEPTH + 1)) <= 1
    np.testing.assert_array_equal(means, draws[:, 0])
    assert np.abs(means - values).max() < 0.6  # six standard deviations of the noise


@pytest.mark.parametrize("n_start", [0, 2])
@pytest.mark.parametrize("moves", [GROW, BARTMoves(regrow_share=1.0)], ids=["grow", "regrow"])
def test_a_tree_does_not_grow_beyond_the_limit(moves, n_start):
    rows, target = np.arange(60.0)[:, None], np.arange(60) % 2 - 0.5
    settings = {"n_iterations": 300, "n_trees": 2, "n_start": n_start}
    free = run(rows, target, moves, **settings)
    assert free["trace_n_leaves"].max() > 8
    held = run(rows, target, moves, most_nodes=7, **settings)
    sizes = np.diff(held["starts"])
    assert sizes.max() == 7
    assert held["trace_n_leaves"].max() <= 8
