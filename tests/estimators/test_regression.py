"""The regressor as a scikit-learn estimator, what it predicts, and the edges of what data can be."""

import pickle
import re
from collections.abc import Iterator
from contextlib import nullcontext

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from particletree import (
    MCMC,
    SMC,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Categorical,
    Exact,
    Exponential,
    Flat,
    Gaussian,
    GaussianKnownVariance,
    Poisson,
    Posterior,
)
from particletree._model.leaves.numbers import NOISE_SHARE

SMALL = SMC.paper(n_particles=20, n_islands=2)
SAMPLERS = [SMALL, MCMC(n_iterations=200, n_chains=2), Exact(n_draws=20)]
LEAVES = [Gaussian(), GaussianKnownVariance(), Poisson(), Exponential()]
OLD_SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8)


def name_of(part):
    return type(part).__name__


def make_data(n=60, n_targets=1, seed=0):
    """Return rows, and counts that jump with both features: every leaf model takes them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 6, n)])
    rate = np.where(X[:, 0] > 0.3, 9.0, 2.0) + X[:, 1]
    y = rng.poisson(rate[:, None] * (1 + np.arange(n_targets)), (n, n_targets)).astype(float)
    return X, y[:, 0] if n_targets == 1 else y


def fit(leaf=None, sampler=SMALL, n_targets=1, **keywords):
    X, y = make_data(n_targets=n_targets)
    if isinstance(sampler, Exact):
        X, y = X[:12], y[:12]
    return BayesianTreeRegressor(leaf=leaf, sampler=sampler, random_state=0).fit(X, y, **keywords), X, y


@parametrize_with_checks(
    [
        BayesianTreeRegressor(),
        BayesianTreeRegressor(sampler=SMC.paper(proposal="optimal", n_particles=10)),
        BayesianTreeRegressor(leaf=Exponential(), sampler=SMALL),
        BayesianTreeRegressor(leaf=Poisson(), sampler=SMALL),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    try:
        check(estimator)
    except ValueError as refusal:
        if not re.search("is not a count|is not a waiting time", str(refusal)):
            raise
        pytest.skip("the check fits negative numbers, which are neither counts nor waiting times")


def test_is_a_regressor():
    assert is_regressor(BayesianTreeRegressor())


class TestShapes:
    @pytest.mark.parametrize("sampler", SAMPLERS, ids=name_of)
    @pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
    @pytest.mark.parametrize("n_targets", [1, 3])
    def test_every_answer(self, leaf, sampler, n_targets):
        model, X, y = fit(leaf, sampler, n_targets)
        targets = () if n_targets == 1 else (n_targets,)
        rows = X[:5]
        mean, std = model.predict(rows, return_std=True)
        assert model.n_outputs_ == n_targets
        assert mean.shape == std.shape == (5, *targets)
        np.testing.assert_array_equal(mean, model.predict(rows))
        assert (std > 0).all()
        for part in model.predict_variance(rows):
            assert part.shape == (5, *targets)
        assert model.predict_interval(rows).shape == (5, *targets, 2)
        assert model.predict_interval(rows, of="mean").shape == (5, *targets, 2)
        assert model.predict_quantiles(rows, 0.5).shape == (5, *targets)
        assert model.predict_quantiles(rows, [0.1, 0.5, 0.6]).shape == (5, *targets, 3)
        assert model.predict_log_density(rows, y[:5]).shape == (5,)
        assert model.sample_predictive(rows, n=4, random_state=0).shape == (5, 4, *targets)
        model.posterior_.check()

    def test_one_column_is_one_target(self):
        X, y = make_data()
        assert fit_to(X, y[:, None]).predict(X).shape == (60,)

    def test_targets_share_the_tree_and_nothing_else(self):
        X, y = make_data(n_targets=2)
        model = fit_to(X, y)
        for k in range(2):
            per_tree = [tree.means[tree.apply(X), k] for tree in model.posterior_.trees]
            np.testing.assert_allclose(model.predict(X)[:, k], model.posterior_.weights @ np.array(per_tree))


def test_targets_of_a_draw_come_from_one_leaf_and_the_order_of_draws_tells_nothing():
    leaf, sampler = GaussianKnownVariance(0.0, 1.0, 0.001), SMC.paper(n_particles=1000, n_islands=1)
    model = BayesianTreeRegressor(leaf=leaf, sampler=sampler, random_state=0)
    model.fit([[0.0], [1.0]], [[-1.0, -1.0], [1.0, 1.0]])
    draws = model.sample_predictive([[0.5]], 500, random_state=2)[0]  # half of the cuts send it to either leaf
    assert (np.sign(draws[:, 0]) == np.sign(draws[:, 1])).all()
    assert 180 < (draws[:, 0] > 0).sum() < 320
    assert 60 < (draws[:200, 0] > 0).sum() < 140


def fit_to(X, y, leaf=None, sampler=SMALL, **keywords):
    return BayesianTreeRegressor(leaf=leaf, sampler=sampler, random_state=0).fit(X, y, **keywords)


@pytest.mark.parametrize("sampler", [SMALL, Exact(n_draws=20)], ids=name_of)
@pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
class TestPredictiveDistribution:
    def test_quantiles_rise_and_are_the_ends_of_intervals(self, leaf, sampler):
        model, X, _ = fit(leaf, sampler)
        q = np.linspace(0.05, 0.95, 19)
        quantiles = model.predict_quantiles(X[:8], q)
        assert (np.diff(quantiles, axis=1) >= 0).all()
        np.testing.assert_allclose(model.predict_interval(X[:8], 0.9), quantiles[:, [0, -1]], rtol=1e-12)
        np.testing.assert_allclose(model.predict_quantiles(X[:8], 0.5), quantiles[:, 9], rtol=1e-12)

    def test_intervals_hold_the_mean_and_widen_with_the_level(self, leaf, sampler):
        model, X, _ = fit(leaf, sampler)
        narrow, wide = (model.predict_interval(X[:8], level, of="mean") for level in (0.5, 0.99))
        mean = model.predict(X[:8])
        assert ((wide[:, 0] < narrow[:, 0]) & (narrow[:, 1] < wide[:, 1])).all()
        assert ((wide[:, 0] < mean) & (mean < wide[:, 1])).all()
        observation = model.predict_interval(X[:8], 0.9)
        of_mean = model.predict_interval(X[:8], 0.9, of="mean")
        assert (np.diff(observation, axis=1) > np.diff(of_mean, axis=1)).all()

    def test_draws_have_the_mean_and_the_variance(self, leaf, sampler):
        model, X, _ = fit(leaf, sampler)
        draws = model.sample_predictive(X[:6], n=20_000, random_state=3)
        mean, std = model.predict(X[:6], return_std=True)
        z = (draws.mean(axis=1) - mean) / (draws.std(axis=1) / np.sqrt(20_000))
        assert np.abs(z).max() < 4, f"mean {draws.mean(axis=1)}, expected {mean}, z = {z}"
        if isinstance(leaf, Poisson | GaussianKnownVariance):  # the others have no fourth moment to speak of
            np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.05)
        for q in (0.1, 0.5, 0.9):
            below = (draws <= model.predict_quantiles(X[:6], q)[:, None]).mean(axis=1)
            assert (below > q - 4 * np.sqrt(q * (1 - q) / 20_000)).all()
            if not isinstance(leaf, Poisson):
                assert (below < q + 4 * np.sqrt(q * (1 - q) / 20_000)).all()

    def test_rows_are_drawn_jointly(self, leaf, sampler, monkeypatch):
        """The i-th draws of two equal rows have the same tree and parameters, so that only noise differs."""
        model, X, _ = fit(leaf, sampler)
        n, rows = 10_000, np.repeat(X[:3], 2, axis=0)
        draws = model.sample_predictive(rows, n, random_state=4)
        squares = np.square(draws[::2] - draws[1::2]) / 2
        noise = model.predict_variance(X[:3]).noise
        assert (np.abs(squares.mean(axis=1) - noise) < 4 * squares.std(axis=1) / np.sqrt(n)).all()
        again = [model.sample_predictive(rows, 25, random_state=4) for _ in range(2)]
        np.testing.assert_array_equal(*again)
        assert model.posterior_.predictions.observations(rows[:0], 4, np.random.default_rng(0)).shape == (0, 4, 1)
        monkeypatch.setattr("particletree._posterior.predictions.trees.LEAVES", 70)  # a few draws at a time
        assert model.sample_predictive(rows, 25, random_state=4).shape == (6, 25)

    def test_parts_of_the_variance_sum_to_the_whole(self, leaf, sampler):
        model, X, _ = fit(leaf, sampler)
        parts, (_, std) = model.predict_variance(X), model.predict(X, return_std=True)
        np.testing.assert_allclose(parts.noise + parts.parameters + parts.trees, std**2, rtol=1e-12)
        np.testing.assert_array_equal(parts.total, parts.noise + parts.parameters + parts.trees)
        assert (parts.noise > 0).all()
        assert (parts.parameters > 0).all()
        assert (parts.trees >= 0).all()

    def test_weights_count_like_repeated_rows(self, leaf, sampler):
        X, y = make_data(n=12)
        weights = np.arange(12) % 3
        weighted = fit_to(X, y, leaf, sampler, sample_weight=weights)
        repeated = fit_to(np.repeat(X, weights, axis=0), np.repeat(y, weights), leaf, sampler)
        assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-10)
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)
        np.testing.assert_allclose(weighted.predict_interval(X), repeated.predict_interval(X), rtol=1e-7)


class TestAnswersOfOneLeaf:
    """Where nothing varies there is one leaf, whose answers are known."""

    X = np.zeros((4, 1))

    def test_counts(self):
        model = fit_to(self.X, [1, 0, 4, 3], Poisson(prior_mean=2.0, shape=1.0), exposure=[1.0, 0.5, 2.0, 3.0])
        rate = (1 + 8) / (0.5 + 6.5)
        assert model.predict([[0.0]]) == pytest.approx(rate)
        parts = model.predict_variance([[0.0]])
        assert parts.noise == pytest.approx(rate)
        assert parts.parameters == pytest.approx(9 / 49)
        assert parts.trees == pytest.approx(0.0)

    def test_times(self):
        model = fit_to(self.X, [1.0, 0.5, 4.0, 3.5], Exponential(prior_mean=2.0, shape=3.0))
        assert model.predict([[0.0]]) == pytest.approx((6 + 9) / (3 + 4 - 1))

    def test_trees_that_disagree_add_variance(self):
        X, y = make_data()
        parts = fit_to(X, y).predict_variance(X)
        assert parts.trees.max() > 0


class TestExposure:
    @pytest.fixture
    def routing(self) -> Iterator[None]:
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    def make(self, n=80):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(n, 2))
        exposure = rng.uniform(0.5, 20.0, n)
        return X, rng.poisson(np.where(X[:, 0] > 0, 5.0, 1.0) * exposure), exposure

    def asks(self):
        """Return a model that asks for the exposure in `fit` and in `score`."""
        model = BayesianTreeRegressor(leaf=Poisson(), sampler=SMALL, random_state=0)
        return model.set_fit_request(exposure=True).set_score_request(exposure=True)

    def test_rates_are_per_unit(self):
        X, y, exposure = self.make()
        model = fit_to(X, y, Poisson(), exposure=exposure)
        ends = model.predict([[-2.0, 0.0], [2.0, 0.0]])
        np.testing.assert_allclose(ends, [1.0, 5.0], rtol=0.15)
        assert model.posterior_.leaf.prior_mean == pytest.approx(y.sum() / exposure.sum())

    def test_one_is_none(self):
        X, y, _ = self.make()
        ones, none = fit_to(X, y, Poisson(), exposure=np.ones(80)), fit_to(X, y, Poisson())
        np.testing.assert_array_equal(ones.predict(X), none.predict(X))
        np.testing.assert_array_equal(ones.predict_interval(X, exposure=np.ones(80)), none.predict_interval(X))

    def test_counts_to_come_have_theirs(self):
        X, y, exposure = self.make()
        model = fit_to(X, y, Poisson(), exposure=exposure)
        many = np.full(80, 1000.0)
        draws = model.sample_predictive(X, 2000, random_state=0, exposure=many)
        np.testing.assert_allclose(draws.mean(axis=1), 1000 * model.predict(X), rtol=0.05)
        low, high = model.predict_interval(X, 0.99, exposure=many).T
        assert ((low < 1000 * model.predict(X)) & (1000 * model.predict(X) < high)).all()
        assert (np.diff(model.predict_interval(X, exposure=many)) > np.diff(model.predict_interval(X))).all()
        log_densities = model.predict_log_density(X, y, exposure)
        assert log_densities.mean() > model.predict_log_density(X, y, np.ones(80)).mean()

    def test_counts_are_scored_against_rate_times_exposure(self):
        X, y, exposure = self.make()
        model, weights = fit_to(X, y, Poisson(), exposure=exposure), np.arange(80)
        expected = r2_score(y, model.predict(X) * exposure)
        assert model.score(X, y, exposure=exposure) == pytest.approx(expected)
        assert expected > 0.9
        weighted = r2_score(y, model.predict(X) * exposure, sample_weight=weights)
        assert model.score(X, y, weights, exposure) == pytest.approx(weighted)

    def test_several_counts_are_scored_too(self):
        X, y, exposure = self.make()
        both = np.column_stack([y, 2 * y])
        model = fit_to(X, both, Poisson(), exposure=exposure)
        expected = r2_score(both, model.predict(X) * exposure[:, None])
        assert model.score(X, both, exposure=exposure) == pytest.approx(expected)

    def test_without_exposure_the_score_is_the_usual_one(self):
        X, y, _ = self.make()
        model = fit_to(X, y, Poisson())
        assert model.score(X, y) == r2_score(y, model.predict(X))
        assert model.score(X, y, exposure=np.ones(80)) == model.score(X, y)

    def test_observed_counts_need_their_exposure(self, tmp_path):
        X, y, exposure = self.make()
        model = fit_to(X, y, Poisson(), exposure=exposure)
        model.posterior_.save(tmp_path / "counts.npz")
        again = BayesianTreeRegressor.from_posterior(Posterior.load(tmp_path / "counts.npz"))
        for fitted in (model, again):
            for ask in (fitted.score, fitted.predict_log_density):
                with pytest.raises(ValueError, match=r"fitted with exposure.*pass exposure=.*set_score_request"):
                    ask(X, y)
        with pytest.raises(ValueError, match=r"exposure must have shape \(80,\)"):
            model.score(X, y, exposure=exposure[:3])

    @pytest.mark.parametrize("sampler", SAMPLERS, ids=name_of)
    def test_posteriors_know_whether_they_had_it(self, sampler):
        X, y, exposure = self.make(12)
        model = BayesianTreeRegressor(leaf=Poisson(), sampler=sampler, random_state=0)
        assert model.fit(X, y).posterior_.row_columns == ()
        posterior = model.fit(X, y, exposure=exposure).posterior_
        assert posterior.row_columns == ("exposure",)
        assert pickle.loads(pickle.dumps(posterior)).row_columns == ("exposure",)

    def test_the_interval_of_a_rate_refuses_it(self):
        X, y, exposure = self.make()
        model = fit_to(X, y, Poisson(), exposure=exposure)
        with pytest.raises(
            ValueError, match=r'exposure has no meaning with of="mean", the interval of the rate per unit of'
        ):
            model.predict_interval(X, of="mean", exposure=exposure)

    @pytest.mark.usefixtures("routing")
    def test_goes_through_cross_validation(self):
        X, y, exposure = self.make()
        with_exposure = cross_validate(
            self.asks(), X, y / 1.0, params={"exposure": exposure}, cv=3, return_estimator=True, error_score="raise"
        )
        for found in with_exposure["estimator"]:
            assert found.posterior_.leaf.prior_mean == pytest.approx(y.sum() / exposure.sum(), rel=0.2)
        assert with_exposure["test_score"].mean() > 0.8

    @pytest.mark.usefixtures("routing")
    def test_a_score_that_does_not_ask_for_it_is_refused(self):
        X, y, exposure = self.make()
        model = BayesianTreeRegressor(leaf=Poisson(), sampler=SMALL, random_state=0).set_fit_request(exposure=True)
        passed = {"params": {"exposure": exposure}, "cv": 3, "error_score": "raise"}
        with pytest.raises(UnsetMetadataPassedError, match="set_score_request"):
            cross_val_score(model, X, y, **passed)
        with pytest.raises(ValueError, match="fitted with exposure"):
            cross_val_score(model.set_score_request(exposure=False), X, y, **passed)

    def test_without_routing_only_the_fit_gets_it(self):
        X, y, exposure = self.make()
        model = BayesianTreeRegressor(leaf=Poisson(), sampler=SMALL, random_state=0)
        with pytest.raises(ValueError, match=r"fitted with exposure.*enable_metadata_routing=True"):
            cross_val_score(model, X, y, params={"exposure": exposure}, cv=3, error_score="raise")
        search = GridSearchCV(model, {"leaf__shape": [0.5, 2.0]}, cv=2, error_score="raise")
        with pytest.raises(ValueError, match="fitted with exposure"):
            search.fit(X, y, exposure=exposure)

    @pytest.mark.usefixtures("routing")
    @pytest.mark.skipif(
        OLD_SKLEARN, reason="scikit-learn up to 1.7 hands nothing to the score of a pipeline in a search"
    )
    def test_goes_through_a_pipeline_and_a_search(self):
        X, y, exposure = self.make()
        pipeline = make_pipeline(StandardScaler(), self.asks())
        search = GridSearchCV(pipeline, {"bayesiantreeregressor__leaf__shape": [0.5, 2.0]}, cv=2, error_score="raise")
        best = search.fit(X, y, exposure=exposure).best_estimator_[-1]
        assert best.posterior_.leaf.prior_mean == pytest.approx(y.sum() / exposure.sum())
        assert search.cv_results_["mean_test_score"].min() > 0.8
        assert search.score(X, y, exposure=exposure) > 0.8

    @pytest.mark.parametrize("leaf", [None, Gaussian(), GaussianKnownVariance(), Exponential()], ids=name_of)
    def test_other_leaf_models_refuse_it(self, leaf):
        X, y, exposure = self.make()
        owner = "Gaussian" if leaf is None else name_of(leaf)
        with pytest.raises(ValueError, match=rf"{owner} has no use for exposure.*leaf=Poisson\(\)"):
            fit_to(X, y, leaf, exposure=exposure)
        model = fit_to(X, y, leaf)
        for ask in (
            lambda: model.predict_interval(X, exposure=exposure),
            lambda: model.predict_quantiles(X, 0.5, exposure),
            lambda: model.predict_log_density(X, y, exposure),
            lambda: model.sample_predictive(X, exposure=exposure),
            lambda: model.score(X, y, exposure=exposure),
        ):
            with pytest.raises(
                ValueError, match=r"has no use for exposure; leave it out, or fit with leaf=Poisson\(\)"
            ):
                ask()

    @pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
    def test_names_the_row_that_is_wrong(self, bad):
        X, y, exposure = self.make()
        wrong = exposure.copy()
        wrong[7] = bad
        with pytest.raises(ValueError, match=r"Exposure .* in row 7"):
            fit_to(X, y, Poisson(), exposure=wrong)
        with pytest.raises(ValueError, match=r"Exposure .* in row 7"):
            fit_to(X, y, Poisson()).predict_interval(X, exposure=wrong)
        with pytest.raises(ValueError, match=r"exposure must have shape \(80,\)"):
            fit_to(X, y, Poisson(), exposure=exposure[:5])


class TestRefusals:
    @pytest.mark.parametrize(
        ("leaf", "value", "message"),
        [
            (Poisson(), -3.0, r"The value -3\.0 in row 4 \(counted from 0\) is not a count.*Gaussian\(\)"),
            (Poisson(), 2.5, r"The value 2\.5 in row 4 \(counted from 0\) is not a count"),
            (Exponential(), -0.5, r"The value -0\.5 in row 4 \(counted from 0\) is not a waiting time"),
            (Gaussian(), np.nan, r"Missing number \(NaN\) in y in row 4"),
            (Gaussian(), -np.inf, r"Infinite number \(inf\) in y in row 4"),
            (Gaussian(), 1e305, r"beyond 1e\+300 in y in row 4"),
        ],
    )
    def test_numbers_that_the_leaf_model_does_not_allow(self, leaf, value, message):
        X, y = make_data()
        y[4] = value
        with pytest.raises(ValueError, match=message):
            fit_to(X, y, leaf)

    def test_the_target_is_named(self):
        X, y = make_data(n_targets=2)
        y[3, 1] = -1
        with pytest.raises(ValueError, match=r"The value -1\.0 of target 1 in row 3"):
            fit_to(X, y, Poisson())
        with pytest.raises(ValueError, match=r"The value -1\.0 of late in row 3"):
            fit_to(X, pd.DataFrame(y, columns=["early", "late"]), Poisson())

    @pytest.mark.parametrize("leaf", [Categorical.paper(), Flat()], ids=name_of)
    def test_leaf_models_of_classes(self, leaf):
        X, y = make_data()
        kinds = "Gaussian or GaussianKnownVariance or Poisson or Exponential"
        with pytest.raises(
            TypeError, match=rf"leaf must be an object of type {kinds}, .*or None, got {name_of(leaf)}\("
        ):
            fit_to(X, y, leaf)

    @pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
    def test_leaf_models_of_numbers_in_a_classifier(self, leaf):
        with pytest.raises(TypeError, match=rf"leaf must be an object of type Categorical.*got {name_of(leaf)}\("):
            BayesianTreeClassifier(leaf=leaf).fit([[0.0], [1.0]], [0, 1])

    @pytest.mark.parametrize(
        ("part", "value"), [("sampler", "smc"), ("prior", 0.95), ("leaf", "poisson"), ("leaf", Gaussian)]
    )
    def test_a_part_of_the_wrong_kind(self, part, value):
        with pytest.raises(TypeError, match=f"{part} must be an object of type .*Write for example {part}="):
            BayesianTreeRegressor(**{part: value}).fit(*make_data())

    def test_parameters_for_another_number_of_targets(self):
        X, y = make_data(n_targets=3)
        with pytest.raises(ValueError, match=r"Gaussian\.prior_mean has 2 values, but there are 3 targets"):
            fit_to(X, y, Gaussian(prior_mean=[1.0, 2.0]))

    def test_questions_that_make_no_sense(self):
        model, X, y = fit()
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            model.predict_interval(X, 1.0)
        with pytest.raises(ValueError, match="of must be one of observation, mean, got 'median'"):
            model.predict_interval(X, of="median")
        for q in (0.0, [0.5, 1.0], [[0.5]], np.nan):
            with pytest.raises(ValueError, match="q must be a number or a list of numbers strictly between 0 and 1"):
                model.predict_quantiles(X, q)
        for n in (0, -1, 1.5, True, None):
            with pytest.raises(ValueError, match="n must be an integer of at least 1"):
                model.sample_predictive(X, n)
        with pytest.raises(ValueError, match="y has 2 targets, but the fit had 1"):
            model.predict_log_density(X, np.column_stack([y, y]))
        with pytest.raises(ValueError, match="X has 60 rows, but y has 3"):
            model.predict_log_density(X, y[:3])

    @pytest.mark.parametrize(
        "ask",
        [
            lambda model: model.predict([[0.0]]),
            lambda model: model.predict_variance([[0.0]]),
            lambda model: model.predict_interval([[0.0]]),
            lambda model: model.predict_quantiles([[0.0]], 0.5),
            lambda model: model.predict_log_density([[0.0]], [0.0]),
            lambda model: model.sample_predictive([[0.0]]),
            lambda model: model.log_evidence_,
        ],
    )
    def test_questions_before_the_fit(self, ask):
        with pytest.raises(NotFittedError):
            ask(BayesianTreeRegressor())

    def test_a_refused_fit_leaves_the_one_before(self):
        model, X, _ = fit()
        before = model.predict(X)
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X[:, :1], np.full(60, np.nan))
        np.testing.assert_array_equal(model.predict(X), before)


def assert_same_posterior(a, b):
    np.testing.assert_array_equal(a.weights, b.weights)
    for name in ("nodes", "roots", "statistics", "row_hashes"):
        assert getattr(a.forest, name).tobytes() == getattr(b.forest, name).tobytes()
    np.testing.assert_array_equal(a.log_evidences, b.log_evidences)


class TestSeeds:
    @pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
    def test_same_bits_for_any_n_jobs_and_backend(self, leaf):
        X, y = make_data()

        def fitted(n_jobs=None, backend=None):
            context = nullcontext() if backend is None else joblib.parallel_config(backend=backend, n_jobs=2)
            with context:
                return BayesianTreeRegressor(leaf=leaf, sampler=SMALL, n_jobs=n_jobs, random_state=3).fit(X, y)

        expected = fitted(1)
        backends = ["threading", "loky"] if isinstance(leaf, Gaussian) else ["threading"]
        for other in (fitted(2), fitted(-1), *(fitted(backend=backend) for backend in backends)):
            assert_same_posterior(other.posterior_, expected.posterior_)
            np.testing.assert_array_equal(other.predict_interval(X), expected.predict_interval(X))

    @pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng, np.random.SeedSequence, int])
    def test_kinds_of_random_state(self, make):
        X, y = make_data()
        fits = [BayesianTreeRegressor(sampler=SMALL, random_state=make(5)).fit(X, y) for _ in range(2)]
        assert_same_posterior(fits[0].posterior_, fits[1].posterior_)
        draws = [fits[0].sample_predictive(X, 3, random_state=make(5)) for _ in range(2)]
        np.testing.assert_array_equal(*draws)

    def test_a_generator_moves_on_and_none_differs(self):
        X, y = make_data()
        rng = np.random.default_rng(0)
        for state in (rng, None):
            fits = [BayesianTreeRegressor(sampler=SMALL, random_state=state).fit(X, y) for _ in range(2)]
            assert fits[0].log_evidence_ != fits[1].log_evidence_
            assert (fits[0].sample_predictive(X, 1, state) != fits[0].sample_predictive(X, 1, state)).any()

    @pytest.mark.parametrize(("bad", "error"), [(-1, ValueError), ("seed", TypeError), (True, TypeError)])
    def test_other_things_are_refused(self, bad, error):
        model, X, y = fit()
        with pytest.raises(error, match="random_state must"):
            BayesianTreeRegressor(random_state=bad).fit(X, y)
        with pytest.raises(error, match="random_state must"):
            model.sample_predictive(X, random_state=bad)


class TestParameters:
    def test_grid_search_through_nested_parameters_of_defaults(self):
        search = GridSearchCV(
            BayesianTreeRegressor(random_state=0),
            {"sampler__n_particles": [5, 20], "leaf__mean_strength": [0.1, 10.0], "prior__alpha": [0.5]},
            cv=2,
        ).fit(*make_data())
        best = search.best_estimator_
        assert best.leaf.mean_strength == search.best_params_["leaf__mean_strength"] == 0.1
        assert best.sampler.n_islands is None
        assert best.sampler_.n_islands == 4
        assert best.leaf.prior_mean is None
        assert best.posterior_.leaf.prior_mean is not None

    def test_what_is_open_is_taken_from_the_data_at_each_fit(self):
        model, X, y = fit(Gaussian())
        assert model.posterior_.leaf.prior_mean == pytest.approx(y.mean())
        assert model.posterior_.leaf.noise_sd == pytest.approx(NOISE_SHARE * y.std())
        assert model.leaf == Gaussian()
        assert model.fit(X, y + 100).posterior_.leaf.prior_mean == pytest.approx(y.mean() + 100)

    def test_clone_is_deep(self):
        model = BayesianTreeRegressor(leaf=Poisson(shape=3.0), sampler=SMC.paper(n_particles=3))
        copy = clone(model).set_params(leaf__shape=4.0)
        assert model.leaf.shape == 3.0
        assert copy.leaf.shape == 4.0

    def test_clone_of_values_per_target(self):
        leaf = Gaussian(prior_mean=[1.0, 2.0], noise_sd=(3.0, 4.0))
        assert clone(BayesianTreeRegressor(leaf=leaf)).leaf == leaf

    def test_pickled(self):
        for leaf in LEAVES:
            model, X, _ = fit(leaf)
            copy = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(copy.predict_interval(X), model.predict_interval(X))
            assert copy.posterior_.leaf == model.posterior_.leaf

    def test_chains_have_no_evidence(self):
        model, _, _ = fit(sampler=MCMC(n_iterations=50, n_chains=1))
        with pytest.raises(AttributeError, match="Markov chains do not estimate the evidence"):
            _ = model.log_evidence_


class TestData:
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_data_frames_keep_their_names(self, frame):
        X, y = make_data(n_targets=2)
        table = frame({"age": X[:, 0], "rooms": X[:, 1]})
        targets = frame({"price": y[:, 0], "rent": y[:, 1]})
        model = fit_to(table, targets)
        assert model.feature_names_in_.tolist() == ["age", "rooms"]
        text = str(model.posterior_.best_tree())
        assert "age <=" in text
        assert "price: " in text
        assert "rent: " in text
        np.testing.assert_array_equal(model.predict(table), fit_to(X, y).predict(X))
        assert model.posterior_.target.names == ("price", "rent")

    @pytest.mark.parametrize("series", [pd.Series, pl.Series], ids=["pandas", "polars"])
    def test_a_series_has_a_name(self, series):
        X, y = make_data()
        named = pd.Series(y, name="price") if series is pd.Series else pl.Series("price", y)
        model = fit_to(X, named)
        assert model.posterior_.target.names == ("price",)
        assert "±" in str(model.posterior_.best_tree())

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
    def test_numbers_of_any_type(self, dtype):
        X, y = make_data()
        given = (y > 5) if dtype is bool else y.astype(dtype)
        np.testing.assert_array_equal(fit_to(X, given).predict(X), fit_to(X, given.astype(float)).predict(X))

    @pytest.mark.parametrize("leaf", [Gaussian(), GaussianKnownVariance()], ids=name_of)
    def test_a_large_offset_shifts_and_does_nothing_else(self, leaf):
        X, _ = make_data()
        noise = np.round(np.random.default_rng(4).normal(size=60) + 3 * (X[:, 0] > 0.3), 3)
        offset = 1e9
        moved = noise + offset
        plain, far = fit_to(X, moved - offset, leaf), fit_to(X, moved, leaf)
        np.testing.assert_array_equal(
            far.posterior_.forest.nodes["threshold"], plain.posterior_.forest.nodes["threshold"]
        )
        np.testing.assert_allclose(far.predict(X) - offset, plain.predict(X), atol=1e-6)
        np.testing.assert_allclose(far.predict_interval(X) - offset, plain.predict_interval(X), atol=1e-5)
        for ours, theirs in zip(far.predict_variance(X), plain.predict_variance(X), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-9)
        assert far.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-6)

    @pytest.mark.parametrize("leaf", [Gaussian(), GaussianKnownVariance(), Exponential()], ids=name_of)
    @pytest.mark.parametrize("scale", [2.0**-664, 2.0**498], ids=["1e-200", "1e150"])
    def test_the_unit_changes_nothing_but_the_unit(self, leaf, scale):
        X, y = make_data()
        plain, scaled = fit_to(X, y, leaf), fit_to(X, y * scale, leaf)
        np.testing.assert_allclose(scaled.predict(X) / scale, plain.predict(X), rtol=1e-9)
        np.testing.assert_allclose(scaled.predict_interval(X) / scale, plain.predict_interval(X), rtol=1e-7)
        np.testing.assert_allclose(
            scaled.predict_interval(X, of="mean") / scale, plain.predict_interval(X, of="mean"), rtol=1e-7
        )
        density = scaled.predict_log_density(X, y * scale) + np.log(scale)
        np.testing.assert_allclose(density, plain.predict_log_density(X, y), rtol=1e-9, atol=1e-9)
        assert scaled.log_evidence_ + 60 * np.log(scale) == pytest.approx(plain.log_evidence_, rel=1e-9)
        np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_, rtol=1e-9)
        std, expected = (model.predict(X, return_std=True)[1] for model in (scaled, plain))
        np.testing.assert_allclose(std / scale, expected, rtol=1e-9)
        agreements = [model.posterior_.agreement.predictions for model in (scaled, plain)]
        assert agreements[0] == pytest.approx(agreements[1], rel=1e-9)
        assert "nan" not in str(scaled.posterior_.summary()) + str(scaled.posterior_.best_tree())

    @pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
    @pytest.mark.parametrize("value", [0.0, 4.0])
    def test_a_constant_target(self, leaf, value):
        X, _ = make_data()
        model = fit_to(X, np.full(60, value), leaf)
        assert model.predict(X) == pytest.approx(value, rel=0.2, abs=0.5)
        assert np.isfinite(model.predict_interval(X)).all()

    @pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
    def test_one_row(self, leaf):
        model = fit_to([[1.0]], [3.0], leaf)
        assert np.isfinite(model.predict([[1.0], [2.0]])).all()

    def test_rows_of_weight_0_may_hold_anything(self):
        X, y = make_data(n=12)
        ignored = fit_to(np.vstack([X, X[:1]]), [*y, np.nan], sample_weight=[1.0] * 12 + [0.0])
        assert ignored.log_evidence_ == fit_to(X, y).log_evidence_


def test_it_learns():
    X, y = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor(random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.2
    low, high = model.predict_interval(X[300:], 0.9).T
    assert 0.8 < np.mean((y[300:] >= low) & (y[300:] <= high)) < 0.97
    assert model.feature_importances_.argmax() in (2, 8)


@pytest.mark.parametrize("leaf", LEAVES, ids=name_of)
def test_the_density_integrates_to_one(leaf):
    model, X, _ = fit(leaf)
    if isinstance(leaf, Poisson):
        total = np.exp(model.predict_log_density(np.repeat(X[:1], 300, axis=0), np.arange(300))).sum()
        assert total == pytest.approx(1.0, abs=1e-6)
        return
    low, middle, high = model.predict_quantiles(X[:1], [1e-7, 0.5, 1 - 1e-7])[0]
    # The cube makes much of the middle, where the density may be steep, and little of the tails.
    grid = np.linspace(-1, 1, 4001)
    y = middle + np.where(grid < 0, middle - low, high - middle) * grid**3
    density = np.exp(model.predict_log_density(np.repeat(X[:1], len(y), axis=0), y))
    assert np.sum((density[1:] + density[:-1]) / 2 * np.diff(y)) == pytest.approx(1.0, abs=2e-5)


@pytest.mark.parametrize("mean", [1e12, 1e14, 1e15])
def test_noise_of_huge_counts_is_not_split(mean: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.poisson(mean, 100).astype(float)
    model = BayesianTreeRegressor(leaf=Poisson(), sampler=SMC.paper(n_particles=100), random_state=0).fit(X, y)
    assert model.posterior_.best_tree().n_leaves == 1
    assert model.log_evidence_ == pytest.approx(-0.5 * 100 * np.log(2 * np.pi * np.e * mean), abs=40)


@pytest.mark.parametrize(
    ("leaf", "scale"),
    [
        *((leaf, scale) for leaf in (Gaussian(), GaussianKnownVariance()) for scale in (1e154, 1e200, 1e300)),
        (Gaussian(noise_sd=1e153), 1e154),
        (Gaussian(noise_sd=1e153), 1e200),
    ],
)
def test_variances_beyond_the_largest_float_are_infinite_and_never_nan(leaf: Gaussian, scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    for y in (np.where(X[:, 0] > 0, scale, -scale), 0.2 * scale * rng.normal(size=100)):
        model = BayesianTreeRegressor(leaf=leaf, sampler=SMALL, random_state=0).fit(X, y)
        parts, (_, sd) = model.predict_variance(X), model.predict(X, return_std=True)
        for part in (*parts, parts.total):
            assert (part >= 0).all()  # false for nan
        assert np.isfinite(sd).all()
        in_range = sd < 1e154
        np.testing.assert_allclose(np.sqrt(parts.total[in_range]), sd[in_range])
        assert np.isinf(parts.total[sd > 1.4e154]).all()
