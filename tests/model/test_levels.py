"""Sets of levels: words that are drawn with given sides."""

from __future__ import annotations

import numpy as np
import pytest

from oracle import assert_mean
from particletree._model.levels import MOST_LISTED, are_listed_left, are_scattered_left, coins, draw_word

N_DRAWS = 400
LEFT, RIGHT = [0, 3, 61], [2, 60]


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
