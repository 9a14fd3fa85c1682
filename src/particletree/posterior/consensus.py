r"""One tree for the whole posterior: the one that predicts most nearly what all trees together predict.

Let f(x) be the posterior mean at a training row. A tree with the leaves L and their predictions m(L) is scored by

.. math:: \sum_L \sum_{x \in L} \sum_k f_k(x) \log m_k(L)

for classes, the log-probability that it is expected to give to labels drawn from the posterior predictive, and by
:math:`-\sum_L \sum_{x \in L} (f(x) - m(L))^2 / 2v` for numbers, v the posterior mean of the noise variance; less one
for every split, because training rows flatter the leaves that they have made (Akaike's correction, a nat for each
parameter). All are sums over nodes of what the sums of f over their rows tell, so the best of all trees that can be put
together from the decisions of the posterior's trees (``splits.py``), also by stopping where they go on, follows by
dynamic programming from the deepest blocks up:

.. math:: V(B, d) = \max\Big(score(B), \max_{\text{divisions}} V(left, d + 1) + V(right, d + 1) - 1\Big).

**Why this one.** It won the comparison of ``benchmarks/onetree.py``: ten tables, twenty seeds that had no part in its
choice, means over tables on test rows; distance is the total variation from the posterior's own predictions.

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
Most of what a posterior knows no single tree can say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from particletree.model.node import LEAF
from particletree.model.rule import goes_left
from particletree.model.target import ClassLabels
from particletree.model.tree import Tree
from particletree.posterior.splits import SplitGraph

if TYPE_CHECKING:
    from particletree.model.forest import Forest
    from particletree.posterior.posterior import Posterior

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

MOST_ROWS = 5_000  # that predictions are compared on: bounds time and memory
COST = 1.0  # of a split
STOP = -1  # the choice of a state


def consensus_tree(posterior: Posterior, rows: Floats) -> Tree:
    """Return the tree, put together from the decisions of all trees, that predicts most like the posterior on rows."""
    forest = posterior.forest
    graph = SplitGraph.from_forest(forest, posterior.weights)
    scores = block_scores(posterior, _spread(rows))[graph.nodes["block"]]
    choice = best_choices(graph, np.where(graph.nodes["feature"] < 0, scores, -COST), scores[graph.first])
    return assemble(graph, choice, posterior.trees[0])


def explained_share(posterior: Posterior, tree: Tree, rows: Floats) -> float:
    """Return the share of the variance of the posterior's predictions that a tree's explain; 1 if there is none."""
    mean = posterior.predictions.means(rows)
    rest = np.square(mean - tree.means[tree.apply(rows)]).sum()
    total = np.square(mean - mean.mean(axis=0)).sum()
    return 1.0 if np.allclose(mean, mean[0], rtol=1e-12, atol=0.0) else float(1.0 - rest / total)


def block_scores(posterior: Posterior, rows: Floats) -> Floats:
    """Return what each block would add to a tree's score as a leaf; rows stand for all training rows."""
    mean = posterior.leaf.mean(posterior.forest.statistics)
    n_rows, sums = block_sums(posterior.forest, rows, posterior.predictions.means(rows))
    n_for_each = posterior.leaf.n_rows(posterior.root_statistics) / len(rows)
    if isinstance(posterior.target, ClassLabels):
        return np.asarray(n_for_each * (sums * np.log(mean)).sum(axis=1))
    unit = np.sqrt(posterior.predictions.variances(rows).noise.mean(axis=0))
    centre = posterior.leaf.mean(posterior.root_statistics)
    mean, sums = (mean - centre) / unit, (sums - n_rows[:, None] * centre) / unit
    return np.asarray(n_for_each * (sums * mean - n_rows[:, None] * mean**2 / 2).sum(axis=1))


def block_sums(forest: Forest, rows: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return how many of some rows each block has, and the sum of their values, which stand in rows as well."""
    n_rows, sums = np.zeros(forest.n_blocks), np.zeros((forest.n_blocks, values.shape[1]))
    waiting = dict.fromkeys(forest.roots.tolist(), np.arange(len(rows)))
    for number in reversed(range(forest.nodes.size)):  # a node comes before its children
        some = waiting.pop(number, None)
        if some is None:
            continue
        node = forest.nodes[number]
        n_rows[node["block"]], sums[node["block"]] = some.size, values[some].sum(axis=0)
        if node["feature"] >= 0:
            is_left = goes_left(rows[some, node["feature"]], np.broadcast_to(node, some.shape))
            waiting[int(node["left"])], waiting[int(node["right"])] = some[is_left], some[~is_left]
    return n_rows, sums


def best_choices(graph: SplitGraph, own: Floats, stop: Floats | None = None) -> Numbers:
    """Return, for each state, the decision that maximises a sum over the nodes of the tree below it.

    Parameters
    ----------
    graph : SplitGraph
        The states and the decisions on them.
    own : ndarray, shape (n_decisions,)
        What each decision adds itself.
    stop : ndarray, shape (n_states,), optional
        What it adds to stop at a state where no tree does; the choice is then `STOP`.
    """
    value, choice = np.zeros(graph.first.size), np.zeros(graph.first.size, dtype=np.int64)
    for decisions in reversed(graph.by_depth):
        children = graph.children[:, decisions]
        total = own[decisions] + np.where(children >= 0, value[children], 0.0).sum(axis=0)
        states, value_of, choice_of = _largest(graph.state[decisions], total)
        value[states], choice[states] = value_of, choice_of + decisions.start
        if stop is not None:
            better = states[stop[states] > value_of]
            value[better], choice[better] = stop[better], STOP
    return choice


def _largest(state: Numbers, total: Floats) -> tuple[Numbers, Floats, Numbers]:
    """Return the states, in increasing order as they are given, the largest total of each, and its place."""
    states, first = np.unique(state, return_index=True)
    place = np.lexsort((-total, state))[first]
    return states, total[place], place


def assemble(graph: SplitGraph, choice: Numbers, like: Tree) -> Tree:
    """Return the tree that takes the chosen decisions; names and the rest are those of another tree."""
    nodes: list[Any] = []
    pending = [(0, STOP)]  # a state, and the node whose right child it is
    while pending:
        state, parent = pending.pop()
        if parent >= 0:
            nodes[parent]["right"] = len(nodes)
        node = _node(graph, state, int(choice[state]))
        nodes.append(node)
        if node["feature"] >= 0:
            node["left"] = len(nodes)
            left, right = graph.children[:, choice[state]].tolist()
            pending += [(right, len(nodes) - 1), (left, STOP)]
    return replace(like, nodes=np.array(nodes, dtype=LEAF.dtype))


def _node(graph: SplitGraph, state: int, decision: int) -> Any:
    """Return a node with the rule of a decision, its children still open."""
    if decision != STOP:
        return graph.nodes[decision].copy()
    node = LEAF.copy()
    node["block"] = graph.nodes["block"][graph.first[state]]
    return node


def _spread(rows: Floats) -> Floats:
    """Return at most `MOST_ROWS` of the rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64))]
