"""Forests in flat arrays, their validity rules, and trees as text."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from particletree.model import Categorical, Forest
from particletree.model.drawing import format_apart
from particletree.model.tree import Trees

NAN = np.nan


def make_forest() -> Forest:
    """Return three trees: two cuts, the root only, one cut; they share the root block and more."""
    return Forest(
        offsets=np.array([0, 5, 6, 9]),
        feature=np.array([0, -1, 1, -1, -1, -1, 0, -1, -1], dtype=np.int32),
        threshold=np.array([1.5, NAN, 0.25, NAN, NAN, NAN, 1.5, NAN, NAN]),
        left=np.array([1, -1, 3, -1, -1, -1, 1, -1, -1], dtype=np.int32),
        right=np.array([2, -1, 4, -1, -1, -1, 2, -1, -1], dtype=np.int32),
        block=np.array([0, 1, 2, 3, 4, 0, 0, 1, 2], dtype=np.int32),
        counts=np.array([[6.0, 5.0], [5.0, 1.0], [1.0, 4.0], [1.0, 0.0], [0.0, 4.0]]),
    )


def make_random_forest(rng: np.random.Generator, n_trees: int, n_leaves: int) -> Forest:
    """Return trees of random shapes in which every block has the size of its subtree."""
    shapes = [_random_shape(rng, int(rng.integers(1, n_leaves + 1))) for _ in range(n_trees)]
    is_split = np.array([split for shape in shapes for split, _, _ in shape])
    right = np.array([child for shape in shapes for _, child, _ in shape], dtype=np.int32)
    sizes = np.array([size for shape in shapes for _, _, size in shape])
    offsets = np.cumsum([0] + [len(shape) for shape in shapes])
    position = np.arange(is_split.size) - np.repeat(offsets[:-1], np.diff(offsets))
    return Forest(
        offsets=offsets,
        feature=np.where(is_split, rng.integers(0, 4, is_split.size), -1).astype(np.int32),
        threshold=np.where(is_split, rng.normal(size=is_split.size), NAN),
        left=np.where(is_split, position + 1, -1).astype(np.int32),
        right=right,
        block=(sizes - 1).astype(np.int32),
        counts=np.arange(1.0, n_leaves + 1)[:, None] * np.array([[2.0, 3.0]]),
    )


def _random_shape(rng: np.random.Generator, n_leaves: int) -> list[tuple[bool, int, int]]:
    """Return (splits, right child, leaves below) of each node of a random tree, in preorder."""
    nodes: list[tuple[bool, int, int]] = []

    def grow(n: int) -> None:
        here = len(nodes)
        nodes.append((False, -1, n))
        if n > 1:
            n_left = int(rng.integers(1, n))
            grow(n_left)
            nodes[here] = (True, len(nodes), n)
            grow(n - n_left)

    grow(n_leaves)
    return nodes


def depth_of(forest: Forest, t: int) -> int:
    """Follow every path of a tree: the naive oracle."""
    start, stop = forest.offsets[t], forest.offsets[t + 1]
    feature, left, right = (column[start:stop] for column in (forest.feature, forest.left, forest.right))

    def below(node: int) -> int:
        return 0 if feature[node] < 0 else 1 + max(below(left[node]), below(right[node]))

    return below(0)


class TestForest:
    def test_counts_trees_nodes_and_blocks(self) -> None:
        forest = make_forest()
        assert (forest.n_trees, forest.n_blocks, forest.n_classes) == (3, 5, 2)
        assert forest.n_nodes.tolist() == [5, 1, 3]
        assert repr(forest) == "Forest(3 trees, 9 nodes, 5 blocks, 2 classes)"

    def test_leaves_and_depths_of_known_trees(self) -> None:
        assert make_forest().n_leaves.tolist() == [3, 1, 2]
        assert make_forest().depths.tolist() == [2, 0, 1]

    @pytest.mark.parametrize("seed", range(5))
    def test_leaves_and_depths_agree_with_the_naive_walk(self, seed: int) -> None:
        forest = make_random_forest(np.random.default_rng(seed), n_trees=30, n_leaves=40)
        forest.check()
        leaves = np.add.reduceat(forest.feature < 0, forest.offsets[:-1], dtype=int)
        assert forest.n_leaves.tolist() == leaves.tolist()
        assert forest.depths.tolist() == [depth_of(forest, t) for t in range(forest.n_trees)]

    def test_splits_lists_each_split_with_its_children(self) -> None:
        tree, node, left, right = make_forest().splits()
        assert np.stack((tree, node, left, right), axis=1).tolist() == [[0, 0, 1, 2], [0, 2, 3, 4], [2, 6, 7, 8]]

    def test_select_keeps_order_and_only_used_blocks(self) -> None:
        chosen = make_forest().select([2, 1, 2])
        chosen.check()
        assert chosen.n_nodes.tolist() == [3, 1, 3]
        assert chosen.counts.tolist() == [[6, 5], [5, 1], [1, 4]]
        assert chosen.block.tolist() == [0, 1, 2, 0, 0, 1, 2]

    def test_select_nothing(self) -> None:
        assert make_forest().select([]).n_trees == 0

    def test_concatenate_keeps_every_tree(self) -> None:
        one, two = make_forest(), make_random_forest(np.random.default_rng(0), 4, 9)
        both = Forest.concatenate([one, two, one])
        both.check()
        assert both.n_trees == 10
        for t, (source, index) in enumerate([(one, i) for i in range(3)] + [(two, i) for i in range(4)]):
            assert both.tree(t).to_text() == source.tree(index).to_text()
        assert both.block.dtype == both.feature.dtype == np.int32
        assert both.offsets.dtype == np.int64

    def test_distinct_finds_equal_trees(self) -> None:
        forest = make_forest().select([2, 1, 0, 2, 1, 2])
        kept, number = forest.distinct()
        assert kept.tolist() == [0, 1, 2]
        assert number.tolist() == [0, 1, 2, 0, 1, 0]

    def test_distinct_believes_the_hints_only_where_they_differ(self) -> None:
        forest = make_forest().select([2, 2, 2, 0])
        kept, number = forest.distinct(np.array([-1.0, -2.0, -1.0, -1.0]))
        assert kept.tolist() == [0, 1, 3]
        assert number.tolist() == [0, 1, 0, 2]

    def test_trees_of_equal_size_and_likelihood_but_other_cuts_stay_apart(self) -> None:
        one, two = make_forest().select([2]), make_forest().select([2])
        forest = Forest.concatenate([one, replace(two, threshold=np.array([1.25, NAN, NAN]))])
        assert forest.distinct(np.array([-1.0, -1.0]))[0].tolist() == [0, 1]

    def test_many_nodes_take_little_time(self) -> None:
        forest = make_random_forest(np.random.default_rng(1), n_trees=500, n_leaves=300)
        start = time.perf_counter()
        forest.n_leaves, forest.depths  # noqa: B018
        assert time.perf_counter() - start < 0.1  # about 2 ms; a loop over nodes takes longer than this


class TestCheck:
    def test_accepts_valid_forests(self) -> None:
        make_forest().check()
        make_forest().check(n_features=2)

    @pytest.mark.parametrize(
        ("change", "rule"),
        [
            ({"feature": np.array([0], dtype=np.int32)}, "the same length"),
            ({"counts": np.ones(5)}, "counts must be a table"),
            ({"offsets": np.array([0, 5, 6, 8])}, "offsets must lead from 0"),
            ({"offsets": np.array([1, 5, 6, 9])}, "offsets must lead from 0"),
            ({"offsets": np.zeros(0, dtype=np.int64)}, "offsets must lead from 0"),
            ({"offsets": np.array([0, 5, 5, 9])}, "offsets must increase.* tree 1"),
            ({"offsets": np.array([0, 2**63 - 1, -(2**63), 9])}, "offsets must increase"),
        ],
    )
    def test_names_the_rule_for_whole_columns(self, change: dict[str, NDArray[Any]], rule: str) -> None:
        with pytest.raises(ValueError, match=rule):
            replace(make_forest(), **change).check()

    @pytest.mark.parametrize(
        ("column", "at", "value", "rule"),
        [
            ("feature", 1, -2, "feature must be -1 at a leaf"),
            ("feature", 2, -1, "a leaf in all of feature, left and right, or in none; node 2"),
            ("feature", 1, 0, "a leaf in all of feature, left and right, or in none; node 1"),
            ("left", 0, 2, "left child must be the next node; node 0"),
            ("left", 0, 0, "left child must be the next node"),
            ("right", 0, 1, "right child must lie inside the tree"),
            ("right", 0, 5, "right child must lie inside the tree"),
            ("right", 0, 2**31 - 1, "right child must lie inside the tree"),
            ("right", 0, 4, "exactly one parent"),
            ("threshold", 0, NAN, "threshold of a split must be finite"),
            ("threshold", 0, np.inf, "threshold of a split must be finite"),
            ("threshold", 1, 0.0, "threshold of a leaf must be nan"),
            ("block", 3, 5, "block must lie between 0 and 4"),
            ("block", 3, -1, "block must lie between 0 and 4"),
            ("counts", (4, 0), -1.0, "counts must be finite numbers of at least 0; block 4"),
            ("counts", (4, 1), np.inf, "counts must be finite numbers of at least 0"),
            ("counts", (4, 1), NAN, "counts must be finite numbers of at least 0"),
            ("counts", (4, 1), 0.0, "positive, finite sum; block 4"),
            ("counts", (4, 1), 4.1, "children must add up"),
        ],
    )
    def test_names_the_broken_rule(self, column: str, at: Any, value: float, rule: str) -> None:
        changed = getattr(make_forest(), column).copy()
        changed[at] = value
        with pytest.raises(ValueError, match=rule):
            replace(make_forest(), **{column: changed}).check()

    def test_right_child_after_the_left_subtree(self) -> None:
        # 0 -> (1, 3) and 1 -> (2, 4): every node has one parent, but node 4 of the left subtree stands behind node 3.
        forest = Forest(
            offsets=np.array([0, 5]),
            feature=np.array([0, 1, -1, -1, -1], dtype=np.int32),
            threshold=np.array([1.5, 0.5, NAN, NAN, NAN]),
            left=np.array([1, 2, -1, -1, -1], dtype=np.int32),
            right=np.array([3, 4, -1, -1, -1], dtype=np.int32),
            block=np.array([0, 1, 2, 3, 4], dtype=np.int32),
            counts=np.array([[4.0], [2.0], [1.0], [2.0], [1.0]]),
        )
        with pytest.raises(ValueError, match="first node after the left subtree"):
            forest.check()

    def test_features_must_be_known(self) -> None:
        with pytest.raises(ValueError, match="feature must be below 1"):
            make_forest().check(n_features=1)

    def test_counts_add_up_only_to_rounding(self) -> None:
        counts = make_forest().counts * 0.1
        replace(make_forest(), counts=counts).check()

    @pytest.mark.parametrize("seed", range(20))
    def test_a_changed_index_never_passes(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        forest = make_random_forest(rng, n_trees=5, n_leaves=8)
        column = str(rng.choice(["feature", "left", "right", "offsets"]))
        changed = getattr(forest, column).copy()
        at = int(rng.integers(changed.size))
        changed[at] = -1 if column == "feature" and changed[at] >= 0 else changed[at] + 1
        with pytest.raises(ValueError, match="Not a valid forest"):
            replace(forest, **{column: changed}).check()


class TestTree:
    def test_is_a_view_of_its_part_of_the_forest(self) -> None:
        tree = make_forest().tree(2)
        assert (tree.n_nodes, tree.n_leaves, tree.depth) == (3, 2, 1)
        assert tree.feature.tolist() == [0, -1, -1]
        assert tree.counts.tolist() == [[6, 5], [5, 1], [1, 4]]
        assert repr(tree) == "Tree(2 leaves, depth 1)"

    def test_cannot_be_written_to(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            make_forest().tree(0).threshold[0] = 2.0

    def test_leaves_the_forest_writable(self) -> None:
        forest = make_forest()
        forest.tree(0)
        assert forest.threshold.flags.writeable

    def test_apply_sends_values_at_the_threshold_left(self) -> None:
        X = np.array([[1.5, 9.0], [1.6, 0.25], [1.6, 0.26], [-9.0, 0.0]])
        assert make_forest().tree(0).apply(X).tolist() == [1, 3, 4, 1]

    def test_apply_on_a_root_and_on_no_rows(self) -> None:
        assert make_forest().tree(1).apply(np.zeros((3, 2))).tolist() == [0, 0, 0]
        assert make_forest().tree(0).apply(np.zeros((0, 2))).tolist() == []

    def test_apply_says_what_is_wrong_with_x(self) -> None:
        with pytest.raises(ValueError, match=r"this tree cuts x\[1\].* got shape \(3, 1\)"):
            make_forest().tree(0).apply(np.zeros((3, 1)))

    def test_probabilities_are_those_of_the_leaf_model(self) -> None:
        tree = make_forest().tree(0, leaf=Categorical(2.0))
        assert tree.probabilities[4].tolist() == pytest.approx([1 / 6, 5 / 6])
        assert make_forest().tree(0).probabilities[4].tolist() == [0, 1]


class TestText:
    def test_shows_names_thresholds_counts_and_predictions(self) -> None:
        tree = make_forest().tree(0, ["petal length", "width"], np.array(["no", "yes"]), Categorical(2.0))
        assert str(tree).splitlines() == [
            "petal length <= 1.5",
            "├── yes: no 0.75 (n = 6: no 5, yes 1)",
            "└── no: width <= 0.25",
            "    ├── yes: no 0.67 (n = 1: no 1)",
            "    └── no: yes 0.83 (n = 4: yes 4)",
        ]

    def test_works_without_names(self) -> None:
        assert str(make_forest().tree(2)).splitlines()[:2] == ["x[0] <= 1.5", "├── yes: 0 0.83 (n = 6: 0 5, 1 1)"]

    def test_of_a_root(self) -> None:
        assert str(make_forest().tree(1)) == "0 0.55 (n = 11: 0 6, 1 5)"

    def test_max_depth_hides_leaves_and_says_how_many(self) -> None:
        tree = make_forest().tree(0)
        assert tree.to_text(max_depth=1).splitlines()[2] == "└── no: ... 2 leaves (n = 5: 1 4, 0 1)"
        assert tree.to_text(max_depth=0) == "... 3 leaves (n = 11: 0 6, 1 5)"
        assert tree.to_text(max_depth=9) == tree.to_text()
        with pytest.raises(ValueError, match="max_depth must be None or at least 0"):
            tree.to_text(max_depth=-1)

    @pytest.mark.parametrize("seed", range(4))
    def test_str_of_a_long_tree_stays_short_and_accounts_for_every_leaf(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        forest = make_random_forest(rng, n_trees=1, n_leaves=1000)
        lines = str(forest.tree(0)).splitlines()
        hidden = sum(int(line.split("... ")[1].split()[0]) for line in lines if "... " in line)
        shown = sum("(n = " in line and "... " not in line for line in lines)
        assert len(lines) <= 100
        assert hidden + shown == forest.n_leaves[0]
        assert len(forest.tree(0).to_text().splitlines()) == forest.n_nodes[0]

    def test_many_classes_show_the_largest_few(self) -> None:
        counts = np.zeros((1, 300))
        counts[0, [7, 8, 9, 10, 11]] = [1, 5, 2, 0.5, 3]
        root = make_forest().select([1])
        tree = replace(root, counts=counts).tree(0, leaf=Categorical())
        assert str(tree) == "8 0.30 (n = 11.5: 8 5, 11 3, 9 2, 2 more classes)"

    def test_a_probability_below_one_never_reads_as_one(self) -> None:
        sure = replace(make_forest().select([1]), counts=np.array([[99999.0, 0.0]]))
        assert str(sure.tree(0, leaf=Categorical())).startswith("0 >0.99 (n = 99999")

    @pytest.mark.parametrize(
        ("numbers", "texts"),
        [
            ([0.123456789], ["0.1235"]),
            ([1234567.891], ["1234568"]),
            ([1000.121, 1000.134], ["1000.12", "1000.13"]),
            ([1e-12, 3.0], ["1e-12", "3"]),
            ([-2.5, 0.0], ["-2.5", "0"]),
            ([0.5, 0.5], ["0.5", "0.5"]),
            ([1.0, 1.0 + 2**-52], ["1", "1.0000000000000002"]),
        ],
    )
    def test_thresholds_have_the_digits_that_are_needed(self, numbers: list[float], texts: list[str]) -> None:
        assert format_apart(np.array(numbers)) == texts


class TestTrees:
    def test_is_a_sequence(self) -> None:
        trees = Trees(make_forest())
        assert len(trees) == 3
        assert [tree.n_leaves for tree in trees] == [3, 1, 2]
        assert trees[-1].n_leaves == 2
        assert [tree.n_leaves for tree in trees[::-1][:2]] == [2, 1]
        assert repr(trees[1:]) == "Trees(2 trees)"
        with pytest.raises(IndexError):
            trees[3]
