"""Particle Gibbs in plain Python: the posterior of the exact recursion, and planted errors that are found."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from oracle import assert_mean
from particletree import Categorical, TreePrior, reference_gibbs
from particletree.data import make_training_data
from particletree.inference.recursion import ExactRecursion
from particletree.reference import Problem, propose_with_lookahead
from particletree.reference_gibbs import particle_gibbs
from particletree.reference_weights import multinomial, systematic

X, Y = np.array([[0.0], [1.0], [3.0]]), [0, 1, 1]
PRIOR, LEAF = TreePrior(alpha=0.8, beta=0.5), Categorical(0.5)
PROBLEM = Problem(X, np.eye(2)[Y], PRIOR, LEAF)
EXPECTED = ExactRecursion(make_training_data(X, Y, 2), PRIOR, LEAF).n_leaves_probabilities()


def check(proposal: str, ess_threshold: float, n_particles: int = 2) -> None:
    """Compare the shares of trees with 1, 2, 3 leaves over independent chains."""
    shares = []
    for seed in range(20):
        settings = {"n_particles": n_particles, "proposal": proposal, "ess_threshold": ess_threshold}
        chain = particle_gibbs(PROBLEM, n_candidates=2, rng=np.random.default_rng([16, seed]), **settings)
        leaves = [len(tree.leaves()) for tree in islice(chain, 100)][10:]
        shares.append(np.bincount(leaves, minlength=4) / len(leaves))
    for m, share in enumerate(np.transpose(shares)[1:], start=1):
        assert_mean(share, float(EXPECTED[m]), f"{m} leaves, {proposal}")


@pytest.mark.parametrize(("proposal", "ess_threshold"), [("prior", 1.0), ("optimal", 0.0), ("lookahead", 1.0)])
def test_agrees_with_the_exact_posterior(proposal: str, ess_threshold: float) -> None:
    check(proposal, ess_threshold)


def not_kept(weights, rng):
    return multinomial(weights, rng)


def systematic_with_the_retained_first(weights, rng):
    drawn = systematic(weights, rng)
    drawn[0] = 0
    return drawn


def without_increment(problem, rows, s, rng, taken):
    return taken, 0.0


def without_its_rule(problem, rows, s, rng, taken, n_candidates=2):
    _, log_total = propose_with_lookahead(problem, rows, s, rng, n_candidates)
    return taken, log_total


ERRORS = {
    "the retained particle dies": ("prior", "survivors", not_kept),
    "resampling that tells which one is retained": ("prior", "survivors", systematic_with_the_retained_first),
    "no increment for the retained particle": ("prior", "replay_prior", without_increment),
    "the retained rule is not among the candidates": ("lookahead", "replay_lookahead", without_its_rule),
}


@pytest.mark.parametrize("error", ERRORS)
def test_a_planted_error_is_found(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal, function, wrong = ERRORS[error]
    monkeypatch.setattr(reference_gibbs, function, wrong)
    monkeypatch.setitem(reference_gibbs.REPLAYS, "prior", reference_gibbs.replay_prior)
    with pytest.raises(AssertionError, match="leaves"):
        check(proposal, ess_threshold=1.0)


def test_an_unknown_proposal_is_refused() -> None:
    with pytest.raises(ValueError, match="proposal must be one of prior, optimal, lookahead"):
        next(particle_gibbs(PROBLEM, n_particles=2, proposal="empirical", rng=np.random.default_rng(0)))
