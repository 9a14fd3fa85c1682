"""The consensus tree: against all trees that can be put together, and what it says of itself."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

import mixed_data
import oracle
from particletree import SMC, BayesianTreeClassifier, BayesianTreeRegressor, Categorical, Exact, Posterior, TreePrior
from particletree._model import ClassLabels, Forest
from particletree._model.leaves import Exponential, Gaussian, Poisson
from particletree._model.rule import goes_left
from particletree._posterior import Island
from particletree._posterior.structure import consensus
from particletree._posterior.structure.consensus import COST, block_sums
from posterior.test_splits import fit

HOLDERS = (  # of car insurance: 4 districts, 4 groups of cars, 4 of age; table Insurance of R's package MASS
    "197 264 246 1680 284 536 696 3582 133 286 355 1640 24 71 99 452 85 139 151 931 149 313 419 2443 66 175 "
    "221 1110 9 48 72 322 35 73 89 648 53 155 240 1635 24 78 121 692 7 29 43 245 20 33 40 316 31 81 122 724 18 "
    "39 68 344 3 16 25 114 "
)
CLAIMS = (
    "38 35 20 156 63 84 89 400 19 52 74 233 4 18 19 77 22 19 22 87 25 51 49 290 14 46 39 143 4 15 12 53 5 11 "
    "10 67 10 24 37 187 8 19 24 101 3 2 8 37 2 5 4 36 7 10 22 102 5 7 16 63 0 6 8 33 "
)
CLASSES = [oracle.TWO_CLASSES, oracle.THREE_CLASSES, mixed_data.TWELVE_MIXED]


def score(posterior, tree, rows):
    """Return the score of a tree, row by row."""
    mean, own = posterior.predictions.means(rows), tree.means[tree.apply(rows)]
    if isinstance(posterior.target, ClassLabels):
        return (mean * np.log(own)).sum() - COST * (tree.n_leaves - 1)
    noise = posterior.predictions.variances(rows).noise.mean(axis=0)
    return -(np.square(mean - own) / (2 * noise)).sum() - COST * (tree.n_leaves - 1)


def best_by_listing(posterior, rows):
    """Return the highest score of all trees from the posterior's decisions, by listing them."""
    graph = posterior.splits
    unused = posterior.trees[0]

    @cache
    def list_scores(depth, block, some):
        index = np.array(some)
        mean = posterior.leaf.mean(unused.statistics[unused.row_hashes == np.uint64(block)][0])
        scores = [float((posterior.predictions.means(rows[index]) * np.log(mean)).sum())]
        for decision in range(*graph.decisions_of(depth, block).indices(graph.depth.size)):
            node = graph.nodes[decision]
            if node["feature"] < 0:
                continue
            left = goes_left(rows[index, node["feature"]], np.broadcast_to(node, index.shape))
            parts = [
                list_scores(depth + 1, int(child[decision]), tuple(index[side]))
                for child, side in ((graph.left, left), (graph.right, ~left))
            ]
            scores += [one + other - COST for one, other in product(*parts)]
        return [max(scores)]

    return max(list_scores(0, int(graph.block[0]), tuple(range(len(rows)))))


@pytest.mark.parametrize("data", CLASSES, ids=str)
def test_no_tree_that_can_be_put_together_has_a_higher_score(data):
    model, X = fit(data, SMC.paper(n_particles=30, n_islands=3, proposal="optimal"))
    posterior = model.posterior_
    rows = posterior.as_numbers(X)
    tree = posterior.consensus_tree(X)
    assert score(posterior, tree, rows) == pytest.approx(best_by_listing(posterior, rows), rel=1e-9)
    assert score(posterior, tree, rows) >= max(score(posterior, other, rows) for other in posterior.trees) - 1e-9
    assert tree.n_rows[0] == len(X)


def test_weights_decide_not_the_number_of_trees():
    """A tree of weight 0.9 against four that divide otherwise, and two that divide alike with other thresholds."""
    X = np.array([[i % 2, i // 2 % 2] for i in range(40)], dtype=float)
    y = (2 * X[:, 0] + X[:, 1] >= np.arange(40) % 3).astype(int)
    blocks = [X[:, 0] < 2, *(X[:, f] == side for f in (0, 1) for side in (0, 1))]
    forest = Forest.from_preorder(
        offsets=np.arange(0, 22, 3),
        feature=[1, -1, -1] * 4 + [0, -1, -1] * 3,
        threshold=np.ravel([[cut, np.nan, np.nan] for cut in (0.5, 0.4, 0.6, 0.2, 0.3, 0.7, 0.1)]),
        gap_low=[0.0, np.nan, np.nan] * 7,
        gap_high=[1.0, np.nan, np.nan] * 7,
        right=[2, -1, -1] * 7,
        block=[0, 3, 4] * 4 + [0, 1, 2] * 3,
        statistics=np.array([np.bincount(y[rows], minlength=2) for rows in blocks], dtype=float),
    )
    weights = np.array([0.01, 0.01, 0.01, 0.01, 0.03, 0.9, 0.03])
    island = Island(forest, weights, np.zeros(7), np.zeros(7), -30.0, np.empty(0))
    posterior = Posterior.from_islands(
        [island], leaf=Categorical(1.0), prior=TreePrior.paper(), n_features=2, target=ClassLabels(np.arange(2))
    )
    tree = posterior.consensus_tree(X)
    assert (tree.feature[0], tree.threshold[0]) == (0, 0.7)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_numbers(n_targets):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = 1e3 + np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3])[:, :n_targets] + 0.2 * rng.normal(size=(120, n_targets))
    posterior = BayesianTreeRegressor(random_state=0).fit(X, y).posterior_
    tree = posterior.consensus_tree()
    assert score(posterior, tree, X) >= max(score(posterior, other, X) for other in posterior.trees) - 1e-6
    assert posterior.explained_share(tree) > 0.9
    assert posterior.explained_share(tree, X[:50]) <= 1


def test_counts_have_the_same_tree_in_every_unit_of_exposure():
    X = np.indices((4, 4, 4)).reshape(3, 64).T
    claims, holders = (np.array(text.split(), dtype=float) for text in (CLAIMS, HOLDERS))
    trees, shares, distances = [], [], []
    for unit in (1.0, 1024.0, 1e-3):
        model = BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(X, claims, exposure=holders / unit)
        trees.append(model.posterior_.consensus_tree())
        shares.append(model.posterior_.explained_share(trees[-1]))
        distances.append(model.posterior_.agreement.predictions)
    assert trees[0].n_leaves > 2
    assert shares[0] > 0.9
    for tree in trees[1:]:
        assert tree.rules == trees[0].rules
        assert (tree.n_rows == trees[0].n_rows).all()
    assert np.allclose(shares, shares[0], rtol=1e-9)
    assert np.allclose(distances, distances[0], rtol=1e-9)


@pytest.mark.parametrize("leaf", [Gaussian(), Exponential()], ids=str)
def test_numbers_have_the_same_tree_in_every_unit(leaf):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.exponential(np.exp(X[:, 0]))
    one, other = (BayesianTreeRegressor(leaf=leaf, random_state=0).fit(X, unit * y).posterior_ for unit in (1.0, 1e3))
    assert one.consensus_tree().n_leaves > 2
    assert one.consensus_tree().rules == other.consensus_tree().rules
    assert one.explained_share(one.consensus_tree()) == pytest.approx(other.explained_share(other.consensus_tree()))


def test_sums_over_blocks_are_those_of_the_trees():
    X = np.random.default_rng(0).normal(size=(80, 3))
    posterior = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0).posterior_
    n_rows, sums = block_sums(posterior.forest, X, X)
    assert np.allclose(n_rows, posterior.forest.statistics.sum(axis=1))
    for tree in posterior.trees[:5]:
        for leaf in np.unique(tree.apply(X)):
            assert np.allclose(sums[tree.nodes["block"][leaf]], X[tree.apply(X) == leaf].sum(axis=0))


def test_each_block_is_divided_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(80, 3))
    posterior = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0).posterior_
    forest, divided = posterior.forest, []
    monkeypatch.setattr(consensus, "goes_left", lambda *given: (divided.append(given), goes_left(*given))[1])
    block_sums(forest, X, X)
    assert len(divided) < forest.n_blocks < forest.is_split.sum()


def test_is_a_tree_like_any_other():
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=30), random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    posterior = model.posterior_
    tree = posterior.consensus_tree()
    assert str(tree)
    assert (tree.rounded().apply(X) == tree.apply(X)).all()
    assert tree.n_rows[tree.feature < 0].sum() == 80
    assert (np.bincount(tree.apply(X), minlength=tree.n_nodes)[tree.feature < 0] == tree.n_rows[tree.feature < 0]).all()
    probabilities = posterior.node_probabilities(tree)
    assert (probabilities.conditional[tree.feature >= 0] > 0).all()


def test_of_an_exact_posterior_and_of_a_root():
    data = oracle.TWO_CLASSES
    model = BayesianTreeClassifier(leaf=Categorical(1.0), sampler=Exact(n_draws=100), random_state=0)
    posterior = model.fit(data.X, data.y).posterior_
    assert posterior.explained_share(posterior.consensus_tree()) < 1
    assert score(posterior, posterior.consensus_tree(), data.X) >= score(posterior, posterior.best_tree(), data.X)
    prior = TreePrior.paper(max_depth=0)
    alone = BayesianTreeClassifier(prior, random_state=0).fit(data.X, data.y).posterior_
    assert alone.consensus_tree().n_leaves == 1
    assert alone.explained_share(alone.best_tree()) == 1.0


def test_a_posterior_without_rows_needs_some(tmp_path):
    data = oracle.TWO_CLASSES
    posterior = BayesianTreeClassifier(random_state=0).fit(data.X, data.y).posterior_
    posterior.save(tmp_path / "trees.npz", keep_rows=False)
    loaded = Posterior.load(tmp_path / "trees.npz")
    with pytest.raises(ValueError, match="pass X, the rows of the training data"):
        loaded.consensus_tree()
    assert str(loaded.consensus_tree(data.X)) == str(posterior.consensus_tree())
