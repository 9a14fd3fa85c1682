r"""The paper's Algorithm 1 in plain Python: the executable specification.

This module is for reading, and for testing the fast kernel. It follows the text of Lakshminarayanan, Roy & Teh (2013)
line by line, with the paper's own objects: a particle is the tuple (T, kappa, tau, E) of section 3, kept in
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

The likelihood g of the targets is a product over leaves, so a stop does not change it and a split multiplies it by

.. math:: r = \ell(Y_\text{left}) \, \ell(Y_\text{right}) \, / \, \ell(Y_\text{block}).

**The proposals.** Let s be the prior probability that the block splits and D the set of features that vary in it. A
*division* is a way to divide the block, with the prior probability p of its rules, given the feature: for a gap between
two adjacent numbers its share of the range (``rules.py``). A block where nothing varies, or that the prior
does not allow to split, stops without a change of the weight; for the others:

=========  ==================================================  =================================================
proposal   draws                                               factor of the weight
=========  ==================================================  =================================================
prior      stop or split by s; a feature of D, its rule        stop: 1, split: r
           from the prior
empirical  as prior, but a cut in a gap that is uniform among  stop: 1, split: r * gap * (number of gaps) / range
           the gaps of the feature                             for a cut, else r
optimal    stop, or a (feature, division), in proportion to    (1 - s) + s * mean over D of the sum over
           prior * likelihood; a rule of the division          divisions of p * r, whatever was drawn
lookahead  C rules as prior; then stop with weight 1 - s, or   (1 - s) + s * mean of r over the C rules
           one of them, each with weight s * r / C
=========  ==================================================  =================================================

**The evidence.** Weights are carried through, never reset to one: resampling gives every particle the mean weight
:math:`W_i / M`. So the mean weight after the last stage is itself the estimate of p(Y | X), and an unbiased one.

Two details that the paper leaves open: "adjacent data points" means adjacent distinct values, so that ties leave no gap
of length zero; and the ESS threshold is a fraction of the number of particles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from particletree._model.leaf import LeafModel
from particletree._model.prior import Prior
from particletree.reference.rules import FeatureRules, LevelRules, NumberRules, QuestionRules, Rule
from particletree.reference.weights import RESAMPLING, effective_sample_size, log_mean, normalised

__all__ = ["Problem", "Result", "particle_filter", "predictive"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Option = TypeVar("Option")


@dataclass(frozen=True)
class Problem:
    """The data and the model, the input of every step.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        The input vectors: numbers, nan for missing, or numbers of levels.
    row_statistics : array of shape (n_rows, n_statistics)
        The contribution of each row's target to the statistics of a block (``_model/leaf.py``); for class labels a one
        in the column of its class.
    prior, leaf : Prior, LeafModel
        The model.
    n_levels : tuple of int
        The number of levels of each categorical feature, 0 for numbers; empty if all features are numbers. The number
        after the last level encodes missing values, the next one levels that the data do not have.
    """

    X: Floats
    row_statistics: Floats
    prior: Prior
    leaf: LeafModel
    n_levels: tuple[int, ...] = ()

    def statistics(self, rows: Rows) -> Floats:
        """Return the statistics of some rows, the sums of their contributions."""
        return np.asarray(self.row_statistics[rows].sum(axis=0))

    def log_marginal(self, rows: Rows) -> float:
        """Return the log of l(Y_rows), equation 3."""
        return float(self.leaf.log_marginal(self.statistics(rows)))

    def log_ratio(self, rows: Rows, rule: Rule) -> float:
        """Return log r, the log ratio of the likelihoods after and before splitting the block."""
        left = rule.goes_left(self.X[rows])
        return self.log_marginal(rows[left]) + self.log_marginal(rows[~left]) - self.log_marginal(rows)

    def varying_features(self, rows: Rows) -> list[int]:
        """Return D, the features that take more than one value in the block; missing counts as a value.

        A feature of weight 0 is never used.
        """
        columns = enumerate(self.X[rows].T)
        return [feature for feature, x in columns if np.unique(x).size > 1 and self.prior.weight(feature) > 0]

    def can_split(self, rows: Rows, depth: int) -> bool:
        """Tell whether a block may split: its rows are not all identical, and the prior's limits allow it."""
        return self.prior.allows_split(depth, len(rows)) and len(self.varying_features(rows)) > 0

    def mass(self, rows: Rows) -> float:
        """Return the mass of the questions that separate the rows, if the prior has a measure; else 0."""
        return sum(self.feature_mass(rows, feature) for feature in self.varying_features(rows))

    def feature_mass(self, rows: Rows, feature: int) -> float:
        """Return the mass of the questions on one feature."""
        if self.prior.measure is None:
            return 0.0
        return sum(division.probability for division in self.rules(rows, feature).divisions())

    def split_probability(self, rows: Rows, depth: int) -> float:
        """Return the prior probability s that a block splits, given that it can."""
        return self.prior.split_probability(depth, len(rows), self.mass(rows))

    def rules(self, rows: Rows, feature: int) -> FeatureRules:
        """Return the rules of a feature that varies in the block."""
        n_levels = self.n_levels[feature] if self.n_levels else 0
        values = self.X[rows, feature]
        if self.prior.measure is not None:
            return QuestionRules(feature, values, n_levels, self.prior.measure)
        return LevelRules(feature, values, n_levels) if n_levels else NumberRules(feature, values)


@dataclass(frozen=True)
class Particle:
    """A partial tree: the rows N(p) of each node, the rule (kappa, tau) of each split, the eligible leaves E."""

    rows: dict[str, Rows]
    rules: dict[str, Rule]
    eligible: list[str]

    def leaves(self) -> list[str]:
        """Return the names of the leaves, stopped or eligible."""
        return [node for node in self.rows if node not in self.rules]

    def leaf_of(self, x: Floats) -> str:
        """Return the name of the leaf whose block contains the point `x`."""
        node = ""
        while node in self.rules:
            node += "0" if self.rules[node].goes_left(x) else "1"
        return node

    def stop(self, node: str) -> Particle:
        """Return the particle with a leaf stopped: it will not be considered again."""
        return Particle(self.rows, self.rules, [other for other in self.eligible if other != node])

    def split(self, node: str, rule: Rule, X: Floats) -> Particle:
        """Return the particle with a leaf split; its children are appended to the queue of eligible leaves."""
        rows = self.rows[node]
        left = rule.goes_left(X[rows])
        children = {node + "0": rows[left], node + "1": rows[~left]}
        return Particle(self.rows | children, self.rules | {node: rule}, [*self.stop(node).eligible, *children])

    def __str__(self) -> str:
        return "\n".join(self._describe(node) for node in sorted(self.rows))

    def _describe(self, node: str) -> str:
        side = {"": "", "0": "yes: ", "1": "no: "}[node[-1:]]
        leaf = f"leaf of rows {', '.join(map(str, self.rows[node]))}"
        return "  " * len(node) + side + str(self.rules.get(node, leaf))


Draw = tuple[Rule | None, float]  # what a proposal draws (None: stop), and the log factor of the weight
Proposal = Callable[[Problem, Rows, float, Generator], Draw]


@dataclass(frozen=True)
class Result:
    """The result of the filter: the log of the estimated evidence, and the weighted trees."""

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
        The number of rules C that the proposal "lookahead" chooses among.
    expansion : {"node", "layer"}
        Whether a stage considers one eligible leaf or all of them.
    priority : {"oldest", "likelihood"}
        Which leaf a stage of expansion "node" considers: the oldest, or the one with the lowest block marginal.
    resampling : {"multinomial", "systematic", "stratified", "residual"}
        The resampling scheme.
    ess_threshold : float
        Resample when the effective sample size is below this fraction of the particles.
    max_stages : int
        Stop after this many stages; if leaves are still eligible, the evidence is that of the truncated prior.
    rng : numpy.random.Generator
        The only source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree import Categorical, TreePrior
    >>> from particletree.reference import Problem, particle_filter, predictive
    >>> X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    >>> problem = Problem(X, row_statistics=np.eye(2)[y], prior=TreePrior.paper(), leaf=Categorical(1.0))
    >>> result = particle_filter(problem, n_particles=200, proposal="optimal", rng=np.random.default_rng(8))
    >>> print(result.particles[0])
    x[0] <= 3.36565?
      yes: leaf of rows 0, 1
      no: leaf of rows 2
    >>> predictive(result, [[0.5], [3.0]]).round(2)
    array([[0.77, 0.23],
           [0.43, 0.57]])
    """
    propose = named(PROPOSALS, "proposal", proposal)
    if proposal == "lookahead":
        propose = partial(propose_with_lookahead, n_candidates=n_candidates)
    choose_candidates = named(named(CANDIDATES, "expansion", expansion), "priority", priority)
    resample = named(RESAMPLING, "resampling", resampling)

    root = np.arange(len(problem.X))
    particles = [Particle(rows={"": root}, rules={}, eligible=[""]) for _ in range(n_particles)]
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
    """Return the predictive means (class probabilities) of new rows: those of the leaves, weighted by the trees."""
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
    """Return the option of this name; the error for an unknown name lists all names."""
    if name not in options:
        raise ValueError(f"{what} must be one of {', '.join(options)}, got {name!r}.")
    return options[name]


def extend(
    problem: Problem, particle: Particle, candidates: list[str], propose: Proposal, rng: Generator
) -> tuple[Particle, float]:
    """Sample T_i from Q_i(. | T_(i-1)), the candidates in turn; return it with the log factor of its weight."""
    log_factor = 0.0
    for node in candidates:
        rows, s = particle.rows[node], problem.split_probability(particle.rows[node], len(node))
        can_split = s > 0 and problem.can_split(rows, depth=len(node))
        rule, log_increment = propose(problem, rows, s, rng) if can_split else (None, 0.0)
        particle = particle.stop(node) if rule is None else particle.split(node, rule, problem.X)
        log_factor += log_increment
    return particle, log_factor


def oldest(problem: Problem, particle: Particle) -> list[str]:
    """Return the oldest eligible leaf, the first of the queue."""
    return particle.eligible[:1]


def least_likely(problem: Problem, particle: Particle) -> list[str]:
    """Return the eligible leaf with the lowest marginal likelihood; of equal ones the oldest (`sorted` is stable)."""
    return sorted(particle.eligible, key=lambda node: problem.log_marginal(particle.rows[node]))[:1]


def whole_layer(problem: Problem, particle: Particle) -> list[str]:
    """Return all eligible leaves."""
    return list(particle.eligible)


def propose_from_prior(problem: Problem, rows: Rows, s: float, rng: Generator) -> Draw:
    """Draw stop or split from the prior. P and Q cancel, and the likelihood ratio remains."""
    if rng.random() >= s:
        return None, 0.0
    rule = draw_rule(problem, rows, rng)
    return rule, problem.log_ratio(rows, rule)


def draw_rule(problem: Problem, rows: Rows, rng: Generator) -> Rule:
    """Draw a rule from the prior: a feature of D, and one of its rules."""
    return draw_feature(problem, rows, rng).draw(rng)


def draw_feature(problem: Problem, rows: Rows, rng: Generator) -> FeatureRules:
    """Draw a feature of D, in proportion to the weights, and return its rules."""
    varying = problem.varying_features(rows)
    p = list(feature_probabilities(problem, rows).values()) if problem.prior.has_weights else None
    return problem.rules(rows, int(rng.choice(varying, p=p)))


def feature_probabilities(problem: Problem, rows: Rows) -> dict[int, float]:
    """Return the prior probability of each feature of D, given that the block splits."""
    varying = problem.varying_features(rows)
    if problem.prior.measure is not None:
        mass = problem.mass(rows)
        return {feature: problem.feature_mass(rows, feature) / mass for feature in varying}
    return {feature: math.exp(problem.prior.log_feature(feature, varying)) for feature in varying}


def propose_empirically(problem: Problem, rows: Rows, s: float, rng: Generator) -> Draw:
    """Draw stop or split from the prior, but the gap of a cut uniformly, without regard to its length."""
    if rng.random() >= s:
        return None, 0.0
    rule, log_correction = draw_feature(problem, rows, rng).draw_empirically(rng)
    return rule, problem.log_ratio(rows, rule) + log_correction


def propose_optimally(problem: Problem, rows: Rows, s: float, rng: Generator) -> Draw:
    """Draw among stopping and all divisions by prior * likelihood (section 3.1); the weight's factor is their sum.

    Every division is represented by one of its rules, which all have the same r.
    """
    rules, shares = [], []
    for feature, p in feature_probabilities(problem, rows).items():
        divisions = list(problem.rules(rows, feature).divisions())
        total = 1.0 if problem.prior.measure is None else problem.feature_mass(rows, feature)
        rules += [division.draw(rng) for division in divisions]
        shares += [s * p * division.probability / total for division in divisions]
    return choose(problem, rows, s, rules, shares, rng)


def propose_with_lookahead(problem: Problem, rows: Rows, s: float, rng: Generator, n_candidates: int = 10) -> Draw:
    """Draw among stopping and some rules from the prior by their likelihood; the weight's factor is their sum.

    The mean of r over the rules is an unbiased estimate of the sum over all divisions in the optimal proposal. The
    paper suggests something between its proposals: few rules are close to the prior one, many to the optimal one.
    """
    rules = [draw_rule(problem, rows, rng) for _ in range(n_candidates)]
    return choose(problem, rows, s, rules, [s / n_candidates] * n_candidates, rng)


def choose(
    problem: Problem, rows: Rows, s: float, rules: Sequence[Rule], shares: Sequence[float], rng: Generator
) -> Draw:
    """Draw stopping, of share 1 - s, or a rule, by share * likelihood; return it with the log of the sum of these."""
    log_splits = [math.log(share) + problem.log_ratio(rows, rule) for rule, share in zip(rules, shares, strict=True)]
    log_choices = np.array([math.log(1 - s), *log_splits])
    choice = rng.choice(len(log_choices), p=normalised(log_choices))
    return (None if choice == 0 else rules[choice - 1]), float(np.logaddexp.reduce(log_choices))


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
