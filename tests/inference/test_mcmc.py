"""The chain's behaviour: what is kept, where it starts. Its distribution is tested in tests/statistical."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import oracle
from benchmarks.memory import peak_bytes
from particletree import MCMC, SMC, BayesianTreeClassifier, Categorical, TreePrior
from particletree._data import make_training_data

PRIOR = TreePrior.paper()
LEAF = Categorical.paper()


def run(data, seed=0, **settings):
    return MCMC(**{"burn_in": 0} | settings).run(data, PRIOR, LEAF, seed=np.random.SeedSequence(seed))


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return make_training_data(X, y, 10)


@pytest.mark.parametrize("initial", ["root", "smc"])
def test_trees_are_valid_and_hold_every_row(digits, initial):
    posterior = run(digits, n_iterations=3000, n_chains=2, initial=initial)
    posterior.check()
    roots = posterior.forest.nodes["block"][posterior.forest.roots]
    assert (posterior.forest.statistics[roots].sum(axis=1) == 1797).all()
    X, y = load_digits(return_X_y=True)
    for t in (0, posterior.forest.n_trees // 2, posterior.forest.n_trees - 1):
        tree = posterior.trees[t]
        leaf = tree.apply(X)
        for node in np.unique(leaf):
            np.testing.assert_array_equal(tree.node_statistics[node], np.bincount(y[leaf == node], minlength=10))


@pytest.mark.parametrize("data_set", oracle.TWELVE, ids=str)
def test_log_priors_and_likelihoods_agree_with_the_oracle(data_set):
    data = make_training_data(data_set.X, data_set.y, data_set.n_classes, data_set.weights)
    posterior = run(data, n_iterations=400, n_chains=1)

    for t in range(0, posterior.forest.n_trees, 7):
        known = oracle.read_tree(posterior.trees[t], data_set.X)
        assert posterior.log_priors[t] == pytest.approx(oracle.log_prior_density(data_set.X, PRIOR, known))
        log_likelihood = np.log(oracle.likelihood(data_set, known, LEAF.concentration))
        assert posterior.log_likelihoods[t] == pytest.approx(log_likelihood)


def test_repeated_states_are_stored_once_with_their_multiplicity(digits):
    posterior = run(digits, n_iterations=2000, n_chains=1)
    trace = posterior.trace[0]
    assert trace.size == 2000
    assert posterior.forest.n_trees <= trace["accepted"].sum() + 1
    expected = np.bincount(trace["tree"], minlength=posterior.forest.n_trees) / 2000
    np.testing.assert_allclose(posterior.weights, expected)


def test_a_rejected_move_leaves_the_tree_as_it_was(digits):
    trace = run(digits, n_iterations=2000, n_chains=1).trace[0]
    stays = trace["tree"][1:] == trace["tree"][:-1]
    np.testing.assert_array_equal(stays[~trace["accepted"][1:]], True)


def test_burn_in_and_thinning_keep_what_they_say(digits):
    settings = {"n_iterations": 1000, "n_chains": 2}
    everything = run(digits, **settings)
    some = run(digits, **settings, burn_in=300, thin=7)
    assert some.until(1000).weights.tolist() == some.weights.tolist()
    for chain in range(2):
        kept = some.trace[chain]["iteration"]
        np.testing.assert_array_equal(kept, np.arange(307, 1001, 7))
        # The same moves, whatever is kept.
        all_records = everything.trace[chain][kept - 1]
        np.testing.assert_array_equal(some.trace[chain]["accepted"], all_records["accepted"])
        leaves = some.n_leaves[some.trace[chain]["tree"]]
        np.testing.assert_array_equal(leaves, everything.n_leaves[all_records["tree"]])


def test_what_is_kept_of_a_chain_takes_no_room_for_what_is_not(digits):
    posterior = run(digits, n_iterations=100_000, n_chains=1, burn_in=90_000, thin=100)
    assert posterior.trace[0].size == 100
    assert posterior.summary().convergence.n_iterations == 100_000


def test_until_is_the_posterior_of_a_shorter_chain(digits):
    long, short = (run(digits, n_iterations=n, n_chains=2) for n in (800, 300))
    X = load_digits(return_X_y=True)[0][:20]
    np.testing.assert_allclose(long.until(300).predictive(X), short.predictive(X), atol=1e-12)
    seconds = long.trace[0]["seconds"]
    assert (np.diff(seconds) >= 0).all()
    with pytest.raises(ValueError, match="ask for more than the burn-in"):
        run(digits, n_iterations=20, n_chains=1, burn_in=10).until(5)
    with pytest.raises(ValueError, match="no order in time"):
        SMC.paper(n_particles=5, n_islands=1).run(digits, PRIOR, LEAF, seed=np.random.SeedSequence(0)).until(3)


def test_until_knows_nothing_of_later_trees(digits):
    posterior = run(digits, n_iterations=800, n_chains=2)
    early = posterior.until(100)
    early.check()
    assert early.forest.n_trees == early.summary().n_trees < posterior.forest.n_trees
    visited = np.unique([trace["tree"][:100] for trace in posterior.trace])
    assert early.n_leaves.tolist() == posterior.n_leaves[visited].tolist()
    scores = posterior.log_prior_masses[visited] + posterior.log_likelihoods[visited]
    assert str(early.best_tree()) == str(posterior.trees[int(visited[scores.argmax()])])
    assert early.until(50).weights.tolist() == posterior.until(50).weights.tolist()


@pytest.mark.parametrize("iteration", [-5, 0, 2.5, True, "10"])
def test_until_takes_a_positive_number(digits, iteration):
    posterior = run(digits, n_iterations=20, n_chains=1)
    with pytest.raises(ValueError, match="iteration must be an integer of at least 1"):
        posterior.until(iteration)


def test_half_of_the_iterations_are_burn_in_by_default(digits):
    default, explicit = (run(digits, n_iterations=501, n_chains=1, burn_in=burn_in) for burn_in in (None, 250))
    assert MCMC().burn_in is None
    assert default.along_chains(default.n_leaves)[0].size == 251
    assert default.weights.tolist() == explicit.weights.tolist()


def test_along_chains_follows_the_iterations(digits):
    posterior = run(digits, n_iterations=500, n_chains=3)
    leaves = posterior.along_chains(posterior.n_leaves)
    assert [values.size for values in leaves] == [500] * 3
    assert all(values[0] <= 2 for values in leaves)
    assert (np.abs(np.diff(leaves[0])) <= 1).all()


def test_a_start_from_smc_begins_where_the_filter_ended(digits):
    root, smc = (run(digits, n_iterations=50, n_chains=2, initial=initial) for initial in ("root", "smc"))
    assert max(root.n_leaves) < 30
    assert min(smc.n_leaves) > 50
    assert smc.log_likelihoods.min() > root.log_likelihoods.max()


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_same_seed_same_bits_for_any_n_jobs(digits, n_jobs):
    first, second = (
        MCMC(n_iterations=300, n_chains=3).run(digits, PRIOR, LEAF, seed=np.random.SeedSequence(4), n_jobs=n)
        for n in (1, n_jobs)
    )
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.forest.nodes["threshold"], second.forest.nodes["threshold"])


@pytest.mark.parametrize(("X", "y"), [([[1.0, 2.0]], [0]), (np.ones((5, 2)), [0, 1, 0, 1, 1])])
def test_data_that_cannot_be_cut_stay_a_single_leaf(X, y):
    posterior = run(make_training_data(X, y, 2), n_iterations=50, n_chains=2)
    assert posterior.n_leaves.tolist() == [1]
    assert not np.concatenate(posterior.trace)["accepted"].any()


def test_as_the_classifiers_sampler(digits):
    X, y = load_digits(return_X_y=True)
    model = BayesianTreeClassifier(sampler=MCMC(n_iterations=5000, n_chains=2, burn_in=1000), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert not hasattr(model, "log_evidence_")
    with pytest.raises(AttributeError, match="Markov chains do not estimate the evidence"):
        _ = model.log_evidence_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_iterations": 0}, "MCMC.n_iterations must be at least 1"),
        ({"n_iterations": 10, "burn_in": 10}, "burn_in=10 leaves none of n_iterations=10"),
        ({"thin": 0}, "MCMC.thin must be at least 1"),
        ({"initial": "best"}, "MCMC.initial must be one of root, smc"),
        ({"move_weights": (1, 1, 1)}, "move_weights must be four finite numbers"),
        ({"move_weights": (1, 0, 1, 1)}, "the first two above 0"),
        ({"move_weights": (1, 1, -1, 1)}, "of at least 0"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        MCMC(**settings)


@pytest.mark.skipif(peak_bytes() is None, reason="the system does not tell how much memory was used")
def test_no_memory_is_lost_over_many_chains(digits):
    def peak_after(n_fits):
        for seed in range(n_fits):
            run(digits, seed=seed, n_iterations=500, n_chains=1, initial=("root", "smc")[seed % 2])
        return peak_bytes()

    before = peak_after(20)
    assert peak_after(80) - before < 8 * 2**20


def test_progress_counts_iterations(digits, capfd):
    MCMC(n_iterations=100, n_chains=2).run(digits, PRIOR, LEAF, seed=np.random.SeedSequence(0), verbose=1)
    assert "2/2 chains" in capfd.readouterr().err
