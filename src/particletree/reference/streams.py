r"""Rows that arrive one after the other, in plain Python: the executable specification of streams.

Under the paper's prior the probability of a split depends on which rows there are, so a tree of n rows is not what
remains of a tree of n + 1 rows. The *killed Mondrian* is coherent: the law of the tree on any rows is the same,
whatever rows come later. So a new row extends a tree, and a particle filter over rows has the posterior of a batch as
its target.

**The prior.** Let :math:`\mu` be a measure on binary questions that is fixed before the first row
(``_model/measure.py``), and :math:`|S|` the mass of those that *separate* the rows S: both answers occur. Questions
arrive at a block at rate :math:`\mu`, and it is killed, and becomes a leaf, at a constant rate :math:`\gamma`. So

.. math::
    P(\text{split } S) = \frac{|S|}{\gamma + |S|}, \qquad
    Z(S) = \frac{\gamma \, m(S) + \sum_c g_c \, Z(L_c) \, Z(R_c)}{\gamma + |S|},

where the rule is drawn from the questions that separate S, c runs over the ways to divide S, :math:`g_c` is the mass of
the questions that do so, and m is the marginal likelihood of a leaf. Z is the evidence (:class:`BlockPosterior`).

**Why it is coherent.** Add a row x, and let :math:`e = |S + x| - |S|`, the mass of the questions that separate x from S
and leave S whole. In the tree of S + x, the first event is a stop, a question that separates S, or, with probability
:math:`e / (\gamma + |S| + e)`, one that leaves S whole, after which S goes on as if nothing had happened. Without x, S
therefore stops with probability

.. math::
    \frac{\gamma}{\gamma + |S| + e} + \frac{e}{\gamma + |S| + e} \, \frac{\gamma}{\gamma + |S|}
    = \frac{\gamma}{\gamma + |S|},

and in the same way for each rule; the rest is induction on the children. Read backwards, this is how to *extend* a tree
by x: walk from the root; at each node, the leaf included, x is separated from the node's rows with probability
:math:`e / (\gamma + |S| + e)`, else it takes the side that the rule gives it, and at the leaf it joins.

=============================  ======================================================================================
where the walk of x ends       what happens to the tree, and to the probability of the observations
=============================  ======================================================================================
x is separated at a node       a new parent, with a rule drawn from the questions that separate x from the node's rows,
                               has the old subtree on one side, and a leaf of x alone on the other: times m(y)
x joins a leaf of the rows t   the leaf has one more row: times m(t + y) / m(t)
=============================  ======================================================================================

**Prediction** is the same walk (:func:`branches`): where x is separated, its y has the prior predictive distribution,
so the answers get vaguer where there are no data. **A rule is a question**, not the way in which it divides the rows at
hand: the place of a cut, and the coin for missing values or a new level, are drawn once, and decide about later rows.

**The filter over rows** (:func:`learn`). A particle is a tree of the rows so far. For a new row each particle draws
where the walk ends, and its weight is multiplied as in the table. *Adapted*, the weight is multiplied by the mean of
that over the walk, which is the predictive probability of y, and the end is drawn from what y makes of the walk. If the
effective sample size is low, particles are resampled, and then *rejuvenated*: the block of some rows is redrawn from
its posterior given the rest of the tree, exactly by the recursion, or by particle Gibbs. The block is the first on the
new row's path that has few rows. So it is chosen by what lies above it, which the move leaves as it is; if it were
chosen by what lies below, which the move changes, the posterior would not be kept.

**Forgetting.** To remove a row (:func:`forget`) is exact as well: it leaves its leaf, and where that becomes empty its
sibling takes the parent's place; the probability is divided by what the row would multiply it by. Discounting weights
the observation of a row of age a by :math:`\delta^a`: in each step all leaves change from t to :math:`\delta t`. Then
the probability of the rows that count is not a product of predictions, so streams are compared by the *prequential
evidence*, the product of the one-step predictive probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from particletree._model.leaf import LeafModel
from particletree._model.measure import Measure
from particletree.reference.questions import Box, Questions, Row, Rule, divide, divisions_of, side_of, some_rule
from particletree.reference.weights import effective_sample_size, log_mean, multinomial, normalised

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """What is fixed before the first row: the measure on questions, the rate of killing gamma, the leaf model."""

    measure: Measure
    rate: float
    leaf: LeafModel
    n_statistics: int

    def row(self, number: int, x: ArrayLike, statistics: ArrayLike | None = None) -> Row:
        """Return a row: its number in the stream, its values, and what it adds to the statistics of a leaf."""
        units = self.measure.to_unit(np.array([x], dtype=np.float64))[0]
        added = np.zeros(self.n_statistics) if statistics is None else np.asarray(statistics, dtype=np.float64)
        return Row(number, units, added)

    def statistics(self, rows: Sequence[Row]) -> Floats:
        """Return the statistics of some rows, the sums of their contributions."""
        return np.asarray(sum((row.statistics for row in rows), np.zeros(self.n_statistics)))

    def log_marginal(self, rows: Sequence[Row]) -> float:
        """Return log m of some rows in one leaf."""
        return float(self.leaf.log_marginal(self.statistics(rows)))


# ----- trees -----


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf with its rows, in the order in which they came."""

    box: Box
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        return f"leaf of rows {', '.join(str(row.number) for row in self.rows)}"


@dataclass(frozen=True, eq=False)
class Split:
    """A node with a rule. Nodes never change, so that particles can share them."""

    box: Box
    rule: Rule
    left: Tree
    right: Tree

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of both sides."""
        return self.left.rows + self.right.rows

    def child(self, side: str) -> Tree:
        """Return the child on a side, "0" for left or "1" for right."""
        return self.left if side == "0" else self.right

    def with_child(self, side: str, child: Tree, box: Box) -> Split:
        """Return the node with another child and the box that belongs to it."""
        return replace(self, box=box, left=child) if side == "0" else replace(self, box=box, right=child)

    def __str__(self) -> str:
        children = [f"{answer}: {child}" for answer, child in (("yes", self.left), ("no", self.right))]
        return "\n  ".join([str(self.rule), *(line for text in children for line in text.splitlines())])


Tree = Leaf | Split  # the tree of no rows is None


def leaves_of(tree: Tree | None) -> list[Leaf]:
    """Return the leaves from left to right."""
    if isinstance(tree, Split):
        return leaves_of(tree.left) + leaves_of(tree.right)
    return [] if tree is None else [tree]


# ----- a row and a tree -----


@dataclass(frozen=True)
class Branch:
    """A way in which the walk of a row through a tree can end, with its probability.

    The path names the node by the sides taken from the root, as in ``filter.py``; the row is separated from the node
    there, or joins it (then it is a leaf).
    """

    path: str
    node: Tree | None
    is_separated: bool
    probability: float

    def rows(self) -> tuple[Row, ...]:
        """Return the rows in whose leaf the new one will be, before it arrives."""
        return () if self.is_separated or self.node is None else self.node.rows

    def log_predictive(self, row: Row, model: Model) -> float:
        """Return the log of m(t + y) / m(t), or of m(y) if the row is separated."""
        others = self.rows()
        return model.log_marginal([*others, row]) - model.log_marginal(others)


def branches(tree: Tree | None, row: Row, model: Model) -> list[Branch]:
    """Return all ways in which the walk of a row can end; no tree gives it a leaf of its own."""
    if tree is None:
        return [Branch("", None, True, 1.0)]
    ends, path, node, reached = [], "", tree, 1.0
    while True:
        p = separation_probability(node, row, model)
        ends.append(Branch(path, node, True, reached * p))
        reached *= 1 - p
        if isinstance(node, Leaf):
            return [*(end for end in ends if end.probability > 0), Branch(path, node, False, reached)]
        side = side_of(node.rule, row)
        path, node = path + side, node.child(side)


def separation_probability(node: Tree, row: Row, model: Model) -> float:
    """Return e / (gamma + |S| + e)."""
    e = sum(questions.probability for questions in node.box.separating(row, model.measure))
    return e / (model.rate + node.box.mass + e)


def draw_separating(node: Tree, row: Row, model: Model, rng: Generator) -> Rule:
    """Draw a rule from the questions that separate a row from a node's rows."""
    candidates = node.box.separating(row, model.measure)
    chosen = draw_index([questions.probability for questions in candidates], rng)
    return candidates[chosen].draw(rng)


def draw_index(weights: Sequence[float], rng: Generator) -> int:
    """Draw an index in proportion to the weights."""
    return int(rng.choice(len(weights), p=np.array(weights) / np.sum(weights)))


def extended(tree: Tree | None, row: Row, end: Branch, model: Model, rng: Generator) -> Tree:
    """Return a tree with one more row whose walk ends in this way."""
    if tree is None:
        return Leaf(Box.of_rows([row], model.measure), (row,))
    box = tree.box.joined(row, model.measure)
    if end.path and isinstance(tree, Split):
        side = end.path[0]
        child = extended(tree.child(side), row, replace(end, path=end.path[1:]), model, rng)
        return tree.with_child(side, child, box)
    if isinstance(tree, Leaf) and not end.is_separated:
        return Leaf(box, (*tree.rows, row))
    rule, alone = draw_separating(tree, row, model, rng), Leaf(Box.of_rows([row], model.measure), (row,))
    return Split(box, rule, alone, tree) if side_of(rule, row) == "0" else Split(box, rule, tree, alone)


def extend(tree: Tree | None, row: Row, model: Model, rng: Generator, *, adapted: bool = True) -> tuple[Tree, float]:
    """Draw a tree with one more row; return it with the log factor of its weight.

    Adapted, the end of the walk is drawn from what the observation makes of it, and the factor does not depend on it.
    """
    ends = branches(tree, row, model)
    log_walk = np.log([end.probability for end in ends])
    log_predictives = np.array([end.log_predictive(row, model) for end in ends])
    log_options = log_walk + log_predictives if adapted else log_walk
    chosen = draw_index(normalised(log_options).tolist(), rng)
    log_factor = float(np.logaddexp.reduce(log_options) if adapted else log_predictives[chosen])
    return extended(tree, row, ends[chosen], model, rng), log_factor


def remove(tree: Tree, row: Row, model: Model) -> tuple[Tree | None, float]:
    """Return the tree without one of its rows, with the log factor of its weight."""
    if isinstance(tree, Leaf):
        others = tuple(each for each in tree.rows if each.number != row.number)
        log_factor = model.log_marginal(others) - model.log_marginal(tree.rows)
        return (Leaf(Box.of_rows(others, model.measure), others) if others else None), log_factor
    side = side_of(tree.rule, row)
    child, log_factor = remove(tree.child(side), row, model)
    if child is None:
        return tree.child("1" if side == "0" else "0"), log_factor
    rows = child.rows + tree.child("1" if side == "0" else "0").rows
    return tree.with_child(side, child, Box.of_rows(rows, model.measure)), log_factor


def discounted(tree: Tree, factor: float, model: Model) -> tuple[Tree, float]:
    """Return the tree with the statistics of all rows times a factor, with the log factor of its weight."""
    if isinstance(tree, Split):
        left, log_left = discounted(tree.left, factor, model)
        right, log_right = discounted(tree.right, factor, model)
        return replace(tree, left=left, right=right), log_left + log_right
    rows = tuple(replace(row, statistics=factor * row.statistics) for row in tree.rows)
    return replace(tree, rows=rows), model.log_marginal(rows) - model.log_marginal(tree.rows)


# ----- the filter over rows -----


@dataclass(frozen=True)
class State:
    """The particles after some rows: trees with the logs of their weights, and the prequential evidence so far.

    The mean weight estimates the evidence of the rows that count now, without bias.
    """

    trees: list[Tree | None]
    log_weights: Floats
    log_prequential: float = 0.0

    @classmethod
    def empty(cls, n_particles: int) -> State:
        """Return the state before the first row."""
        return cls([None] * n_particles, np.zeros(n_particles))


def learn(
    state: State,
    row: Row,
    model: Model,
    *,
    adapted: bool = True,
    discount: float = 1.0,
    ess_threshold: float = 0.5,
    max_block_rows: int = 6,
    n_gibbs_particles: int = 0,
    rng: Generator,
) -> State:
    """Learn from a row.

    Parameters
    ----------
    state : State
        The particles so far.
    row : Row
        The new row.
    model : Model
        The measure, the rate and the leaf model.
    adapted : bool
        Whether the end of the walk is drawn with regard to the observation.
    discount : float
        By how much the rows that are already there count less from now on.
    ess_threshold : float
        Resample and rejuvenate when the effective sample size is below this fraction of the particles.
    max_block_rows : int
        The largest number of rows of a block that is redrawn; 0 for no rejuvenation.
    n_gibbs_particles : int
        The number of particles by which a block is redrawn, at least 2, or 0 to redraw it exactly.
    rng : numpy.random.Generator
        The only source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree import Categorical
    >>> from particletree._model.measure import Measure
    >>> from particletree.reference.streams import Model, State, learn, predictive
    >>> x, y = np.array([0.0, 5.0, 1.0, 6.0, 2.0, 7.0, 2.5, 5.5]), [0, 1, 0, 1, 0, 1, 0, 1]
    >>> model = Model(Measure.of_columns([x]), rate=0.1, leaf=Categorical(1.0), n_statistics=2)
    >>> state, rng = State.empty(100), np.random.default_rng(1)
    >>> for i in range(8):
    ...     state = learn(state, model.row(i, [x[i]], np.eye(2)[y[i]]), model, rng=rng)
    >>> predictive(state, [[1.5], [4.0], [6.5], [90.0]], model).round(2)
    array([[0.79, 0.21],
           [0.47, 0.53],
           [0.21, 0.79],
           [0.27, 0.73]])
    """
    if discount < 1:
        state = age(state, discount, model)
    log_predictives = np.array([log_predictive(tree, row, model) for tree in state.trees])
    log_step = log_mean(state.log_weights + log_predictives) - log_mean(state.log_weights)

    pairs = [extend(tree, row, model, rng, adapted=adapted) for tree in state.trees]
    trees = [tree for tree, _ in pairs]
    log_weights = state.log_weights + [log_factor for _, log_factor in pairs]
    if effective_sample_size(log_weights) < ess_threshold * len(trees):
        trees = [trees[j] for j in multinomial(normalised(log_weights), rng)]
        log_weights = np.full(len(trees), log_mean(log_weights))
        posterior = BlockPosterior(model)

        def redraw(block: Tree) -> Tree:
            exactly = n_gibbs_particles == 0
            return posterior.draw(block.rows, rng) if exactly else regrow(block, n_gibbs_particles, model, rng)

        trees = [rejuvenated(tree, row, max_block_rows, redraw) for tree in trees]
    return State(list(trees), log_weights, state.log_prequential + log_step)


def forget(state: State, row: Row, model: Model) -> State:
    """Forget a row."""
    pairs = [(None, 0.0) if tree is None else remove(tree, row, model) for tree in state.trees]
    log_weights = state.log_weights + np.array([log_factor for _, log_factor in pairs])
    return replace(state, trees=[tree for tree, _ in pairs], log_weights=log_weights)


def age(state: State, factor: float, model: Model) -> State:
    """Let all rows count less, by a factor."""
    pairs = [(None, 0.0) if tree is None else discounted(tree, factor, model) for tree in state.trees]
    log_weights = state.log_weights + np.array([log_factor for _, log_factor in pairs])
    return replace(state, trees=[tree for tree, _ in pairs], log_weights=log_weights)


def log_predictive(tree: Tree | None, row: Row, model: Model) -> float:
    """Return the log of the probability of what is observed at a new row, the mean over the walk."""
    ends = branches(tree, row, model)
    return float(np.logaddexp.reduce([math.log(end.probability) + end.log_predictive(row, model) for end in ends]))


def predictive(state: State, X_new: ArrayLike, model: Model) -> Floats:
    """Return the predictive means (class probabilities) of new rows: the mean over the walk, weighted by the trees."""
    weights, answers = normalised(state.log_weights), []
    for x in np.asarray(X_new, dtype=np.float64):
        row = model.row(-1, x)
        answers.append(
            sum(
                weight * end.probability * model.leaf.mean(model.statistics(end.rows()))
                for weight, tree in zip(weights, state.trees, strict=True)
                for end in branches(tree, row, model)
            )
        )
    return np.array(answers)


# ----- rejuvenation: a block is redrawn -----


def rejuvenated(tree: Tree, row: Row, max_rows: int, redraw: Callable[[Tree], Tree]) -> Tree:
    """Return the tree with a block redrawn, the first on a row's path that has at most so many rows, if there is one.

    Which block that is depends on the rules above it only, so the posterior of the block given the rest of the tree is
    that of its rows.
    """
    if len(tree.rows) <= max_rows:
        return redraw(tree)
    if isinstance(tree, Leaf):
        return tree
    side = side_of(tree.rule, row)
    return tree.with_child(side, rejuvenated(tree.child(side), row, max_rows, redraw), tree.box)


def regrow(block: Tree, n_particles: int, model: Model, rng: Generator) -> Tree:
    """Redraw a block by particle Gibbs: a filter over its rows in which one particle replays the tree that is there.

    As the prior is coherent, the retained tree's past is the tree with its last rows removed. It survives every
    resampling; all else is :func:`extend`, and the new tree is drawn by the final weights (``gibbs.py``).
    """
    rows = sorted(block.rows, key=lambda row: row.number)
    past: list[Tree | None] = [block]
    for row in reversed(rows):
        past.append(None if past[-1] is None else remove(past[-1], row, model)[0])
    past.reverse()  # past[i] has i rows

    trees, log_weights = past[:1] * n_particles, np.zeros(n_particles)
    for i, row in enumerate(rows):
        survivors = multinomial(normalised(log_weights), rng)
        survivors[0] = 0
        pairs = [extend(trees[j], row, model, rng) for j in survivors[1:]]
        trees = [past[i + 1], *(tree for tree, _ in pairs)]
        log_weights = np.array([log_predictive(past[i], row, model), *(log_factor for _, log_factor in pairs)])
    drawn = trees[int(rng.choice(n_particles, p=normalised(log_weights)))]
    assert drawn is not None
    return drawn


@dataclass(frozen=True)
class Block:
    """Some rows, and the terms of their evidence: of a stop, and of each way to divide the rows."""

    box: Box
    divisions: list[Questions]
    log_terms: Floats
    log_evidence: float


@dataclass
class BlockPosterior:
    """The posterior over the trees of a few rows: the recursion for Z, and exact draws by it."""

    model: Model
    remembered: dict[tuple[int, ...], Block] = field(default_factory=dict)

    def block(self, rows: Sequence[Row]) -> Block:
        """Return some rows with the terms of Z."""
        key = tuple(sorted(row.number for row in rows))
        if key not in self.remembered:
            box, divisions = Box.of_rows(rows, self.model.measure), list(divisions_of(rows, self.model.measure))
            log_terms = [math.log(self.model.rate) + self.model.log_marginal(rows)]
            for division in divisions:
                log_sides = sum(self.block(side).log_evidence for side in divide(rows, some_rule(division)))
                log_terms.append(math.log(division.probability) + log_sides)
            log_evidence = float(np.logaddexp.reduce(log_terms)) - math.log(self.model.rate + box.mass)
            self.remembered[key] = Block(box, divisions, np.array(log_terms), log_evidence)
        return self.remembered[key]

    def draw(self, rows: Sequence[Row], rng: Generator) -> Tree:
        """Draw a tree."""
        block = self.block(rows)
        chosen = int(rng.choice(len(block.log_terms), p=normalised(block.log_terms)))
        if chosen == 0:
            return Leaf(block.box, tuple(rows))
        rule = block.divisions[chosen - 1].draw(rng)
        left, right = divide(rows, rule)
        return Split(block.box, rule, self.draw(left, rng), self.draw(right, rng))
