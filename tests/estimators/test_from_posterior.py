"""Estimators made from a posterior: they predict as the ones that were fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from particletree import SMC, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor, Poisson, Posterior


def frame_of(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n_rows), "colour": rng.choice(["red", "blue", "green"], size=n_rows)})
    frame.loc[rng.random(n_rows) < 0.2, "size"] = np.nan
    frame["colour"] = frame["colour"].astype("category")
    return frame


def saved(model, tmp_path):
    model.posterior_.save(tmp_path / "trees.npz")
    return Posterior.load(tmp_path / "trees.npz")


def test_classifier(tmp_path):
    frame = frame_of()
    y = np.where((frame["colour"] == "red") | (frame["size"] > 0.5), "yes", "no")
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=20), random_state=0).fit(frame, y)
    again = BayesianTreeClassifier.from_posterior(saved(model, tmp_path))
    new = frame_of(40, seed=1)
    assert (again.predict_proba(new) == model.predict_proba(new)).all()
    assert (again.predict(new) == model.predict(new)).all()
    assert (again.predict_interval(new) == model.predict_interval(new)).all()
    assert again.classes_.tolist() == ["no", "yes"]
    assert again.n_features_in_ == 2
    assert again.feature_names_in_.tolist() == ["size", "colour"]
    assert np.allclose(again.feature_importances_, model.feature_importances_)
    assert again.log_evidence_ == model.log_evidence_
    with pytest.raises(ValueError, match="feature names"):
        again.predict(new.rename(columns={"size": "length"}))
    assert clone(again).fit(frame, y).posterior_.leaf == model.posterior_.leaf


@pytest.mark.parametrize("n_targets", [1, 2])
def test_regressor(tmp_path, n_targets):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.normal(size=(90, n_targets))
    model = BayesianTreeRegressor(random_state=0).fit(X, y if n_targets > 1 else y[:, 0])
    again = BayesianTreeRegressor.from_posterior(saved(model, tmp_path))
    for mine, its in zip(again.predict(X, return_std=True), model.predict(X, return_std=True), strict=True):
        assert (mine == its).all()
    assert not hasattr(again, "feature_names_in_")
    with pytest.raises(ValueError, match="2 features"):
        again.predict(X[:, :2])


def test_counts_keep_their_exposure(tmp_path):
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(90, 2)), rng.uniform(1, 3, size=90)
    model = BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(X, rng.poisson(exposure), exposure=exposure)
    again = BayesianTreeRegressor.from_posterior(saved(model, tmp_path))
    mine, its = (m.predict_quantiles(X, 0.9, exposure=exposure) for m in (again, model))
    assert (mine == its).all()


def test_the_other_kind_of_target_is_refused():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    labels, numbers = (kind(random_state=0).fit(X, y) for kind in (BayesianTreeClassifier, BayesianTreeRegressor))
    with pytest.raises(TypeError, match="needs a posterior of ClassLabels, got one of Numbers"):
        BayesianTreeClassifier.from_posterior(numbers.posterior_)
    with pytest.raises(TypeError, match="needs a posterior of Numbers, got one of ClassLabels"):
        BayesianTreeRegressor.from_posterior(labels.posterior_)


@pytest.mark.parametrize("given", ["c.npz", None, "the other kind"])
def test_anything_but_the_right_posterior_is_refused(given):
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 1.5]
    single = BayesianTreeRegressor(random_state=0).fit(X, y).posterior_
    sums = BARTRegressor(n_trees=2, n_iterations=4, n_chains=1, random_state=0).fit(X, y).posterior_
    with pytest.raises(TypeError, match="BayesianTreeRegressor needs a Posterior, of single trees, got"):
        BayesianTreeRegressor.from_posterior(sums if given == "the other kind" else given)
    with pytest.raises(TypeError, match="BARTRegressor needs a BARTPosterior, of sums of trees, got"):
        BARTRegressor.from_posterior(single if given == "the other kind" else given)
