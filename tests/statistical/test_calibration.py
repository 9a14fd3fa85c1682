"""Simulation-based calibration (Talts et al. 2018): over data sets drawn from the model, the truth ranks uniformly
among draws from the posterior. A posterior that is too narrow, too wide or shifted piles ranks up somewhere.
"""

import numpy as np
import pytest
from scipy.stats import chisquare

import oracle
from particletree import SMC, Categorical, TreePrior, _kernel
from particletree._data import make_training_data

PRIOR = TreePrior(0.85, 1.0)
LEAF = Categorical(2.0)
N_DRAWS = 19
N_CLASSES = 3


def simulate(rng):
    """Draw data, and what is ranked: number of leaves, log-likelihood of the tree, class probability at a point."""
    X = np.column_stack([rng.normal(size=25), rng.integers(0, 5, 25)])
    point = X[rng.integers(25)]
    tree = oracle.draw_tree_from_prior(X, PRIOR, rng)
    y = np.empty(25, dtype=int)
    probability = np.nan
    for leaf, _ in oracle.leaves(tree):
        theta = rng.dirichlet(np.full(N_CLASSES, LEAF.concentration / N_CLASSES))
        y[list(leaf.rows)] = rng.choice(N_CLASSES, size=len(leaf.rows), p=theta)
        if any((X[row] == point).all() for row in leaf.rows):
            probability = theta[0]
    data = oracle.DataSet("simulated", X, y.tolist(), N_CLASSES)
    log_likelihood = sum(
        np.log(oracle.marginal(data, leaf.rows, LEAF.concentration)) for leaf, _ in oracle.leaves(tree)
    )
    return X, y, point, (oracle.n_leaves(tree), log_likelihood, probability)


def draw_from_posterior(posterior, point, rng):
    chosen = rng.choice(posterior.forest.n_trees, size=N_DRAWS, p=posterior.weights / posterior.weights.sum())
    probabilities = []
    for t in chosen:
        tree = posterior.trees[int(t)]
        counts = tree.node_statistics[int(tree.apply(point[None])[0])]
        probabilities.append(rng.dirichlet(LEAF.pseudo_counts(counts))[0])
    return posterior.n_leaves[chosen], posterior.log_likelihoods[chosen], np.array(probabilities)


def rank(truth, draws, rng):
    """Return the rank of the truth among the draws, ties broken at random."""
    ties = np.isclose(draws, truth, rtol=1e-9)
    return int((draws < truth)[~ties].sum() + rng.integers(ties.sum() + 1))


def ranks_over_data_sets(n_data_sets, sampler, seed, row_weight=1.0):
    rng = np.random.default_rng(seed)
    ranks = np.empty((n_data_sets, 3), dtype=int)
    for i in range(n_data_sets):
        X, y, point, truths = simulate(rng)
        data = make_training_data(X, y, N_CLASSES, np.full(len(y), row_weight))
        posterior = sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence([seed, i]))
        draws = draw_from_posterior(posterior, point, rng)
        ranks[i] = [rank(truth, values, rng) for truth, values in zip(truths, draws, strict=True)]
    return ranks


def assert_uniform(ranks, names=("leaves", "log-likelihood", "class probability")):
    for name, values in zip(names, ranks.T, strict=True):
        counts = np.bincount(values // 2, minlength=(N_DRAWS + 1) // 2)
        result = chisquare(counts)
        assert result.pvalue > 1e-4, f"{name}: {counts}, chi2 = {result.statistic:.1f}, p = {result.pvalue:.2g}"


def test_the_posterior_is_calibrated():
    assert_uniform(ranks_over_data_sets(400, SMC.paper(n_particles=400, n_islands=1), seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("expansion", ["node", "layer"])
def test_every_proposal_is_calibrated(proposal, expansion):
    sampler = SMC.paper(n_particles=1000, n_islands=1, proposal=proposal, expansion=expansion)
    assert_uniform(ranks_over_data_sets(2000, sampler, seed=2))


def test_a_posterior_that_is_too_sure_is_found_out():
    # The test of the test: counting every row three times must show in the ranks.
    with pytest.raises(AssertionError, match="chi2"):
        assert_uniform(ranks_over_data_sets(200, SMC.paper(n_particles=200, n_islands=1), seed=3, row_weight=3.0))
