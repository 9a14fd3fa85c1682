"""Geweke's joint test of the Markov chain on missing values and levels; ``test_geweke.py`` tells how it works.

Besides the sizes of the trees it follows what swaps and changes could get wrong here: which rows are together with the
missing ones, and with which levels.
"""

from dataclasses import replace

import numpy as np
import pytest

import mixed_data
import oracle
from particletree import SMC, Categorical, Flat, TreePrior, _kernel
from particletree._inference.exact.recursion import ExactRecursion
from particletree._inference.parallel import Task
from particletree._model.rule import NODE, goes_left
from statistical.test_geweke import depth_of, preorder

PRIOR = TreePrior(0.85, 0.8)
LEAF = Categorical(0.5)  # concentrated: labels say much about the tree, so that a wrong ratio shows
N_CLASSES = 3
MOVES = {"all": (0.25,) * 4, "change": (0.2, 0.2, 0.6, 0.0), "swap": (0.2, 0.2, 0.0, 0.6)}
DATA = {"missing": mixed_data.TWELVE_MISSING, "mixed": mixed_data.TWELVE_MIXED, "levels": mixed_data.LEVELS_TWICE}


class Joint:
    """Trees and labels of some rows, moved in turn; a tree is its nodes in preorder."""

    def __init__(self, data, prior=PRIOR):
        self.X, self.prior = data.X, prior
        unlabelled = replace(data, y=[0] * len(data.X), n_classes=N_CLASSES, weights=None)
        self.task = Task.prepare(unlabelled.training_data(), prior, LEAF)

    def start_trees(self, n, seed):
        sampler = SMC.paper(n_particles=n, n_islands=1)
        posterior = sampler.run(self.task.data, self.prior, Flat(), seed=np.random.SeedSequence(seed))
        trees = np.random.default_rng(seed).choice(posterior.forest.n_trees, size=n, p=posterior.weights)
        return [preorder(posterior.forest.nodes, posterior.forest.roots[t]) for t in trees]

    def leaf_of_rows(self, tree):
        """Return a number for the leaf of each row, walking the preorder."""
        leaf, stack, n_leaves = np.zeros(len(self.X), dtype=int), [np.arange(len(self.X))], 0
        for node in tree:
            rows = stack.pop()
            if node["feature"] < 0:
                leaf[rows] = n_leaves
                n_leaves += 1
            else:
                is_left = goes_left(self.X[rows, node["feature"]], np.broadcast_to(node, rows.shape))
                stack += [rows[~is_left], rows[is_left]]
        return leaf

    def draw_labels(self, leaf, rng):
        labels = np.empty(len(self.X), dtype=np.int32)
        for number in range(leaf.max() + 1):
            rows = np.flatnonzero(leaf == number)
            ends = rng.dirichlet(np.full(N_CLASSES, LEAF.concentration / N_CLASSES)).cumsum()
            labels[rows] = np.searchsorted(ends / ends[-1], rng.random(rows.size), side="right")
        return labels

    def task_of(self, labels):
        order, data = labels.argsort(kind="stable"), self.task.data
        table = replace(data.table, ranks=np.ascontiguousarray(data.table.ranks[:, order]))
        observations = replace(data.observations, values=labels[order])
        return replace(self.task, data=replace(data, table=table, observations=observations))

    def move(self, tree, labels, move_weights, generator, n_iterations):
        chain = _kernel.run_chain(
            self.task_of(labels).problem,
            n_iterations=n_iterations,
            burn_in=n_iterations - 1,
            thin=1,
            move_weights=np.asarray(move_weights, dtype=float),
            initial_nodes=tree.view(np.uint8).reshape(tree.size, NODE.itemsize),
            generator=generator,
            monitor=_kernel.Monitor(1),
            chain=0,
        )
        return preorder(chain["nodes"].view(NODE)[:, 0], chain["roots"][-1])

    def chain(self, tree, move_weights, n_steps, seed):
        """Return the number of leaves, the depth, and which rows share the leaf of the last row, at every step."""
        rng, generator = np.random.default_rng(seed), np.random.PCG64(seed)
        visited = np.empty((n_steps, 2 + len(self.X)))
        leaf = self.leaf_of_rows(tree)
        for step in range(n_steps):
            tree = self.move(tree, self.draw_labels(leaf, rng), move_weights, generator, n_iterations=4)
            leaf = self.leaf_of_rows(tree)
            visited[step] = leaf.max() + 1, depth_of(tree["feature"]), *(leaf == leaf[-1])
        return visited


def together_under_the_prior(data, prior):
    """Return the probability that each row shares the leaf of the last one, from the exact mixture of its leaves."""
    one_hot = data.with_numbers("rows", np.arange(len(data.X)))
    shares = []
    for row in range(len(data.X)):
        y = (np.arange(len(data.X)) == row).astype(int).tolist()
        marked = replace(data, y=y, n_classes=2, weights=None)
        weights, counts = ExactRecursion(marked.training_data(), prior, Flat()).leaf_mixture(one_hot.X[-1])
        shares.append(weights @ (counts[:, 1] > 0))
    return np.array(shares)


def check(data, moves, n_chains, n_steps, seed, prior=PRIOR):
    joint = Joint(data, prior)
    exact = ExactRecursion(joint.task.data, prior, Flat())
    chains = [
        joint.chain(tree, MOVES[moves], n_steps, seed=[seed, i])
        for i, tree in enumerate(joint.start_trees(n_chains, seed))
    ]
    for column, what, probabilities in (
        (0, "leaves", exact.n_leaves_probabilities()),
        (1, "depth", exact.depth_probabilities()),
    ):
        for m in np.flatnonzero(probabilities > 0.03):
            shares = [(chain[:, column] == m).mean() for chain in chains]
            oracle.assert_mean(shares, probabilities[m], f"{what} = {m}")
    for row, probability in enumerate(together_under_the_prior(data, prior)[:-1]):
        oracle.assert_mean([chain[:, 2 + row].mean() for chain in chains], probability, f"row {row} with the last one")


@pytest.mark.parametrize("name", DATA)
def test_the_joint_chain_leaves_the_prior_as_it_is(name):
    check(DATA[name], "all", n_chains=30, n_steps=60, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", DATA)
def test_every_set_of_moves_leaves_the_prior_as_it_is(name, moves):
    check(DATA[name], moves, n_chains=50, n_steps=160, seed=2)


@pytest.mark.slow
def test_the_joint_chain_keeps_to_the_limits():
    limited = TreePrior(0.9, 0.3, max_depth=3, min_samples_split=4)
    check(mixed_data.TWELVE_MIXED, "all", n_chains=50, n_steps=160, seed=3, prior=limited)
