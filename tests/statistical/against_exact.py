"""What samplers are held to: the exact answers of the recursion, and how islands and chains are compared with them.

The filter's evidence estimate is unbiased, and so is every posterior expectation times it: with Z_hat an island's
evidence, f_hat its estimate of a posterior mean and f the exact one, E[Z_hat / Z] = 1 and E[Z_hat (f_hat - f)] = 0,
for any number of particles. Each island is an independent filter with a seed of its own, so one run with many islands
gives many seeds. Chains have no evidence; the spread of their averages gives the standard error, whatever the
autocorrelation within, and the ratios are all 1.
"""

import numpy as np

import oracle
from particletree import TreePrior, _kernel
from particletree._inference.exact.recursion import ExactRecursion
from particletree._model.target import ClassLabels

PRIOR = TreePrior(alpha=0.9, beta=0.7)


class Exact:
    """The exact answers for some data: evidence, predictive mean and density, distribution of leaves and depth."""

    def __init__(self, data, leaf, points, prior=PRIOR):
        self.data, self.leaf, self.points, self.prior = data, leaf, points, prior
        recursion = ExactRecursion(data, prior, leaf)
        self.log_evidence = recursion.log_evidence
        self.n_leaves = recursion.n_leaves_probabilities()
        self.depths = recursion.depth_probabilities()
        self.is_classes = isinstance(data.observations.target, ClassLabels)
        self.mixtures = [recursion.leaf_mixture(x) for x in points]
        self.predictive = np.array([weights @ leaf.mean(statistics) for weights, statistics in self.mixtures])

    def columns(self):
        """Yield what is averaged over leaves: a name, and a function of the statistics of blocks at a point."""
        n_outputs = self.predictive.shape[1]
        if self.is_classes:
            for k in range(n_outputs - 1):
                yield f"class {k}", lambda statistics, k=k: self.leaf.mean(statistics)[:, k]
            return
        for k in range(n_outputs):
            yield f"mean of target {k}", lambda statistics, k=k: self.leaf.mean(statistics)[:, k]
            for y in self.data.observations.values[[1, -1], k]:
                yield (
                    f"density of target {k} at {y}",
                    lambda statistics, k=k, y=y: np.exp(
                        self.leaf.predictive_distributions(statistics, k).log_density(y)
                    ),
                )


def check_evidence(posterior, exact, what):
    ratios = np.exp(posterior.log_evidences - exact.log_evidence)
    oracle.assert_mean(ratios, 1.0, f"evidence, {what}")
    return ratios


def check_predictive(posterior, exact, ratios, what):
    blocks = _kernel.apply(exact.points, posterior.forest.as_bytes(), posterior.forest.roots)  # points x trees
    for name, column in exact.columns():
        values = column(posterior.forest.statistics)
        for i, (weights, statistics) in enumerate(exact.mixtures):
            expected = weights @ column(statistics)
            error = ratios * (posterior.island_weights @ values[blocks[i]] - expected) / abs(expected)
            oracle.assert_mean(1 + error, 1.0, f"predictive at point {i}, {name}, {what}")


def check_sizes(posterior, exact, ratios, what, sizes=("leaves",), rare=0.02):
    """Compare shares of trees; those that are rare are not normal over few islands."""
    found = {"leaves": (posterior.n_leaves, exact.n_leaves), "depth": (posterior.depths, exact.depths)}
    for size in sizes:
        values, probabilities = found[size]
        for m in np.flatnonzero(probabilities > rare):
            share = posterior.island_weights @ (values == m).astype(float)
            oracle.assert_mean(1 + ratios * (share - probabilities[m]), 1.0, f"{size} = {m}, {what}")


def check_islands(posterior, exact, what, rare=0.02):
    ratios = check_evidence(posterior, exact, what)
    check_predictive(posterior, exact, ratios, what)
    check_sizes(posterior, exact, ratios, what, rare=rare)


def check_with_patience(check, n_iterations):
    """Call check(n_iterations, seed); if it fails, ten times as many iterations with another seed decide.

    Of thousands of statistics some pass 4 by chance; a real bias would show in a z three times as large.
    """
    try:
        check(n_iterations, seed=1)
    except AssertionError as alarm:
        print(f"checked again with {10 * n_iterations} iterations: {alarm}")
        check(10 * n_iterations, seed=2)


def check_chains(posterior, exact, what):
    alike = np.ones(posterior.n_islands)
    check_predictive(posterior, exact, alike, what)
    check_sizes(posterior, exact, alike, what, sizes=("leaves", "depth"))
