"""The BART estimators against every tree: units, the guess of the noise, offsets, and the order of the classes.

``test_sums_against_exact.py`` does the same for the sampler below them. Targets are in units far from the sampler's,
and everything that the estimators derive from the data is derived here again.
"""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import chi2, norm

import oracle
import sum_oracle
from particletree import BARTClassifier, BARTRegressor
from particletree._inference.bart.sampler import BARTMoves
from sum_oracle import MIXED, SEVEN, WEIGHTED, SumEnumeration, SumModel

CENTRE, WIDTH, K, DF, QUANTILE = 40.0, 12.0, 1.5, 5.0, 0.8
SETTINGS = {"prior": sum_oracle.PRIOR, "n_chains": 40, "n_iterations": 2300, "burn_in": 300, "random_state": 1}
LOCAL, REGROWN = BARTMoves(regrow_share=0.0), BARTMoves(regrow_share=1.0)
LABELS = {"two": [1, 1, 0, 1, 1, 0, 1], "three": [1, 2, 1, 1, 2, 0, 1], "four": [3, 1, 3, 0, 3, 2, 1]}


def residual_sd(data):
    """Return the residual standard deviation of a linear fit; a missing number is the mean, one level is left out."""
    columns = [np.ones(len(data.y))]
    for feature, values in enumerate(data.X.T):
        n_levels = data.n_levels[feature] if data.n_levels else 0
        filled = np.where(np.isnan(values), np.nanmean(values), values)
        columns += [filled == level for level in range(1, n_levels)] if n_levels else [filled]
    root = np.sqrt(data.counts)
    design = np.column_stack(columns) * root[:, None]
    left = data.y * root - design @ np.linalg.lstsq(design, data.y * root, rcond=None)[0]
    return math.sqrt(left @ left / (data.counts.sum() - design.shape[1]))


def check_numbers(data, **settings):
    scale = residual_sd(data) ** 2 * chi2.ppf(1 - QUANTILE, DF) / DF
    truth = SumEnumeration(
        data, SumModel(sum_oracle.PRIOR, 2, 0.5 / (K * math.sqrt(2)), noise_sd=0.0, noise_df=DF, noise_scale=scale)
    )
    model = BARTRegressor(**SETTINGS | {"n_trees": 2, "k": K, "noise_df": DF, "noise_quantile": QUANTILE} | settings)
    model.set_params(categorical_features=[f for f, n in enumerate(data.n_levels) if n] or None)
    posterior = model.fit(data.X, CENTRE + WIDTH * data.y, data.weights).posterior_
    draws = posterior.predictive_draws(data.X)[..., 0]
    for row, expected in enumerate(truth.mean):
        means = [chain.mean() for chain in posterior.along_chains(draws[row])]
        oracle.assert_mean(means, CENTRE + WIDTH * expected, f"function at row {row}")
    variances = [(chain**2).mean() for chain in posterior.along_chains(posterior.noise_sd)]
    oracle.assert_mean(variances, WIDTH**2 * truth.noise_variance, "noise variance")


def exact_probit(X, is_class, points, leaf_sd):
    """Return the probability of the class at some points: a sum of one tree, of which each leaf is one integral."""
    offset, g = norm.ppf(is_class.mean()), np.linspace(-8 * leaf_sd, 8 * leaf_sd, 801)
    density = norm.pdf(g, 0, leaf_sd) * (g[1] - g[0])
    leaves = {}  # by their rows: marginal likelihood, and probability of the class

    def add_leaf(rows):
        signs = 2 * is_class[list(rows)] - 1
        joint = density * np.exp(log_ndtr(signs[:, None] * (offset + g)).sum(axis=0))
        leaves[rows] = joint.sum(), joint @ ndtr(offset + g) / joint.sum()

    total, answers = 0.0, np.zeros(len(points))
    for prior, tree in oracle.list_trees(X, sum_oracle.PRIOR, tuple(range(len(X)))):
        of_tree = [leaf.rows for leaf, _ in oracle.leaves(tree)]
        for rows in of_tree:
            if rows not in leaves:
                add_leaf(rows)
        weight = prior * math.prod(leaves[rows][0] for rows in of_tree)
        total += weight
        for i, x in enumerate(points):
            answers[i] += weight * sum(
                share * leaves[leaf.rows][1] for share, leaf in oracle.leaf_probabilities(tree, x)
            )
    return answers / total


def check_classes(y, **settings):
    y, X = np.array(y), SEVEN.X
    points = np.vstack([X, [[-1.0, 5.0], [3.0, 2.0]]])
    counts = np.bincount(y)
    order = np.argsort(-counts, kind="stable") if counts.size > 2 else np.array([1, 0])
    expected, none_before = np.empty((len(points), counts.size)), np.ones(len(points))
    for turn, label in enumerate(order[:-1]):
        rows = np.isin(y, order[turn:])
        is_class = exact_probit(X[rows], (y[rows] == label).astype(float), points, 3.0 / K)
        expected[:, label] = none_before * is_class
        none_before = none_before * (1 - is_class)
    expected[:, order[-1]] = none_before
    posterior = BARTClassifier(**SETTINGS | {"n_trees": 1, "k": K} | settings).fit(X, y).posterior_
    draws = posterior.predictive_draws(points)
    for (row, label), probability in np.ndenumerate(expected):
        means = [chain.mean() for chain in posterior.along_chains(draws[row, :, label])]
        oracle.assert_mean(means, probability, f"probability of class {label} at point {row}")


@pytest.mark.parametrize("data", [SEVEN, WEIGHTED, MIXED], ids=str)
def test_numbers(data):
    check_numbers(data)


@pytest.mark.parametrize("y", LABELS)
def test_classes(y):
    check_classes(LABELS[y])


@pytest.mark.slow
@pytest.mark.parametrize("moves", [LOCAL, REGROWN], ids=["local", "regrown"])
@pytest.mark.parametrize("data", [SEVEN, WEIGHTED, MIXED], ids=str)
def test_long_chains_of_numbers(data, moves):
    check_numbers(data, moves=moves, n_iterations=30_000, random_state=2)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [LOCAL, REGROWN], ids=["local", "regrown"])
@pytest.mark.parametrize("y", LABELS)
def test_long_chains_of_classes(y, moves):
    check_classes(LABELS[y], moves=moves, n_iterations=30_000, random_state=2)
