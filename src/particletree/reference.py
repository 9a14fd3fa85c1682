r"""The paper's Algorithm 1 in plain Python: the executable specification.

This module is for reading, and for testing the fast kernel against. It follows the text of Lakshminarayanan, Roy & Teh
(2013) line by line, with the paper's own objects: a particle is the tuple (T, kappa, tau, E) of section 3, kept in
dictionaries by the paper's names for nodes ("" is the root, "0" and "1" are its children, "10" the left child of "1",
and the depth of a node is the length of its name). Everything is computed where it is needed, and nothing is cached.

**The filter.** The tree prior grows a tree in stages. Each stage takes candidates among the *eligible* leaves E and
stops or splits them, until no leaf is eligible. The target of stage :math:`i` is the posterior under the prior that is
truncated there, so a particle's weight follows equation 9 of the paper (the second line of Algorithm 1's update),

.. math::
    w_i = w_{i-1} \,
          \frac{P(T_i \mid T_{i-1})}{Q(T_i \mid T_{i-1})} \,
          \frac{g(Y \mid T_i, X)}{g(Y \mid T_{i-1}, X)},
    \qquad w_0 = \ell(Y).

The targets' likelihood g is a product over leaves, so a stop leaves it alone and a split multiplies it by

.. math:: r = \ell(Y_\text{left}) \, \ell(Y_\text{right}) \, / \, \ell(Y_\text{block}).

**The proposals.** Let s be the prior probability that the block splits, D the set of features that vary in it, and a
*gap* the interval between two adjacent distinct values of a feature in the block. Every cut in one gap makes the same
children. A block where nothing varies stops and keeps its weight; for the others:

=========  ==================================================  =================================================
proposal   draws                                               factor of the weight
=========  ==================================================  =================================================
prior      stop or split by s; feature uniform on D, cut       stop: 1, split: r
           uniform on the feature's range
empirical  as prior, but a gap uniformly among the gaps of     stop: 1, split: r * gap * (number of gaps) / range
           the feature, and the cut uniform within it
optimal    stop, or a (feature, gap), in proportion to         (1 - s) + s * mean over D of the sum over gaps of
           prior * likelihood; the cut uniform within the gap  (gap / range) * r, whatever was drawn
lookahead  C cuts as prior; then stop with weight 1 - s, or    (1 - s) + s * mean of r over the C cuts
           one of them, each with weight s * r / C
=========  ==================================================  =================================================

**The evidence.** Weights are carried through, never reset to one: resampling gives every particle the mean weight
:math:`W_i / M`. So the mean weight after the last stage is itself the estimate of p(Y | X), and an unbiased one.

Two things are spelled out where the paper leaves them open: "adjacent data points" means adjacent distinct values, so
that ties leave no gap of length zero; and the ESS threshold is a fraction of the number of particles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from particletree.model.leaf import LeafModel
from particletree.model.prior import TreePrior, log_cut_probability
from particletree.reference_weights import RESAMPLING, effective_sample_size, log_mean, normalised

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Option = TypeVar("Option")


@dataclass(frozen=True)
class Cut:
    """A cut (kappa, tau): the feature, and the threshold up to which a value goes left."""

    feature: int
    threshold: float

    def goes_left(self, X: Floats) -> NDArray[np.bool_]:
        """Return which rows of `X` go left: those with a value of at most the threshold."""
        return np.asarray(X[..., self.feature] <= self.threshold)


@dataclass(frozen=True)
class Gap:
    """An interval between adjacent distinct values of a feature in a block, with its prior probability in a split."""

    feature: int
    low: float
    high: float
    probability: float


@dataclass(frozen=True)
class Problem:
    """The data and the model: what every step needs to know.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The input vectors.
    row_statistics : array of shape (n_rows, n_statistics)
        What each row's target contributes to the statistics of a block (``model/leaf.py``); for class labels a one in
        the column of its class.
    prior, leaf : TreePrior, LeafModel
        The model.
    """

    X: Floats
    row_statistics: Floats
    prior: TreePrior
    leaf: LeafModel

    def statistics(self, rows: Rows) -> Floats:
        """Return the statistics of some rows, the sums of what each contributes."""
        return np.asarray(self.row_statistics[rows].sum(axis=0))

    def log_marginal(self, rows: Rows) -> float:
        """Return the log of l(Y_rows), equation 3."""
        return float(self.leaf.log_marginal(self.statistics(rows)))

    def log_ratio(self, rows: Rows, cut: Cut) -> float:
        """Return log r: what splitting the block does to the likelihood."""
        left = cut.goes_left(self.X[rows])
        return self.log_marginal(rows[left]) + self.log_marginal(rows[~left]) - self.log_marginal(rows)

    def varying_features(self, rows: Rows) -> list[int]:
        """Return D, the features that take more than one value in the block."""
        return [feature for feature, values in enumerate(self.X[rows].T) if values.min() < values.max()]

    def gaps(self, rows: Rows, feature: int) -> list[Gap]:
        """Return the gaps of a feature that varies in the block, from left to right."""
        values = np.unique(self.X[rows, feature]).tolist()
        extent, n_varying = (values[0], values[-1]), len(self.varying_features(rows))
        return [
            Gap(feature, a, b, math.exp(log_cut_probability((a, b), extent)) / n_varying) for a, b in pairwise(values)
        ]


@dataclass(frozen=True)
class Particle:
    """A partial tree: the rows N(p) of each node, the cut (kappa, tau) of each internal node, the eligible leaves E."""

    rows: dict[str, Rows]
    cuts: dict[str, Cut]
    eligible: list[str]

    def leaves(self) -> list[str]:
        """Return the names of the leaves, stopped or eligible."""
        return [node for node in self.rows if node not in self.cuts]

    def leaf_of(self, x: Floats) -> str:
        """Return the name of the leaf whose block contains the point `x`."""
        node = ""
        while node in self.cuts:
            node += "0" if self.cuts[node].goes_left(x) else "1"
        return node

    def stop(self, node: str) -> Particle:
        """Return the particle with a leaf stopped: it will not be considered again."""
        return Particle(self.rows, self.cuts, [other for other in self.eligible if other != node])

    def split(self, node: str, cut: Cut, X: Floats) -> Particle:
        """Return the particle with a leaf split; its children queue up behind the other eligible leaves."""
        rows = self.rows[node]
        left = cut.goes_left(X[rows])
        children = {node + "0": rows[left], node + "1": rows[~left]}
        return Particle(self.rows | children, self.cuts | {node: cut}, [*self.stop(node).eligible, *children])

    def __str__(self) -> str:
        return "\n".join(self._describe(node) for node in sorted(self.rows))

    def _describe(self, node: str) -> str:
        cut, side = self.cuts.get(node), {"": "", "0": "yes: ", "1": "no: "}[node[-1:]]
        text = (
            f"x[{cut.feature}] <= {cut.threshold:.6g}?"
            if cut
            else f"leaf of rows {', '.join(map(str, self.rows[node]))}"
        )
        return "  " * len(node) + side + text


Draw = tuple[Cut | None, float]  # what a proposal draws (None: stop), and the log factor of the weight
Proposal = Callable[[Problem, Rows, float, Generator], Draw]


@dataclass(frozen=True)
class Result:
    """What the filter returns: the log of the estimated evidence, and the weighted trees."""

    log_evidence: float
    log_weights: Floats
    particles: list[Particle]
    problem: Problem


def particle_filter(
    problem: Problem,
    *,
    n_particles: int,
    proposal: str = "prior",
    n_candidates: int = 10,
    expansion: str = "node",
    priority: str = "oldest",
    resampling: str = "multinomial",
    ess_threshold: float = 0.1,
    max_stages: int = 5000,
    rng: Generator,
) -> Result:
    """Run Algorithm 1.

    Parameters
    ----------
    problem : Problem
        The data and the model.
    n_particles : int
        The number of particles M.
    proposal : {"prior", "empirical", "optimal", "lookahead"}
        How a candidate is stopped or split.
    n_candidates : int
        The number of cuts C that the proposal "lookahead" chooses among.
    expansion : {"node", "layer"}
        Whether a stage considers one eligible leaf or all of them.
    priority : {"oldest", "likelihood"}
        Which leaf a stage of expansion "node" considers: the oldest, or the one with the lowest block marginal.
    resampling : {"multinomial", "systematic", "stratified", "residual"}
        How the survivors are drawn.
    ess_threshold : float
        Resample when the effective sample size is below this fraction of the particles.
    max_stages : int
        Give up after so many stages; where leaves are still eligible, the evidence is that of the truncated prior.
    rng : numpy.random.Generator
        The only source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree import Categorical, TreePrior
    >>> from particletree.reference import Problem, particle_filter, predictive
    >>> X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    >>> problem = Problem(X, row_statistics=np.eye(2)[y], prior=TreePrior(), leaf=Categorical(1.0))
    >>> result = particle_filter(problem, n_particles=200, proposal="optimal", rng=np.random.default_rng(1))
    >>> print(result.particles[0])
    x[0] <= 3.85139?
      yes: leaf of rows 0, 1
      no: leaf of rows 2
    >>> predictive(result, [[0.5], [3.0]]).round(2)
    array([[0.77, 0.23],
           [0.45, 0.55]])
    """
    propose = named(PROPOSALS, "proposal", proposal)
    if proposal == "lookahead":
        propose = partial(propose_with_lookahead, n_candidates=n_candidates)
    choose_candidates = named(named(CANDIDATES, "expansion", expansion), "priority", priority)
    resample = named(RESAMPLING, "resampling", resampling)

    root = np.arange(len(problem.X))
    particles = [Particle(rows={"": root}, cuts={}, eligible=[""]) for _ in range(n_particles)]
    log_weights = np.full(n_particles, problem.log_marginal(root))
    for _ in range(max_stages):
        for m in range(n_particles):
            candidates = choose_candidates(problem, particles[m])
            particles[m], log_factor = extend(problem, particles[m], candidates, propose, rng)
            log_weights[m] += log_factor
        if effective_sample_size(log_weights) < ess_threshold * n_particles:
            survivors = resample(normalised(log_weights), rng)
            particles = [particles[j] for j in survivors]
            log_weights = np.full(n_particles, log_mean(log_weights))
        if not any(particle.eligible for particle in particles):
            break
    return Result(log_mean(log_weights), log_weights, particles, problem)


def predictive(result: Result, X_new: ArrayLike) -> Floats:
    """Return the means (class probabilities) of new rows: each tree's leaf answers, weighted by the tree's weight."""
    problem, weights = result.problem, normalised(result.log_weights)

    def answer(particle: Particle, x: Floats) -> Floats:
        return problem.leaf.mean(problem.statistics(particle.rows[particle.leaf_of(x)]))

    return np.array(
        [
            sum(weight * answer(particle, x) for weight, particle in zip(weights, result.particles, strict=True))
            for x in np.asarray(X_new, dtype=np.float64)
        ]
    )


def named(options: Mapping[str, Option], what: str, name: str) -> Option:
    """Return the option of this name, or say which names there are."""
    if name not in options:
        raise ValueError(f"{what} must be one of {', '.join(options)}, got {name!r}.")
    return options[name]


def extend(
    problem: Problem, particle: Particle, candidates: list[str], propose: Proposal, rng: Generator
) -> tuple[Particle, float]:
    """Sample T_i from Q_i(. | T_(i-1)), the candidates in turn; return it with the log factor of its weight."""
    log_factor = 0.0
    for node in candidates:
        rows, s = particle.rows[node], problem.prior.split_probability(len(node))
        can_split = s > 0 and problem.varying_features(rows)
        cut, log_increment = propose(problem, rows, s, rng) if can_split else (None, 0.0)
        particle = particle.stop(node) if cut is None else particle.split(node, cut, problem.X)
        log_factor += log_increment
    return particle, log_factor


def oldest(problem: Problem, particle: Particle) -> list[str]:
    """Return the eligible leaf that has waited longest."""
    return particle.eligible[:1]


def least_likely(problem: Problem, particle: Particle) -> list[str]:
    """Return the eligible leaf with the lowest marginal; `sorted` is stable, so among equals it is the oldest."""
    return sorted(particle.eligible, key=lambda node: problem.log_marginal(particle.rows[node]))[:1]


def whole_layer(problem: Problem, particle: Particle) -> list[str]:
    """Return all eligible leaves."""
    return list(particle.eligible)


def propose_from_prior(problem: Problem, rows: Rows, s: float, rng: Generator) -> Draw:
    """Stop or split as the prior does. P and Q cancel, and the likelihood's ratio is left."""
    if rng.random() >= s:
        return None, 0.0
    cut = draw_cut(problem, rows, rng)
    return cut, problem.log_ratio(rows, cut)


def draw_cut(problem: Problem, rows: Rows, rng: Generator) -> Cut:
    """Draw a cut from the prior: the feature uniform on D, the threshold uniform on its range."""
    feature = int(rng.choice(problem.varying_features(rows)))
    gaps = problem.gaps(rows, feature)
    return Cut(feature, uniform(gaps[0].low, gaps[-1].high, rng))


def propose_empirically(problem: Problem, rows: Rows, s: float, rng: Generator) -> Draw:
    """Stop or split as the prior does, but cut in a gap that is drawn without regard to its length.

    The gap's probability here is 1 / (number of varying features * number of gaps of the feature).
    """
    if rng.random() >= s:
        return None, 0.0
    varying = problem.varying_features(rows)
    gaps = problem.gaps(rows, int(rng.choice(varying)))
    gap = gaps[rng.integers(len(gaps))]
    cut = Cut(gap.feature, uniform(gap.low, gap.high, rng))
    return cut, problem.log_ratio(rows, cut) + math.log(gap.probability * len(varying) * len(gaps))


def propose_optimally(problem: Problem, rows: Rows, s: float, rng: Generator) -> Draw:
    """Choose among stopping and all gaps by prior * likelihood (section 3.1); the weight's factor is their sum."""
    gaps = [gap for feature in problem.varying_features(rows) for gap in problem.gaps(rows, feature)]
    log_stop = math.log(1 - s)
    log_splits = [math.log(s * gap.probability) + problem.log_ratio(rows, Cut(gap.feature, gap.low)) for gap in gaps]
    log_choices = np.array([log_stop, *log_splits])
    choice = rng.choice(len(log_choices), p=normalised(log_choices))
    log_total = float(np.logaddexp.reduce(log_choices))
    if choice == 0:
        return None, log_total
    gap = gaps[choice - 1]
    return Cut(gap.feature, uniform(gap.low, gap.high, rng)), log_total


def propose_with_lookahead(problem: Problem, rows: Rows, s: float, rng: Generator, n_candidates: int = 10) -> Draw:
    """Choose among stopping and some cuts from the prior by their likelihood; the weight's factor is their sum.

    The mean of r over the cuts estimates without bias what the optimal proposal sums over all gaps. The paper asks for
    something between its proposals: few cuts come close to the prior one, many to the optimal one.
    """
    cuts = [draw_cut(problem, rows, rng) for _ in range(n_candidates)]
    log_splits = [math.log(s / n_candidates) + problem.log_ratio(rows, cut) for cut in cuts]
    log_choices = np.array([math.log(1 - s), *log_splits])
    choice = rng.choice(len(log_choices), p=normalised(log_choices))
    log_total = float(np.logaddexp.reduce(log_choices))
    return (None if choice == 0 else cuts[choice - 1]), log_total


def uniform(low: float, high: float, rng: Generator) -> float:
    """Draw from [low, high); where rounding would reach `high`, which must stay on the right, step back below it."""
    return min(low + rng.random() * (high - low), math.nextafter(high, low))


PROPOSALS: Mapping[str, Proposal] = {
    "prior": propose_from_prior,
    "empirical": propose_empirically,
    "optimal": propose_optimally,
    "lookahead": propose_with_lookahead,
}
CANDIDATES: Mapping[str, Mapping[str, Callable[[Problem, Particle], list[str]]]] = {
    "node": {"oldest": oldest, "likelihood": least_likely},
    "layer": {"oldest": whole_layer, "likelihood": whole_layer},
}
