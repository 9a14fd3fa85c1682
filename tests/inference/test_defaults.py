"""The sampler for the size of the table, fits within a time, and fits that are added to."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from interrupting import ctrl_c_after
from particletree import MCMC, SMC, BayesianTreeClassifier, BayesianTreeRegressor, Categorical, Exact, TreePrior
from particletree._data import make_regression_data, make_training_data
from particletree._inference.defaults import (
    candidates_for,
    default_prior,
    defaults_for_classes,
    defaults_for_numbers,
    filter_defaults,
)
from particletree._inference.parallel import noticed_interrupts

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def test_large_tables_with_classes_get_more_islands_and_small_ones_seven():
    islands = [defaults_for_classes(n_rows, 10).n_islands for n_rows in (1, 1_000, 20_000, 200_000, 10**8)]
    assert islands == sorted(islands)
    assert (islands[0], islands[-1]) == (7, 12)


def test_large_tables_with_classes_get_fewer_particles_and_candidates():
    small, large = defaults_for_classes(9_999, 10), defaults_for_classes(10_000, 10)
    assert (small.n_particles, large.n_particles) == (10, 5)
    assert small.n_candidates is None
    by_rows = [defaults_for_classes(n_rows, 10).n_candidates for n_rows in (10_000, 25_000, 50_000, 100_000, 10**7)]
    assert by_rows == [20, 50, 50, 25, 5]
    by_features = [defaults_for_classes(40_000, n_features).n_candidates for n_features in (1, 7, 20, 200, 2000)]
    assert by_features == [62, 62, 25, 50, 500]


def test_tables_with_numbers_get_more_islands_by_their_distinct_values():
    islands = [defaults_for_numbers(n_values, 10).n_islands for n_values in (10, 1000, 10_000, 30_000, 10**7)]
    assert islands == sorted(islands)
    assert (islands[0], islands[-1]) == (4, 10)


def test_candidates_for_numbers_follow_the_features_alone():
    for n_values in (10, 10**7):
        assert [defaults_for_numbers(n_values, d).n_candidates for d in (1, 8, 20, 40, 41, 500)] == [
            5,
            8,
            20,
            20,
            20,
            250,
        ]


def test_the_default_follows_from_the_kind_of_target_and_the_values_that_repeat():
    X, y = np.arange(60_000.0).reshape(-1, 3), np.arange(20_000)
    assert filter_defaults(make_training_data(X, y % 2, n_classes=2)) == defaults_for_classes(20_000, 3)
    assert filter_defaults(make_regression_data(X, y)) == defaults_for_numbers(60_000, 3)
    assert filter_defaults(make_regression_data(X % 10, y)) == defaults_for_numbers(30, 3)


@pytest.mark.parametrize(
    ("estimator", "data", "islands_particles_candidates"),
    [(BayesianTreeClassifier(), IRIS, (7, 10, 5)), (BayesianTreeRegressor(), DIABETES, (4, 3, 10))],
    ids=["classes", "numbers"],
)
def test_the_estimators_use_it(estimator, data, islands_particles_candidates):
    used = estimator.fit(*data).posterior_.provenance.settings
    assert (used["n_islands"], used["n_particles"], used["n_candidates"]) == islands_particles_candidates


def test_candidates_follow_the_size_of_the_table():
    assert [candidates_for(100, d) for d in (1, 20, 24, 500)] == [5, 5, 6, 125]
    assert [candidates_for(n, 10) for n in (2_999, 10_000, 40_000, 10**7)] == [5, 20, 80, 80]


def test_explicit_objects_keep_the_papers_values():
    assert (TreePrior.paper().alpha, TreePrior.paper().beta, Categorical.paper().concentration) == (0.95, 0.5, 5.0)
    assert (SMC.paper().n_particles, SMC.paper().n_islands, SMC.paper().proposal, SMC.paper().ess_threshold) == (
        100,
        5,
        "prior",
        0.1,
    )
    classifier = BayesianTreeClassifier(TreePrior.paper(), Categorical.paper(), SMC.paper(n_islands=1)).fit(*IRIS)
    assert (classifier.posterior_.prior, classifier.posterior_.leaf) == (TreePrior.paper(), Categorical.paper())
    regressor = BayesianTreeRegressor(TreePrior.paper(), sampler=SMC.paper(n_particles=5, n_islands=1))
    assert regressor.fit(*load_diabetes(return_X_y=True)).posterior_.prior == TreePrior.paper()


def test_trees_grow_to_their_end_by_default():
    X = np.arange(3000.0)[:, None]
    prior = TreePrior(alpha=0.999, beta=0.0)
    model = BayesianTreeClassifier(prior, Categorical(0.1), SMC.paper(n_particles=1, n_islands=1), random_state=0)
    assert model.fit(X, np.arange(3000) % 2).posterior_.trace[0].size > 1000


class TestTimeBudget:
    def test_islands_are_added_until_the_time_is_used_and_are_those_of_the_seed(self):
        X, y = load_breast_cancer(return_X_y=True)
        timed = BayesianTreeClassifier(sampler=SMC.paper(n_particles=20, time_budget=0.3), random_state=5).fit(X, y)
        n_islands = timed.posterior_.n_islands
        assert n_islands >= 2
        counted = BayesianTreeClassifier(sampler=SMC.paper(n_particles=20, n_islands=n_islands), random_state=5).fit(
            X, y
        )
        np.testing.assert_array_equal(timed.posterior_.log_evidences, counted.posterior_.log_evidences)

    def test_there_is_always_one(self):
        model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=5, time_budget=1e-9), random_state=0).fit(*IRIS)
        assert model.posterior_.n_islands == 1

    @pytest.fixture
    def ctrl_c(self):
        """Let Ctrl-C reach the tests also where they run in a shell's background, which would ignore it."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    # Python drops the exception where it meets the callback of a weak reference, and says so.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_ctrl_c_keeps_what_is_done(self, ctrl_c):
        X, y = load_breast_cancer(return_X_y=True)
        model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=20, time_budget=60), random_state=0)
        timer = ctrl_c_after(1.0)
        start = time.perf_counter()
        timer.start()
        with pytest.warns(UserWarning, match="Interrupted: the posterior has the"):
            model.fit(X, y)
        assert time.perf_counter() - start < 30
        assert model.posterior_.n_islands >= 1
        assert model.predict_proba(X).shape == (569, 2)

    def test_ctrl_c_is_noticed_where_its_exception_is_dropped(self, ctrl_c):
        before = signal.getsignal(signal.SIGINT)
        with noticed_interrupts() as interrupted:
            assert not interrupted()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert interrupted()
        assert signal.getsignal(signal.SIGINT) is before

    def test_other_threads_have_no_ctrl_c_to_notice(self):
        with ThreadPoolExecutor() as pool:
            assert not pool.submit(lambda: noticed_interrupts().__enter__()()).result()

    @pytest.mark.parametrize("bad", [0, -1, float("inf")])
    def test_other_budgets_are_refused(self, bad):
        with pytest.raises(ValueError, match="time_budget must be a number of seconds, above 0"):
            SMC(time_budget=bad)


class TestWarmStart:
    @pytest.mark.parametrize(
        ("few", "many"),
        [
            (SMC.paper(n_particles=10, n_islands=2), SMC.paper(n_particles=10, n_islands=4)),
            (MCMC(n_iterations=200, n_chains=2), MCMC(n_iterations=200, n_chains=4)),
        ],
        ids=["SMC", "MCMC"],
    )
    def test_two_fits_are_one_of_all_runs(self, few, many):
        twice = BayesianTreeClassifier(sampler=few, random_state=1, warm_start=True).fit(*IRIS).fit(*IRIS)
        once = BayesianTreeClassifier(sampler=many, random_state=1).fit(*IRIS)
        np.testing.assert_allclose(twice.predict_proba(IRIS[0]), once.predict_proba(IRIS[0]), atol=1e-12)

    def test_islands_weighted_by_evidence_stay_so(self):
        few, many = (SMC.paper(n_particles=10, n_islands=n, island_weighting="evidence") for n in (3, 6))
        twice = BayesianTreeClassifier(sampler=few, random_state=1, warm_start=True).fit(*IRIS).fit(*IRIS)
        once = BayesianTreeClassifier(sampler=many, random_state=1).fit(*IRIS)
        shares = twice.posterior_.island_shares
        np.testing.assert_allclose(shares, once.posterior_.island_shares)
        assert shares.max() > 2 / len(shares)

    def test_the_choice_of_the_first_fit_stays(self):
        model = BayesianTreeClassifier(
            TreePrior("auto", "auto"), sampler=SMC.paper(n_islands=1), random_state=0, warm_start=True
        )
        first = model.fit(*IRIS).posterior_
        second = model.fit(*IRIS).posterior_
        assert (second.prior, second.choice, second.n_islands) == (first.prior, first.choice, 2)

    def test_other_data_are_refused_and_the_fit_stays(self):
        model = BayesianTreeClassifier(sampler=SMC.paper(n_islands=1), random_state=0, warm_start=True).fit(*IRIS)
        before = model.posterior_
        with pytest.raises(ValueError, match=r"differ in the number of rows \(150 and 100\)"):
            model.fit(IRIS[0][:100], IRIS[1][:100])
        assert model.posterior_ is before

    def test_an_exact_posterior_has_nothing_to_add(self):
        X, y = IRIS[0][::15, :2], IRIS[1][::15]
        model = BayesianTreeClassifier(sampler=Exact(n_draws=5), warm_start=True).fit(X, y)
        with pytest.raises(TypeError, match="exact"):
            model.fit(X, y)


class TestExpecting:
    @pytest.mark.parametrize("n_leaves", [2.0, 4.0, 8.0, 100.0, 5000.0])
    def test_the_mean_is_what_was_asked_for(self, n_leaves):
        assert TreePrior.expecting(n_leaves).mean_leaves() == pytest.approx(n_leaves, rel=1e-9)

    def test_the_papers_prior_has_the_mean_that_the_changelog_gives(self):
        assert 2 * TreePrior.paper().mean_leaves() - 1 == pytest.approx(18.28, abs=0.005)

    @pytest.mark.parametrize("bad", [1.0, 1.9, 1e7, -3])
    def test_what_no_prior_has_is_refused(self, bad):
        with pytest.raises(ValueError, match="n_leaves must lie above 1 \\+ alpha"):
            TreePrior.expecting(bad)


def test_large_tables_with_labels_get_the_prior_of_larger_trees():
    X, y = np.arange(10_000.0)[:, None], np.arange(10_000) % 2
    assert default_prior(make_training_data(X, y, 2)) == TreePrior(0.99, 0.1)
    assert default_prior(make_training_data(X[:-1], y[:-1], 2)) == TreePrior(0.95, 0.2)
    assert default_prior(make_regression_data(X, y)) == TreePrior(0.95, 0.2)
