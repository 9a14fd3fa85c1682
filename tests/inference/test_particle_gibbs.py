"""Particle Gibbs as a sampler: its parameters, what is kept and told; tests/statistical has its distribution."""

import signal
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

import oracle
from interrupting import ctrl_c_after
from particletree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Categorical,
    ParticleGibbs,
    Posterior,
    TreePrior,
    _kernel,
)
from particletree._data import make_training_data
from particletree._posterior.runs.traces import MOVES

PRIOR = TreePrior.paper()
LEAF = Categorical.paper()
SHORT = {"n_iterations": 200, "n_chains": 2, "burn_in": 0}


def run(data, seed=0, n_jobs=None, **settings):
    sampler = ParticleGibbs(**SHORT | settings)
    return sampler.run(data, PRIOR, LEAF, seed=np.random.SeedSequence(seed), n_jobs=n_jobs)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return make_training_data(X, y, 10)


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
def test_trees_are_valid_and_hold_every_row(digits, proposal):
    posterior = run(digits, n_iterations=60, proposal=proposal, regrow_share=1.0)
    posterior.check()
    X, y = load_digits(return_X_y=True)
    tree = posterior.trees[-1]
    leaf = tree.apply(X)
    for node in np.unique(leaf):
        np.testing.assert_array_equal(tree.node_statistics[node], np.bincount(y[leaf == node], minlength=10))


@pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_log_priors_and_likelihoods_agree_with_the_oracle(data_set, proposal):
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    posterior = run(data, n_chains=1, proposal=proposal, regrow_share=0.8)
    for t in range(0, posterior.forest.n_trees, 7):
        known = oracle.read_tree(posterior.trees[t], data_set.X)
        assert posterior.log_priors[t] == pytest.approx(oracle.log_prior_density(data_set.X, PRIOR, known))
        log_likelihood = np.log(oracle.likelihood(data_set, known, LEAF.concentration))
        assert posterior.log_likelihoods[t] == pytest.approx(log_likelihood)


def test_regrowing_happens_in_the_share_that_was_asked_for(digits):
    for share in (0.0, 0.5, 1.0):
        moves = np.concatenate([trace["move"] for trace in run(digits, regrow_share=share).trace])
        assert (moves == MOVES.index("regrow")).mean() == pytest.approx(share, abs=0.15)
        assert share not in (0.0, 1.0) or (moves == MOVES.index("regrow")).mean() == share


def test_a_regrowth_is_accepted_where_the_tree_has_changed(digits):
    posterior = run(digits, n_chains=1, regrow_share=1.0)
    trace = posterior.trace[0]
    changes = np.diff(trace["tree"]) != 0
    np.testing.assert_array_equal(changes, trace["accepted"][1:])
    log_posterior = (posterior.log_likelihoods + posterior.log_priors)[trace["tree"]]
    assert (np.diff(log_posterior)[changes] != 0).mean() > 0.9  # a threshold in the same gap has the same density


def test_chains_of_chipmans_moves_alone_count_no_regrowths(digits):
    assert [move.name for move in run(digits, regrow_share=0.0).summary().convergence.moves] == list(MOVES[:4])


def test_the_summary_tells_of_regrowths(digits):
    report = run(digits, regrow_share=0.5).summary()
    regrown = report.convergence.moves[-1]
    assert regrown.name == "regrow"
    assert 0 < regrown.n_accepted < regrown.n_proposed
    assert f"regrow {regrown.rate:.0%} of {regrown.n_proposed}" in str(report)
    assert report.convergence.rhat > 0


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_same_seed_same_bits_for_any_n_jobs(digits, n_jobs):
    first, second = (run(digits, seed=4, n_jobs=n) for n in (1, n_jobs))
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.forest.nodes["threshold"], second.forest.nodes["threshold"])


def test_until_is_the_posterior_of_a_shorter_chain(digits):
    long, short = (run(digits, n_iterations=n) for n in (200, 80))
    X = load_digits(return_X_y=True)[0][:20]
    np.testing.assert_allclose(long.until(80).predictive(X), short.predictive(X), atol=1e-12)


def test_arviz_gets_the_moves(digits):
    pytest.importorskip("arviz")
    posterior = run(digits, regrow_share=0.5)
    stats = posterior.to_arviz().sample_stats
    np.testing.assert_array_equal(stats["move"], [trace["move"] for trace in posterior.trace])
    assert stats["move"].max() == MOVES.index("regrow")


def test_it_is_saved_and_loaded(digits, tmp_path):
    posterior = run(digits, regrow_share=0.5)
    posterior.save(tmp_path / "chains.npz")
    loaded = Posterior.load(tmp_path / "chains.npz")
    assert str(loaded.summary()) == str(posterior.summary())
    for ours, theirs in zip(posterior.trace, loaded.trace, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_warm_start_adds_chains():
    X, y = load_digits(return_X_y=True)
    model = BayesianTreeClassifier(sampler=ParticleGibbs(**SHORT), random_state=0, warm_start=True)
    first = model.fit(X, y).posterior_
    assert model.fit(X, y).posterior_.n_islands == 2 * first.n_islands


def test_it_fits_numbers():
    X, y = load_digits(return_X_y=True)
    model = BayesianTreeRegressor(sampler=ParticleGibbs(**SHORT), random_state=0).fit(X, y.astype(float))
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize(("X", "y"), [([[1.0, 2.0]], [0]), (np.ones((5, 2)), [0, 1, 0, 1, 1])])
def test_data_that_cannot_be_cut_stay_a_single_leaf(X, y):
    posterior = run(make_training_data(X, y, 2), regrow_share=0.5)
    assert posterior.n_leaves.tolist() == [1]
    assert not np.concatenate(posterior.trace)["accepted"].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_iterations": 0}, "ParticleGibbs.n_iterations must be at least 1"),
        ({"n_iterations": 10, "burn_in": 10}, "ParticleGibbs.burn_in=10 leaves none of n_iterations=10"),
        ({"n_particles": 1}, "ParticleGibbs.n_particles must be at least 2"),
        ({"proposal": "best"}, "ParticleGibbs.proposal must be one of prior, empirical, optimal, lookahead"),
        ({"n_candidates": 0}, "ParticleGibbs.n_candidates must be at least 1"),
        ({"ess_threshold": 1.5}, "ParticleGibbs.ess_threshold must be a number between 0 and 1"),
        ({"regrow_share": -0.1}, "ParticleGibbs.regrow_share must be a number between 0 and 1"),
        ({"move_weights": (1, 0, 1, 1)}, "ParticleGibbs.move_weights must be four finite numbers"),
        ({"initial": "best"}, "ParticleGibbs.initial must be one of root, smc"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        ParticleGibbs(**settings)


def test_ctrl_c_stops_a_chain(digits):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = ctrl_c_after(0.5)
    timer.start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(digits, n_iterations=10_000_000, n_chains=1, n_jobs=1, regrow_share=1.0, thin=1_000_000)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 20
