"""Trees that rows extend in place: those of the plain-Python reference, drawn with the same random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from particletree import Categorical, _kernel
from particletree._model.measure import Measure, UnitScale
from particletree.reference.questions import LevelCoins
from particletree.reference.streams import Leaf, Model, State, Tree, extend, predictive

N_CLASSES, CONCENTRATION, RATE = 3, 0.8, 0.05
SCALE = UnitScale(np.array([0.0, 1.0]), np.array([0.02, 0.98]), 1.0)
WEIGHTS = np.array([0.5, 0.3, 0.2])
MIXED = Measure(WEIGHTS, (SCALE, None, SCALE), rho=0.25)  # the second feature has levels
NUMBERS = Measure(WEIGHTS, (SCALE, SCALE, SCALE), rho=0.25)


def particle_trees(n_particles: int, measure: Measure = MIXED) -> _kernel.ParticleTrees:
    has_levels = np.array([scale is None for scale in measure.scales], dtype=np.uint8)
    return _kernel.ParticleTrees(WEIGHTS, has_levels, measure.rho, RATE, N_CLASSES, CONCENTRATION, n_particles)


def table(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose label depends on them: ties, missing values, and levels that come up later and later."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random(n).round(2), np.floor(rng.random(n) * np.arange(n) ** 0.6), rng.random(n)])
    X[rng.random(n) < 0.2, 0] = math.nan
    X[rng.random(n) < 0.1, 1] = math.nan
    y = np.where(rng.random(n) < 0.2, rng.integers(3, size=n), (X[:, 0] > 0.4) + (X[:, 2] > 0.7))
    return X, y.astype(np.uint32)


def agrees(tree: Tree, ours: Any, model: Model) -> bool:
    """Tell whether a tree of the kernel is that of the reference: rules to the bit, masses up to rounding."""
    assert ours[0] == pytest.approx(tree.box.mass, rel=1e-13, abs=1e-16)
    if isinstance(tree, Leaf):
        return bool(np.array_equal(ours[1], [*model.statistics(tree.rows), len(tree.rows)]))
    _, rule, left, right = ours
    if isinstance(tree.rule, LevelCoins):
        expected = (tree.rule.feature, sorted(tree.rule.left), sorted(tree.rule.right), tree.rule.seed)
    else:
        expected = (tree.rule.feature, tree.rule.threshold, tree.rule.missing_left)
    return rule == expected and agrees(tree.left, left, model) and agrees(tree.right, right, model)


@pytest.mark.parametrize("adapted", [True, False])
@pytest.mark.parametrize("measure", [MIXED, NUMBERS], ids=["mixed", "numbers"])
@pytest.mark.parametrize("seed", range(3))
def test_trees_and_weights_are_those_of_the_reference(seed: int, measure: Measure, adapted: bool) -> None:
    model = Model(measure, RATE, Categorical(CONCENTRATION), N_CLASSES)
    X, y = table(40, seed)
    if measure is NUMBERS:
        X[:20] = np.nan_to_num(X[:20])  # nothing is missing at first
    units, trees, ours = measure.to_unit(X), [None] * 4, particle_trees(4, measure)
    rng, bits = np.random.Generator(np.random.PCG64(seed)), np.random.PCG64(seed)
    for i, label in enumerate(y):
        row = model.row(i, X[i], np.eye(N_CLASSES)[label])
        pairs = [extend(tree, row, model, rng, adapted=adapted) for tree in trees]
        trees = [tree for tree, _ in pairs]
        log_factors = ours.extend(bits, units[i : i + 1], y[i : i + 1], np.ones(1), adapted)
        np.testing.assert_allclose(log_factors[0], [log_factor for _, log_factor in pairs], rtol=1e-12, atol=1e-14)
        if i % 7 == 3:
            survivors = np.array([2, 2, 0, 2])
            trees = [trees[m] for m in survivors]
            ours.resample(survivors)
        if i % 4 == 3:
            assert all(agrees(tree, ours.tree(m), model) for m, tree in enumerate(trees))
    shares = np.array([0.1, 0.4, 0.3, 0.2])
    X_new = np.vstack([X[:5], [[-3.0, 99.0, 2.0], [math.nan, math.nan, 0.5]]])
    expected = predictive(State(trees, np.log(shares)), X_new, model)
    np.testing.assert_allclose(ours.means(measure.to_unit(X_new), shares), expected, rtol=1e-12)
    assert max(n_nodes(ours.tree(m)) for m in range(4)) > 10


def test_rows_at_once_are_rows_one_after_the_other() -> None:
    X, y = table(60, 1)
    units, weights = MIXED.to_unit(X), np.ones(60)
    whole, parts, bits, more_bits = particle_trees(3), particle_trees(3), np.random.PCG64(4), np.random.PCG64(4)
    at_once = whole.extend(bits, units, y, weights)
    in_parts = [
        parts.extend(more_bits, units[i : i + n], y[i : i + n], weights[:n]) for i, n in ((0, 1), (1, 30), (31, 29))
    ]
    np.testing.assert_array_equal(at_once, np.vstack(in_parts))
    assert all(whole.tree(m) == parts.tree(m) for m in range(3))


def test_a_row_with_a_weight_counts_that_often() -> None:
    trees, row = particle_trees(1), np.full((1, 3), 0.5)
    trees.extend(np.random.PCG64(0), row, np.array([1], dtype=np.uint32), np.ones(1))
    log_factor = trees.extend(np.random.PCG64(0), row, np.array([1], dtype=np.uint32), np.array([2.5]))[0, 0]
    log_marginals = Categorical(CONCENTRATION).log_marginal(np.array([[0, 3.5, 0], [0, 1.0, 0]]))
    assert log_factor == pytest.approx(float(log_marginals[0] - log_marginals[1]), rel=1e-12)


def test_particles_share_what_they_have_in_common() -> None:
    X, y = table(201, 2)
    units, trees, bits = MIXED.to_unit(X), particle_trees(50), np.random.PCG64(5)
    trees.extend(bits, units[:200], y[:200], np.ones(200))
    assert trees.n_nodes == sum(n_nodes(trees.tree(m)) for m in range(50))
    largest = max(range(50), key=lambda m: n_nodes(trees.tree(m)))
    trees.resample(np.full(50, largest))
    before = trees.tree(0)
    assert trees.n_nodes == n_nodes(before)
    trees.extend(bits, units[200:], y[200:], np.ones(1))
    after = [trees.tree(m) for m in range(50)]
    assert len({str(tree) for tree in after}) > 1
    # Every particle but one has copied the nodes of the walk, and two are new where the row is separated.
    assert trees.n_nodes <= n_nodes(before) + 50 * (depth(before) + 3) < sum(map(n_nodes, after)) / 2


def test_no_node_is_lost() -> None:
    """After resampling to one particle's tree, the pool has the nodes of that tree, however often it was changed."""
    X, y = table(120, 6)
    units, trees, bits = MIXED.to_unit(X), particle_trees(8), np.random.PCG64(7)
    rng = np.random.default_rng(8)
    for i in range(120):
        trees.extend(bits, units[i : i + 1], y[i : i + 1], np.ones(1))
        if i % 5 == 0:
            trees.resample(rng.integers(8, size=8))
    trees.resample(np.full(8, 3))
    assert trees.n_nodes == n_nodes(trees.tree(3))


def test_no_set_of_levels_is_lost() -> None:
    """Levels that keep coming leave no set behind that no node and no rule has."""
    n = 300
    rows = np.column_stack([np.full(n, 0.5), np.arange(n), np.full(n, 0.5)]).astype(float)
    trees, bits = particle_trees(1), np.random.PCG64(9)
    trees.extend(bits, rows, np.arange(n, dtype=np.uint32) % 3, np.ones(n))
    assert n_nodes(trees.tree(0)) > 3
    assert trees.n_level_sets <= 2 * trees.n_nodes + 1


def n_nodes(tree: Any) -> int:
    return 1 if len(tree) == 2 else 1 + n_nodes(tree[2]) + n_nodes(tree[3])


def depth(tree: Any) -> int:
    return 0 if len(tree) == 2 else 1 + max(depth(tree[2]), depth(tree[3]))


def test_without_rows_the_prior_predicts_and_there_is_no_tree() -> None:
    trees = particle_trees(2)
    np.testing.assert_allclose(trees.means(np.full((1, 3), 0.5), np.array([0.5, 0.5])), 1 / 3, rtol=1e-15)
    assert trees.tree(1) is None
    assert trees.n_nodes == 0


def test_wrong_input_is_refused() -> None:
    trees, bits = particle_trees(2), np.random.PCG64(0)
    labels, weights = np.zeros(1, dtype=np.uint32), np.ones(1)
    with pytest.raises(ValueError, match="a value for each feature"):
        trees.extend(bits, np.zeros((1, 2)), labels, weights)
    with pytest.raises(ValueError, match="a label is not the number of a class"):
        trees.extend(bits, np.zeros((1, 3)), labels + 3, weights)
    with pytest.raises(ValueError, match="as many survivors as particles"):
        trees.resample(np.zeros(3, dtype=np.int64))
    with pytest.raises(ValueError, match="a survivor is not a particle"):
        trees.resample(np.array([0, 2]))
