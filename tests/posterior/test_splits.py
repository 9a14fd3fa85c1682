"""Probabilities of splits: exact ones against all trees listed, and those of weighted trees against the exact ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import mixed_data
import oracle
from particletree import SMC, BayesianTreeClassifier, BayesianTreeRegressor, Categorical, Exact, TreePrior
from particletree._posterior.structure import support
from read_trees import read_tree

PRIOR = TreePrior(alpha=0.9, beta=0.7)
LEAF = Categorical(1.5)
NUMBERS = [oracle.SIX_ROWS, oracle.DUPLICATED_ROWS, oracle.WEIGHTED_ROWS]
MIXED = [mixed_data.MISSING_NUMBERS, mixed_data.THREE_LEVELS, mixed_data.WEIGHTED_MIXED]


def fit(data, sampler, seed=0):
    """Fit to a data set of the oracle, with missing levels as people give them."""
    categorical = [f for f, n in enumerate(data.n_levels) if n]
    X = data.X.copy()
    for f in categorical:
        X[X[:, f] == data.n_levels[f], f] = np.nan
    model = BayesianTreeClassifier(PRIOR, LEAF, sampler, categorical or None, random_state=seed)
    return model.fit(X, data.y, data.weights), X


def decisions(tree, depth=0):
    """Return the decisions of a tree in preorder: depth, rows, feature and the two sides (nothing at leaves)."""
    if isinstance(tree, oracle.Leaf):
        return [(depth, frozenset(tree.rows), None, frozenset())]
    left, right = decisions(tree.left, depth + 1), decisions(tree.right, depth + 1)
    sides = frozenset((left[0][1], right[0][1]))
    return [(depth, left[0][1] | right[0][1], tree.feature, sides), *left, *right]


def listed_probabilities(enumeration):
    joint, state = defaultdict(float), defaultdict(float)
    for p, tree in zip(enumeration.probabilities, enumeration.trees, strict=True):
        for decision in decisions(tree):
            joint[decision] += p
            state[decision[:2]] += p
    return joint, state


def mirrored_probability(enumeration, tree):
    """Return the probability of all trees that take the decisions of this one."""
    wanted = set(decisions(tree))
    same = (set(decisions(other)) == wanted for other in enumeration.trees)
    return sum(p for p, is_same in zip(enumeration.probabilities, same, strict=True) if is_same)


@pytest.mark.parametrize("data", NUMBERS + MIXED, ids=str)
def test_exact_probabilities_are_those_of_all_trees_listed(data):
    model, X = fit(data, Exact(n_draws=25))
    posterior, columns = model.posterior_, model.posterior_.columns
    rows = posterior.as_numbers(X)
    n_levels = tuple(columns.n_levels.tolist())
    known = oracle.DataSet(data.name, rows, data.y, data.n_classes, data.weights, n_levels)
    enumeration = oracle.Enumeration(known, PRIOR, LEAF.concentration)
    joint, state = listed_probabilities(enumeration)
    for t in range(len(posterior.trees)):
        listed = read_tree(posterior.forest, t, rows, n_levels)
        found, keys = posterior.node_probabilities(posterior.trees[t]), decisions(listed)
        assert np.allclose(found.marginal, [joint[key] for key in keys], rtol=1e-9)
        assert np.allclose(found.conditional, [joint[key] / state[key[:2]] for key in keys], rtol=1e-9)
        assert np.isclose(np.exp(found.log_tree), mirrored_probability(enumeration, listed), rtol=1e-9)


@pytest.mark.parametrize("data", NUMBERS, ids=str)
def test_credible_splits_of_the_root_are_the_recursions(data, monkeypatch):
    monkeypatch.setattr(support, "TOLERANCE", 0.0)  # a row of weight 0.1 is less than the tolerance
    posterior = fit(data, Exact(n_draws=5))[0].posterior_
    level = posterior.recursion.levels[0]
    found = posterior.credible_splits(1 - 1e-9)
    assert np.allclose([s.probability for s in found], np.sort([*level.p_stop, *level.p_rule])[::-1], rtol=1e-9)
    stop = next(s for s in found if s.feature is None)
    assert np.isclose(stop.probability, level.p_stop[0])
    for split in found:
        assert split is stop or split.low <= float(split.rule.split(" <= ")[1]) < split.high


def summed(splits):
    """Return the probabilities by feature and gap, whatever happens to missing values."""
    total = defaultdict(float)
    for split in splits:
        total[split.feature, str(split.low)] += split.probability
    return total


@pytest.mark.slow
@pytest.mark.parametrize("data", [*oracle.TWELVE[:2], *mixed_data.TWELVE[:2]], ids=str)
def test_frequencies_of_weighted_trees_converge_to_the_exact_probabilities(data, monkeypatch):
    monkeypatch.setattr(support, "TOLERANCE", 0.0)
    exact = fit(data, Exact(n_draws=2000))[0].posterior_
    smc = fit(data, SMC.paper(n_particles=4000, n_islands=20, proposal="optimal"))[0].posterior_
    root, exact_root = summed(smc.credible_splits(0.999999)), summed(exact.credible_splits(0.999999))
    assert len(exact_root) > 5
    assert max(abs(root[key] - p) for key, p in exact_root.items()) < 0.015
    drawn = exact.draws()
    for tree in drawn.trees[:20]:
        known, estimate = exact.node_probabilities(tree), drawn.node_probabilities(tree)
        error = np.sqrt(known.marginal * (1 - known.marginal) / 2000)
        is_frequent = known.marginal > 0.01  # a rare decision is looked at because it was drawn
        assert (np.abs(estimate.marginal - known.marginal) < 4.5 * error + 1e-9)[is_frequent].all()


def test_paths_multiply_and_a_credible_set_is_the_smallest():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 3)), rng.normal(size=60)
    posterior = BayesianTreeRegressor(random_state=0).fit(X, 2 * (X[:, 0] > 0.2) + 0.3 * noise).posterior_
    tree = posterior.best_tree()
    found = posterior.node_probabilities(tree)
    assert np.allclose(found.path[tree.left[0]], found.conditional[0] * found.conditional[tree.left[0]])
    assert found.log_tree <= 0
    assert (found.path <= found.marginal + 1e-12).all()
    assert np.allclose(posterior.node_probabilities(tree.rounded()), found)
    for node in (0, tree.n_nodes - 1):
        probabilities = [split.probability for split in posterior.credible_splits(0.8, tree, node)]
        assert sum(probabilities) >= 0.8 - 1e-9
        assert sum(probabilities[:-1]) < 0.8
        assert probabilities == sorted(probabilities, reverse=True)
    assert posterior.credible_splits(0.8, tree, tree.n_nodes - 1)[0].probability > 0


@pytest.mark.parametrize("data", [*NUMBERS, *MIXED], ids=str)
def test_the_support_without_tolerance_is_the_probability_of_the_path(data, monkeypatch):
    monkeypatch.setattr(support, "TOLERANCE", 0.0)
    posterior = fit(data, Exact(n_draws=25))[0].posterior_
    for tree in posterior.trees:
        found = posterior.node_probabilities(tree)
        assert found.support[0] == pytest.approx(found.path[0], rel=1e-9)
        if not posterior.columns.missing and not posterior.columns.levels:
            assert np.allclose(found.support, found.path, rtol=1e-9)
        assert not found.n_runs.any()


def supporters(trees, tree, X, tolerance):
    """Return, for each node of a tree of cuts, the numbers of the trees that split alike, counted row by row."""
    found, all_rows = {}, np.ones(len(X), dtype=bool)
    pending = [(0, all_rows, [(number, 0, all_rows) for number in range(len(trees))])]
    while pending:
        node, rows, others = pending.pop()
        alike = [each for each in others if trees[each[0]].feature[each[1]] == tree.feature[node]]
        if tree.feature[node] < 0:
            found[node] = [number for number, _, _ in alike]
            continue
        column = X[:, tree.feature[node]]
        left = column <= tree.threshold[node]
        share = left[rows].mean()
        their_left = {number: column <= trees[number].threshold[at] for number, at, _ in alike}
        alike = [each for each in alike if abs(their_left[each[0]][each[2]].mean() - share) <= tolerance + 1e-9]
        found[node] = [number for number, _, _ in alike]
        for side, is_left in (("left", True), ("right", False)):
            below = [
                (number, int(getattr(trees[number], side)[at]), there & (their_left[number] == is_left))
                for number, at, there in alike
            ]
            pending.append((int(getattr(tree, side)[node]), rows & (left == is_left), below))
    return found


@pytest.mark.parametrize("tolerance", [0.0, 0.1, 0.25])
def test_the_support_is_the_weight_of_the_trees_that_split_about_the_same(tolerance, monkeypatch):
    monkeypatch.setattr(support, "TOLERANCE", tolerance)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] > 0) + (X[:, 1] > 0.5) + 0.4 * rng.normal(size=80)
    posterior = (
        BayesianTreeRegressor(sampler=SMC.paper(n_particles=20, n_islands=6), random_state=0).fit(X, y).posterior_
    )
    trees, islands = list(posterior.trees), posterior.island_weights.toarray()
    n_shared = 0
    for tree in (posterior.best_tree(), posterior.consensus_tree(), *trees[:3]):
        found = posterior.node_probabilities(tree)
        for node, numbers in supporters(trees, tree, X, tolerance).items():
            assert found.support[node] == pytest.approx(posterior.weights[numbers].sum(), abs=1e-12)
            assert found.n_runs[node] == (islands[:, numbers].sum(axis=1) > 0).sum()
            n_shared += found.n_runs[node] > 1
    assert n_shared > 0 or tolerance == 0


def test_runs_that_cut_in_about_the_same_place_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.1) ^ (rng.random(500) < 0.1)
    posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    first = posterior.credible_splits(0.8)[0]
    assert posterior.splits.conditional[0] < 0.2  # each of the 7 islands has a threshold of its own
    assert (first.feature, first.n_runs) == (0, 7)
    assert first.probability == pytest.approx(1)
    assert first.low <= float(first.rule.split(" <= ")[1]) < first.high
    tree = next(t for t in posterior.trees if t.rules[0] == first.rule)
    found = posterior.node_probabilities(tree)
    assert (found.support[0], found.n_runs[0]) == (pytest.approx(first.probability), 7)
    is_split = tree.feature >= 0
    for side in (tree.left, tree.right):
        assert (found.support[side[is_split]] <= found.support[is_split] + 1e-12).all()
        assert (found.n_runs[side[is_split]] <= found.n_runs[is_split]).all()


@pytest.mark.slow
def test_the_support_of_draws_converges_to_the_exact_one(monkeypatch):
    for data, tolerance in ((oracle.TWELVE[0], 0.1), (oracle.TWELVE[0], 0.3), (mixed_data.TWELVE_MIXED, 0.0)):
        monkeypatch.setattr(support, "TOLERANCE", tolerance)
        exact = fit(data, Exact(n_draws=4000))[0].posterior_
        drawn = exact.draws()
        for tree in drawn.trees[:10]:
            known, estimate = exact.node_probabilities(tree).support, drawn.node_probabilities(tree).support
            assert (np.abs(estimate - known) < 4.5 * np.sqrt(known * (1 - known) / 4000) + 2e-3).all()


def test_rules_below_the_root_speak_of_the_levels_that_come_there():
    data = mixed_data.TWELVE_MIXED
    posterior = fit(data, SMC.paper(n_particles=200, proposal="optimal"))[0].posterior_
    tree = next(t for t in posterior.trees if (t.feature == 0).sum() > 1 and t.feature[0] == 0)
    below = max(np.flatnonzero(tree.feature == 0))
    rules = [split.rule for split in posterior.credible_splits(0.999, tree, int(below))]
    assert tree.rules[below] in rules or any(rule.startswith("x[0]") for rule in rules)


def test_trees_of_other_rows_and_nodes_that_are_none_are_refused():
    posterior, other = (
        fit(data, SMC.paper(n_particles=5))[0].posterior_ for data in (oracle.TWO_CLASSES, oracle.SIX_ROWS)
    )
    with pytest.raises(ValueError, match="not one of this posterior"):
        posterior.node_probabilities(other.trees[0])
    with pytest.raises(ValueError, match="not one of this posterior"):
        posterior.node_probabilities(replace(posterior.trees[0], row_hashes=None))
    with pytest.raises(ValueError, match="from 0 to"):
        posterior.credible_splits(node=10_000)
    with pytest.raises(ValueError, match="between 0 and 1"):
        posterior.credible_splits(level=1.0)
