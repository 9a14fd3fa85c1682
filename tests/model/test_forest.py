"""Forests of shared nodes: what is computed on them against naive walks, their validity rules, and sharing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from model.made_forests import NAN, make_forest, make_random_forest
from particletree import _kernel
from particletree._model import Categorical, Flat, Forest
from particletree._model.rule import LEAF, NODE
from particletree._model.validity import check_forest, check_statistics_of
from particletree._posterior.joining import distinct_trees, join
from particletree._posterior.runs.evidence import same_up_to_gaps


def walk(forest: Forest, t: int) -> list[int]:
    """Return the nodes of a tree in preorder, by the naive walk; a node that occurs twice is there twice."""
    order, pending = [], [int(forest.roots[t])]
    while pending:
        node = pending.pop()
        order.append(node)
        if forest.feature[node] >= 0:
            pending += [int(forest.right[node]), int(forest.left[node])]
    return order


def depth_of(forest: Forest, node: int) -> int:
    """Follow every path below a node: the naive oracle."""
    if forest.feature[node] < 0:
        return 0
    return 1 + max(depth_of(forest, int(forest.left[node])), depth_of(forest, int(forest.right[node])))


def with_field(forest: Forest, name: str, at: Any, value: float) -> Forest:
    """Return a forest with one changed number."""
    if name in NODE.names:
        nodes = forest.nodes.copy()
        nodes[name][at] = value
        return replace(forest, nodes=nodes)
    changed = getattr(forest, name).copy()
    changed[at] = value
    return replace(forest, **{name: changed})


def shared(seed: int) -> Forest:
    """Return trees that share subtrees, some of them equal."""
    rng = np.random.default_rng(seed)
    forest = make_random_forest(rng, n_trees=30, n_leaves=12)
    return join([forest, forest.select(rng.integers(0, 30, size=20))])


class TestForest:
    def test_counts_trees_nodes_and_blocks(self) -> None:
        forest = make_forest()
        assert (forest.n_trees, forest.n_blocks) == (3, 5)
        assert repr(forest) == "Forest(3 trees, 9 nodes, 5 blocks)"

    def test_leaves_and_depths_of_known_trees(self) -> None:
        assert make_forest().n_leaves.tolist() == [3, 1, 2]
        assert make_forest().depths.tolist() == [2, 0, 1]

    @pytest.mark.parametrize("make", [shared, lambda seed: make_random_forest(np.random.default_rng(seed), 30, 40)])
    @pytest.mark.parametrize("seed", range(5))
    def test_agrees_with_the_naive_walk(self, seed: int, make: Any) -> None:
        forest, rng = make(seed), np.random.default_rng(seed)
        check_forest(forest)
        ways = [walk(forest, t) for t in range(forest.n_trees)]
        assert [forest.preorder(t).tolist() for t in range(forest.n_trees)] == ways
        assert forest.n_leaves.tolist() == [int((forest.feature[way] < 0).sum()) for way in ways]
        assert forest.depths.tolist() == [depth_of(forest, int(root)) for root in forest.roots]
        own = rng.normal(size=forest.nodes.size)
        np.testing.assert_allclose(forest.sum_over_subtrees(own)[forest.roots], [own[way].sum() for way in ways])
        weights = rng.dirichlet(np.ones(forest.n_trees))
        expected = np.zeros(forest.nodes.size)
        for way, weight in zip(ways, weights, strict=True):
            np.add.at(expected, way, weight)
        np.testing.assert_allclose(forest.node_weights(weights), expected, atol=1e-15)
        bits = forest.trees_that_cut(np.array([3, 0]))
        cuts = [[int(f in forest.feature[way]) for f in (3, 0)] for way in ways]
        assert bits.tolist() == [first + 2 * second for first, second in cuts]

    def test_select_keeps_order_and_only_what_is_used(self) -> None:
        chosen = make_forest().select([2, 1, 2])
        check_forest(chosen)
        assert chosen.n_leaves.tolist() == [2, 1, 2]
        assert chosen.nodes.size == 4
        assert chosen.statistics.tolist() == [[6, 5], [5, 1], [1, 4]]

    @pytest.mark.parametrize("seed", range(3))
    def test_select_and_concatenate_keep_every_tree(self, seed: int) -> None:
        one, two = make_forest(), shared(seed)
        both = Forest.concatenate([one, two, one])

        sources = [(one, i) for i in range(3)] + [(two, i) for i in range(two.n_trees)] + [(one, i) for i in range(3)]
        chosen = np.random.default_rng(seed).permutation(len(sources))[:20]
        some = both.select(chosen)
        for t, (source, index) in zip(range(20), [sources[i] for i in chosen], strict=True):
            assert some.tree(t).to_text() == source.tree(index).to_text()
            np.testing.assert_array_equal(some.tree(t).gap_high, source.tree(index).gap_high)

    def test_log_gap_volumes_are_sums_over_splits(self) -> None:
        assert make_forest().log_gap_volumes == pytest.approx([np.log(0.28 - 0.21), 0.0, 0.0])
        assert make_forest().select([]).log_gap_volumes.tolist() == []
        forest = make_random_forest(np.random.default_rng(0), n_trees=6, n_leaves=9)
        assert forest.log_gap_volumes == pytest.approx(np.log(0.02) * (forest.n_leaves - 1))

    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [
            (-1.7e308, 1.7e308, np.log(1.7) + np.log(2) + 308 * np.log(10)),
            (0.0, 5e-324, -1074 * np.log(2)),
            (1.0, 1.0 + 2**-52, -52 * np.log(2)),
        ],
    )
    def test_log_gap_volumes_of_extreme_gaps(self, low: float, high: float, expected: float) -> None:
        forest = with_field(with_field(make_forest(), "gap_low", 2, low), "gap_high", 2, high)
        assert forest.log_gap_volumes[2] == pytest.approx(expected)

    def test_select_nothing(self) -> None:
        assert make_forest().select([]).n_trees == 0

    def test_many_nodes_take_little_time(self) -> None:
        forest = make_random_forest(np.random.default_rng(1), n_trees=500, n_leaves=300)
        forest = join([forest])
        start = time.perf_counter()
        forest.n_leaves, forest.depths  # noqa: B018
        assert time.perf_counter() - start < 0.1  # a few ms; a loop over nodes takes longer than this


class TestSharing:
    def test_equal_trees_have_the_same_root(self) -> None:
        forest = join([make_forest().select([2, 1, 0, 2, 1, 2])])
        kept, number = distinct_trees(forest)
        assert kept.tolist() == [0, 1, 2]
        assert number.tolist() == [0, 1, 2, 0, 1, 0]

    def test_equal_subtrees_of_different_trees_are_one_node(self) -> None:
        # The leaf of block 1 is part of trees 0 and 2; block 2 is a split in one and a leaf in the other.
        forest = join([make_forest()])
        check_forest(forest)
        assert forest.nodes.size == 8
        assert forest.tree(0).to_text() == make_forest().tree(0).to_text()

    @pytest.mark.parametrize("seed", range(5))
    def test_every_distinct_subtree_stands_once(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        plain = make_random_forest(rng, n_trees=40, n_leaves=10)
        doubled = Forest.concatenate([plain, plain.select(rng.permutation(40))])
        forest = join([doubled])
        check_forest(forest)
        texts = [{doubled.tree(t).to_text(), forest.tree(t).to_text()} for t in range(80)]
        assert all(len(text) == 1 for text in texts)
        subtrees = {subtree_key(doubled, int(root)) for root in doubled.roots for root in walk_from(doubled, int(root))}
        assert forest.nodes.size == len(subtrees)
        assert len(set(forest.roots.tolist())) == len({subtree_key(doubled, int(root)) for root in doubled.roots})

    @pytest.mark.parametrize("seed", range(3))
    def test_nodes_are_ordered_by_height(self, seed: int) -> None:
        heights = shared(seed).heights
        assert (np.diff(heights) >= 0).all()

    def test_other_rows_other_thresholds_other_children_stay_apart(self) -> None:
        one = make_forest().select([2])
        moved = with_field(one, "threshold", one.roots[0], 1.25)
        assert len(set(join([one, moved]).roots.tolist())) == 2
        other_rows = replace(one, row_hashes=one.row_hashes + np.uint64(7))
        assert len(set(join([one, other_rows]).roots.tolist())) == 2
        assert len(set(join([one, one]).roots.tolist())) == 1

    def test_gaps_alone_tell_trees_apart_where_that_is_asked(self) -> None:
        one = make_forest().select([2])
        moved = with_field(one, "threshold", one.roots[0], 1.25)
        kinds = same_up_to_gaps(join([one, moved, make_forest().select([0])]))
        assert kinds[0] == kinds[1] != kinds[2]

    def test_blocks_of_the_same_rows_are_one(self) -> None:
        twice = replace(make_forest(), nodes=make_forest().nodes.copy())
        forest = join([make_forest(), twice])
        assert forest.n_blocks == 5

    @pytest.mark.parametrize(
        ("name", "at", "value", "message"),
        [
            ("left", 8, 8, "a child is out of range"),
            ("right", 8, -1, "a child is out of range"),
            ("block", 0, 5, "a block is out of range"),
            ("block", 0, -1, "a block is out of range"),
        ],
    )
    def test_the_kernel_checks_what_it_follows(self, name: str, at: int, value: int, message: str) -> None:
        forest = with_field(make_forest(), name, at, value)
        with pytest.raises(ValueError, match=message):
            _kernel.share_nodes(forest.as_bytes(), forest.row_hashes)

    def test_the_kernel_knows_the_size_of_a_node(self) -> None:
        with pytest.raises(ValueError, match="another number of bytes"):
            _kernel.share_nodes(np.zeros((3, NODE.itemsize + 8), dtype=np.uint8), np.zeros(1, dtype=np.uint64))


def walk_from(forest: Forest, node: int) -> list[int]:
    """Return all nodes of a subtree."""
    if forest.feature[node] < 0:
        return [node]
    return [node, *walk_from(forest, int(forest.left[node])), *walk_from(forest, int(forest.right[node]))]


def subtree_key(forest: Forest, node: int) -> tuple[Any, ...]:
    """Return what tells a subtree from others."""
    rows = int(forest.row_hashes[forest.nodes["block"][node]])
    if forest.feature[node] < 0:
        return (rows,)
    children = (subtree_key(forest, int(forest.left[node])), subtree_key(forest, int(forest.right[node])))
    return (rows, int(forest.feature[node]), float(forest.nodes["threshold"][node]), *children)


class TestCheck:
    def test_accepts_valid_forests(self) -> None:
        check_forest(make_forest())
        check_forest(make_forest(), n_features=2)

    @pytest.mark.parametrize(
        ("change", "rule"),
        [
            ({"nodes": np.zeros(3)}, "a list of records of nodes"),
            ({"nodes": np.zeros((3, 2), dtype=NODE)}, "a list of records of nodes"),
            ({"statistics": np.ones(5)}, "statistics must be a table"),
            ({"row_hashes": np.zeros(4, dtype=np.uint64)}, "a hash of the rows for each block"),
            ({"row_hashes": np.zeros(5, dtype=np.uint64)}, "every block must have a hash of its own"),
            ({"roots": np.zeros((1, 1), dtype=np.int32)}, "the roots must be a list"),
            ({"roots": np.array([0, 9], dtype=np.int32)}, "a root must lie between 0 and 8, the last node; tree 1"),
            ({"roots": np.array([-1], dtype=np.int32)}, "a root must lie between 0 and 8"),
        ],
    )
    def test_names_the_rule_for_whole_columns(self, change: dict[str, NDArray[Any]], rule: str) -> None:
        with pytest.raises(ValueError, match=rule):
            check_forest(replace(make_forest(), **change))

    @pytest.mark.parametrize(
        ("column", "at", "value", "rule"),
        [
            ("feature", 7, -2, "feature must be -1 at a leaf"),
            ("feature", 6, -1, "a leaf in all of feature, left and right, or in none; node 6"),
            ("feature", 7, 0, "a leaf in all of feature, left and right, or in none; node 7"),
            ("left", 8, 8, "the children of a split must come before it; node 8"),
            ("right", 6, 7, "the children of a split must come before it; node 6"),
            ("right", 8, 2**31 - 1, "the children of a split must come before it"),
            ("left", 8, 6, "children must add up"),
            ("threshold", 8, NAN, "threshold of a split must be finite"),
            ("threshold", 8, -np.inf, "threshold of a split must be finite"),
            ("threshold", 7, 0.0, "threshold of a leaf must be nan"),
            ("gap_low", 8, NAN, "gap_low of a split must be finite; node 8"),
            ("gap_high", 6, np.inf, "gap_high of a split must be finite; node 6"),
            ("gap_low", 7, 0.0, "gap_low of a leaf must be nan; node 7"),
            ("gap_high", 7, 0.0, "gap_high of a leaf must be nan; node 7"),
            ("gap_low", 8, 1.51, "a threshold must lie in its gap, gap_low <= threshold < gap_high; node 8"),
            ("gap_high", 6, 0.25, "a threshold must lie in its gap, gap_low <= threshold < gap_high; node 6"),
            ("block", 5, 5, "block must lie between 0 and 4"),
            ("block", 5, -1, "block must lie between 0 and 4"),
            ("statistics", (4, 1), np.inf, "statistics must be finite numbers; block 4"),
            ("statistics", (4, 1), NAN, "statistics must be finite numbers; block 4"),
            ("statistics", (4, 0), -1.0, "children must add up to its own; node 6"),
            ("statistics", (4, 1), 0.0, "children must add up to its own; node 6"),
            ("statistics", (4, 1), 4.1, "children must add up"),
        ],
    )
    def test_names_the_broken_rule(self, column: str, at: Any, value: float, rule: str) -> None:
        with pytest.raises(ValueError, match=rule):
            check_forest(with_field(make_forest(), column, at, value))

    @pytest.mark.parametrize("leaf", [Categorical.paper(), Flat()])
    @pytest.mark.parametrize(
        ("at", "value", "rule"),
        [
            ((4, 0), -1.0, "counts must be finite numbers of at least 0; block 4"),
            ((4, 1), np.inf, "counts must be finite numbers of at least 0; block 4"),
            ((4, 1), NAN, "counts must be finite numbers of at least 0; block 4"),
            ((4, 1), 2.1e12, "counts must be at most 2e.12; block 4"),
            ((4, 1), 0.0, "positive, finite sum; block 4"),
        ],
    )
    def test_statistics_must_be_those_of_the_leaf_model(
        self, leaf: Categorical, at: tuple[int, int], value: float, rule: str
    ) -> None:
        check_statistics_of(make_forest(), leaf)
        with pytest.raises(ValueError, match=rule):
            check_statistics_of(with_field(make_forest(), "statistics", at, value), leaf)

    def test_statistics_may_be_negative_where_no_leaf_model_counts(self) -> None:
        check_forest(replace(make_forest(), statistics=-make_forest().statistics))

    def test_a_tree_cannot_be_larger_than_the_file_it_comes_from(self) -> None:
        """200 nodes that are their parent's left and right child at once would be a tree of 2 to the 200 leaves."""
        n = 200
        nodes = np.full(n + 1, LEAF)
        nodes["feature"][1:], nodes["threshold"][1:], nodes["gap_low"][1:], nodes["gap_high"][1:] = 0, 0.5, 0.0, 1.0
        nodes["left"][1:] = nodes["right"][1:] = np.arange(n)
        bomb = Forest(nodes, np.array([n], dtype=np.int32), np.ones((1, 2)), np.zeros(1, dtype=np.uint64))
        with pytest.raises(ValueError, match="more leaves than there are distinct ones"):
            check_forest(bomb)

    def test_a_threshold_may_be_the_lower_end_of_its_gap(self) -> None:
        forest = make_forest()
        nodes = forest.nodes.copy()
        nodes["threshold"] = nodes["gap_low"]
        check_forest(replace(forest, nodes=nodes))

    def test_features_must_be_known(self) -> None:
        with pytest.raises(ValueError, match="feature must be below 1"):
            check_forest(make_forest(), n_features=1)

    def test_counts_add_up_only_to_rounding(self) -> None:
        check_forest(replace(make_forest(), statistics=make_forest().statistics * 0.1))

    @pytest.mark.parametrize("seed", range(20))
    def test_a_child_of_another_size_never_passes(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        forest = make_random_forest(rng, n_trees=5, n_leaves=8)
        side, at = str(rng.choice(["left", "right"])), int(rng.choice(np.flatnonzero(forest.is_split)))
        sizes = forest.n_leaves_of_nodes
        others = np.flatnonzero(sizes != sizes[getattr(forest, side)[at]])
        with pytest.raises(ValueError, match="Not a valid forest"):
            check_forest(with_field(forest, side, at, int(rng.choice(others))))


def test_nodes_out_of_a_larger_buffer_are_read_as_others() -> None:
    forest = make_forest()
    buffer = np.empty(forest.nodes.nbytes + 1, dtype=np.uint8)
    odd = buffer[1:].view(NODE) if buffer.ctypes.data % 8 == 0 else buffer[: forest.nodes.nbytes].view(NODE)
    odd[:] = forest.nodes
    assert odd.ctypes.data % 8 != 0
    moved = replace(forest, nodes=odd)
    np.testing.assert_array_equal(moved.as_bytes(), forest.as_bytes())
    assert join([moved]).n_trees == forest.n_trees
