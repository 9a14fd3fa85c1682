"""The drawing functions: NumPy's own bits, and the right distributions."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

from particletree import _kernel

N = 20_000


def bit_generator(seed=0):
    return np.random.PCG64(seed)


def test_uniform_gives_numpys_own_numbers():
    expected = np.random.Generator(bit_generator(5)).random(100)
    np.testing.assert_array_equal(_kernel.draw_uniform(bit_generator(5), 100), expected)


@pytest.mark.parametrize("generator", [np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_any_numpy_bit_generator_serves(generator):
    expected = np.random.Generator(generator(3)).random(10)
    np.testing.assert_array_equal(_kernel.draw_uniform(generator(3), 10), expected)


def test_something_else_is_refused():
    with pytest.raises(AttributeError, match="capsule"):
        _kernel.draw_uniform("not a generator", 1)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 100])
def test_below_is_uniform_over_the_integers(bound):
    draws = _kernel.draw_below(bit_generator(1), bound, N)
    counts = np.bincount(draws, minlength=bound)
    assert counts.size == bound
    assert bound == 1 or chisquare(counts).pvalue > 1e-4


def test_below_rejects_the_excess_of_a_bound_near_the_word_size():
    # Without rejection, 3 * 2**30 of 2**32 values would make the first third twice as likely as the others.
    draws = _kernel.draw_below(bit_generator(2), 3 * 2**30, N) / (3 * 2**30)
    assert kstest(draws, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("n_trials", [1, 3, 8, 9, 40, 64, 65, 200])
@pytest.mark.parametrize("probability", [0.95, 0.336, 0.5, 1e-3])
def test_successes_are_binomial(n_trials, probability):
    draws = _kernel.draw_successes(bit_generator(5), n_trials, probability, N)
    expected = N * binom.pmf(np.arange(n_trials + 1), n_trials, probability)
    counts = np.bincount(draws, minlength=n_trials + 1)
    assert counts.size == n_trials + 1
    common = expected > 10
    observed = np.append(counts[common], counts[~common].sum())
    assert chisquare(observed, np.append(expected[common], expected[~common].sum() + 1e-9)).pvalue > 1e-4


@pytest.mark.parametrize("n_trials", [0, 1, 9, 100])
def test_successes_that_are_certain_or_impossible(n_trials):
    assert (_kernel.draw_successes(bit_generator(6), n_trials, 1.0, 100) == n_trials).all()
    assert (_kernel.draw_successes(bit_generator(6), n_trials, 0.0, 100) == 0).all()


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-5.5, 2.25), (1e-300, 3e-300), (-1.7e308, 1.7e308)])
def test_between_is_uniform_over_the_interval(low, high):
    draws = _kernel.draw_between(bit_generator(3), low, high, N)
    assert ((draws >= low) & (draws < high)).all()
    scaled = (draws / 2 - low / 2) / (high / 2 - low / 2)
    assert kstest(scaled, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("low", [1.0, 0.0, -1.0, 1e15, 5e-324])
def test_between_never_reaches_the_upper_end_of_the_narrowest_interval(low):
    high = np.nextafter(low, np.inf)
    np.testing.assert_array_equal(_kernel.draw_between(bit_generator(4), low, high, 1000), low)


@pytest.mark.parametrize("shift", [0.0, 2000.0, -2000.0])
def test_categories_follow_their_log_weights(shift):
    log_weights = np.log([0.5, 0.2, 0.05, 0.25]) + shift
    draws, log_total = _kernel.draw_categories(bit_generator(6), log_weights, N)
    assert log_total == pytest.approx(shift, abs=1e-9)
    assert chisquare(np.bincount(draws, minlength=4), N * np.exp(log_weights - shift)).pvalue > 1e-4


def test_a_category_without_weight_is_never_drawn():
    draws, _ = _kernel.draw_categories(bit_generator(7), np.array([-np.inf, 0.0, -np.inf]), 1000)
    assert set(draws) == {1}
