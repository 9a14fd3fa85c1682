"""BART as scikit-learn estimators: what they predict, and the edges of what data can be."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from particletree import BARTClassifier, BARTPosterior, BARTRegressor, TreePrior
from particletree._inference.bart.sampler import BARTMoves

SMALL = {"n_trees": 10, "n_iterations": 40, "n_chains": 2, "random_state": 0}
REASON = (
    "a weight of 2 has the same posterior as two rows, but not the same draws: the check compares draws to the bit. "
    "tests/statistical holds weights of numbers against the exact posterior, test_weights_are_copies those of labels"
)
EXPECTED_FAILURES = {"check_sample_weight_equivalence_on_dense_data": REASON}


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(150, noise=1.0, random_state=0)


@pytest.fixture(scope="module")
def regressor(friedman):
    X, y = friedman
    return BARTRegressor(n_trees=30, n_iterations=200, n_chains=2, random_state=0).fit(X, 100 * y + 7)


@pytest.fixture(scope="module")
def classifier():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return BARTClassifier(n_trees=20, n_iterations=200, n_chains=2, random_state=0).fit(X, names[y])


@parametrize_with_checks(
    [BARTRegressor(**SMALL), BARTClassifier(**SMALL)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


class TestNumbers:
    def test_it_is_a_regressor(self):
        assert is_regressor(BARTRegressor())

    def test_every_answer(self, regressor, friedman):
        rows = friedman[0][:5]
        mean, std = regressor.predict(rows, return_std=True)
        assert mean.shape == std.shape == (5,)
        np.testing.assert_array_equal(mean, regressor.predict(rows))
        assert regressor.predict_interval(rows).shape == regressor.predict_interval(rows, of="mean").shape == (5, 2)
        assert regressor.predict_quantiles(rows, 0.5).shape == (5,)
        assert regressor.predict_quantiles(rows, [0.1, 0.5, 0.6]).shape == (5, 3)
        assert regressor.predict_log_density(rows, friedman[1][:5]).shape == (5,)
        assert regressor.sample_predictive(rows, n=4, random_state=0).shape == (5, 4)
        assert regressor.feature_importances_.shape == (10,)
        regressor.posterior_.check()

    def test_all_answers_come_from_the_same_draws(self, regressor, friedman):
        rows, posterior = friedman[0][:7], regressor.posterior_
        functions = posterior.predictive_draws(rows)[..., 0]
        mean, std = regressor.predict(rows, return_std=True)
        np.testing.assert_allclose(mean, functions.mean(axis=1))
        variance = functions.var(axis=1) + (posterior.noise_sd**2).mean()
        np.testing.assert_allclose(std, np.sqrt(variance))
        of_mean = regressor.predict_interval(rows, 0.8, of="mean")
        np.testing.assert_allclose(of_mean, np.quantile(functions, [0.1, 0.9], axis=1).T)
        of_observation = regressor.predict_interval(rows, 0.8)
        np.testing.assert_allclose(of_observation, regressor.predict_quantiles(rows, [0.1, 0.9]))
        assert (of_observation[:, 0] < of_mean[:, 0]).all()
        assert (of_observation[:, 1] > of_mean[:, 1]).all()
        drawn = regressor.sample_predictive(rows, n=20_000, random_state=1)
        assert np.abs((drawn.mean(axis=1) - mean) / (std / np.sqrt(20_000))).max() < 5
        np.testing.assert_allclose(drawn.std(axis=1), std, rtol=0.05)

    def test_density_integrates_to_one(self, regressor, friedman):
        row, (mean, std) = friedman[0][:1], regressor.predict(friedman[0][:1], return_std=True)
        y = np.linspace(mean[0] - 8 * std[0], mean[0] + 8 * std[0], 2001)
        density = np.exp(regressor.predict_log_density(np.repeat(row, len(y), axis=0), y))
        assert density.sum() * (y[1] - y[0]) == pytest.approx(1, abs=1e-6)

    def test_it_learns(self, regressor, friedman):
        X, y = make_friedman1(500, noise=1.0, random_state=1)
        y = 100 * y + 7
        assert regressor.score(X, y) > 0.6
        low, high = regressor.predict_interval(X).T
        assert 0.75 < ((low <= y) & (y <= high)).mean() < 1.0
        assert set(np.argsort(-regressor.feature_importances_)[:3]) <= {0, 1, 2, 3, 4}

    def test_constant_target(self):
        model = BARTRegressor(**SMALL).fit(np.arange(6.0)[:, None], np.full(6, 3.5))
        np.testing.assert_allclose(model.predict([[2.0]]), 3.5, atol=0.1)

    def test_importances_tell_what_matters(self):
        X, y = make_friedman1(300, noise=1.0, random_state=0)  # the last five features do not matter
        model = BARTRegressor(random_state=0).fit(X, y)
        importances = model.feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert importances[5:].max() < 0.02
        assert importances[:5].min() > 0.05
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).feature_importances_, importances)
        assert model.posterior_.variable_use()[0][5:].min() > 0.05  # which splits alone do not tell
        assert "of the variance explained" in str(model.posterior_.summary())

    @pytest.mark.parametrize("unit", [1e-140, 1e-9, 1.0, 1e9, 1e140])
    def test_a_constant_target_has_its_own_size_as_unit(self, unit):
        X = np.arange(6.0)[:, None]
        low, high = BARTRegressor(**SMALL).fit(X, np.full(6, -3.5 * unit)).predict_interval([[2.0]])[0] / unit
        assert -3.51 < low < -3.5 < high < -3.49

    @pytest.mark.parametrize("unit", [1e-9, 1e9])
    def test_a_nearly_constant_target_has_its_range_as_unit(self, unit):
        X, y = np.arange(40.0)[:, None], unit * (3.5 + 1e-12 * np.sin(np.arange(40.0)))
        low, high = BARTRegressor(**SMALL).fit(X, y).predict_interval(X).T / unit - 3.5
        assert (low > -5e-12).all()
        assert (high < 5e-12).all()

    def test_unit_of_the_target_does_not_matter(self, friedman):
        X, y = friedman
        one, other = (BARTRegressor(**SMALL).fit(X, scaled).predict(X[:5]) for scaled in (y, 1024.0 * y))
        np.testing.assert_allclose(1024.0 * one, other, rtol=1e-9)

    def test_several_targets_are_refused(self, friedman):
        X, y = friedman
        with pytest.raises(ValueError, match="predicts one number, got 2 targets"):
            BARTRegressor(**SMALL).fit(X, np.column_stack([y, y]))

    @pytest.mark.parametrize("settings", [{"of": "median"}, {"level": 1.0}])
    def test_wrong_questions(self, regressor, friedman, settings):
        with pytest.raises(ValueError, match="must"):
            regressor.predict_interval(friedman[0], **settings)


class TestClasses:
    def test_it_is_a_classifier(self):
        assert is_classifier(BARTClassifier())

    def test_three_classes(self, classifier):
        X, y = load_iris(return_X_y=True)
        probabilities = classifier.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        assert classifier.score(X, classifier.classes_[y]) > 0.94
        assert classifier.classes_.tolist() == ["setosa", "versicolor", "virginica"]
        interval = classifier.predict_interval(X)
        assert interval.shape == (150, 3, 2)
        assert ((interval[..., 0] <= probabilities) & (probabilities <= interval[..., 1])).mean() > 0.9
        classifier.posterior_.check()

    def test_probabilities_are_means_over_draws(self, classifier):
        X = load_iris().data[45:55]
        draws = classifier.posterior_.predictive_draws(X)
        np.testing.assert_allclose(draws.sum(axis=-1), 1.0)
        ends = np.moveaxis(np.quantile(draws, [0.1, 0.9], axis=1), 0, -1)
        np.testing.assert_allclose(classifier.predict_interval(X, 0.8), ends)
        # The mean of the products, and the product of the means of independent sums: equal up to their sampling error.
        np.testing.assert_allclose(draws.mean(axis=1), classifier.predict_proba(X), atol=0.05)

    def test_two_classes_have_one_sum(self):
        X, y = load_breast_cancer(return_X_y=True)
        model = BARTClassifier(n_trees=30, n_iterations=150, n_chains=2, random_state=0).fit(X[::2], y[::2])
        assert len(model.posterior_.sums) == 1
        assert model.score(X[1::2], y[1::2]) > 0.9
        with pytest.raises(AttributeError, match="no noise"):
            _ = model.posterior_.noise_sd

    @pytest.mark.parametrize("shares", [(0.2, 0.5, 0.3), (0.3, 0.2, 0.5), (0.1, 0.4, 0.2, 0.3)])
    def test_shares_belong_to_their_classes(self, shares):
        """The order of the classes, the most frequent first, is none that is its own inverse."""
        y = np.repeat(np.arange(len(shares)), np.multiply(shares, 400).round().astype(int))
        X = np.tile([0.0, 1.0], 200)[:, None]
        model = BARTClassifier(n_trees=5, n_iterations=100, n_chains=2, random_state=0).fit(X, y)
        order = model.posterior_.class_order
        assert order[order].tolist() != list(range(len(shares)))
        np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), np.tile(shares, (2, 1)), atol=0.06)

    def test_shares_of_classes_where_features_say_nothing(self):
        """A regression of each class against the rest would answer 0.60, 0.26 and 0.15 (``_model/bart.py``)."""
        y = np.repeat([0, 1, 2], [500, 300, 200])
        X = np.tile([0.0, 1.0], 500)[:, None]
        model = BARTClassifier(n_trees=10, n_iterations=300, n_chains=2, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), np.tile([0.5, 0.3, 0.2], (2, 1)), atol=0.04)

    def test_one_class(self):
        model = BARTClassifier(**SMALL).fit([[0.0], [1.0]], ["a", "a"])
        assert model.predict([[0.5]]).tolist() == ["a"]
        assert model.predict_interval([[0.5]]).tolist() == [[[1.0, 1.0]]]
        assert "1 chain" in str(model.posterior_.summary())

    def test_weights_are_copies(self):
        X, y = load_iris(return_X_y=True)
        X, y, weights = X[40:110], y[40:110], np.arange(70) % 3
        weighted = BARTClassifier(**SMALL).fit(X, y, weights)
        order = np.argsort(y, kind="stable")
        copies = np.repeat(order, weights[order])
        repeated = BARTClassifier(**SMALL).fit(X[copies], y[copies])
        np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))

    def test_fractions_are_refused(self):
        with pytest.raises(ValueError, match="must be whole numbers"):
            BARTClassifier(**SMALL).fit([[0.0], [1.0]], [0, 1], [0.5, 2.0])


class TestChains:
    @pytest.mark.parametrize("kind", [BARTRegressor, BARTClassifier])
    def test_the_same_seed_gives_the_same_bits_for_any_number_of_jobs(self, kind):
        X, y = load_iris(return_X_y=True)
        fits = [kind(**SMALL, n_jobs=n_jobs).fit(X, y).posterior_ for n_jobs in (None, 2)]
        for one, other in zip(fits[0].sums, fits[1].sums, strict=True):
            for name in ("nodes", "starts", "structure_of", "values", "chain"):
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes()

    def test_predictions_do_not_depend_on_the_number_of_jobs(self, regressor, friedman):
        many = np.tile(friedman[0], (200, 1))
        parallel = clone(regressor).set_params(n_jobs=2)
        parallel.__dict__ |= {name: value for name, value in vars(regressor).items() if name.endswith("_")}
        parallel._columns = regressor._columns
        np.testing.assert_array_equal(parallel.predict(many), regressor.predict(many))

    def test_warm_start_goes_on(self, friedman):
        X, y = friedman
        model = BARTRegressor(**SMALL, warm_start=True).fit(X, y)
        first = model.posterior_
        model.fit(X, y)
        second = model.posterior_
        assert (first.n_draws, second.n_draws) == (40, 120)
        assert (second.n_iterations, second.n_burn_in, second.n_chains) == (80, 20, 2)
        for before, after in zip(first.along_chains(first.noise_sd), second.along_chains(second.noise_sd), strict=True):
            np.testing.assert_array_equal(before, after[: len(before)])
            assert len(set(after.tolist())) == len(after)  # other random numbers, not the same once more
        second.check()

    def test_warm_start_with_several_classes(self):
        X, y = load_iris(return_X_y=True)
        model = BARTClassifier(**SMALL, warm_start=True).fit(X, y).fit(X, y).fit(X, y)
        assert model.posterior_.n_draws == 200
        model.posterior_.check()

    def test_warm_start_refuses_other_data(self, friedman):
        X, y = friedman
        model = BARTRegressor(**SMALL, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match=re.escape("the target")):
            model.fit(X, y + 1)
        with pytest.raises(ValueError, match="other parameters"):
            model.set_params(n_trees=11).fit(X, y)

    def test_a_refused_fit_leaves_the_earlier_one(self, friedman):
        X, y = friedman
        model = BARTRegressor(**SMALL).fit(X, y)
        before = model.predict(X[:3])
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X, np.full(len(y), np.nan))
        np.testing.assert_array_equal(model.predict(X[:3]), before)

    def test_progress(self, friedman, capsys):
        BARTRegressor(**SMALL, verbose=1).fit(*friedman)
        assert "2/2 chains" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_trees": 0}, "n_trees must be at least 1"),
            ({"k": -1.0}, "k must be a number above 0"),
            ({"noise_quantile": 1.0}, "noise_quantile must be a number strictly between 0 and 1"),
            ({"burn_in": 40}, "BARTRegressor.burn_in=40 leaves none of n_iterations=40 to keep"),
            ({"n_chains": 0}, "n_chains must be at least 1"),
            ({"prior": 0.5}, "prior must be an object of type TreePrior"),
            ({"moves": "all"}, "moves must be an object of type BARTMoves"),
        ],
    )
    def test_wrong_parameters(self, friedman, settings, message):
        with pytest.raises((ValueError, TypeError), match=message):
            BARTRegressor(**SMALL | settings).fit(*friedman)


class TestConvergenceWarning:
    def test_it_says_what_has_not_settled_and_what_to_do(self, friedman):
        model = BARTRegressor(n_trees=20, n_iterations=100, random_state=0)
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(*friedman)
        (warning,) = caught
        found = model.posterior_.convergence()
        assert warning.filename == __file__
        rhat = np.quantile(found.rhat_of_rows, 0.9)
        for part in (
            f"R-hat is {found.noise.rhat:.3f} for the noise (effective sample size {found.noise.ess_bulk:.0f})",
            f"{rhat:.3f} for the predictions (effective sample size {np.quantile(found.ess_of_rows, 0.1):.0f})",
            "larger n_iterations than 100",
            "warm_start=True",
        ):
            assert part in str(warning.message)
        assert str(warning.message) == model.posterior_.summary().verdict

    def test_only_what_has_not_settled_is_named(self):
        X, y = load_iris(return_X_y=True)
        with pytest.warns(ConvergenceWarning, match="not settled: R-hat is .* for the predictions") as caught:
            BARTClassifier(**SMALL).fit(X, y)
        assert "noise" not in str(caught[0].message)

    def test_chains_too_short_to_be_compared(self, friedman):
        with pytest.warns(ConvergenceWarning, match="too short to be compared: use a larger n_iterations than 4"):
            BARTRegressor(**SMALL | {"n_iterations": 4}).fit(*friedman)

    def test_chains_that_have_settled_are_silent(self):
        X, y = load_diabetes(return_X_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = BARTRegressor(random_state=0).fit(X, y)
            BARTClassifier(**SMALL).fit([[0.0], [1.0]], ["a", "a"])  # one class: nothing is drawn
        assert model.posterior_.convergence().has_settled

    def test_a_warning_as_an_error_leaves_the_fit(self, friedman):
        model = BARTRegressor(**SMALL)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ConvergenceWarning):
                model.fit(*friedman)
        assert np.isfinite(model.predict(friedman[0])).all()

    def test_the_warning_means_that_another_seed_predicts_otherwise(self):
        """By sqrt(2 / ESS) standard deviations of the posterior, whether chains have settled or not."""
        hard, easy = make_friedman1(300, noise=1.0, random_state=0), load_diabetes(return_X_y=True)
        for (X, y), settled in ((hard, False), (easy, True)):
            one, other = (BARTRegressor(random_state=seed).fit(X, y) for seed in (0, 1))
            found = one.posterior_.convergence()
            assert found.has_settled == settled
            functions = one.posterior_.predictive_draws(X)[..., 0]
            moved = np.sqrt(np.mean(((one.predict(X) - other.predict(X)) / functions.std(axis=1)) ** 2))
            assert moved == pytest.approx(np.sqrt(2 / np.median(found.ess_of_rows)), rel=0.4)
            assert (moved < 0.11) == settled


class TestTables:
    def test_missing_values_and_categories(self):
        rng = np.random.default_rng(0)
        n = 300
        frame = pd.DataFrame({"x": rng.normal(size=n), "kind": rng.choice(["a", "b", "c"], n), "z": rng.normal(size=n)})
        y = 2 * frame["x"] + 3 * (frame["kind"] == "b") + rng.normal(scale=0.3, size=n)
        frame.loc[frame["x"] < -1, "x"] = np.nan
        frame.loc[::7, "kind"] = None
        model = BARTRegressor(n_trees=50, n_iterations=200, n_chains=2, random_state=0).fit(frame, y)
        assert model.feature_names_in_.tolist() == ["x", "kind", "z"]
        assert model.score(frame, y) > 0.8
        new = pd.DataFrame({"x": [0.0, 0.0, np.nan], "kind": ["b", "never seen", None], "z": [0.0, 0.0, np.nan]})
        assert np.isfinite(model.predict(new)).all()
        assert "kind" in str(model.posterior_.summary())
        model.posterior_.check()

    def test_more_columns_than_rows(self):
        rng = np.random.default_rng(0)
        model = BARTRegressor(**SMALL).fit(rng.normal(size=(10, 30)), rng.normal(size=10))
        assert np.isfinite(model.predict(np.zeros((1, 30)))).all()

    def test_rows_of_weight_zero_are_left_out(self, friedman):
        X, y = friedman
        weights = (np.arange(len(y)) % 3 > 0).astype(float)
        one = BARTRegressor(**SMALL).fit(X, y, weights)
        other = BARTRegressor(**SMALL).fit(X[weights > 0], y[weights > 0])
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


class TestUnknownParameters:
    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            BARTRegressor().predict([[0.0]])

    def test_search_over_parts(self, friedman):
        X, y = friedman
        grid = {"prior__beta": [1.0, 2.0], "moves__regrow_share": [0.0, 0.5]}
        search = GridSearchCV(BARTRegressor(**SMALL), grid, cv=2).fit(X, y)
        assert search.best_estimator_.prior.beta in (1.0, 2.0)
        assert clone(BARTRegressor(moves=BARTMoves(n_start=3))).moves.n_start == 3

    def test_a_nested_parameter_of_the_prior_leaves_the_others(self, friedman):
        limited = BARTRegressor(**SMALL).set_params(prior__max_depth=1).fit(*friedman)
        assert limited.posterior_.prior == TreePrior(0.95, 2.0, max_depth=1)

    def test_pickle(self, regressor, friedman):
        again = pickle.loads(pickle.dumps(regressor))
        np.testing.assert_array_equal(again.predict(friedman[0]), regressor.predict(friedman[0]))

    def test_from_posterior(self, regressor, classifier, friedman, tmp_path):
        regressor.posterior_.save(tmp_path / "sums.npz")
        again = BARTRegressor.from_posterior(BARTPosterior.load(tmp_path / "sums.npz"))
        np.testing.assert_array_equal(again.predict(friedman[0]), regressor.predict(friedman[0]))
        assert again.n_trees == 30
        assert again.prior == TreePrior(0.95, 2.0)
        with pytest.raises(TypeError, match="needs a posterior of ClassLabels"):
            BARTClassifier.from_posterior(regressor.posterior_)
        iris = load_iris().data
        same = BARTClassifier.from_posterior(classifier.posterior_)
        np.testing.assert_array_equal(same.predict(iris), classifier.predict(iris))
