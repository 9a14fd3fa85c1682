"""Missing values and levels under a flat likelihood, which returns the prior, and trees that know their own prior.

The sizes of trees are compared with the exact recursion, and their roots with the rules that the oracle lists.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

import mixed_data
import oracle
from particletree import MCMC, SMC, Categorical, Exact, Flat, TreePrior, _kernel
from particletree._inference.exact.recursion import ExactRecursion
from particletree._model.validity import check_forest
from read_trees import read_rule, read_tree, up_to_coins

# Uneven on purpose: the evenly spread positions of the lookahead proposal meet its candidates, which take features in
# turn, in step if 10 / alpha is nearly a ratio of small integers. The counts are right on average then, and far apart.
PRIOR = TreePrior(alpha=0.8771, beta=0.7)
LIMITED = TreePrior(alpha=0.8771, beta=0.3, max_depth=3, min_samples_split=4)
FROM_THE_PRIOR = ["prior", "optimal", "lookahead"]  # under a flat likelihood, with equal weights
DATA = [*mixed_data.TWELVE, mixed_data.MANY_LEVELS, mixed_data.ELEVEN_LEVELS]
N_PARTICLES = 4000


def run_flat(data, prior, proposal, expansion="node", **settings):
    sampler = SMC.paper(proposal=proposal, expansion=expansion, **settings)
    return sampler.run(data.training_data(), prior, Flat(), seed=np.random.SeedSequence(1))


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("data", DATA, ids=str)
def test_evidence_of_a_flat_likelihood_is_one(data, proposal):
    posterior = run_flat(data, PRIOR, proposal, n_islands=200, n_particles=20, ess_threshold=0.5)
    if proposal in FROM_THE_PRIOR:
        np.testing.assert_allclose(posterior.log_evidences, 0.0, atol=1e-12)
    else:
        oracle.assert_mean(np.exp(posterior.log_evidences), 1.0, proposal)


@pytest.mark.parametrize("proposal", FROM_THE_PRIOR)
@pytest.mark.parametrize("prior", [PRIOR, LIMITED], ids=str)
@pytest.mark.parametrize("data", DATA, ids=str)
def test_trees_follow_the_prior_exactly(data, prior, proposal):
    posterior = run_flat(data, prior, proposal, n_islands=1, n_particles=N_PARTICLES)
    exact = ExactRecursion(data.training_data(), prior, Flat())
    copies = np.rint(N_PARTICLES * posterior.weights)
    for what, values, probabilities in (
        ("leaves", posterior.n_leaves, exact.n_leaves_probabilities()),
        ("depth", posterior.depths, exact.depth_probabilities()),
    ):
        counts = np.bincount(values, weights=copies, minlength=probabilities.size)
        oracle.assert_frequencies(counts, np.where(probabilities < 1e-12, 0, probabilities), what)
    check_roots(data, posterior.forest, copies)


def check_roots(data, forest, copies):
    """Compare how often each rule of all rows is taken with the probabilities that the oracle lists."""
    rows = range(len(data.X))
    varying = oracle.varying_features(data.X, rows)
    listed, counts = {}, {}
    for f in varying:
        for p, rule in oracle.list_rules(data.X, data.n_levels, rows, f):
            name = name_of(with_leaves(rule, data))
            listed[name] = listed.get(name, 0.0) + p / len(varying)
    for root, n in zip(forest.nodes[forest.roots], copies, strict=True):
        if root["feature"] >= 0:
            name = name_of(with_leaves(read_rule(root, data.n_levels), data))
            counts[name] = counts.get(name, 0.0) + n
    assert set(counts) <= set(listed)
    oracle.assert_frequencies([counts.get(name, 0.0) for name in listed], list(listed.values()), "rule of the root")


def name_of(rule):
    """Return what distinguishes rules: the rule itself, or, of sets of many levels, a few of them and their number."""
    if isinstance(rule, oracle.SetSplit) and len(rule.left_levels | rule.right_levels) > 6:
        levels = sorted(rule.left_levels | rule.right_levels)
        return (*(level in rule.left_levels for level in levels[:3]), len(rule.left_levels) // 3)
    return rule


def with_leaves(rule, data):
    left, right = (oracle.Leaf(side) for side in oracle.divide(data.X, rule, range(len(data.X))))
    return up_to_coins(replace(rule, left=left, right=right), data.X)


SAMPLERS = [
    *(
        SMC.paper(proposal=p, expansion=e, n_islands=3, n_particles=30)
        for p in _kernel.PROPOSALS
        for e in ("node", "layer")
    ),
    MCMC(n_iterations=3000, n_chains=2, burn_in=200, thin=20),
    Exact(n_draws=50),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
@pytest.mark.parametrize("data", [*mixed_data.TWELVE, mixed_data.MANY_LEVELS], ids=str)
def test_trees_are_valid_and_know_their_prior_likelihood_and_gaps(data, sampler):
    posterior = sampler.run(data.training_data(), LIMITED, Categorical(1.5), seed=np.random.SeedSequence(3))
    posterior.check()
    forest = posterior.forest
    check_forest(forest, n_features=data.X.shape[1])
    for t in range(min(forest.n_trees, 25)):
        tree = read_tree(forest, t, data.X, data.n_levels)
        expected = oracle.log_prior_density(data.X, LIMITED, tree, data.n_levels)
        assert posterior.log_priors[t] == pytest.approx(expected, abs=1e-10)
        likelihood = oracle.likelihood(data, tree, 1.5)
        assert math.exp(posterior.log_likelihoods[t]) == pytest.approx(likelihood, rel=1e-9)
        volumes = sum(math.log(high - low) for low, high in gaps(up_to_coins(tree, data.X)))
        assert forest.log_gap_volumes[t] == pytest.approx(volumes, abs=1e-9)


def gaps(tree):
    """Return the gaps of the cuts of a listed tree."""
    if isinstance(tree, oracle.Leaf):
        return []
    below = gaps(tree.left) + gaps(tree.right)
    return below if isinstance(tree, oracle.SetSplit) or tree.low == math.inf else [(tree.low, tree.high), *below]
