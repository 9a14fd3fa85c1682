"""Chains over sums of trees: what they are given, how they go on, and what Ctrl-C leaves."""

import pickle
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import norm

from particletree import TreePrior
from particletree._data import make_regression_data, make_training_data
from particletree._inference.bart import sampler as bart
from particletree._inference.bart.regressions import regressions_of
from particletree._inference.bart.sampler import BARTChains, BARTMoves, BARTTask, segments_of
from particletree._model.bart import SumPrior

PRIOR, SUM_PRIOR = TreePrior(0.95, 2.0), SumPrior(n_trees=5)
CHAINS = BARTChains(n_iterations=30, n_chains=3, moves=BARTMoves(n_start=2))
SEED = np.random.SeedSequence(7)


def numbers(n=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return make_regression_data(X, X[:, 0] + rng.normal(size=n))


def classes():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60)])
    X[::5, 0] = np.nan
    return make_training_data(X, rng.integers(0, 4, 60), n_classes=4, categorical_features=[1])


class TestRegressions:
    def test_numbers(self):
        data = numbers()
        (regression,) = regressions_of(data)
        assert (regression.target.min(), regression.target.max()) == (-0.5, 0.5)
        assert regression.weights.size == 0
        settings = regression.kernel_settings(SUM_PRIOR)
        assert settings["noise_scale"] == SUM_PRIOR.noise_scale(regression.noise_guess)
        assert settings["leaf_sd"] == SUM_PRIOR.leaf_sd

    def test_classes_one_after_the_other(self):
        data = classes()
        labels, counts = data.observations.values, np.bincount(data.observations.values)
        order = np.argsort(-counts, kind="stable")
        regressions = regressions_of(data)
        assert len(regressions) == 3
        for turn, regression in enumerate(regressions):
            rows = np.flatnonzero(np.isin(labels, order[turn:]))
            np.testing.assert_array_equal(regression.target, labels[rows] == order[turn])
            given, kept = data.table, regression.table
            for feature in range(2):
                expected = given.feature_values(feature)[given.ranks[feature, rows]]
                np.testing.assert_array_equal(kept.feature_values(feature)[kept.ranks[feature]], expected)
            settings = regression.kernel_settings(SUM_PRIOR)
            assert settings["noise_df"] == 0
            assert norm.cdf(settings["offset"]) == pytest.approx(counts[order[turn]] / counts[order[turn:]].sum())

    def test_the_offset_of_two_classes_has_the_sign_of_the_second(self):
        data = make_training_data([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1, 1], n_classes=2)
        (regression,) = regressions_of(data)
        assert regression.offset == pytest.approx(norm.ppf(0.8))

    def test_a_probit_with_as_many_copies_as_the_table_has_rows(self):
        X = np.array([[0.0], [10.0], [20.0]])
        data = make_training_data(X, [0, 1, 2], n_classes=3, weights=[5, 2, 1])
        tables = [regression.table for regression in regressions_of(data)]
        rows = [table.feature_values(0)[table.ranks[0]].tolist() for table in tables]
        assert rows == [[0.0] * 5 + [10.0] * 2 + [20.0], [10.0, 10.0, 20.0]]

    def test_the_first_probit_shares_the_table_of_the_data(self):
        data = classes()
        assert [regression.table is data.table for regression in regressions_of(data)] == [True, False, False]

    def test_a_class_without_rows_is_answered(self):
        data = make_training_data([[0.0], [1.0], [2.0]], [0, 0, 2], n_classes=3)
        posterior = CHAINS.run(data, PRIOR, SUM_PRIOR, seed=SEED)
        probabilities = posterior.predictive([[0.0], [2.0]])
        assert np.isfinite(posterior.offsets).all()
        assert (probabilities > 0).all()

    def test_weights_of_two_classes_are_copies(self):
        data = make_training_data([[0.0], [1.0], [2.0]], [0, 1, 1], n_classes=2, weights=[3, 1, 2])
        (regression,) = regressions_of(data)
        assert regression.target.tolist() == [0, 0, 0, 1, 1, 1]
        assert regression.table.ranks.tolist() == [[0, 0, 0, 1, 2, 2]]


class TestChains:
    def test_the_result_depends_on_the_seed_alone(self):
        data = classes()
        one = CHAINS.run(data, PRIOR, SUM_PRIOR, seed=SEED)
        with parallel_config(backend="loky", n_jobs=2):
            other = CHAINS.run(data, PRIOR, SUM_PRIOR, seed=SEED)
        for mine, yours in zip(one.sums, other.sums, strict=True):
            np.testing.assert_array_equal(mine.values, yours.values)
            np.testing.assert_array_equal(mine.structure_of, yours.structure_of)
        third = CHAINS.run(data, PRIOR, SUM_PRIOR, seed=np.random.SeedSequence(8))
        assert not np.array_equal(one.sums[0].values, third.sums[0].values)

    def test_no_run_has_the_random_numbers_of_another(self, monkeypatch):
        """Neither the chains of a fit, nor those that are continued, once or twice."""
        states, run = [], bart._kernel.run_sum_of_trees

        def noting(**settings):
            states.append(settings["generator"].state["state"]["state"])
            return run(**settings)

        monkeypatch.setattr(bart, "_kernel", _Replaced(bart._kernel, run_sum_of_trees=noting))
        posterior = None
        for _ in range(3):
            posterior = CHAINS.run(classes(), PRIOR, SUM_PRIOR, seed=SEED, earlier=posterior)
        assert len(states) == 3 * 3 * 3  # fits, chains and sums, of one segment each
        assert len(set(states)) == len(states)

    def test_what_is_kept(self):
        chains = BARTChains(n_iterations=30, burn_in=9, thin=4, n_chains=2)
        posterior = chains.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        assert posterior.records[0].trace["iteration"].tolist() == [13, 17, 21, 25, 29] * 2
        assert posterior.chain.tolist() == [0] * 5 + [1] * 5
        posterior.check()

    def test_limits_of_the_prior(self):
        posterior = CHAINS.run(numbers(), TreePrior(0.99, 0.1, max_depth=1), SUM_PRIOR, seed=SEED)
        assert posterior.sums[0].n_leaves_of_structures().max() == 2

    def test_a_task_can_be_sent(self):
        task = BARTTask(regressions_of(numbers()), PRIOR, SUM_PRIOR)
        assert task.problems
        again = pickle.loads(pickle.dumps(task))
        np.testing.assert_array_equal(again.regressions[0].target, task.regressions[0].target)
        assert task.__sizeof__() > task.regressions[0].target.nbytes

    def test_other_chains_cannot_go_on(self):
        posterior = CHAINS.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        with pytest.raises(ValueError, match="the number of rows"):
            CHAINS.run(numbers(49), PRIOR, SUM_PRIOR, seed=SEED, earlier=posterior)
        with pytest.raises(ValueError, match="the number of features"):
            CHAINS.run(make_regression_data([[1.0], [2.0]], [0, 1]), PRIOR, SUM_PRIOR, seed=SEED, earlier=posterior)
        with pytest.raises(ValueError, match="other parameters"):
            CHAINS.run(numbers(), TreePrior(0.9, 2.0), SUM_PRIOR, seed=SEED, earlier=posterior)

    def test_chains_that_go_on_are_as_good_as_long_ones(self):
        """The second half of a chain that went on has the distribution of a long chain: here the mean of the noise."""
        data, short = numbers(), BARTChains(n_iterations=400, burn_in=200, n_chains=8)
        long = BARTChains(n_iterations=800, burn_in=400, n_chains=8)
        first = short.run(data, PRIOR, SUM_PRIOR, seed=SEED)
        went_on = short.run(data, PRIOR, SUM_PRIOR, seed=SEED, earlier=first)
        at_once = long.run(data, PRIOR, SUM_PRIOR, seed=np.random.SeedSequence(1))
        one, other = (
            np.array([chain[-400:].mean() for chain in each.along_chains(each.noise_sd)]) for each in (went_on, at_once)
        )
        error = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 8)
        assert abs(one.mean() - other.mean()) < 4 * error


class TestInterrupts:
    def interrupt_at(self, monkeypatch, number, n_before=0):
        """Let a run raise what Ctrl-C raises, after some sweeps."""
        run = bart._kernel.run_sum_of_trees

        def interrupted(**settings):
            if settings["chain"] == number and settings["n_before"] >= n_before:
                raise KeyboardInterrupt
            return run(**settings)

        monkeypatch.setattr(bart, "_kernel", _Replaced(bart._kernel, run_sum_of_trees=interrupted))

    def test_chains_that_are_done_are_kept(self, monkeypatch):
        self.interrupt_at(monkeypatch, 2)
        with pytest.warns(UserWarning, match="30 of 30 sweeps of 2 of 3 chains"):
            posterior = CHAINS.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        assert posterior.n_chains == 2
        posterior.check()

    def test_a_chain_needs_all_its_sums(self, monkeypatch):
        self.interrupt_at(monkeypatch, 5)  # the last sum of the second chain of three sums
        with pytest.warns(UserWarning, match="30 of 30 sweeps of 1 of 3 chains"):
            posterior = CHAINS.run(classes(), PRIOR, SUM_PRIOR, seed=SEED)
        assert [sums.n_draws for sums in posterior.sums] == [15, 15, 15]

    def test_a_chain_that_is_not_done_is_kept(self, monkeypatch):
        chains = BARTChains(n_iterations=330, burn_in=100, n_chains=2)
        whole = chains.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        self.interrupt_at(monkeypatch, 0, n_before=200)
        with pytest.warns(UserWarning, match="200 of 330 sweeps of 1 of 2 chains"):
            posterior = chains.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        posterior.check()
        assert (posterior.n_iterations, posterior.n_draws) == (200, 100)
        np.testing.assert_array_equal(posterior.noise_sd, whole.along_chains(whole.noise_sd)[0][:100])

    def test_chains_that_went_on_are_kept_together(self, monkeypatch):
        chains = BARTChains(n_iterations=100, burn_in=0, n_chains=2)
        first = chains.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        self.interrupt_at(monkeypatch, 1, n_before=50)
        with pytest.warns(UserWarning, match="50 of 100 sweeps of 2 of 2 chains"):
            longer = chains.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED, earlier=first)
        assert (longer.n_iterations, longer.n_chains, longer.n_draws) == (150, 2, 300)

    def test_chains_that_were_kept_can_go_on(self, monkeypatch):
        with monkeypatch.context() as patched, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.interrupt_at(patched, 1)
            posterior = CHAINS.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)
        longer = CHAINS.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED, earlier=posterior)
        assert (longer.n_chains, longer.n_draws) == (1, 45)

    def test_nothing_done_is_an_interrupt(self, monkeypatch):
        self.interrupt_at(monkeypatch, 0)
        with pytest.raises(KeyboardInterrupt):
            CHAINS.run(numbers(), PRIOR, SUM_PRIOR, seed=SEED)


class _Replaced:
    """A module with some names replaced."""

    def __init__(self, module, **names):
        self.__dict__ |= vars(module) | names


@pytest.mark.parametrize("settings", [(30, 15, 1), (500, 250, 1), (330, 100, 1), (10_000, 0, 7), (205, 3, 60)])
def test_segments_are_the_chain(settings):
    n_iterations, burn_in, thin = settings
    segments = segments_of(*settings)
    assert [each.n_before for each in segments] == [0, *(each.end for each in segments[:-1])]
    assert segments[-1].end == n_iterations
    n_kept = [(each.n_iterations - each.burn_in) // thin for each in segments]
    assert (min(n_kept) > 0, sum(n_kept), len(n_kept) <= 20) == (True, (n_iterations - burn_in) // thin, True)


def test_the_trace_agrees_with_the_trees():
    """The likelihood of each draw, as the passes over residuals have it, and as predictions have it."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(1_003, 3)), rng.uniform(0.5, 2.0, 1_003)
    X[::7, 2] = np.nan
    y = X[:, 0] ** 2 + (X[:, 1] > 0) + 0.1 * rng.normal(size=1_003)
    deep = TreePrior(0.99, 0.3)  # trees of more leaves than fit into registers
    for sample_weight in (None, weights):
        data = make_regression_data(X, y, weights=sample_weight)
        posterior = BARTChains(n_iterations=150, burn_in=75, n_chains=1).run(data, deep, SumPrior(n_trees=4), seed=SEED)
        assert posterior.records[0].trace["n_leaves"].max() > 40
        w = np.ones(1_003) if sample_weight is None else weights
        squares = w @ (posterior.predictive_draws(X)[..., 0] - y[:, None]) ** 2
        log_likelihood = (
            -0.5 * w.sum() * np.log(2 * np.pi * posterior.noise_sd**2) - squares / posterior.noise_sd**2 / 2
        )
        scale = w.sum() * np.log(np.ptp(y))  # of the density of scaled numbers
        np.testing.assert_allclose(posterior.records[0].trace["log_likelihood"], log_likelihood + scale, rtol=1e-4)


def test_the_trace_of_labels_agrees_with_the_trees():
    """The log likelihood of each probit, on its own rows; few labels are of the first class."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 1, 0, np.where(X[:, 1] > 0.4, 2, 1))
    posterior = CHAINS.run(make_training_data(X, y, n_classes=3), PRIOR, SUM_PRIOR, seed=SEED)
    for turn in range(2):
        rows = np.isin(y, posterior.class_order[turn:])
        signs = np.where(y[rows] == posterior.class_order[turn], 1.0, -1.0)
        functions = posterior.offsets[turn] + posterior.sums[turn].draws(X[rows])
        expected = norm.logcdf(signs[:, None] * functions).sum(axis=0)
        np.testing.assert_allclose(posterior.records[turn].trace["log_likelihood"], expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_start": -1}, "n_start"),
        ({"regrow_share": 1.5}, "regrow_share"),
        ({"n_particles": 1}, "n_particles"),
        ({"proposal": "best"}, "proposal"),
        ({"move_weights": (0.0, 1.0, 0.0, 0.0)}, "move_weights"),
    ],
)
def test_wrong_moves(wrong, message):
    with pytest.raises(ValueError, match=message):
        BARTMoves(**wrong)
