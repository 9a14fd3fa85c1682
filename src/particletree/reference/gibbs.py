r"""Particle Gibbs in plain Python: the executable specification of the conditional filter.

The conditional filter (Andrieu, Doucet & Holenstein 2010; for trees Lakshminarayanan, Roy & Teh 2015) is Algorithm 1
(``filter.py``) with one *retained* particle, here the first, which replays a given tree T:

1. in every stage the retained particle takes T's decision on the leaf that it considers, and its weight is multiplied
   by the same factor as that of any particle with this decision;
2. the retained particle survives every resampling; the other M - 1 places are drawn by the weights, its own included;
3. the new tree is drawn by the final weights.

If T has the posterior distribution, so has the new tree, for any M. The reason is that all other particles are drawn
from their distribution in the filter *given* that one of them has made T, and that a filter's final draw is from the
posterior if runs are weighted by the estimate of the evidence. So a proposal that chooses among random rules must draw
them given the retained decision: if the particle splits, its rule is one of them.

The kernel (``kernel/retained.h``) does the same on the rows of one block of a tree, for all proposals, with rules that
are shared between particles, and draws the new tree by Liu's rule (1996), which moves more often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.random import Generator

from particletree.reference.filter import (
    PROPOSALS,
    Draw,
    Particle,
    Problem,
    Proposal,
    Rows,
    choose,
    draw_rule,
    extend,
    named,
    oldest,
    propose_optimally,
    propose_with_lookahead,
)
from particletree.reference.rules import Rule
from particletree.reference.weights import Floats, effective_sample_size, multinomial, normalised

Replay = Callable[..., Draw]  # a proposal conditional on the decision taken


def particle_gibbs(
    problem: Problem,
    *,
    n_particles: int,
    proposal: str = "prior",
    n_candidates: int = 10,
    ess_threshold: float = 0.5,
    rng: Generator,
) -> Iterator[Particle]:
    """Yield the trees of a Markov chain that starts with a single leaf and regrows the whole tree in every step.

    Parameters
    ----------
    problem : Problem
        The data and the model.
    n_particles : int
        The number of particles M, including the retained one; at least 2.
    proposal : {"prior", "optimal", "lookahead"}
        How a candidate is stopped or split.
    n_candidates : int
        The number of rules C that the proposal "lookahead" chooses among.
    ess_threshold : float
        Resample when the effective sample size is below this fraction of the particles.
    rng : numpy.random.Generator
        The only source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree import Categorical, TreePrior
    >>> from particletree.reference import Problem
    >>> from particletree.reference.gibbs import particle_gibbs
    >>> X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    >>> problem = Problem(X, row_statistics=np.eye(2)[y], prior=TreePrior.paper(), leaf=Categorical(1.0))
    >>> chain = particle_gibbs(problem, n_particles=3, rng=np.random.default_rng(1))
    >>> [len(next(chain).leaves()) for _ in range(8)]
    [3, 3, 3, 2, 3, 2, 2, 2]
    """
    replay, propose = named(REPLAYS, "proposal", proposal), PROPOSALS[proposal]
    if proposal == "lookahead":
        propose = partial(propose_with_lookahead, n_candidates=n_candidates)
        replay = partial(replay_lookahead, n_candidates=n_candidates)
    tree = single_leaf(problem)
    while True:
        tree = regrow(problem, tree, n_particles, propose, replay, ess_threshold, rng)
        yield tree


def single_leaf(problem: Problem) -> Particle:
    """Return the initial particle, a single eligible leaf."""
    return Particle(rows={"": np.arange(len(problem.X))}, rules={}, eligible=[""])


def regrow(
    problem: Problem,
    tree: Particle,
    n_particles: int,
    propose: Proposal,
    replay: Replay,
    ess_threshold: float,
    rng: Generator,
) -> Particle:
    """Run the conditional filter given a tree, and return a tree drawn by the final weights."""
    particles = [single_leaf(problem)] * n_particles
    log_weights = np.zeros(n_particles)
    while any(particle.eligible for particle in particles):
        for m, particle in enumerate(particles):
            candidates = oldest(problem, particle)
            decide = propose
            if m == 0 and candidates:
                decide = partial(replay, taken=tree.rules.get(candidates[0]))
            particles[m], log_factor = extend(problem, particle, candidates, decide, rng)
            log_weights[m] += log_factor
        if effective_sample_size(log_weights) < ess_threshold * n_particles:
            particles = [particles[j] for j in survivors(normalised(log_weights), rng)]
            log_weights = np.zeros(n_particles)
    return particles[rng.choice(n_particles, p=normalised(log_weights))]


def survivors(weights: Floats, rng: Generator) -> Rows:
    """Return the indices of the survivors: the retained particle, and M - 1 independent draws."""
    drawn = multinomial(weights, rng)
    drawn[0] = 0
    return drawn


def replay_prior(problem: Problem, rows: Rows, s: float, rng: Generator, taken: Rule | None) -> Draw:
    """Return the decision taken, with the likelihood ratio."""
    return taken, 0.0 if taken is None else problem.log_ratio(rows, taken)


def replay_optimal(problem: Problem, rows: Rows, s: float, rng: Generator, taken: Rule | None) -> Draw:
    """Return the decision taken, with the sum over all decisions, which does not depend on it."""
    _, log_total = propose_optimally(problem, rows, s, rng)
    return taken, log_total


def replay_lookahead(
    problem: Problem, rows: Rows, s: float, rng: Generator, taken: Rule | None, n_candidates: int = 10
) -> Draw:
    """Return the decision taken, with the sum over rules from the prior; the one that was taken is among them."""
    rules = [draw_rule(problem, rows, rng) for _ in range(n_candidates)]
    if taken is not None:
        rules[0] = taken
    _, log_total = choose(problem, rows, s, rules, [s / n_candidates] * n_candidates, rng)
    return taken, log_total


REPLAYS: dict[str, Replay] = {"prior": replay_prior, "optimal": replay_optimal, "lookahead": replay_lookahead}
