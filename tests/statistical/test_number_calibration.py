"""Simulation-based calibration of numbers and counts: over data sets drawn from the model, the mean at a point ranks
uniformly among draws of it from the posterior, and 90% predictive intervals hold what they say.

Leaf parameters and targets are the leaf model's own draws. The truth, the mean at a point, is the average of many more
rows of the same leaf: its error is small beside the width of the posterior.
"""

import numpy as np
import pytest

import oracle
from particletree import SMC, TreePrior
from particletree._data import make_regression_data
from particletree._model.leaves import Gaussian, Poisson
from particletree._model.target import Numbers
from statistical.test_calibration import N_DRAWS, assert_uniform, rank

PRIOR = TreePrior(0.85, 1.0)
LEAVES = {
    "gaussian": Gaussian(prior_mean=2.0, mean_strength=0.5, noise_sd=1.5, noise_df=6.0),
    "poisson": Poisson(prior_mean=30.0, shape=2.5),  # large counts: an interval ends at whole numbers
}
N_ROWS, N_MORE, N_NEW = 25, 20_000, 10


def simulate(leaf, rng):
    """Draw rows with targets, a point among them, the size of the tree, the mean at the point, more targets there."""
    X = np.column_stack([rng.normal(size=N_ROWS), rng.integers(0, 5, N_ROWS)])
    row = int(rng.integers(N_ROWS))
    tree = oracle.draw_tree_from_prior(X, PRIOR, rng)
    y = np.empty((N_ROWS, 1))
    for block, _ in oracle.leaves(tree):
        drawn = leaf.draw(len(block.rows) + N_MORE, Numbers(), rng)
        y[list(block.rows)] = drawn[N_MORE:]
        if row in block.rows:
            more = drawn[:N_MORE, 0]
    return X, y, X[row], (oracle.n_leaves(tree), more.mean()), more[:N_NEW]


def calibrate(leaf, fitted_leaf, sampler, n_data_sets, seed):
    """Return the ranks of (leaves, mean), and the share of new targets within 90% intervals, for each data set."""
    rng = np.random.default_rng(seed)
    ranks, covered = np.empty((n_data_sets, 2), dtype=int), np.empty(n_data_sets)
    for i in range(n_data_sets):
        X, y, point, truths, new = simulate(leaf, rng)
        posterior = sampler.run(make_regression_data(X, y), PRIOR, fitted_leaf, seed=np.random.SeedSequence([seed, i]))
        chosen = rng.choice(posterior.forest.n_trees, size=N_DRAWS, p=posterior.weights / posterior.weights.sum())
        trees = [posterior.trees[int(t)] for t in chosen]
        statistics = np.array([tree.node_statistics[int(tree.apply(point[None])[0])] for tree in trees])
        means = fitted_leaf.parameter_distributions(statistics, 0).draw(rng)
        ranks[i] = [rank(truths[0], posterior.n_leaves[chosen], rng), rank(truths[1], means, rng)]
        low, high = posterior.predictions.quantiles(point[None], (0.05, 0.95))[0, 0]
        covered[i] = np.mean((new >= low) & (new <= high))
    return ranks, covered


@pytest.mark.parametrize("name", LEAVES)
def test_a_posterior_that_is_too_sure_is_found_out(name):
    # The test of the test: a prior that is worth more rows than it was drawn with must show in the ranks.
    parameter = {"gaussian": "mean_strength", "poisson": "shape"}[name]
    leaf = LEAVES[name]
    sure = type(leaf)(**leaf.get_params() | {parameter: 8 * getattr(leaf, parameter)})
    ranks, _ = calibrate(leaf, sure, SMC.paper(n_particles=100, n_islands=1), 300, seed=3)
    with pytest.raises(AssertionError, match="chi2"):
        assert_uniform(ranks, ("leaves", "mean"))


@pytest.mark.slow
@pytest.mark.parametrize("proposal", ["prior", "optimal"])
@pytest.mark.parametrize("name", LEAVES)
def test_numbers_are_calibrated(name, proposal):
    # Large counts tell trees apart so sharply that all particles of an island descend from a few early splits: a single
    # island, even of 60,000 particles, is too sure of the number of leaves. Independent islands, weighted by evidence,
    # are properly weighted draws of such early splits.
    n_particles = {"prior": 200, "optimal": 100}[proposal]
    sampler = SMC.paper(n_particles=n_particles, n_islands=60, island_weighting="evidence", proposal=proposal)
    ranks, covered = calibrate(LEAVES[name], LEAVES[name], sampler, 1000, seed=4)
    assert_uniform(ranks, ("leaves", "mean"))
    share, error = covered.mean(), covered.std(ddof=1) / np.sqrt(len(covered))
    print(f"{name}, {proposal}: 90% intervals hold {share:.3f} of new targets, standard error {error:.3f}")
    assert 0.85 < share < 0.95
    if name == "gaussian":  # an interval of counts holds a little more
        oracle.assert_mean(covered, 0.9, "coverage of 90% predictive intervals")
    else:
        assert share > 0.9 - 4 * error
