"""A flat likelihood returns the prior."""

import numpy as np
import pytest
from scipy.stats import beta

import oracle
from particletree import MCMC, SMC, Exact, Flat, TreePrior, _kernel
from particletree._data import make_training_data
from particletree._inference.exact.recursion import ExactRecursion


def run_flat(X, prior, seed, **settings):
    data = make_training_data(X, np.arange(len(X)) % 3, 3)
    return data, SMC.paper(**settings).run(data, prior, Flat(), seed=np.random.SeedSequence(seed))


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_evidence_of_a_flat_likelihood_is_one(proposal):
    _, posterior = run_flat(
        oracle.THREE_CLASSES.X, TreePrior.paper(), 0, n_islands=400, proposal=proposal, ess_threshold=0.5
    )
    if proposal in ("optimal", "lookahead"):  # prior times a constant: every weight is 1
        np.testing.assert_allclose(posterior.log_evidences, 0.0, atol=1e-12)
    else:
        oracle.assert_mean(np.exp(posterior.log_evidences), 1.0, proposal)


@pytest.mark.parametrize("proposal", ["prior", "optimal", "lookahead"])
@pytest.mark.parametrize("expansion", ["node", "layer"])
@pytest.mark.parametrize("alpha_beta", [(0.95, 0.5), (0.6, 1.5)])
def test_leaves_and_depths_follow_the_prior_exactly(alpha_beta, expansion, proposal):
    # Under a flat likelihood these proposals draw from the prior with equal weights. Particles are independent draws,
    # but for those of the lookahead proposal, which are spread more evenly.
    prior = TreePrior(*alpha_beta)
    data, posterior = run_flat(
        oracle.THREE_CLASSES.X, prior, 1, n_islands=1, n_particles=20_000, proposal=proposal, expansion=expansion
    )
    exact = ExactRecursion(data, prior, Flat())
    copies = np.rint(20_000 * posterior.weights)
    for what, values, probabilities in (
        ("leaves", posterior.n_leaves, exact.n_leaves_probabilities()),
        ("depth", posterior.depths, exact.depth_probabilities()),
    ):
        counts = np.bincount(values, weights=copies, minlength=probabilities.size)
        oracle.assert_frequencies(counts, np.where(probabilities < 1e-12, 0, probabilities), what)


def test_the_prior_on_many_rows_agrees_with_growing_trees_by_hand():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80), rng.integers(0, 4, 80), rng.exponential(size=80)])
    prior = TreePrior(0.9, 0.6)
    by_hand = [oracle.draw_tree_from_prior(X, prior, rng) for _ in range(3000)]
    _, posterior = run_flat(X, prior, 2, n_islands=1, n_particles=30_000)
    for values, measure in ((posterior.n_leaves, oracle.n_leaves), (posterior.depths, oracle.tree_depth)):
        expected = float(posterior.weights @ values)
        oracle.assert_mean([measure(tree) for tree in by_hand], expected, measure.__name__)


def test_the_papers_prior_on_unlimited_data():
    # A branching process, solved: the paper gives a mean depth of 5.1 and 18.5 nodes, it is 5.095 and 18.28.
    s = [TreePrior(0.95, 0.5).split_probability(depth) for depth in range(200)]

    def at_most(height):
        below = 1 - s[height]
        for split in reversed(s[:height]):
            below = 1 - split + split * below**2
        return below

    assert sum(1 - at_most(height) for height in range(199)) == pytest.approx(5.1, abs=0.05)
    assert 1 + np.cumprod(2 * np.array(s)).sum() == pytest.approx(18.28, abs=0.005)


def test_the_prior_on_many_rows_comes_close_to_that_on_unlimited_data():
    # Blocks run out of rows, so trees stay smaller; by how little falls with the number of rows.
    sizes = []
    for n_rows in (500, 50_000):
        X = np.random.default_rng(1).uniform(size=(n_rows, 2))
        _, posterior = run_flat(X, TreePrior(0.95, 0.5), 3, n_islands=1, n_particles=2000)
        sizes.append(posterior.weights @ (2 * posterior.n_leaves - 1))
    assert sizes[0] < sizes[1] < 18.28
    assert sizes[1] > 16.5


def test_a_single_class_says_nothing_about_the_tree():
    rng = np.random.default_rng(2)
    data = make_training_data(rng.normal(size=(30, 2)), np.zeros(30, dtype=int), 1)
    posterior = SMC.paper(n_particles=500).run(data, TreePrior.paper(), leaf=Flat(), seed=np.random.SeedSequence(0))
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("sampler", [SMC.paper(n_particles=50), MCMC(n_iterations=200), Exact(n_draws=50)], ids=repr)
def test_a_flat_leaf_predicts_the_prior_whatever_the_labels(sampler):
    X, labels = np.arange(12.0)[:, None], [0] * 9 + [1] * 2 + [2]
    data = make_training_data(X, labels, 3)
    posterior = sampler.run(data, TreePrior.paper(), Flat(3.0), seed=np.random.SeedSequence(0))
    np.testing.assert_allclose(posterior.predictive(X), 1 / 3)
    ends = beta(1.0, 2.0).ppf([0.05, 0.95])
    np.testing.assert_allclose(posterior.predictive_interval(X), np.broadcast_to(ends, (12, 3, 2)), atol=1e-9)
    assert "p = 0.33" in str(posterior.best_tree())
