"""Setting one parameter of a part that is None changes that parameter and nothing else, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV

from particletree import BARTClassifier, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor

IRIS = load_iris(return_X_y=True)
DIABETES = tuple(part[:120] for part in load_diabetes(return_X_y=True))
SHORT = {"n_trees": 5, "n_iterations": 20, "n_chains": 2}
PARTS = {"prior": "prior_", "leaf": "leaf_", "sampler": "sampler_"}


def assert_same_fit(one, other, X):
    assert one.prior_ == other.prior_
    np.testing.assert_array_equal(one.predict_interval(X), other.predict_interval(X))
    assert (one.posterior_.prior, one.posterior_.n_features) == (other.posterior_.prior, other.posterior_.n_features)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (BayesianTreeClassifier(random_state=0), "sampler__n_islands", 3),
        (BayesianTreeClassifier(random_state=0), "prior__max_depth", 2),
        (BayesianTreeClassifier(random_state=0), "leaf__concentration", 2.0),
        (BayesianTreeRegressor(random_state=0), "sampler__n_islands", 3),
        (BayesianTreeRegressor(random_state=0), "prior__max_depth", 2),
        (BayesianTreeRegressor(random_state=0), "leaf__mean_strength", 2.0),
    ],
)
def test_trees(model, name, value):
    X, y = IRIS if isinstance(model, BayesianTreeClassifier) else DIABETES
    usual = clone(model).fit(X, y)
    part, parameter = name.split("__")
    completed = {each: getattr(usual, fitted) for each, fitted in PARTS.items()}
    completed[part] = replace(completed[part], **{parameter: value})
    explicit = clone(model).set_params(**completed).fit(X, y)
    nested = clone(model).set_params(**{name: value}).fit(X, y)
    searched = GridSearchCV(clone(model), {name: [value]}, cv=2).fit(X, y).best_estimator_
    for one in (nested, searched):
        assert (
            (one.sampler_, one.leaf_)
            == (explicit.sampler_, explicit.leaf_)
            == (completed["sampler"], completed["leaf"])
        )
        assert one.prior_ == completed["prior"]
        assert_same_fit(one, explicit, X)
        np.testing.assert_array_equal(one.posterior_.log_evidences, explicit.posterior_.log_evidences)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [BARTClassifier(**SHORT, random_state=0), BARTRegressor(**SHORT, random_state=0)])
@pytest.mark.parametrize(("name", "value"), [("prior__max_depth", 1), ("prior__beta", 1.0)])
def test_sums(model, name, value):
    X, y = IRIS if isinstance(model, BARTClassifier) else DIABETES
    usual = clone(model).fit(X, y)
    prior = replace(usual.prior_, **{name.removeprefix("prior__"): value})
    explicit = clone(model).set_params(prior=prior).fit(X, y)
    nested = clone(model).set_params(**{name: value}).fit(X, y)
    searched = GridSearchCV(clone(model), {name: [value]}, cv=2).fit(X, y).best_estimator_
    for one in (nested, searched):
        assert one.prior_ == prior
        assert_same_fit(one, explicit, X)


def test_what_is_used_is_that_of_the_posterior():
    model = BayesianTreeRegressor(random_state=0).fit(*DIABETES)
    assert (model.prior, model.leaf, model.prior_.alpha) == (None, None, 0.95)
    assert model.leaf_.noise_sd is not None
    again = BayesianTreeRegressor.from_posterior(model.posterior_)
    assert (again.prior_, again.leaf_) == (model.prior_, model.leaf_)
    assert not any(hasattr(BayesianTreeRegressor(), name) for name in ("prior_", "leaf_", "sampler_"))
    with pytest.raises(AttributeError, match="BARTRegressor has no leaf_"):
        BARTRegressor().leaf_  # noqa: B018
