"""Rules beyond cuts: sides of missing values and levels, and the questions that a tree asks in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oracle import assert_mean
from particletree import SMC, BayesianTreeClassifier, _kernel
from particletree._model import Forest
from particletree._model.columns import Columns
from particletree._model.rule import (
    CUT_MISSING_LEFT,
    CUT_MISSING_RIGHT,
    LEAF,
    LEVELS,
    MOST_LISTED,
    SCATTERED_LEVELS,
    are_listed_left,
    are_scattered_left,
    coins,
    column_faults,
    draw_word,
    faults,
    feature_alone,
    goes_left,
    log_gaps,
    words,
)

NAN = np.nan
N_DRAWS = 400
LEFT, RIGHT = [0, 3, 61], [2, 60]
COLOURS = ("blue", "green", "red")


def split(kind: int, threshold: float = 0.0, word: int = 0, feature: int = 0) -> Any:
    """Return a node that splits."""
    node = np.full(1, LEAF)
    is_set = kind >= LEVELS
    node["feature"], node["kind"] = feature, kind
    node["threshold"] = np.array([word], dtype=np.uint64).view(np.float64) if is_set else threshold
    if not is_set and np.isfinite(threshold):
        node["gap_low"], node["gap_high"] = threshold - 1, threshold + 1
    return node


def grown(*nodes: Any, right: list[int]) -> Forest:
    """Return a forest of one tree in preorder; `None` is a leaf."""
    records = np.concatenate([np.full(1, LEAF) if node is None else node for node in nodes])
    columns = {name: records[name] for name in ("feature", "kind", "threshold", "gap_low", "gap_high")}
    return Forest.from_preorder(
        offsets=[0, len(nodes)],
        right=right,
        block=np.arange(len(nodes)),
        statistics=np.ones((len(nodes), 2)),
        **columns,
    )


VALUES = np.array([-1.0, 0.0, 1.0, 2.0, 62.0, 63.0, 64.0, 200.0, 2.0**32, 1e300, NAN])


@pytest.mark.parametrize(
    "node",
    [
        split(CUT_MISSING_RIGHT, 1.0),
        split(CUT_MISSING_LEFT, 1.0),
        split(CUT_MISSING_RIGHT, np.inf),
        split(LEVELS, word=0b101),
        split(LEVELS, word=2**63),
        split(SCATTERED_LEVELS, word=12345),
    ],
    ids=["right", "left", "present", "listed", "last bit", "scattered"],
)
def test_the_kernel_sends_rows_to_the_same_side(node: Any) -> None:
    forest = grown(node, None, None, right=[2, -1, -1])
    nodes = forest.nodes.view(np.uint8).reshape(3, -1)
    in_kernel = _kernel.apply(VALUES[:, None], nodes, forest.roots)[:, 0] == 1
    in_python = goes_left(VALUES, np.broadcast_to(node, VALUES.shape))
    np.testing.assert_array_equal(in_kernel, in_python)
    tree = forest.tree(0)
    np.testing.assert_array_equal(tree.apply(VALUES[:, None]) == 1, in_python)
    predictor = _kernel.Predictor(1, nodes, forest.roots, np.array([[0.0], [1.0], [0.0]]), np.ones(1))
    np.testing.assert_array_equal(predictor.means(VALUES[:, None])[:, 0] == 1, in_python)


def test_coins_are_those_of_the_kernel_and_fair() -> None:
    thresholds = np.random.default_rng(0).uniform(size=20_000)
    assert abs(coins(thresholds).mean() - 0.5) < 4 * 0.5 / np.sqrt(thresholds.size)
    X, y = np.random.default_rng(1).normal(size=(40, 2)), np.arange(40) % 2

    nodes = BayesianTreeClassifier(sampler=SMC.paper(n_islands=2), random_state=0).fit(X, y).posterior_.forest.nodes
    is_split = nodes["feature"] >= 0
    np.testing.assert_array_equal(nodes["kind"][is_split], coins(nodes["threshold"][is_split]))
    assert set(nodes["kind"][is_split].tolist()) == {0, 1}


def test_scattered_levels_are_fair_coins_of_their_own() -> None:
    word = np.random.default_rng(2).integers(2**64, size=400, dtype=np.uint64)
    sides = are_scattered_left(word[:, None], np.arange(50)).astype(float)
    assert abs(sides.mean() - 0.5) < 4 * 0.5 / np.sqrt(sides.size)
    correlations = np.corrcoef(sides.T)[np.triu_indices(50, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(400)


def test_listed_levels_beyond_the_last_bit_are_taken_for_it() -> None:
    assert are_listed_left(2**63, [62, 63, 64, 2**32 - 1]).tolist() == [False, True, True, True]


class TestWords:
    """The questions in words."""

    def text(self, *nodes: Any, right: list[int], columns: Columns | None = None) -> list[str]:
        return [text for text in grown(*nodes, right=right).tree(0, columns=columns).rules if text]

    @pytest.mark.parametrize(
        ("node", "missing", "expected"),
        [
            (split(CUT_MISSING_RIGHT, 1.5), False, "x[0] <= 1.5"),
            (split(CUT_MISSING_LEFT, 1.5), False, "x[0] <= 1.5"),
            (split(CUT_MISSING_RIGHT, 1.5), True, "x[0] <= 1.5"),
            (split(CUT_MISSING_LEFT, 1.5), True, "x[0] <= 1.5 or missing"),
            (split(CUT_MISSING_RIGHT, np.inf), True, "x[0] is present"),
        ],
    )
    def test_cuts(self, node: Any, missing: bool, expected: str) -> None:
        columns = Columns(1, missing=frozenset({0} if missing else ()))
        assert self.text(node, None, None, right=[2, -1, -1], columns=columns) == [expected]

    @pytest.mark.parametrize(
        ("word", "missing", "expected"),
        [
            (0b001, False, "x[0] in {blue}"),
            (0b011, False, "x[0] not in {red}"),
            (0b1011, True, "x[0] not in {red} or missing"),
            (0b1001, True, "x[0] in {blue} or missing"),
            (0b1001, False, "x[0] in {blue}"),
            (0b1000, True, "x[0] is missing"),
            (0b0111, True, "x[0] is present"),
        ],
    )
    def test_sets(self, word: int, missing: bool, expected: str) -> None:
        columns = Columns(1, {0: COLOURS}, frozenset({0} if missing else ()))
        node = split(LEVELS, word=word)
        assert self.text(node, None, None, right=[2, -1, -1], columns=columns) == [expected]

    def test_a_set_speaks_of_levels_that_come_to_it(self) -> None:
        columns = Columns(1, {0: COLOURS})
        first, second = split(LEVELS, word=0b011), split(LEVELS, word=0b101)
        texts = self.text(first, second, None, None, None, right=[4, 3, -1, -1, -1], columns=columns)
        assert texts == ["x[0] not in {red}", "x[0] in {blue}"]

    def test_long_lists_are_cut(self) -> None:
        columns = Columns(1, {0: tuple(f"l{i}" for i in range(40))})
        (text,) = self.text(split(LEVELS, word=2**12 - 1), None, None, right=[2, -1, -1], columns=columns)
        assert text == "x[0] in {l0, l1, l2, l3, l4, l5, l6, l7, ... 4 more}"


class TestFaults:
    """What makes a rule."""

    def messages(self, node: Any) -> list[str]:
        return [what for wrong, what in faults(node) if wrong.any()]

    def test_sound_rules_have_none(self) -> None:
        for node in (
            split(CUT_MISSING_LEFT, 1.0),
            split(CUT_MISSING_RIGHT, np.inf),
            split(LEVELS, word=5),
            split(SCATTERED_LEVELS, word=5),
        ):
            assert self.messages(node) == []

    def test_others_are_named(self) -> None:
        assert self.messages(split(CUT_MISSING_LEFT, np.inf))[0] == "the threshold of a split must be finite"
        node = split(CUT_MISSING_LEFT, 1.0)
        node["kind"] = 4
        assert self.messages(node)[0] == "the kind of a rule must be at most 3"
        leaf = np.full(1, LEAF)
        leaf["kind"] = 1
        assert self.messages(leaf) == ["the kind of a leaf must be 0"]
        node = split(LEVELS, word=5)
        node["gap_low"] = 1.0
        assert self.messages(node) == ["gap_low of a rule that has no gap must be nan"]

    def test_sets_belong_to_features_with_levels(self) -> None:
        few, many = Columns(1, {0: COLOURS}), Columns(1, {0: tuple(range(63))})
        for columns, sound in ((Columns(1), split(CUT_MISSING_LEFT)), (few, split(LEVELS)), (many, split(3))):
            for node in (split(CUT_MISSING_LEFT), split(LEVELS), split(SCATTERED_LEVELS)):
                ((wrong, _),) = column_faults(node, columns)
                assert wrong.any() == (node["kind"] != sound["kind"]).any()
        ((wrong, _),) = column_faults(np.full(1, LEAF), few)
        assert not wrong.any()


def test_only_cuts_have_a_gap_and_rules_of_a_feature_can_be_made_alike() -> None:
    nodes = np.concatenate([split(LEVELS, word=5), split(CUT_MISSING_RIGHT, np.inf), split(CUT_MISSING_LEFT, 3.0)])
    np.testing.assert_allclose(log_gaps(nodes), [0.0, 0.0, np.log(2)])
    assert np.unique(words(feature_alone(nodes))).size == 1


@pytest.mark.parametrize("n_levels", [62, 63, 5000])
def test_a_drawn_word_has_the_given_sides_and_fair_coins_for_the_rest(n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    words = np.array([draw_word(LEFT, RIGHT, n_levels, rng) for _ in range(N_DRAWS)])
    are_left = are_listed_left if n_levels + 2 <= MOST_LISTED else are_scattered_left
    for number in LEFT:
        assert are_left(words, number).all()
    for number in RIGHT:
        assert not are_left(words, number).any()
    others = [are_left(words, number).astype(float) for number in (1, n_levels, n_levels + 1)]
    for number, sides in enumerate(others):
        assert_mean(sides, 0.5, f"coin {number}")
    assert_mean(others[0] * others[2], 0.25, "two coins")


def test_thresholds_have_fair_coins() -> None:
    thresholds = np.random.default_rng(1).random(N_DRAWS)
    assert_mean(coins(thresholds).astype(float), 0.5, "coin")
    assert_mean((coins(thresholds) * (thresholds < 0.5)).astype(float), 0.25, "coin and place")
