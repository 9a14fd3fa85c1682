"""Geweke's joint test (2004) of the Markov chain: labels given the tree, the tree moved given the labels, in turn.

If every move leaves the posterior as it is, this joint chain leaves the prior as it is, so the trees that it visits
have the prior's numbers of leaves and depths, which the exact recursion gives for a flat likelihood. The chains start
at draws from the prior, so there is nothing to wait for; their averages are independent and give the standard error.
"""

from dataclasses import replace

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, Flat, TreePrior, _kernel
from particletree.data import make_training_data
from particletree.inference.parallel import Task
from particletree.inference.recursion import ExactRecursion
from particletree.model.node import LEAF as LEAF_NODE
from particletree.model.node import NODE

X = oracle.THREE_CLASSES.X
N_CLASSES = 3
PRIOR = TreePrior(0.85, 0.8)
LEAF = Categorical(0.5)  # concentrated: labels say much about the tree, so that a wrong ratio shows
UNLABELLED = Task.prepare(make_training_data(X, np.zeros(len(X), dtype=int), N_CLASSES), PRIOR, LEAF)


def start_trees(n, seed):
    """Draw trees from the prior, as (feature, threshold) in preorder."""
    seed_sequence = np.random.SeedSequence(seed)
    prior = SMC(n_particles=n, n_islands=1).run(UNLABELLED.data, PRIOR, Flat(), seed=seed_sequence)
    return [(tree.feature, tree.threshold) for tree in prior.sample(n, seed)]


def leaf_of_rows(feature, threshold):
    """Return a number for the leaf of each row, walking the preorder."""
    leaf = np.zeros(len(X), dtype=int)
    stack, n_leaves = [np.arange(len(X))], 0
    for f, t in zip(feature, threshold, strict=True):
        rows = stack.pop()
        if f < 0:
            leaf[rows] = n_leaves
            n_leaves += 1
        else:
            goes_left = X[rows, f] <= t
            stack += [rows[~goes_left], rows[goes_left]]
    return leaf


def draw_labels(tree, rng):
    leaf = leaf_of_rows(*tree)
    labels = np.empty(len(X), dtype=np.int32)
    for number in range(leaf.max() + 1):
        rows = np.flatnonzero(leaf == number)
        ends = rng.dirichlet(np.full(N_CLASSES, LEAF.concentration / N_CLASSES)).cumsum()
        labels[rows] = np.searchsorted(ends / ends[-1], rng.random(rows.size), side="right")
    return labels


def task_of(labels):
    """Return what `Task.prepare` makes of these labels, without checking and ranking the same features once more."""
    order = labels.argsort(kind="stable")
    table = replace(UNLABELLED.data.table, ranks=UNLABELLED.data.table.ranks[:, order])
    observations = replace(UNLABELLED.data.observations, values=labels[order])
    return replace(UNLABELLED, data=replace(UNLABELLED.data, table=table, observations=observations))


def test_a_task_with_other_labels_is_the_one_made_anew():
    labels = np.array(oracle.THREE_CLASSES.y, dtype=np.int32)
    anew = Task.prepare(make_training_data(X, labels, N_CLASSES), PRIOR, LEAF).arrays()
    for name, array in task_of(labels).arrays().items():
        np.testing.assert_array_equal(array, anew[name], err_msg=name, strict=True)


def move(tree, labels, move_weights, generator, n_iterations, **regrow):
    chain = _kernel.run_chain(
        task_of(labels).problem,
        n_iterations=n_iterations,
        burn_in=n_iterations - 1,
        thin=1,
        move_weights=np.asarray(move_weights, dtype=float),
        initial_nodes=initial_nodes(*tree),
        generator=generator,
        monitor=_kernel.Monitor(1),
        chain=0,
        **regrow,
    )
    nodes = preorder(chain["nodes"].view(NODE)[:, 0], chain["roots"][-1])
    return nodes["feature"], nodes["threshold"]


def initial_nodes(features, thresholds):
    nodes = np.full(len(features), LEAF_NODE)
    nodes["feature"], nodes["threshold"] = features, thresholds
    return nodes.view(np.uint8).reshape(nodes.size, NODE.itemsize)


def preorder(nodes, root):
    """Return the nodes of a tree in preorder."""
    order, pending = [], [root]
    while pending:
        node = pending.pop()
        order.append(node)
        if nodes["feature"][node] >= 0:
            pending += [nodes["right"][node], nodes["left"][node]]
    return np.ascontiguousarray(nodes[order])


def joint_chain(tree, move_weights, n_steps, seed, **regrow):
    """Return the number of leaves and the depth at every step."""
    rng, generator = np.random.default_rng(seed), np.random.PCG64(seed)
    visited = np.empty((n_steps, 2))
    for step in range(n_steps):
        tree = move(tree, draw_labels(tree, rng), move_weights, generator, n_iterations=4, **regrow)
        visited[step] = (tree[0] < 0).sum(), depth_of(tree[0])
    return visited


def depth_of(feature):
    depths, stack = [], [0]
    for f in feature:
        depths.append(stack.pop())
        if f >= 0:
            stack += [depths[-1] + 1] * 2
    return max(depths)


def check(move_weights, n_chains, n_steps, seed, **regrow):
    exact = ExactRecursion(UNLABELLED.data, PRIOR, Flat())
    chains = [
        joint_chain(tree, move_weights, n_steps, [seed, i], **regrow)
        for i, tree in enumerate(start_trees(n_chains, seed))
    ]
    for column, what, probabilities in (
        (0, "leaves", exact.n_leaves_probabilities()),
        (1, "depth", exact.depth_probabilities()),
    ):
        for m in np.flatnonzero(probabilities > 0.03):
            shares = [(chain[:, column] == m).mean() for chain in chains]
            oracle.assert_mean(shares, probabilities[m], f"{what} = {m}")


def test_the_joint_chain_leaves_the_prior_as_it_is():
    check((0.25, 0.25, 0.25, 0.25), n_chains=40, n_steps=300, seed=1)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_regrowing_subtrees_leaves_the_prior_as_it_is(proposal):
    regrow = {"regrow_share": 1.0, "n_particles": 2, "n_candidates": 2, "ess_threshold": 1.0, "proposal": proposal}
    check((0.25, 0.25, 0.25, 0.25), n_chains=20, n_steps=100, seed=3, **regrow)


@pytest.mark.slow
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_regrowing_among_other_moves_leaves_the_prior_as_it_is(proposal, expansion):
    regrow = {"regrow_share": 0.5, "n_particles": 3, "n_candidates": 1, "ess_threshold": 1.0, "proposal": proposal}
    check((0.25, 0.25, 0.25, 0.25), n_chains=40, n_steps=400, seed=4, expansion=expansion, **regrow)


@pytest.mark.slow
@pytest.mark.parametrize("move_weights", [(0.25,) * 4, (0.5, 0.5, 0, 0), (0.2, 0.2, 0.6, 0), (0.2, 0.2, 0, 0.6)])
def test_every_set_of_moves_leaves_the_prior_as_it_is(move_weights):
    check(move_weights, n_chains=60, n_steps=2500, seed=2)
