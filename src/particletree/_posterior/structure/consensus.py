r"""The consensus tree: the single tree whose predictions are closest to those of the whole posterior.

Let f(x) be the posterior mean at a training row. A tree with the leaves L and their predictions m(L) is scored by

.. math:: \sum_L \sum_{x \in L} \sum_k f_k(x) \log m_k(L)

for classes, the expected log probability of labels drawn from the posterior predictive distribution, and by
:math:`-\sum_L \sum_{x \in L} e(x) (f(x) - m(L))^2 / 2v` for numbers, v the posterior mean of the noise variance of an
observation; minus one per split, because the score on training rows is optimistic (Akaike's correction, one nat per
parameter). e(x) is the posterior mean of what a training row in the leaf of x tells, in such observations: one, but for
leaf models such as that of counts over an exposure e, whose rates have the noise variance v / e. So neither the score
nor the share that a tree explains depends on the units of targets and exposures.

The score is a sum over nodes that depends only on the sums of e and e f over their rows. So the best tree that can be
assembled from the decisions of the posterior's trees (``splits.py``), or by stopping earlier, is found by dynamic
programming from the deepest blocks up:

.. math:: V(B, d) = \max\Big(score(B), \max_{\text{divisions}} V(left, d + 1) + V(right, d + 1) - 1\Big).

**Why this tree.** It is the best in ``benchmarks/onetree.py``: ten tables, twenty seeds that were not used to choose
it, means over tables on test rows; distance is the total variation distance from the posterior's predictions.

=================================  ===============  ========  ========  ======
tree                               log-probability  accuracy  distance  leaves
=================================  ===============  ========  ========  ======
most probable (`best_tree`)                 -0.416     0.861     0.074    35.4
highest product of probabilities            -0.415     0.861     0.075    44.6
medoid of the partitions                    -0.425     0.861     0.074    50.8
nearest of the posterior's trees            -0.414     0.860     0.071    46.8
consensus                                   -0.404     0.863     0.067    25.0
all trees together                          -0.300     0.888     0.000    49.7
=================================  ===============  ========  ========  ======

It has a higher log-probability than `best_tree` on nine of the ten tables (not on digits; by 0.012 on average, standard
error 0.005) and a higher accuracy on seven (by 0.002, standard error 0.002: no clear difference), with fewer leaves.
No single tree comes close to the average over all trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.forest import Forest
from particletree._model.rule import LEAF, goes_left
from particletree._model.target import ClassLabels
from particletree._model.tree.tree import Tree
from particletree._posterior.structure.splits import SplitGraph
from particletree._posterior.weighted_trees import WeightedTrees

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_ROWS = 5_000  # on which predictions are compared: bounds time and memory
COST = 1.0  # of a split
STOP = -1  # the choice to stop at a state


def consensus_tree(posterior: WeightedTrees, rows: Floats) -> Tree:
    """Return the tree, assembled from the decisions of all trees, that predicts most like the posterior on rows."""
    graph = SplitGraph.from_forest(posterior.forest, posterior.weights)
    some = np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64))  # evenly spaced
    scores = block_scores(posterior, rows[some])[graph.nodes["block"]]
    choice = best_choices(graph, np.where(graph.nodes["feature"] < 0, scores, -COST), scores[graph.first])
    return assemble(graph, choice, posterior.trees[0])


def explained_share(posterior: WeightedTrees, tree: Tree, rows: Floats) -> float:
    """Return the share of the variance of the posterior's predictions explained by a tree; 1 if the variance is 0."""
    mean, information = posterior.predictions.means(rows), mean_information(posterior, rows)
    rest = (information * np.square(mean - tree.means[tree.apply(rows)])).sum()
    total = (information * np.square(mean - np.average(mean, axis=0, weights=information[:, 0]))).sum()
    return 1.0 if np.allclose(mean, mean[0], rtol=1e-12, atol=0.0) else float(1.0 - rest / total)


def block_scores(posterior: WeightedTrees, rows: Floats) -> Floats:
    """Return the score of each block as a leaf; `rows` are a sample of the training rows."""
    leaf, predicted, information = posterior.leaf, posterior.predictions.means(rows), mean_information(posterior, rows)
    mean, total = leaf.mean(posterior.forest.statistics), leaf.n_rows(posterior.root_statistics)
    for_each = total * leaf.information_per_row(posterior.root_statistics) / information.sum()
    if isinstance(posterior.target, ClassLabels):
        _, sums = block_sums(posterior.forest, rows, predicted)
        return np.asarray(for_each * (sums * np.log(mean)).sum(axis=1))
    noise = posterior.predictions.variances(rows).noise
    unit = np.sqrt(np.average(noise, axis=0, weights=information[:, 0]))
    centre = leaf.mean(posterior.root_statistics)
    values = information * np.column_stack((np.ones(len(rows)), (predicted - centre) / unit))
    _, sums = block_sums(posterior.forest, rows, values)
    mean = (mean - centre) / unit
    return np.asarray(for_each * (sums[:, 1:] * mean - sums[:, :1] * mean**2 / 2).sum(axis=1))


def mean_information(posterior: WeightedTrees, rows: Floats) -> Floats:
    """Return the posterior mean of what a training row in the leaf of each row tells, shape (n_rows, 1)."""
    return posterior.predictions.average(
        lambda statistics: posterior.leaf.information_per_row(statistics)[:, None], rows
    )


def block_sums(forest: Forest, rows: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the number of the given rows in each block, and the sum of their values (one row of `values` each)."""
    n_rows, sums = np.zeros(forest.n_blocks), np.zeros((forest.n_blocks, values.shape[1]))
    for block, some in rows_of_blocks(forest, rows):
        n_rows[block], sums[block] = some.size, values[some].sum(axis=0)
    return n_rows, sums


def rows_of_blocks(forest: Forest, rows: Floats) -> Iterator[tuple[int, Indices]]:
    """Yield each block of the trees once, with the indices of its rows, which are kept until its last node."""
    block = forest.nodes["block"].tolist()
    sides = list(zip(forest.left.tolist(), forest.right.tolist(), strict=True))
    last = {own: number for number, own in reversed(list(enumerate(block)))}
    known = {block[root]: np.arange(len(rows)) for root in forest.roots.tolist()}
    yield from known.copy().items()
    for number in reversed(range(len(block))):  # a node comes before its children
        own, (left, right) = block[number], sides[number]
        some = known.pop(own, None) if last[own] == number else known.get(own)
        if some is None or left < 0 or (block[left] in known and block[right] in known):
            continue
        node = forest.nodes[number]
        is_left = goes_left(rows[some, node["feature"]], np.broadcast_to(node, some.shape))
        for child, part in ((block[left], some[is_left]), (block[right], some[~is_left])):
            if child not in known:
                known[child] = part
                yield child, part


def best_choices(graph: SplitGraph, own: Floats, stop: Floats | None = None) -> Indices:
    """Return, for each state, the decision that maximises a sum over the nodes of the tree below it.

    Parameters
    ----------
    graph : SplitGraph
        The states and the decisions on them.
    own : ndarray, shape (n_decisions,)
        The term of each decision itself.
    stop : ndarray, shape (n_states,), optional
        The term of stopping at a state, also where no tree does; the choice is then `STOP`.
    """
    value, choice = np.zeros(graph.first.size), np.zeros(graph.first.size, dtype=np.int64)
    for decisions in reversed(graph.by_depth):
        children = graph.children[:, decisions]
        total = own[decisions] + np.where(children >= 0, value[children], 0.0).sum(axis=0)
        states, first = np.unique(graph.state[decisions], return_index=True)
        best = np.lexsort((-total, graph.state[decisions]))[first]  # the largest total of each state
        value[states], choice[states] = total[best], best + decisions.start
        if stop is not None:
            better = states[stop[states] > total[best]]
            value[better], choice[better] = stop[better], STOP
    return choice


def assemble(graph: SplitGraph, choice: Indices, like: Tree) -> Tree:
    """Return the tree of the chosen decisions; names and other attributes are copied from the tree `like`."""
    nodes: list[Any] = []
    pending = [(0, STOP)]  # a state, and the node whose right child it is
    while pending:
        state, parent = pending.pop()
        if parent >= 0:
            nodes[parent]["right"] = len(nodes)
        if choice[state] == STOP:
            node = LEAF.copy()
            node["block"] = graph.nodes["block"][graph.first[state]]
        else:
            node = graph.nodes[choice[state]].copy()
        nodes.append(node)
        if node["feature"] >= 0:
            node["left"] = len(nodes)
            left, right = graph.children[:, choice[state]].tolist()
            pending += [(right, len(nodes) - 1), (left, STOP)]
    return replace(like, nodes=np.array(nodes, dtype=LEAF.dtype))
