"""Forests in flat arrays, their validity rules, and trees as text."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from forests import Grower, printed_thresholds
from particletree.model import Categorical, Forest, same_trees
from particletree.model.drawing import ROUNDED
from particletree.model.tree import Tree, Trees

NAN = np.nan


def make_forest() -> Forest:
    """Return three trees: two cuts, the root only, one cut; they share the root block and more."""
    return Forest(
        offsets=np.array([0, 5, 6, 9]),
        feature=np.array([0, -1, 1, -1, -1, -1, 0, -1, -1], dtype=np.int32),
        threshold=np.array([1.5, NAN, 0.25, NAN, NAN, NAN, 1.5, NAN, NAN]),
        gap_low=np.array([1.0, NAN, 0.21, NAN, NAN, NAN, 1.0, NAN, NAN]),
        gap_high=np.array([2.0, NAN, 0.28, NAN, NAN, NAN, 2.0, NAN, NAN]),
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
    feature = np.where(is_split, rng.integers(0, 4, is_split.size), -1).astype(np.int32)
    threshold = np.where(is_split, rng.normal(size=is_split.size), NAN)
    return Forest(
        offsets=offsets,
        feature=feature,
        threshold=threshold,
        gap_low=threshold - 0.01,
        gap_high=threshold + 0.01,
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

    def test_select_and_concatenate_keep_the_gaps(self) -> None:
        forest = Forest.concatenate([make_forest(), make_forest().select([2, 0])])
        low, high = [1.0, NAN, NAN, 1.0, NAN, 0.21, NAN, NAN], [2.0, NAN, NAN, 2.0, NAN, 0.28, NAN, NAN]
        np.testing.assert_array_equal(forest.gap_low[9:], low)
        np.testing.assert_array_equal(forest.gap_high[9:], high)
        np.testing.assert_array_equal(forest.tree(3).gap_high, high[:3])

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
        ends = {"gap_low": np.array([low, NAN, NAN]), "gap_high": np.array([high, NAN, NAN])}
        forest = replace(make_forest().select([2]), **ends)
        assert forest.log_gap_volumes == pytest.approx([expected])

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

    def test_distinct_among_many(self) -> None:
        rng = np.random.default_rng(1)
        which = rng.integers(0, 400, size=1000)
        thresholds = np.column_stack([rng.normal(size=400), np.full((400, 2), NAN)])
        one = make_forest().select([2])
        forest = replace(one.select(np.zeros(1000, dtype=int)), threshold=thresholds[which].ravel())
        kept, number = forest.distinct()
        _, expected = np.unique(which, return_index=True)
        assert kept.tolist() == sorted(expected)
        np.testing.assert_array_equal(which[kept][number], which)

    def test_distinct_does_not_rest_on_the_hashes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(same_trees, "mix", lambda *columns: np.zeros(columns[0].size, dtype=np.uint64))
        forest = make_forest().select([2, 1, 0, 2, 1, 2])
        other = replace(make_forest().select([2]), threshold=np.array([1.25, NAN, NAN]))
        kept, number = Forest.concatenate([forest, other, other]).distinct()
        assert kept.tolist() == [0, 1, 2, 6]
        assert number.tolist() == [0, 1, 2, 0, 1, 0, 3, 3]

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
            ({"gap_low": np.array([1.0])}, "the same length"),
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
            ("gap_low", 0, NAN, "gap_low of a split must be finite; node 0"),
            ("gap_high", 2, np.inf, "gap_high of a split must be finite; node 2"),
            ("gap_low", 1, 0.0, "gap_low of a leaf must be nan; node 1"),
            ("gap_high", 1, 0.0, "gap_high of a leaf must be nan; node 1"),
            ("gap_low", 0, 1.51, "a threshold must lie in its gap, gap_low <= threshold < gap_high; node 0"),
            ("gap_high", 2, 0.25, "a threshold must lie in its gap, gap_low <= threshold < gap_high; node 2"),
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
            gap_low=np.array([1.0, 0.0, NAN, NAN, NAN]),
            gap_high=np.array([2.0, 1.0, NAN, NAN, NAN]),
            left=np.array([1, 2, -1, -1, -1], dtype=np.int32),
            right=np.array([3, 4, -1, -1, -1], dtype=np.int32),
            block=np.array([0, 1, 2, 3, 4], dtype=np.int32),
            counts=np.array([[4.0], [2.0], [1.0], [2.0], [1.0]]),
        )
        with pytest.raises(ValueError, match="first node after the left subtree"):
            forest.check()

    def test_a_threshold_may_be_the_lower_end_of_its_gap(self) -> None:
        forest = make_forest()
        replace(forest, threshold=forest.gap_low).check()

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
            "├── yes: no, p = 0.75 (6 rows: 5 no, 1 yes)",
            "└── no: width <= 0.25",
            "    ├── yes: no, p = 0.67 (1 row: 1 no)",
            "    └── no: yes, p = 0.83 (4 rows: 4 yes)",
        ]

    def test_works_without_names(self) -> None:
        assert str(make_forest().tree(2)).splitlines()[:2] == [
            "x[0] <= 1.5",
            "├── yes: class 0, p = 0.83 (6 rows: 5 of class 0, 1 of class 1)",
        ]

    @pytest.mark.parametrize(
        ("classes", "expected"),
        [
            (np.array([0, 1]), "class 0, p = 0.55 (11 rows: 6 of class 0, 5 of class 1)"),
            (np.array([False, True]), "class False, p = 0.55 (11 rows: 6 of class False, 5 of class True)"),
            (np.array([-0.5, 2.0]), "class -0.5, p = 0.55 (11 rows: 6 of class -0.5, 5 of class 2.0)"),
            (np.array(["0", "1"]), "class 0, p = 0.55 (11 rows: 6 of class 0, 5 of class 1)"),
            (np.array(["benign", "bad"]), "benign, p = 0.55 (11 rows: 6 benign, 5 bad)"),
            (np.array(["benign", "bad"], dtype=object), "benign, p = 0.55 (11 rows: 6 benign, 5 bad)"),
            (np.array(["", "bad"]), "class '', p = 0.55 (11 rows: 6 of class '', 5 of class bad)"),
            (np.array(["bad\nluck", "a\tb\u2028"]), r"bad\nluck, p = 0.55 (11 rows: 6 bad\nluck, 5 a\tb\u2028)"),
            (np.array(["größe", "\ud800"], dtype=object), r"größe, p = 0.55 (11 rows: 6 größe, 5 \ud800)"),
        ],
        ids=str,
    )
    def test_labels_of_every_kind_can_be_read(self, classes: NDArray[Any], expected: str) -> None:
        assert str(make_forest().tree(1, classes=classes)) == expected

    def test_names_with_line_breaks_stay_on_their_line(self) -> None:
        text = str(make_forest().tree(0, ["petal\r\nlength", "width\t(cm)"]))
        assert len(text.splitlines()) == 5
        assert text.splitlines()[0] == r"petal\r\nlength <= 1.5"
        assert r"width\t(cm) <= 0.25" in text

    def test_of_a_root(self) -> None:
        assert str(make_forest().tree(1)) == "class 0, p = 0.55 (11 rows: 6 of class 0, 5 of class 1)"

    def test_max_depth_hides_leaves_and_says_how_many(self) -> None:
        tree = make_forest().tree(0)
        assert tree.to_text(max_depth=1).splitlines()[2] == "└── no: ... 2 leaves (5 rows: 4 of class 1, 1 of class 0)"
        assert tree.to_text(max_depth=0) == "... 3 leaves (11 rows: 6 of class 0, 5 of class 1)"
        assert tree.to_text(max_depth=9) == tree.to_text()
        with pytest.raises(ValueError, match="max_depth must be None or at least 0"):
            tree.to_text(max_depth=-1)

    @pytest.mark.parametrize("seed", range(4))
    def test_str_of_a_long_tree_stays_short_and_accounts_for_every_leaf(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        forest = make_random_forest(rng, n_trees=1, n_leaves=1000)
        lines = str(forest.tree(0)).splitlines()
        hidden = sum(int(line.split("... ")[1].split()[0]) for line in lines if "... " in line)
        shown = sum(" rows: " in line and "... " not in line for line in lines)
        assert len(lines) <= 100
        assert hidden + shown == forest.n_leaves[0]
        assert len(forest.tree(0).to_text().splitlines()) == forest.n_nodes[0]

    def test_many_classes_show_the_largest_few(self) -> None:
        counts = np.zeros((1, 300))
        counts[0, [7, 8, 9, 10, 11]] = [1, 5, 2, 0.5, 3]
        root = make_forest().select([1])
        tree = replace(root, counts=counts).tree(0, leaf=Categorical())
        rows = "11.5 rows: 5 of class 8, 3 of class 11, 2 of class 9, 2 more classes"
        assert str(tree) == f"class 8, p = 0.30 ({rows})"

    def test_a_probability_below_one_never_reads_as_one(self) -> None:
        sure = replace(make_forest().select([1]), counts=np.array([[99999.0, 0.0]]))
        assert str(sure.tree(0, leaf=Categorical())).startswith("class 0, p > 0.99 (99999 rows")


def number_in(tree: Tree) -> str:
    """Return the number that the text of a rounded tree with one split shows."""
    heading, rule = str(tree.rounded()).splitlines()[:2]
    assert heading == ROUNDED
    return rule.removeprefix("x[0] <= ")


def one_split(low: float, high: float, threshold: float) -> Tree:
    gap = {"threshold": threshold, "gap_low": low, "gap_high": high}
    forest = replace(make_forest().select([2]), **{name: np.array([x, NAN, NAN]) for name, x in gap.items()})
    forest.check()
    return forest.tree(0)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def gaps(draw: st.DrawFn) -> tuple[float, float, float]:
    """Draw (low, high, threshold), with neighbouring floats and round numbers among them."""
    low = draw(FINITE | st.integers(-3000, 3000).map(float) | st.decimals(-9, 9, places=2).map(float))
    near = st.integers(1, 5).map(lambda n: reduce(lambda x, _: math.nextafter(x, math.inf), range(n), low))
    above = draw(near | FINITE | st.integers(-3000, 3000).map(float) | st.decimals(-9, 9, places=2).map(float))
    assume(low != above and math.isfinite(above))
    low, high = min(low, above), max(low, above)
    return low, high, draw(st.floats(low, high, exclude_max=True))


class TestRoundedThresholds:
    @pytest.mark.parametrize(
        ("low", "high", "threshold", "text"),
        [
            (2007.0, 2008.0, 2007.76, "2007.5"),
            (0.0, 1.0, 0.0371, "0.5"),
            (1.7, 1.8, 1.7179939531158603, "1.75"),
            (0.1278, 0.1342, 0.133079, "0.13"),
            (12.2, 18.9, 16.2, "15"),
            (10.5, 14.2, 13.6, "14"),
            (-3.0, -2.0, -2.9, "-2.5"),
            (-0.8, 0.3, -0.7, "0"),
            (-0.0, 1e-3, 0.0, "0.0005"),
            (1234567.2, 1234568.9, 1234567.891, "1234568"),
            (1e-12, 3e-12, 1.234e-12, "2e-12"),
            (1e22, 9e22, 2.3e22, "5e+22"),
            (-1.7e308, -1e308, -1.1e308, "-1.5e+308"),
            (1e308, 1.7976931348623157e308, 1.7e308, "1.5e+308"),
            (1.0, 1.0 + 2**-52, 1.0, "1"),
            (1.0, 1.0 + 2**-51, 1.0, "1.0000000000000002"),
            (0.1, math.nextafter(0.1, 1), 0.1, "0.1"),
            (0.0, 5e-324, 0.0, "0"),
            (-0.0, 5e-324, -0.0, "0"),
            (-5e-324, 0.0, -5e-324, "-5e-324"),
            (0.0, 1e-323, 0.0, "5e-324"),
        ],
    )
    def test_are_the_roundest_numbers_in_their_gaps(self, low: float, high: float, threshold: float, text: str) -> None:
        assert number_in(one_split(low, high, threshold)) == text

    @given(gaps())
    def test_send_both_ends_of_the_gap_the_right_way(self, gap: tuple[float, float, float]) -> None:
        low, high, _ = gap
        printed = float(number_in(one_split(*gap)))
        assert low <= printed < high
        assert low < printed or math.nextafter(low, high) == high, "an end only where there is nothing between"

    @given(gaps(), st.integers(1, 16))
    def test_are_no_longer_than_the_threshold_rounded_to_any_number_of_digits_that_would_do(
        self, gap: tuple[float, float, float], digits: int
    ) -> None:
        low, high, threshold = gap
        rounded = float(f"{threshold:.{digits}g}")
        assume(low < rounded < high)
        assert decimal_places(number_in(one_split(*gap))) <= decimal_places(repr(rounded))

    def test_lead_every_training_row_to_its_leaf(self) -> None:
        rng = np.random.default_rng(0)
        X = np.column_stack((rng.integers(1990, 2021, 200), rng.normal(size=200).round(2), rng.integers(0, 2, 200)))
        y = np.where(rng.random(200) < 0.2, rng.integers(0, 2, 200), (X[:, 0] > 2007) & (X[:, 1] > 0)).astype(int)
        forest = Grower(X, y, 2, rng).forest(n_trees=30, split_probability=0.95)
        forest = move_thresholds(forest, rng)
        for t in range(forest.n_trees):
            tree = forest.tree(t)
            assert tree.rounded().apply(X).tolist() == tree.apply(X).tolist()
            for shown in (tree, tree.rounded()):
                np.testing.assert_array_equal(printed_thresholds(shown), shown.threshold)

    def test_are_what_the_rounded_tree_applies(self) -> None:
        tree = one_split(3.0, 9.0, 7.4956)
        between = np.array([[6.0], [8.0]])
        assert tree.apply(between).tolist() == [1, 2]
        assert tree.rounded().threshold[0] == 5.0
        assert tree.rounded().apply(between).tolist() == [2, 2]
        assert not tree.is_rounded


@given(gaps())
def test_a_tree_shows_the_threshold_that_it_applies(gap: tuple[float, float, float]) -> None:
    """Printing the roundest number of the gap instead once sent up to 4 % of new rows to another leaf."""
    shown = str(one_split(*gap)).splitlines()[0].removeprefix("x[0] <= ")
    assert float(shown) == gap[2]


def decimal_places(text: str) -> int:
    """Return how many places behind the point a number has; negative if it ends in zeros before the point."""
    exponent = Decimal(text).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return -exponent if Decimal(text) else -999


def move_thresholds(forest: Forest, rng: np.random.Generator) -> Forest:
    """Draw each threshold anew within its gap."""
    moved = forest.gap_low + rng.random(forest.feature.size) * (forest.gap_high - forest.gap_low)
    return replace(forest, threshold=moved)


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
