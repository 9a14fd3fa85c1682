"""Geweke's joint test (2004) of the Markov chain: labels given the tree, the tree moved given the labels, in turn.

If every move leaves the posterior as it is, this joint chain leaves the prior as it is, so the trees that it visits
have the prior's numbers of leaves and depths, which the exact recursion gives for a flat likelihood. The chains start
at draws from the prior, so there is nothing to wait for; their averages are independent and give the standard error.
"""

import bisect
import itertools

import numpy as np
import pytest

import oracle
from particletree import SMC, Categorical, Flat, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.parallel import Task
from particletree._model.rule import LEAF as LEAF_NODE
from particletree._model.rule import NODE

X = oracle.THREE_CLASSES.X
ROWS = X.tolist()
N_CLASSES = 3
PRIOR = TreePrior(0.85, 0.8)
LEAF = Categorical(0.5)  # concentrated: labels say much about the tree, so that a wrong ratio shows
UNLABELLED = Task.prepare(make_training_data(X, np.zeros(len(X), dtype=int), N_CLASSES), PRIOR, LEAF)
ARRAYS, MODEL = UNLABELLED.arrays(), UNLABELLED.model()


def start_trees(n, seed):
    """Draw trees from the prior, as (feature, threshold) in preorder."""
    seed_sequence = np.random.SeedSequence(seed)
    prior = SMC.paper(n_particles=n, n_islands=1).run(UNLABELLED.data, PRIOR, Flat(), seed=seed_sequence)
    return [(tree.feature, tree.threshold) for tree in prior.sample(n, seed)]


def leaf_of_rows(feature, threshold):
    """Return a number for the leaf of each row, walking the preorder."""
    leaf = [0] * len(ROWS)
    stack, n_leaves = [range(len(ROWS))], 0
    for f, t in zip(feature.tolist(), threshold.tolist(), strict=True):
        rows = stack.pop()
        if f < 0:
            for row in rows:
                leaf[row] = n_leaves
            n_leaves += 1
        else:
            stack.append([row for row in rows if ROWS[row][f] > t])
            stack.append([row for row in rows if ROWS[row][f] <= t])
    return leaf


def draw_labels(tree, rng):
    """Draw labels given the tree, each given those before it (Polya's urn): leaf probabilities are integrated out.

    In plain Python, which is several times as fast as NumPy on a dozen rows.
    """
    urns = {}
    labels = []
    for leaf, uniform in zip(leaf_of_rows(*tree), rng.random(len(ROWS)).tolist(), strict=True):
        urn = urns.setdefault(leaf, [LEAF.concentration / N_CLASSES] * N_CLASSES)
        ends = list(itertools.accumulate(urn))
        label = bisect.bisect_right(ends, uniform * ends[-1], hi=N_CLASSES - 1)
        urn[label] += 1
        labels.append(label)
    return np.array(labels, dtype=np.int32)


def arrays_with(labels):
    """Return the arrays of `Task.prepare` with these labels, without ranking the same features once more."""
    order = labels.argsort(kind="stable")
    return {**ARRAYS, "ranks": ARRAYS["ranks"][:, order], "target": labels[order]}


def test_arrays_with_other_labels_are_those_made_anew():
    labels = np.array(oracle.THREE_CLASSES.y, dtype=np.int32)
    anew = Task.prepare(make_training_data(X, labels, N_CLASSES), PRIOR, LEAF).arrays()
    assert anew.keys() == ARRAYS.keys()
    for name, array in arrays_with(labels).items():
        np.testing.assert_array_equal(array, anew[name], err_msg=name, strict=True)


def move(tree, labels, move_weights, generator, n_iterations, **regrow):
    chain = _kernel.run_chain(
        _kernel.Problem(**arrays_with(labels), **MODEL),
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
    feature, left, right = (nodes[name].tolist() for name in ("feature", "left", "right"))
    order, pending = [], [root]
    while pending:
        node = pending.pop()
        order.append(node)
        if feature[node] >= 0:
            pending += [right[node], left[node]]
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
    for f in feature.tolist():
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
