"""One tree: applied to rows, printed, rounded."""

from __future__ import annotations

import math
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
from model.made_forests import make_forest, make_random_forest
from particletree._model import Categorical, ClassLabels, Forest
from particletree._model.forest import Trees
from particletree._model.tree.drawing import ROUNDED
from particletree._model.tree.tree import Tree
from particletree._model.validity import check_forest

NO_YES = ClassLabels(np.array(["no", "yes"]))


class TestTree:
    def test_is_a_view_of_its_part_of_the_forest(self) -> None:
        tree = make_forest().tree(2)
        assert (tree.n_nodes, tree.n_leaves, tree.depth) == (3, 2, 1)
        assert tree.feature.tolist() == [0, -1, -1]
        assert tree.node_statistics.tolist() == [[6, 5], [5, 1], [1, 4]]
        assert repr(tree) == "Tree(2 leaves, depth 1)"

    def test_cannot_be_written_to(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            make_forest().tree(0).threshold[0] = 2.0

    def test_leaves_the_forest_writable(self) -> None:
        forest = make_forest()
        forest.tree(0)
        assert forest.nodes.flags.writeable

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
        assert tree.means[4].tolist() == pytest.approx([1 / 6, 5 / 6])
        assert make_forest().tree(0).means[4].tolist() == [0, 1]


class TestText:
    def test_shows_names_thresholds_counts_and_predictions(self) -> None:
        tree = make_forest().tree(0, NO_YES, Categorical(2.0), ["petal length", "width"])
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
        assert str(make_forest().tree(1, ClassLabels(classes))) == expected

    def test_names_with_line_breaks_stay_on_their_line(self) -> None:
        text = str(make_forest().tree(0, feature_names=["petal\r\nlength", "width\t(cm)"]))
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
        assert len(forest.tree(0).to_text().splitlines()) == 2 * forest.n_leaves[0] - 1

    def test_many_classes_show_the_largest_few(self) -> None:
        counts = np.zeros((1, 300))
        counts[0, [7, 8, 9, 10, 11]] = [1, 5, 2, 0.5, 3]
        root = make_forest().select([1])
        tree = replace(root, statistics=counts).tree(0, leaf=Categorical.paper())
        rows = "11.5 rows: 5 of class 8, 3 of class 11, 2 of class 9, 2 more classes"
        assert str(tree) == f"class 8, p = 0.30 ({rows})"

    def test_a_probability_below_one_never_reads_as_one(self) -> None:
        sure = replace(make_forest().select([1]), statistics=np.array([[99999.0, 0.0]]))
        assert str(sure.tree(0, leaf=Categorical.paper())).startswith("class 0, p > 0.99 (99999 rows")


def number_in(tree: Tree) -> str:
    """Return the number that the text of a rounded tree with one split shows."""
    heading, rule = str(tree.rounded()).splitlines()[:2]
    assert heading == ROUNDED
    return rule.removeprefix("x[0] <= ")


def one_split(low: float, high: float, threshold: float) -> Tree:
    gap = {"threshold": threshold, "gap_low": low, "gap_high": high}
    forest = make_forest().select([2])
    for name, number in gap.items():
        forest.nodes[name][forest.roots[0]] = number
    check_forest(forest)
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
    moved = forest.nodes["gap_low"] + rng.random(forest.feature.size) * (
        forest.nodes["gap_high"] - forest.nodes["gap_low"]
    )
    nodes = forest.nodes.copy()
    nodes["threshold"] = moved
    return replace(forest, nodes=nodes)


class TestTrees:
    def test_is_a_sequence(self) -> None:
        trees = Trees(make_forest(), NO_YES, Categorical(2.0))
        assert len(trees) == 3
        assert [tree.n_leaves for tree in trees] == [3, 1, 2]
        assert trees[-1].n_leaves == 2
        assert [tree.n_leaves for tree in trees[::-1][:2]] == [2, 1]
        assert repr(trees[1:]) == "Trees(2 trees)"
        with pytest.raises(IndexError):
            trees[3]
