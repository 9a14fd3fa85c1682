"""Priors against the oracle: weights of the features, and a prior from outside the package (tests/extension).

The recursion is held to a list of all trees, and every sampler to the recursion (``against_exact.py`` compares).
"""

from functools import cache

import numpy as np
import pytest

import mixed_data
import oracle
import sum_oracle
from extension.by_rows import ByRows
from particletree import MCMC, SMC, Categorical, Exact, ParticleGibbs, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion
from particletree.reference import Problem, particle_filter
from statistical import test_sums_against_exact as sums
from statistical.against_exact import Exact as ExactAnswers
from statistical.against_exact import check_chains, check_evidence, check_islands, check_with_patience
from sum_oracle import SumModel

LEAF = Categorical(concentration=1.5)
PRIORS = [
    pytest.param(TreePrior(0.9, 0.7, feature_weights=(5.0, 1.0)), id="weights 5 to 1"),
    pytest.param(TreePrior(0.9, 0.7, feature_weights=(0.0, 1.0)), id="one feature left out"),
    pytest.param(TreePrior(0.9, 0.7, max_depth=3, min_samples_split=3, feature_weights=(1.0, 3.0)), id="with limits"),
]
LISTED = [*PRIORS, ByRows(3.0), ByRows(6.0, feature_weights=(1.0, 4.0))]
MIXED = mixed_data.TWELVE_MIXED
OF_MIXED = tuple(float(1 + 3 * feature) for feature in range(MIXED.X.shape[1]))


@cache
def answers_of(number):
    prior = [*PRIORS][number].values[0]
    data = oracle.TWELVE[number % len(oracle.TWELVE)]
    training = make_training_data(data.X, data.y, data.n_classes, data.weights)
    return ExactAnswers(training, LEAF, data.points(), prior)


def answers(prior):
    return answers_of(next(i for i, each in enumerate(PRIORS) if each.values[0] is prior))


@pytest.mark.parametrize("prior", LISTED)
@pytest.mark.parametrize("data", [oracle.SIX_ROWS, oracle.DUPLICATED_ROWS, oracle.WEIGHTED_ROWS], ids=str)
def test_the_recursion_agrees_with_a_list_of_all_trees(data, prior):
    listed = oracle.Enumeration(data, prior, 1.5)
    assert sum(listed.prior_probabilities) == pytest.approx(1.0, rel=1e-12)
    training = make_training_data(data.X, data.y, data.n_classes, data.weights)
    recursion = ExactRecursion(training, prior, LEAF)
    assert recursion.log_evidence == pytest.approx(np.log(listed.evidence), rel=1e-12)
    np.testing.assert_allclose(
        recursion.n_leaves_probabilities()[: len(listed.n_leaves_probabilities())],
        listed.n_leaves_probabilities(),
        atol=1e-12,
    )


@pytest.mark.parametrize("data", mixed_data.SMALL[2:5], ids=str)
def test_the_recursion_agrees_with_a_list_of_all_trees_of_mixed_columns(data):
    weights = tuple(float(2 + feature) if feature else 0.5 for feature in range(data.X.shape[1]))
    prior = TreePrior(0.9, 0.7, feature_weights=weights)
    recursion = ExactRecursion(data.training_data(), prior, LEAF)
    assert recursion.log_evidence == pytest.approx(np.log(oracle.Enumeration(data, prior, 1.5).evidence), rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_candidates", [1, 3, 10])
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_filters(proposal, n_candidates, prior):
    if proposal != "lookahead" and n_candidates > 1:
        pytest.skip("the proposal has no candidates")
    exact = answers(prior)
    sampler = SMC.paper(n_islands=1000, n_particles=10, ess_threshold=0.5, proposal=proposal, n_candidates=n_candidates)
    check_islands(sampler.run(exact.data, prior, LEAF, seed=np.random.SeedSequence(3)), exact, proposal)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_filters_on_mixed_columns(proposal):
    prior = TreePrior(0.9, 0.7, feature_weights=OF_MIXED)
    exact = ExactAnswers(MIXED.training_data(), LEAF, MIXED.points(), prior)
    sampler = SMC.paper(n_islands=1000, n_particles=10, ess_threshold=0.5, proposal=proposal, n_candidates=2)
    check_islands(sampler.run(exact.data, prior, LEAF, seed=np.random.SeedSequence(4)), exact, proposal)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("moves", [(0.5, 0.5, 0.0, 0.0), (0.2, 0.2, 0.6, 0.0), (0.2, 0.2, 0.0, 0.6)], ids=str)
def test_chains(moves, prior):
    exact = answers(prior)

    def check(n_iterations, seed):
        sampler = MCMC(n_iterations=n_iterations, n_chains=40, burn_in=500, thin=20, move_weights=moves)
        posterior = sampler.run(exact.data, prior, LEAF, seed=np.random.SeedSequence(seed), n_jobs=2)
        check_chains(posterior, exact, str(moves))

    check_with_patience(check, 20_000)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_candidates", [1, 4])
@pytest.mark.parametrize("proposal", ["prior", "optimal", "lookahead"])
def test_particle_gibbs(proposal, n_candidates, prior):
    if proposal != "lookahead" and n_candidates > 1:
        pytest.skip("the proposal has no candidates")
    exact = answers(prior)
    sampler = ParticleGibbs(
        n_iterations=3000,
        n_chains=40,
        burn_in=100,
        thin=2,
        proposal=proposal,
        n_candidates=n_candidates,
        n_particles=3,
        regrow_share=0.8,
    )
    check_chains(sampler.run(exact.data, prior, LEAF, seed=np.random.SeedSequence(6), n_jobs=2), exact, proposal)


@pytest.mark.parametrize("prior", PRIORS)
def test_log_priors_of_trees_are_the_density_of_the_oracle(prior):
    data = oracle.TWELVE[0]
    training = make_training_data(data.X, data.y, data.n_classes, data.weights)
    for sampler in (
        SMC.paper(n_particles=20, n_islands=2, proposal="optimal"),
        MCMC(n_iterations=300, n_chains=2),
        Exact(),
    ):
        posterior = sampler.run(training, prior, LEAF, seed=np.random.SeedSequence(7))
        posterior = posterior if isinstance(sampler, (SMC, MCMC)) else posterior.draws()
        for tree, log_prior in zip(posterior.trees[:50], posterior.log_priors[:50], strict=True):
            expected = oracle.log_prior_density(data.X, prior, oracle.read_tree(tree, data.X))
            assert log_prior == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("moves", ["grow, prune and change", "regrow, lookahead, 3 particles"])
def test_sums(moves):
    model = SumModel(TreePrior(0.8, 0.7, feature_weights=(4.0, 1.0)), 1, leaf_sd=0.4, noise_sd=0.25)
    sums.check(sum_oracle.SEVEN, model, sums.MOVES[moves])


@pytest.mark.parametrize("proposal", ["prior", "optimal", "lookahead"])
def test_the_reference_filter(proposal):
    prior, data = ByRows(6.0, feature_weights=(1.0, 4.0)), oracle.SIX_ROWS
    training = make_training_data(data.X, data.y, data.n_classes)
    exact = ExactRecursion(training, prior, LEAF)
    problem = Problem(data.X, np.eye(data.n_classes)[data.y], prior, LEAF)
    ratios = [
        np.exp(
            particle_filter(
                problem, n_particles=4, proposal=proposal, rng=np.random.default_rng([8, seed])
            ).log_evidence
            - exact.log_evidence
        )
        for seed in range(200)
    ]
    oracle.assert_mean(ratios, 1.0, f"evidence, {proposal}")


def test_a_wrong_weight_would_show():
    exact = answers(PRIORS[0].values[0])
    sampler = SMC.paper(n_islands=1000, n_particles=10, ess_threshold=0.5, proposal="lookahead")
    wrong = sampler.run(exact.data, TreePrior(0.9, 0.7), LEAF, seed=np.random.SeedSequence(3))
    with pytest.raises(AssertionError, match="z = "):
        check_evidence(wrong, exact, "equal weights")
