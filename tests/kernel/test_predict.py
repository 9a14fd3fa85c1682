"""The compiled forest against the walk tree by tree (`Tree.apply`, in Python)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from particletree import _kernel
from particletree._model import Forest
from particletree._model.rule import LEAF

N_FEATURES = 3
N_VALUES = 5  # thresholds and values lie on the same small grid, so that trees agree in places and thresholds are hit


def random_tree(rng: np.random.Generator, n_leaves: int) -> list[list[float]]:
    """Return the nodes (feature, threshold, left, right) of a tree in preorder."""
    if n_leaves == 1:
        return [[-1, np.nan, -1, -1]]
    n_left = int(rng.integers(1, n_leaves))
    left, right = random_tree(rng, n_left), random_tree(rng, n_leaves - n_left)
    nodes = [[float(rng.integers(N_FEATURES)), float(rng.integers(N_VALUES)), 1, 1 + len(left)]]
    for part, shift in ((left, 1), (right, 1 + len(left))):
        nodes += [[f, t, a + shift, b + shift] if f >= 0 else [f, t, a, b] for f, t, a, b in part]
    return nodes


def to_forest(trees: list[list[list[float]]], blocks: list[int], counts: NDArray[np.float64]) -> Forest:
    feature, threshold, _, right = np.array([node for tree in trees for node in tree]).T.copy()
    return Forest.from_preorder(
        offsets=np.cumsum([0] + [len(tree) for tree in trees]),
        feature=feature,
        threshold=threshold,
        gap_low=threshold,
        gap_high=threshold + 1,
        right=right.astype(np.int64),
        block=blocks,
        statistics=counts,
    )


def forest_of(**changes: int) -> Forest:
    """Return one tree with one cut, of which numbers of the root may be changed."""
    forest = to_forest([[[1, 0.5, 1, 2], [-1, np.nan, -1, -1], [-1, np.nan, -1, -1]]], [0, 1, 2], np.ones((3, 2)))
    for name, number in changes.items():
        forest.nodes[name][forest.roots[0]] = number
    return forest


def random_forest(seed: int, n_trees: int = 8, most_leaves: int = 6, n_classes: int = 3) -> Forest:
    """Return random trees, some of them twice; blocks are given out at random from a few."""
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, int(rng.integers(1, most_leaves + 1))) for _ in range(n_trees)]
    trees += [trees[int(t)] for t in rng.integers(n_trees, size=n_trees // 2)]
    counts = rng.integers(0, 9, size=(7, n_classes)).astype(float) + 1
    return to_forest(trees, rng.integers(7, size=sum(map(len, trees))).tolist(), counts)


def chain_tree(n_levels: int, feature: int) -> list[list[float]]:
    """Return a tree that cuts off one value at each level."""
    splits = [[feature, float(i), 2 * i + 1, 2 * i + 2] for i in range(n_levels)]
    leaf = [-1, np.nan, -1, -1]
    return [node for split in splits for node in (split, leaf)] + [leaf]


def leaf_means(forest: Forest) -> NDArray[np.float64]:
    return np.asarray(forest.statistics / forest.statistics.sum(axis=1, keepdims=True))


def compiled(forest: Forest, weights: NDArray[np.float64], n_features: int = N_FEATURES) -> _kernel.Predictor:
    return _kernel.Predictor(n_features, forest.as_bytes(), forest.roots, leaf_means(forest), weights)


def random_weights(forest: Forest, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).dirichlet(np.full(forest.n_trees, 0.5))


def rows_on_the_grid(seed: int, n_rows: int = 40) -> NDArray[np.float64]:
    return np.random.default_rng(seed).integers(-1, N_VALUES + 1, size=(n_rows, N_FEATURES)).astype(float)


def blocks_by_tree(forest: Forest, X: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the block of each row, tree by tree: shape (n_trees, n_rows)."""
    trees = [forest.tree(t) for t in range(forest.n_trees)]
    return np.array([tree.nodes["block"][tree.apply(X)] for tree in trees])


def means_by_tree(forest: Forest, weights: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.einsum("t,trk->rk", weights, leaf_means(forest)[blocks_by_tree(forest, X)])


class TestMeans:
    @settings(max_examples=150, deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        n_trees=st.integers(1, 12),
        most_leaves=st.integers(1, 12),
        n_classes=st.sampled_from([1, 2, 3, 17]),
    )
    def test_are_those_of_the_walk_by_tree(self, seed: int, n_trees: int, most_leaves: int, n_classes: int) -> None:
        forest = random_forest(seed, n_trees, most_leaves, n_classes)
        weights, X = random_weights(forest, seed), rows_on_the_grid(seed)
        expected = means_by_tree(forest, weights, X)
        np.testing.assert_allclose(compiled(forest, weights).means(X), expected, rtol=1e-12)

    def test_a_row_on_the_threshold_goes_left(self) -> None:
        forest = to_forest([[[0, 2.0, 1, 2], [-1, np.nan, -1, -1], [-1, np.nan, -1, -1]]], [0, 1, 2], np.eye(3))
        X = np.array([[np.nextafter(2.0, 3.0)], [2.0], [np.nextafter(2.0, 1.0)]])
        assert compiled(forest, np.ones(1), 1).means(X).tolist() == [[0, 0, 1], [0, 1, 0], [0, 1, 0]]

    def test_a_root_alone(self) -> None:
        forest = to_forest([[[-1, np.nan, -1, -1]]], [1], np.array([[1.0, 0.0], [3.0, 1.0]]))
        predictor = compiled(forest, np.ones(1))
        assert predictor.means(np.zeros((2, N_FEATURES))).tolist() == [[0.75, 0.25]] * 2
        assert (predictor.n_cuts, predictor.n_leaves) == (0, 1)

    def test_no_rows(self) -> None:
        forest = random_forest(0)
        assert compiled(forest, random_weights(forest, 0)).means(np.zeros((0, N_FEATURES))).shape == (0, 3)

    def test_many_classes(self) -> None:
        forest = random_forest(5, n_trees=60, most_leaves=8, n_classes=300)
        weights, X = random_weights(forest, 5), rows_on_the_grid(5)
        means = compiled(forest, weights).means(X)
        np.testing.assert_allclose(means, means_by_tree(forest, weights, X), rtol=1e-12)

    def test_have_the_same_bits_whatever_rows_are_asked_together(self) -> None:
        forest = random_forest(1, n_trees=40, most_leaves=20)
        predictor, X = compiled(forest, random_weights(forest, 1)), rows_on_the_grid(1, n_rows=5000)
        whole = predictor.means(X)
        order = np.random.default_rng(1).permutation(len(X))
        np.testing.assert_array_equal(predictor.means(X[order]), whole[order])
        for step in (1, 7, 1000):
            parts = [predictor.means(X[start : start + step]) for start in range(0, len(X), step)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)

    def test_more_features_than_a_batch_has_room_for(self) -> None:
        forest, n_features = random_forest(2), 5000
        nodes = forest.nodes.copy()
        nodes["feature"] = np.where(forest.is_split, forest.feature * 1999 + 7, -1)
        forest, weights = replace(forest, nodes=nodes), random_weights(forest, 2)
        X = np.random.default_rng(2).integers(0, N_VALUES, size=(300, n_features)).astype(float)
        means = compiled(forest, weights, n_features).means(X)
        np.testing.assert_allclose(means, means_by_tree(forest, weights, X), rtol=1e-12)

    def test_trees_of_thousands_of_levels(self) -> None:
        n_levels = 4000
        trees = [chain_tree(n_levels, feature) for feature in (0, 1, 0)]
        blocks = [i % 7 for i in range(2 * n_levels + 1)] * 3
        forest = to_forest(trees, blocks, random_forest(0).statistics)
        weights, X = np.array([0.5, 0.3, 0.2]), np.random.default_rng(0).uniform(-1, n_levels + 1, size=(30, 2))
        predictor = compiled(forest, weights, 2)
        assert predictor.n_cuts < 2 * n_levels + 1
        np.testing.assert_allclose(predictor.means(X), means_by_tree(forest, weights, X), rtol=1e-12)


class TestMixtures:
    @settings(max_examples=100, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1), n_trees=st.integers(1, 12), most_leaves=st.integers(1, 12))
    def test_are_those_of_the_walk_by_tree(self, seed: int, n_trees: int, most_leaves: int) -> None:
        forest = random_forest(seed, n_trees, most_leaves)
        weights, X = random_weights(forest, seed), rows_on_the_grid(seed)
        kind, mixed, blocks = compiled(forest, weights).mixtures(X)
        by_block = np.zeros((len(X), forest.n_blocks))
        for tree, of_row in enumerate(blocks_by_tree(forest, X)):
            by_block[np.arange(len(X)), of_row] += weights[tree]
        found = np.zeros((len(mixed), forest.n_blocks))
        np.add.at(found, (np.arange(len(mixed))[:, None], blocks), mixed)
        np.testing.assert_allclose(found[kind], by_block, rtol=1e-12, atol=1e-15)

    def test_list_each_block_once_and_pad_with_zeros(self) -> None:
        forest = random_forest(3, n_trees=30)
        _, weights, blocks = compiled(forest, random_weights(forest, 3)).mixtures(rows_on_the_grid(3))
        for row, row_weights in zip(blocks, weights, strict=True):
            n = np.count_nonzero(row_weights)
            assert (np.diff(row[:n].astype(int)) > 0).all()
            assert not row_weights[n:].any()
            assert not row[n:].any()

    def test_kinds_are_numbered_as_they_come_and_shared(self) -> None:
        forest = to_forest([chain_tree(2, 0)], [0, 1, 2, 3, 4], np.ones((5, 2)))
        X = np.array([[5.0], [0.5], [-3.0], [7.0], [0.7], [0.0]])
        kind, weights, blocks = compiled(forest, np.ones(1), 1).mixtures(X)
        assert kind.tolist() == [0, 1, 2, 0, 1, 2]
        assert blocks.tolist() == [[4], [3], [1]]
        assert weights.tolist() == [[1.0], [1.0], [1.0]]

    def test_have_the_same_bits_whatever_rows_are_asked_together(self) -> None:
        forest = random_forest(4, n_trees=40, most_leaves=20)
        predictor, X = compiled(forest, random_weights(forest, 4)), rows_on_the_grid(4, n_rows=3000)
        kind, weights, blocks = predictor.mixtures(X)
        for row in range(0, len(X), 100):
            _, alone, alone_blocks = predictor.mixtures(X[row : row + 1])
            n = alone.shape[1]
            assert weights[kind[row], :n].tolist() == alone[0].tolist()
            assert blocks[kind[row], :n].tolist() == alone_blocks[0].tolist()
            assert not weights[kind[row], n:].any()

    def test_no_rows(self) -> None:
        forest = random_forest(0)
        kind, weights, _ = compiled(forest, random_weights(forest, 0)).mixtures(np.zeros((0, N_FEATURES)))
        assert kind.shape == (0,)
        assert len(weights) == 0


class TestSize:
    @settings(max_examples=60, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1), n_trees=st.integers(1, 20), most_leaves=st.integers(1, 30))
    def test_is_at_most_that_of_all_trees(self, seed: int, n_trees: int, most_leaves: int) -> None:
        forest = random_forest(seed, n_trees, most_leaves)
        predictor = compiled(forest, random_weights(forest, seed))
        assert predictor.n_cuts <= np.count_nonzero(forest.feature >= 0)
        assert 1 <= predictor.n_leaves <= np.count_nonzero(forest.feature < 0)

    def test_of_equal_trees_is_that_of_one(self) -> None:
        forest = random_forest(6, n_trees=1, most_leaves=30)
        copies = forest.select([0] * 50)
        predictor = compiled(copies, np.full(50, 0.02))
        assert predictor.n_cuts == forest.n_leaves[0] - 1
        assert predictor.n_leaves <= forest.n_leaves[0]

    def test_of_trees_with_nothing_in_common_is_their_sum(self) -> None:
        n_trees = 50_000
        leaf = [-1, np.nan, -1, -1]
        stumps = [[[t % N_FEATURES, float(t), 1, 2], leaf, leaf] for t in range(n_trees)]
        forest = to_forest(stumps, [0, 1, 2] * n_trees, np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0]]))
        predictor = compiled(forest, np.full(n_trees, 1 / n_trees))
        assert (predictor.n_cuts, predictor.n_leaves) == (n_trees, 2 * n_trees)
        np.testing.assert_allclose(predictor.means(np.full((1, N_FEATURES), n_trees / 4 - 0.5)), [[0.75, 0.25]])

    def test_trees_that_differ_at_the_bottom_share_the_top(self) -> None:
        leaf = [-1, np.nan, -1, -1]
        trees = [[[0, 1.0, 1, 4], [1, float(t), 2, 3], leaf, leaf, leaf] for t in range(10)]
        forest = to_forest(trees, [0, 1, 2, 3, 4] * 10, np.ones((5, 2)))
        predictor = compiled(forest, np.full(10, 0.1))
        assert (predictor.n_cuts, predictor.n_leaves) == (1 + 10, 20 + 1)

    def test_trees_without_weight_are_left_out(self) -> None:
        forest = random_forest(7, n_trees=30)
        weights = random_weights(forest, 7)
        weights[::2] = 0.0
        kept = np.flatnonzero(weights)
        predictor, smaller = compiled(forest, weights), compiled(forest.select(kept), weights[kept])
        assert (predictor.n_cuts, predictor.n_leaves) == (smaller.n_cuts, smaller.n_leaves)
        X = rows_on_the_grid(7)
        np.testing.assert_array_equal(predictor.means(X), smaller.means(X))


class TestManyRootsAboveOneLargeSubtree:
    """Compiled, the subtree would be there once for each root: 2,000 roots above 2,000 splits would take 450 MB."""

    N_SPLITS = N_ROOTS = 2_000

    def forest(self) -> Forest:
        """Return trees with different first cuts, above a leaf and a chain of splits that they all have."""
        n_below = 2 * self.N_SPLITS + 1
        nodes = np.full(n_below + 1 + self.N_ROOTS, LEAF)
        leaves, splits = np.arange(1, n_below, 2), np.arange(2, n_below, 2)
        nodes["block"][leaves] = np.arange(self.N_SPLITS) % 7
        for name, values in (("feature", 1), ("threshold", leaves), ("left", leaves), ("right", splits - 2)):
            nodes[name][splits] = values
        roots = np.arange(n_below + 1, nodes.size)
        nodes["threshold"][roots] = np.linspace(0, 1, self.N_ROOTS)
        for name, value in (("feature", 0), ("left", n_below), ("right", n_below - 1)):
            nodes[name][roots] = value
        statistics = np.arange(1.0, 15.0).reshape(7, 2)
        return Forest(nodes, roots.astype(np.int32), statistics, np.arange(7, dtype=np.uint64))

    def test_size_is_bounded_by_that_of_the_nodes(self) -> None:
        forest = self.forest()
        predictor = compiled(forest, random_weights(forest, 0))
        assert predictor.n_cuts + predictor.n_leaves <= max(2**20, 32 * forest.nodes.size)

    def test_predictions_are_those_of_the_walk_by_tree(self) -> None:
        forest, rng = self.forest(), np.random.default_rng(1)
        weights = np.where(np.arange(self.N_ROOTS) % 3 == 0, 0.0, random_weights(forest, 0))
        X = np.column_stack([rng.uniform(-0.2, 1.2, 30), rng.uniform(0, 2 * self.N_SPLITS, 30), np.zeros((30, 2))])
        predictor = compiled(forest, weights, 4)
        blocks = _kernel.apply(X, forest.as_bytes(), forest.roots)
        expected = np.einsum("t,rtk->rk", weights, leaf_means(forest)[blocks])
        np.testing.assert_allclose(predictor.means(X), expected, rtol=1e-10)
        kind, shares, found = predictor.mixtures(X)
        for row in range(30):
            by_block = np.bincount(found[kind[row]], weights=shares[kind[row]], minlength=7)
            np.testing.assert_allclose(by_block, np.bincount(blocks[row], weights=weights, minlength=7), rtol=1e-10)


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"weights": np.ones(2)}, "one weight per tree"),
            ({"weights": np.array([-0.5])}, "a weight is negative or not a number"),
            ({"weights": np.array([np.nan])}, "a weight is negative or not a number"),
            ({"leaf_means": np.ones((2, 2))}, "a block is out of range"),
            ({"leaf_means": np.ones((3, 0))}, "there must be a class"),
            ({"n_features": 1}, "a feature is out of range"),
            ({"nodes": forest_of(right=2).as_bytes()}, "a child is out of range"),
            ({"nodes": forest_of(block=3).as_bytes()}, "a block is out of range"),
            ({"roots": np.array([3], dtype=np.int32)}, "a root is out of range"),
        ],
    )
    def test_of_arrays_that_do_not_fit(self, change: dict[str, object], message: str) -> None:
        arrays: dict[str, object] = {
            "n_features": 2,
            "nodes": forest_of().as_bytes(),
            "roots": forest_of().roots,
            "leaf_means": np.ones((3, 2)),
            "weights": np.ones(1),
        }
        assert _kernel.Predictor(**arrays).n_cuts == 1  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=message):
            _kernel.Predictor(**arrays | change)  # type: ignore[arg-type]

    @pytest.mark.parametrize("method", ["means", "mixtures"])
    def test_of_rows_with_other_features(self, method: str) -> None:
        forest = random_forest(0)
        with pytest.raises(ValueError, match="X must have the features of the trees"):
            getattr(compiled(forest, random_weights(forest, 0)), method)(np.zeros((1, N_FEATURES + 1)))


class TestApply:
    def test_tells_the_block_of_each_rows_leaf_in_each_tree(self) -> None:
        forest = random_forest(3)
        X = rows_on_the_grid(3)
        blocks = _kernel.apply(X, forest.as_bytes(), forest.roots)
        np.testing.assert_array_equal(blocks, blocks_by_tree(forest, X).T)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"feature": 2}, "a feature is out of range"),
            ({"right": 2}, "a child is out of range"),
            ({"left": -1}, "a child is out of range"),
            ({"block": -1}, "a block is out of range"),
        ],
    )
    def test_of_nodes_that_do_not_fit(self, changes: dict[str, int], message: str) -> None:
        X, forest = np.zeros((1, 2)), forest_of()
        assert _kernel.apply(X, forest.as_bytes(), forest.roots).tolist() == [[1]]
        with pytest.raises(ValueError, match=message):
            _kernel.apply(X, forest_of(**changes).as_bytes(), forest.roots)
        with pytest.raises(ValueError, match="a root is out of range"):
            _kernel.apply(X, forest.as_bytes(), np.array([3], dtype=np.int32))
