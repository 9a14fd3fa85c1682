"""The classifier as a scikit-learn estimator, and at the edges of what data can be."""

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from particletree import SMC, BayesianTreeClassifier, Categorical, Exact, TreePrior, TruncatedTreesWarning, _kernel

SMALL = SMC.paper(n_particles=20, n_islands=2)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@parametrize_with_checks(
    [BayesianTreeClassifier(), BayesianTreeClassifier(sampler=SMC.paper(proposal="optimal", n_particles=10))]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def assert_same_posterior(a, b):
    np.testing.assert_array_equal(a.weights, b.weights)
    for name in ("nodes", "roots", "statistics", "row_hashes"):
        assert getattr(a.forest, name).tobytes() == getattr(b.forest, name).tobytes()
    np.testing.assert_array_equal(a.log_evidences, b.log_evidences)


class TestSeeds:
    @pytest.mark.parametrize("n_jobs", [None, 2, -1])
    def test_same_seed_same_bits_for_any_n_jobs(self, iris, n_jobs):
        fits = [BayesianTreeClassifier(n_jobs=n, random_state=3).fit(*iris) for n in (1, n_jobs)]
        assert_same_posterior(fits[0].posterior_, fits[1].posterior_)

    def test_same_bits_in_other_processes(self, iris):
        here = BayesianTreeClassifier(sampler=SMALL, random_state=3).fit(*iris)
        with joblib.parallel_config(backend="loky", n_jobs=2):
            there = BayesianTreeClassifier(sampler=SMALL, random_state=3).fit(*iris)
        assert_same_posterior(here.posterior_, there.posterior_)

    @pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng, np.random.SeedSequence])
    def test_numpys_random_objects(self, iris, make):
        fits = [BayesianTreeClassifier(sampler=SMALL, random_state=make(5)).fit(*iris) for _ in range(2)]
        assert_same_posterior(fits[0].posterior_, fits[1].posterior_)

    def test_a_generator_moves_on(self, iris):
        rng = np.random.default_rng(0)
        fits = [BayesianTreeClassifier(sampler=SMALL, random_state=rng).fit(*iris) for _ in range(2)]
        assert fits[0].log_evidence_ != fits[1].log_evidence_

    def test_none_differs_from_fit_to_fit(self, iris):
        fits = [BayesianTreeClassifier(sampler=SMALL).fit(*iris) for _ in range(2)]
        assert fits[0].log_evidence_ != fits[1].log_evidence_

    @pytest.mark.parametrize(
        ("bad", "error"), [(-1, ValueError), ("seed", TypeError), (1.5, TypeError), (True, TypeError)]
    )
    def test_other_things_are_refused(self, iris, bad, error):
        with pytest.raises(error, match="random_state must"):
            BayesianTreeClassifier(random_state=bad).fit(*iris)


class TestParameters:
    def test_grid_search_through_nested_parameters_of_defaults(self, iris):
        search = GridSearchCV(
            BayesianTreeClassifier(random_state=0),
            {"sampler__n_particles": [5, 20], "prior__alpha": [0.5, 0.95], "leaf__concentration": [1.0]},
            cv=2,
        ).fit(*iris)
        assert search.best_params_["sampler__n_particles"] in (5, 20)
        assert search.best_estimator_.sampler.n_islands is None
        assert search.best_estimator_.sampler_.n_islands == 7
        assert search.best_estimator_.leaf.concentration == 1.0

    def test_setting_a_part_and_its_parameter_together(self):
        model = BayesianTreeClassifier().set_params(sampler=SMC.paper(n_islands=1), sampler__n_particles=7)
        assert (model.sampler.n_islands, model.sampler.n_particles) == (1, 7)
        model.set_params(sampler=None, sampler__n_particles=9)
        assert (model.sampler.n_islands, model.sampler.n_particles) == (None, 9)

    def test_one_setting_of_the_default_sampler_can_be_changed(self, iris):
        model = BayesianTreeClassifier(random_state=0).fit(*iris)
        assert (model.sampler, model.sampler_.n_islands, model.sampler_.proposal) == (None, 7, "lookahead")
        more = BayesianTreeClassifier(sampler=replace(model.sampler_, n_islands=9), random_state=0).fit(*iris)
        assert more.posterior_.n_islands == 9
        np.testing.assert_array_equal(more.posterior_.log_evidences[:7], model.posterior_.log_evidences)
        assert more.sampler_ is not more.sampler

    def test_the_sampler_tells_how_many_candidates_it_had(self, iris):
        X = np.tile(iris[0], 6)
        model = BayesianTreeClassifier(random_state=0).fit(X, iris[1])
        assert model.sampler_.n_candidates == 6
        again = BayesianTreeClassifier(sampler=model.sampler_, random_state=0).fit(X, iris[1])
        np.testing.assert_array_equal(again.posterior_.log_evidences, model.posterior_.log_evidences)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        given = SMC.paper(proposal="optimal")
        model.set_params(sampler=given).fit(X, iris[1])
        assert (model.sampler_, model.sampler_ is given) == (given, False)

    def test_clone_is_deep(self):
        model = BayesianTreeClassifier(prior=TreePrior(0.5, 1.0), sampler=SMC.paper(n_particles=3))
        copy = clone(model).set_params(sampler__n_particles=4)
        assert model.sampler.n_particles == 3
        assert copy.prior == model.prior
        assert copy.prior is not model.prior

    @pytest.mark.parametrize(
        ("part", "value"),
        [("sampler", "smc"), ("prior", 0.95), ("leaf", 5.0), ("sampler", SMC), ("prior", SMC.paper())],
    )
    def test_a_part_of_the_wrong_kind(self, iris, part, value):
        with pytest.raises(TypeError, match=f"{part} must be an object of type .*Write for example {part}="):
            BayesianTreeClassifier(**{part: value}).fit(*iris)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: SMC.paper(n_particles=0), "SMC.n_particles must be at least 1, got 0"),
            (lambda: SMC.paper(n_particles=1.5), "SMC.n_particles must be an integer, got 1.5"),
            (
                lambda: SMC.paper(proposal="best"),
                "SMC.proposal must be one of prior, empirical, optimal, lookahead, got 'best'",
            ),
            (lambda: SMC.paper(ess_threshold=1.1), "SMC.ess_threshold must be a number between 0 and 1, got 1.1"),
            (lambda: SMC.paper().set_params(max_stages=0), "SMC.max_stages must be at least 1"),
            (
                lambda: SMC.paper().set_params(particles=3),
                "SMC has no parameter 'particles'; its parameters are ess_threshold",
            ),
            (
                lambda: TreePrior(alpha=1.0),
                'TreePrior.alpha must be a number strictly between 0 and 1, or "auto", got 1.0',
            ),
            (lambda: TreePrior(beta=float("inf")), "TreePrior.beta must be a number of at least 0, and finite"),
            (
                lambda: TreePrior(alpha="high"),
                "TreePrior.alpha must be a number strictly between 0 and 1, or \"auto\", got 'high'",
            ),
            (
                lambda: Categorical(float("nan")),
                'Categorical.concentration must be a number between 1e-100 and 1e8, or "auto", got nan',
            ),
        ],
    )
    def test_wrong_values_are_named(self, make, message):
        with pytest.raises((ValueError, TypeError), match=message):
            make()

    def test_repr_shows_what_was_set(self):
        assert "n_particles=7" in repr(BayesianTreeClassifier(sampler=SMC.paper(n_particles=7)))


class TestFitAndPredict:
    @pytest.mark.parametrize(
        "labels",
        [
            np.array(["setosa", "versicolor", "virginica"]),
            np.array(["a", "b", "c"], dtype=object),
            np.array([-1, 0, 7]),
            np.array([0.0, 1.0, 2.0]),
            np.array([2, 4, 6], dtype=np.uint8),
        ],
    )
    def test_labels_of_any_type(self, iris, labels):
        X, y = iris
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, labels[y])
        assert model.classes_.dtype == labels.dtype
        assert set(model.predict(X)) <= set(labels)
        assert model.score(X, labels[y]) > 0.9

    def test_boolean_labels(self, iris):
        X, y = iris
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, y == 1)
        assert model.classes_.tolist() == [False, True]

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_data_frames_keep_their_names(self, iris, frame):
        X, y = iris
        names = ["sepal length", "sepal width", "petal length", "petal width"]
        table = frame(dict(zip(names, X.T, strict=True)))
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(table, y)
        assert model.feature_names_in_.tolist() == names
        assert "petal" in str(model.posterior_.best_tree())
        array_model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(table), array_model.predict_proba(X))

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64])
    def test_dtypes_give_the_same_answer(self, iris, dtype):
        X = (10 * iris[0]).astype(dtype)
        a = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, iris[1])
        b = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(np.asfortranarray(X.astype(float)), iris[1])
        np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X.astype(float)))

    def test_probabilities_are_the_weighted_mean_of_the_trees(self, iris):
        X, y = iris
        model = BayesianTreeClassifier(leaf=Categorical(5.0), sampler=SMALL, random_state=0).fit(X, y)
        expected = np.zeros((len(X), 3))
        for weight, tree in zip(model.posterior_.weights, model.posterior_.trees, strict=True):
            counts = tree.node_statistics[tree.apply(X)]
            expected += weight * (counts + 5 / 3) / (counts.sum(axis=1, keepdims=True) + 5)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)

    def test_weights_count_like_repeated_rows(self, iris):
        X, y = iris
        weights = np.arange(len(y)) % 4
        weighted = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, y, sample_weight=weights)
        repeated = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(
            np.repeat(X, weights, 0), np.repeat(y, weights)
        )
        assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-10)
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)

    def test_a_row_of_weight_0_is_ignored_with_its_label(self):
        X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 2])
        ignored = BayesianTreeClassifier(sampler=Exact()).fit(X, y, sample_weight=[1, 1, 1, 0])
        absent = BayesianTreeClassifier(sampler=Exact()).fit(X[:3], y[:3])
        assert ignored.log_evidence_ == absent.log_evidence_
        assert ignored.classes_.tolist() == [0, 1]

    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_small_weights_leave_the_prior_and_large_ones_the_data(self, iris, proposal):
        X, y = iris
        sampler = SMC.paper(n_particles=20, n_islands=2, proposal=proposal)
        light, heavy = (BayesianTreeClassifier(sampler=sampler, random_state=0) for _ in range(2))
        with pytest.warns(UserWarning, match="count as 0.00015 rows"):
            light.fit(X, y, sample_weight=np.full(len(y), 1e-6))
        heavy.fit(X, y, sample_weight=np.full(len(y), 10.0))
        np.testing.assert_allclose(light.predict_proba(X), 1 / 3, atol=1e-4)
        assert heavy.predict_proba(X).max(axis=1).mean() > 0.9

    def test_intervals_hold_the_mean_and_widen_with_the_level(self, iris):
        X, y = iris
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, y)
        narrow, wide = (model.predict_interval(X[::10], level) for level in (0.5, 0.95))
        assert narrow.shape == (15, 3, 2)
        assert (wide[..., 0] <= narrow[..., 0]).all()
        assert (wide[..., 1] >= narrow[..., 1]).all()
        mean = model.predict_proba(X[::10])
        assert ((wide[..., 0] < mean) & (mean < wide[..., 1])).all()

    def test_importances_find_the_features_that_matter(self):
        X, y = make_blobs(300, n_features=2, centers=3, random_state=0)
        X = np.column_stack([np.random.default_rng(0).normal(size=(300, 3)), X])
        importances = BayesianTreeClassifier(random_state=0).fit(X, y).feature_importances_
        assert importances.sum() == pytest.approx(1.0)
        assert importances[3:].sum() > 0.9

    def test_exact_sampler(self):
        X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 1, 1])
        exact = BayesianTreeClassifier(sampler=Exact(), random_state=0).fit(X, y)
        smc = BayesianTreeClassifier(sampler=SMC.paper(n_particles=20_000, n_islands=1), random_state=0).fit(X, y)
        assert exact.log_evidence_ == pytest.approx(smc.log_evidence_, abs=0.05)
        assert exact.log_evidence_se_ == 0.0
        np.testing.assert_allclose(exact.predict_proba(X), smc.predict_proba(X), atol=0.02)
        np.testing.assert_allclose(exact.predict_interval(X), smc.predict_interval(X), atol=0.02)

    def test_in_a_pipeline_and_cross_validated(self):
        X, y = load_breast_cancer(return_X_y=True)
        model = make_pipeline(StandardScaler(), BayesianTreeClassifier(random_state=0))
        assert cross_val_score(model, X, y, cv=3).mean() > 0.9

    def test_pickled_model_predicts_the_same(self, iris):
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(*iris)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(model.predict_proba(iris[0]), copy.predict_proba(iris[0]))

    def test_unfitted(self, iris):
        model = BayesianTreeClassifier()
        for ask in (model.predict, model.predict_proba, model.predict_interval):
            with pytest.raises(NotFittedError, match="not fitted"):
                ask(iris[0])
        assert not hasattr(model, "feature_importances_")

    def test_too_few_stages_warn_and_give_smaller_trees(self, iris):
        with pytest.warns(TruncatedTreesWarning, match="2 of 2 islands reached max_stages=2.*Raise max_stages"):
            model = BayesianTreeClassifier(sampler=SMC.paper(n_islands=2, max_stages=2), random_state=0).fit(*iris)
        assert model.posterior_.n_leaves.max() <= 3
        assert np.isfinite(model.posterior_.log_priors).all()

    def test_evidence_weighting_follows_the_evidence(self, iris):
        model = BayesianTreeClassifier(
            sampler=SMC.paper(n_particles=10, island_weighting="evidence"), random_state=0
        ).fit(*iris)
        posterior = model.posterior_
        expected = np.exp(posterior.log_evidences - posterior.log_evidences.max())
        np.testing.assert_allclose(posterior.island_shares, expected / expected.sum())


class TestEdges:
    def fit(self, X, y, **settings):
        return BayesianTreeClassifier(random_state=0, **settings).fit(X, y)

    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    @pytest.mark.parametrize("expansion", ["node", "layer"])
    def test_one_row(self, proposal, expansion):
        model = self.fit([[1.0, 2.0]], ["only"], sampler=SMC.paper(proposal=proposal, expansion=expansion))
        assert model.predict([[9.0, 9.0]]).tolist() == ["only"]
        assert model.posterior_.n_leaves.tolist() == [1]
        assert model.log_evidence_ == pytest.approx(0.0, abs=1e-12)

    def test_one_column(self, iris):
        assert self.fit(iris[0][:, 2:3], iris[1]).score(iris[0][:, 2:3], iris[1]) > 0.9

    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_identical_rows_leave_one_leaf(self, proposal):
        model = self.fit(
            np.ones((10, 3)), [0] * 7 + [1] * 3, leaf=Categorical(5.0), sampler=SMC.paper(proposal=proposal)
        )
        assert model.posterior_.n_leaves.tolist() == [1]
        np.testing.assert_allclose(model.predict_proba([[1, 1, 1]]), [[9.5 / 15, 5.5 / 15]])
        assert (model.feature_importances_ == 0).all()

    def test_identical_labels_are_certain(self):
        X = np.random.default_rng(0).normal(size=(50, 2))
        model = self.fit(X, np.full(50, "yes"))
        np.testing.assert_allclose(model.predict_proba(X), 1.0)
        np.testing.assert_allclose(model.predict_interval(X[:3]), 1.0)

    def test_300_classes(self):
        rng = np.random.default_rng(0)
        y = np.arange(3000) % 300
        X = y[:, None] + rng.uniform(0, 0.5, size=(3000, 4))
        with pytest.warns(UserWarning, match="300 classes in 3000 rows.*use BayesianTreeRegressor"):
            model = self.fit(X, y, sampler=SMC.paper(n_particles=20, n_islands=2, proposal="optimal"))
        assert model.predict_proba(X[:5]).shape == (5, 300)
        assert model.score(X, y) > 0.8

    def test_2000_columns(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 2000))
        y = X[:, 1234] > 0.2
        model = self.fit(X, y, sampler=SMC.paper(n_particles=10, n_islands=2, proposal="optimal"))
        assert model.score(X, y) > 0.95
        assert model.feature_importances_.argmax() == 1234

    def test_more_distinct_values_than_16_bits_hold(self):
        X = np.random.default_rng(0).permutation(70_000).astype(float)[:, None]
        y = X[:, 0] > 30_000
        assert self.fit(X, y, sampler=SMC.paper(n_particles=20, n_islands=1)).score(X, y) > 0.99

    @pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_extreme_scales(self, iris, scale, proposal):
        X, y = iris
        sampler = SMC.paper(n_particles=20, n_islands=2, proposal=proposal)
        assert self.fit(X * scale, y, sampler=sampler).score(X * scale, y) > 0.9

    @pytest.mark.parametrize("proposal", _kernel.PROPOSALS)
    def test_the_widest_range_there_is(self, proposal):
        big = np.finfo(float).max
        X = np.array([[-big], [-1.0], [1.0], [big]])
        model = self.fit(X, [0, 0, 1, 1], sampler=SMC.paper(proposal=proposal))
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.log_evidence_)
        assert np.isfinite(model.posterior_.log_priors).all()

    def test_neighbouring_doubles_can_be_told_apart(self):
        X = np.array([[1.0], [np.nextafter(1.0, 2.0)]] * 20)
        model = self.fit(X, [0, 1] * 20)
        assert model.score(X, [0, 1] * 20) == 1.0

    @pytest.mark.slow
    def test_a_million_rows(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1_000_000, 5))
        y = (X[:, 0] > 0.3) ^ (X[:, 1] > 0)
        model = self.fit(X, y, sampler=SMC.paper(n_particles=100, n_islands=1))
        assert model.score(X[:50_000], y[:50_000]) > 0.97


class TestRefit:
    def test_a_refused_refit_leaves_the_earlier_fit_as_it_was(self, iris):
        X, y = iris
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(X, np.array(["a", "b", "c"])[y])
        expected = model.predict_proba(X)
        model.set_params(sampler=Exact())
        with pytest.raises(ValueError, match="Exact inference on 150 rows"):
            model.fit(X[:, :3], y)
        assert model.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(model.predict_proba(X), expected)

    def test_set_params_with_a_wrong_value_changes_nothing(self):
        model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=7))
        with pytest.raises(ValueError, match="at least 1"):
            model.set_params(sampler__n_particles=-1)
        assert model.sampler.n_particles == 7

    def test_log_probabilities(self, iris):
        model = BayesianTreeClassifier(sampler=SMALL, random_state=0).fit(*iris)
        np.testing.assert_array_equal(model.predict_log_proba(iris[0]), np.log(model.predict_proba(iris[0])))

    def test_weights_beyond_what_can_be_computed(self, iris):
        with pytest.raises(ValueError, match=r"sum of sample_weight is 1.5e\+20.*Divide the weights"):
            BayesianTreeClassifier().fit(*iris, sample_weight=np.full(150, 1e18))
