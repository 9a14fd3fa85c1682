"""Every scheme keeps the number of particles and is unbiased: E[offspring] = M * weight."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from particletree import _kernel

SCHEMES = ["multinomial", "systematic", "stratified", "residual"]


def normalised(values):
    return np.asarray(values) / np.sum(values)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=40), seed=st.integers(0, 2**32 - 1))
def test_offspring_add_up_to_the_particles(scheme, values, seed):
    offspring = _kernel.resample(np.random.PCG64(seed), normalised(values), scheme)
    assert offspring.sum() == len(values)


@pytest.mark.parametrize("scheme", ["systematic", "stratified", "residual"])
@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=40), seed=st.integers(0, 2**32 - 1))
def test_low_variance_schemes_stay_close_to_the_expectation(scheme, values, seed):
    weights = normalised(values)
    offspring = _kernel.resample(np.random.PCG64(seed), weights, scheme)
    expected = len(values) * weights
    slack = {"systematic": 1, "stratified": 2, "residual": len(values)}[scheme]
    assert (offspring >= np.floor(expected - 1e-9) - (slack if scheme == "stratified" else 0)).all()
    assert (np.abs(offspring - expected) < slack + 1e-9).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_unbiased(scheme):
    weights = normalised([0.02, 3.0, 1.0, 0.5, 7.0, 0.0, 1.3])
    generator = np.random.PCG64(11)
    draws = np.array([_kernel.resample(generator, weights, scheme) for _ in range(20_000)])
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    difference = draws.mean(axis=0) - weights.size * weights
    is_random = error > 0
    z = difference[is_random] / error[is_random]
    assert np.abs(z).max() < 4, f"z = {z}, standard errors {error[is_random]}"
    np.testing.assert_allclose(difference[~is_random], 0, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_particle_with_all_the_weight_takes_all_places(scheme):
    assert _kernel.resample(np.random.PCG64(0), np.array([0.0, 1.0, 0.0]), scheme).tolist() == [0, 3, 0]


@pytest.mark.parametrize("scheme", ["systematic", "stratified", "residual"])
def test_equal_weights_keep_every_particle(scheme):
    for n in (1, 2, 3, 7, 10, 49, 100):
        offspring = _kernel.resample(np.random.PCG64(n), np.full(n, 1 / n), scheme)
        assert offspring.tolist() == [1] * n


def test_unknown_schemes_are_refused():
    with pytest.raises(ValueError, match="unknown choice: best"):
        _kernel.resample(np.random.PCG64(0), np.ones(1), "best")
