r"""Exact inference on small data: the sum over all trees.

There are infinitely many trees, but a rule matters only through the rows that it puts on its sides, and what happens
below a node depends only on the node's rows and depth. So the sum over all trees below a node, prior times likelihood,
is a recursion over *states* (block, depth):

.. math::
    Z(B, d) = (1 - s_d) \, \ell(B) + s_d \, \frac{1}{|D^B|} \sum_{f \in D^B} \sum_{\text{divisions } g \text{ by } f}
              P(g) \, Z(B_{\text{left of } g}, d + 1) \, Z(B_{\text{right of } g}, d + 1),

and :math:`Z(B, d) = \ell(B)` if all rows of the block are identical, or a limit of the prior forbids a split. A
division is a gap between adjacent distinct numbers that are present *in the block*, with the missing rows on one side
or the other; the missing rows and the others; or a set of levels of the block. Its probability P is that of the rules
which divide the block in this way, for a gap its share of the range (``_model/prior.py``). The root's Z is the evidence
p(Y | X). The terms of a state's sum, divided by its Z, are the posterior probabilities of stopping and of each
division, given that the node exists. Everything else follows from these:

- a draw from the posterior is made from the root down: each threshold is uniform within its gap, and the sides of
  levels and missing values that the block does not have are fair coin flips;
- the probability that a new row reaches a state is computed from the root down: a cut in the gap [low, high) that
  contains x sends it left with probability (high - x) / (high - low), the probability that the threshold is at least x;
  values that the block does not have go left with probability 1/2. The probability of stopping in a block is its weight
  in the mixture of leaves that predicts x;
- the mean of any product over the leaves of the tree is computed from the leaves up, which gives the distributions of
  the number of leaves and of the depth.

The states of one depth form a `Level`, and the levels are solved as arrays from the deepest up, so that deep trees do
not hit Python's recursion limit. ``blocks.py`` finds the blocks and refuses data that have too many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree._data import TrainingData
from particletree._inference.exact.blocks import MAX_BLOCKS, Blocks
from particletree._inference.exact.rule_table import RuleTable
from particletree._model.forest import Forest
from particletree._model.leaf import LeafModel
from particletree._model.prior import Prior
from particletree._model.rule import NO_RULE, RULE

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Level:
    """The states of one depth, solved.

    State i is the block `blocks[i]` (in increasing order). The states `splits` can split; their rules are concatenated,
    and `first` is where those of each state start: rule j is rule `rules[j]` of the table, for the state `parents[j]`.
    Given that the node exists, it stops with posterior probability `p_stop` and takes a rule with `p_rule`.
    """

    blocks: Indices
    splits: Indices
    first: NDArray[np.int64]
    rules: Indices
    parents: Indices
    log_z: Floats
    p_stop: Floats
    p_rule: Floats


class ExactRecursion:
    """The solved recursion Z(block, depth), and the results that follow from it.

    Parameters
    ----------
    data : TrainingData
        The ranked rows with targets, and weights if any.
    prior : Prior
        The prior over trees.
    leaf : LeafModel
        The leaf model, with a value for every parameter.
    max_blocks : int, default 200_000
        Maximal number of (block, depth) states.

    Attributes
    ----------
    log_evidence : float
        The log of p(Y | X).
    n_states : int
        The number of (block, depth) states.

    Examples
    --------
    >>> from particletree import Categorical, TreePrior
    >>> from particletree._data import make_training_data
    >>> from particletree._inference.exact.recursion import ExactRecursion
    >>> data = make_training_data([[0.0], [1.0], [4.0]], [0, 0, 1], n_classes=2)
    >>> recursion = ExactRecursion(data, TreePrior.paper(), Categorical(1.0))
    >>> round(recursion.log_evidence, 3)
    -2.028
    >>> recursion.predictive([[0.5], [3.0]]).round(2)
    array([[0.77, 0.23],
           [0.43, 0.57]])
    """

    def __init__(self, data: TrainingData, prior: Prior, leaf: LeafModel, *, max_blocks: int = MAX_BLOCKS) -> None:
        self._prior, self._leaf = prior, leaf
        self._n_features = data.table.n_features
        blocks = Blocks(data, leaf.row_statistics(data.observations), prior, max_states=max_blocks)
        self._rules, self._statistics, self._n_rows = blocks.rules, blocks.statistics, blocks.n_rows
        self._n_given_rows, self._masses = blocks.n_given_rows, blocks.masses
        self._log_marginals = leaf.log_marginal(self._statistics)
        states = self._states_by_depth(blocks)
        self.n_states = sum(len(level) for level in states)
        self._levels = self._solve(states)
        self.log_evidence = float(self._levels[0].log_z[0])

    @property
    def n_blocks(self) -> int:
        """The number of distinct blocks."""
        return len(self._statistics)

    @property
    def statistics(self) -> Floats:
        """The statistics of all blocks."""
        return self._statistics

    @property
    def rules(self) -> RuleTable:
        """The rules of all blocks."""
        return self._rules

    @property
    def levels(self) -> list[Level]:
        """The solved states, by depth."""
        return self._levels

    # The table

    def _states_by_depth(self, blocks: Blocks) -> list[Indices]:
        levels: list[Indices] = []
        level, n_states = np.zeros(1, dtype=np.int32), 0
        while len(level):
            n_states += len(level)
            blocks.check_states(n_states)
            levels.append(level)
            rules, _ = self._rules_of(level, depth=len(levels) - 1)
            level = np.unique(np.concatenate([self._rules.left[rules], self._rules.right[rules]]))
        return levels

    def _rules_of(self, blocks: Indices, depth: int) -> tuple[Indices, Indices]:
        """Return the numbers of the rules of some blocks, concatenated, and the number of rules of each block."""
        start = self._rules.first[blocks]
        is_allowed = self._ask_prior(lambda depth, n, _: self._prior.allows_split(depth, n), blocks, depth)
        n_rules = (self._rules.first[blocks + 1] - start) * is_allowed
        steps = np.arange(n_rules.sum()) - np.repeat(np.cumsum(n_rules) - n_rules, n_rules)
        return (np.repeat(start, n_rules) + steps).astype(np.int32), n_rules.astype(np.int32)

    def _ask_prior(self, question: Callable[[int, int, float], Any], blocks: Indices, depth: int) -> NDArray[Any]:
        """Return what the prior says of some blocks at a depth; it is asked once per number of rows and mass."""
        facts = np.column_stack((self._n_given_rows[blocks], self._masses[blocks]))
        different, place = np.unique(facts, axis=0, return_inverse=True)
        return np.array([question(depth, int(n), mass) for n, mass in different.tolist()])[place.reshape(-1)]

    def _solve(self, states: list[Indices]) -> list[Level]:
        levels: list[Level] = []
        below = np.zeros(self.n_blocks)
        for depth in reversed(range(len(states))):
            levels.append(self._solve_level(states[depth], depth, below))
            below[levels[-1].blocks] = levels[-1].log_z
        return levels[::-1]

    def _solve_level(self, blocks: Indices, depth: int, below: Floats) -> Level:
        rules, n_rules = self._rules_of(blocks, depth)
        splits = np.flatnonzero(n_rules).astype(np.int32)
        parents = np.repeat(np.arange(len(blocks), dtype=np.int32), n_rules)
        first = (np.cumsum(n_rules) - n_rules)[splits]
        log_s = np.zeros(len(blocks))
        log_s[splits] = self._ask_prior(self._prior.log_split, blocks[splits], depth)
        log_stop = self._log_marginals[blocks]
        log_stop[splits] += self._ask_prior(self._prior.log_stop, blocks[splits], depth)
        log_rules = self._rules.log_share[rules] + below[self._rules.left[rules]] + below[self._rules.right[rules]]
        log_z = log_stop.copy()
        log_z[splits] = np.logaddexp(log_stop[splits], log_s[splits] + log_sums(log_rules, first))
        p_stop, p_rule = np.exp(log_stop - log_z), np.exp(log_s[parents] + log_rules - log_z[parents])
        return Level(blocks, splits, first, rules, parents, log_z, p_stop, p_rule)

    # Prediction: probabilities from the root down

    def leaf_mixture(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return the exact mixture of leaves for one new row.

        Parameters
        ----------
        x : array of floats, shape (n_features,)
            The new row.

        Returns
        -------
        weights : array of shape (m,)
            The posterior probability of each leaf block that `x` can fall into; they sum to 1.
        statistics : array of shape (m, n_statistics)
            The statistics of those blocks.
        """
        point = np.asarray(x, dtype=np.float64)
        if point.shape != (self._n_features,):
            raise ValueError(f"x must be one row of {self._n_features} features, got an array of shape {point.shape}.")
        p_left = self._rules.left_probability(point)
        weights, reach = np.zeros(self.n_blocks), np.zeros(self.n_blocks)
        reach[0] = 1.0
        for level in self._levels:
            here = reach[level.blocks]
            weights[level.blocks] += here * level.p_stop
            reach = self._flow_down(level, here, p_left)
        reached = np.flatnonzero(weights)
        return weights[reached], self._statistics[reached]

    def _flow_down(self, level: Level, here: Floats, p_left: Floats) -> Floats:
        """Return the probability of reaching each block one level down, from those of this level's states."""
        live = np.flatnonzero(here[level.parents])
        rules = level.rules[live]
        mass = here[level.parents[live]] * level.p_rule[live]
        left = np.bincount(self._rules.left[rules], mass * p_left[rules], minlength=self.n_blocks)
        right = np.bincount(self._rules.right[rules], mass * (1.0 - p_left[rules]), minlength=self.n_blocks)
        return np.asarray(left + right)

    def predictive(self, X: ArrayLike) -> Floats:
        """Return the exact predictive means (class probabilities) of new rows, shape (n_rows, n_outputs)."""
        mixtures = [self.leaf_mixture(x) for x in np.asarray(X, dtype=np.float64)]
        answers = [weights @ self._leaf.mean(statistics) for weights, statistics in mixtures]
        n_outputs = self._leaf.mean(self._statistics[0]).size
        return np.array(answers, dtype=np.float64).reshape(len(mixtures), n_outputs)

    # The size of the tree: expectations from the leaves up

    def expected_product(self, factors: Floats | NDArray[np.complex128]) -> complex:
        """Return the posterior mean of the product over the tree's leaves of `factors[depth of the leaf]`."""
        below = np.zeros(self.n_blocks, dtype=np.complex128)
        for depth in reversed(range(len(self._levels))):
            level = self._levels[depth]
            values = level.p_stop * complex(factors[depth])
            products = level.p_rule * below[self._rules.left[level.rules]] * below[self._rules.right[level.rules]]
            if len(level.splits):
                values[level.splits] += np.add.reduceat(products, level.first)
            below[level.blocks] = values
        return complex(below[0])

    def n_leaves_probabilities(self) -> Floats:
        """Return the posterior probability of each number of leaves, from 0 to the number of distinct rows.

        They are the coefficients of the generating function, the mean of z^(number of leaves), and are found by a
        Fourier transform of its values on the unit circle.
        """
        n = self._n_rows + 1
        circle = np.exp(2j * np.pi * np.arange(n) / n)
        values = [self.expected_product(np.full(len(self._levels), z)) for z in circle]
        return np.asarray(np.maximum(np.fft.fft(values).real / n, 0.0))

    def depth_probabilities(self) -> Floats:
        """Return the posterior probability of each depth of the tree, from 0 (a single leaf) on."""
        depths = np.arange(len(self._levels))
        at_most = [self.expected_product(np.where(depths <= depth, 1.0, 0.0)).real for depth in depths]
        return np.diff(at_most, prepend=0.0)

    # Draws

    def draw(self, n_draws: int, rng: np.random.Generator) -> tuple[Forest, Floats, Floats]:
        """Draw trees from the exact posterior.

        Returns
        -------
        forest : Forest
            The trees, with shared nodes and blocks.
        log_likelihoods, log_priors : arrays of shape (n_draws,)
            Of each tree; the prior is the density h of `_model/prior.py`.
        """
        trees = [self._draw_tree(rng) for _ in range(n_draws)]
        nodes = [node for tree in trees for node in tree.nodes]
        rules = np.array([node.rule for node in nodes], dtype=RULE)
        used, block = np.unique([node.block for node in nodes], return_inverse=True)
        forest = Forest.from_preorder(
            offsets=np.cumsum([0] + [len(tree.nodes) for tree in trees]),
            right=[node.right for node in nodes],
            block=block,
            statistics=self._statistics[used],
            row_hashes=used.astype(np.uint64),  # the number of a block identifies its set of rows
            **{name: rules[name] for name, _ in RULE},
        )
        return forest, np.array([tree.log_likelihood for tree in trees]), np.array([tree.log_prior for tree in trees])

    def _draw_tree(self, rng: np.random.Generator) -> DrawnTree:
        tree = DrawnTree()
        waiting = [(0, 0, -1)]  # block, depth, and the node whose right child it is
        while waiting:
            block, depth, parent = waiting.pop()
            node = len(tree.nodes)
            if parent >= 0:
                tree.nodes[parent].right = node
            rule = self._draw_rule(block, depth, rng)
            tree.log_prior += self._log_prior_factor(block, depth, rule)
            if rule is None:
                tree.nodes.append(DrawnNode(block))
                tree.log_likelihood += float(self._log_marginals[block])
            else:
                tree.nodes.append(DrawnNode(block, self._rules.draw_rule(rule, rng)))
                waiting.append((int(self._rules.right[rule]), depth + 1, node))
                waiting.append((int(self._rules.left[rule]), depth + 1, -1))
        return tree

    def _draw_rule(self, block: int, depth: int, rng: np.random.Generator) -> int | None:
        """Draw the rule of a node and return its number, or None if the node stops."""
        if not self._can_split(block, depth):
            return None
        first, last = self._rules.first[block], self._rules.first[block + 1]
        level = self._levels[depth]
        state = np.searchsorted(level.blocks, np.int32(block))
        start = level.first[np.searchsorted(level.splits, np.int32(state))]
        ends = np.cumsum(np.append(level.p_stop[state], level.p_rule[start : start + last - first]))
        choice = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
        return int(first) + choice - 1 if choice else None

    def _log_prior_factor(self, block: int, depth: int, rule: int | None) -> float:
        """Return the log of the node's factor in the density h of the tree."""
        n_rows, mass = int(self._n_given_rows[block]), float(self._masses[block])
        if rule is not None:
            log_split = self._prior.log_split(depth, n_rows, mass)
            return log_split + float(self._rules.log_share[rule]) - self._rules.log_volume(rule)
        return self._prior.log_stop(depth, n_rows, mass) if self._can_split(block, depth) else 0.0

    def _can_split(self, block: int, depth: int) -> bool:
        has_rules = bool(self._rules.first[block] < self._rules.first[block + 1])
        return has_rules and self._prior.allows_split(depth, int(self._n_given_rows[block]))


@dataclass
class DrawnNode:
    """A node of a tree that is being drawn, with the columns of its rule; a leaf has neither a rule nor children."""

    block: int
    rule: tuple[Any, ...] = NO_RULE
    right: int = -1


class DrawnTree:
    """A tree that is being drawn: its nodes in preorder, and its log likelihood and log prior so far."""

    def __init__(self) -> None:
        self.nodes: list[DrawnNode] = []
        self.log_likelihood = 0.0
        self.log_prior = 0.0


def log_sums(log_terms: Floats, first: NDArray[np.int64]) -> Floats:
    """Return the log of the sum of exp(log_terms) over each segment; segments start at `first` and are not empty."""
    if not len(first):
        return np.zeros(0)
    largest = np.maximum.reduceat(log_terms, first)
    lengths = np.diff(np.append(first, len(log_terms)))
    return np.asarray(largest + np.log(np.add.reduceat(np.exp(log_terms - np.repeat(largest, lengths)), first)))
