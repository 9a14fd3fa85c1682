"""Particle Gibbs in plain Python: the posterior of the exact recursion, and planted errors that are found."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from oracle import assert_mean
from particletree import Categorical, TreePrior
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree.reference import gibbs as reference_gibbs
from particletree.reference.filter import Draw, Problem, Rows, propose_with_lookahead
from particletree.reference.gibbs import particle_gibbs
from particletree.reference.rules import Rule
from particletree.reference.weights import multinomial

X, Y = np.array([[0.0], [1.0], [3.0]]), [0, 1, 1]
PRIOR, LEAF = TreePrior(alpha=0.8, beta=0.5), Categorical(0.5)
PROBLEM = Problem(X, 2.0 * np.eye(2)[Y], PRIOR, LEAF)  # every row twice
EXPECTED = ExactRecursion(make_training_data(X, Y, 2, [2.0] * 3), PRIOR, LEAF).n_leaves_probabilities()


def check(proposal: str) -> None:
    """Compare the shares of trees with 1, 2, 3 leaves over independent chains; resample in every stage."""
    shares = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chain = particle_gibbs(PROBLEM, n_particles=3, proposal=proposal, n_candidates=1, ess_threshold=1.0, rng=rng)
        leaves = [len(tree.leaves()) for tree in islice(chain, 80)][10:]
        shares.append(np.bincount(leaves, minlength=4) / len(leaves))
    for m, share in enumerate(np.transpose(shares)[1:], start=1):
        assert_mean(share, float(EXPECTED[m]), f"{m} leaves, {proposal}")


@pytest.mark.parametrize("proposal", ["prior", "optimal", "lookahead"])
def test_agrees_with_the_exact_posterior(proposal: str) -> None:
    check(proposal)


def without_increment(problem: Problem, rows: Rows, s: float, rng: Generator, taken: Rule | None) -> Draw:
    return taken, 0.0


def without_its_rule(
    problem: Problem, rows: Rows, s: float, rng: Generator, taken: Rule | None, n_candidates: int
) -> Draw:
    _, log_total = propose_with_lookahead(problem, rows, s, rng, n_candidates)
    return taken, log_total


ERRORS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "the retained particle dies": ("prior", "survivors", multinomial),
    "no increment for the retained particle": ("prior", "replay_prior", without_increment),
    "the retained rule is not among the candidates": ("lookahead", "replay_lookahead", without_its_rule),
}


@pytest.mark.parametrize("error", ERRORS)
def test_a_planted_error_is_found(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal, function, wrong = ERRORS[error]
    monkeypatch.setattr(reference_gibbs, function, wrong)
    monkeypatch.setitem(reference_gibbs.REPLAYS, "prior", reference_gibbs.replay_prior)
    with pytest.raises(AssertionError, match="leaves"):
        check(proposal)


def test_an_unknown_proposal_is_refused() -> None:
    with pytest.raises(ValueError, match="proposal must be one of prior, optimal, lookahead"):
        next(particle_gibbs(PROBLEM, n_particles=2, proposal="empirical", rng=np.random.default_rng(0)))
