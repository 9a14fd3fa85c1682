"""Parameters that other trees have: the error names what takes their place."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from particletree import SMC, BARTClassifier, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor, TreePrior
from particletree._data import make_training_data
from particletree._estimators.unknown_parameters import INSTEAD, INSTEAD_IN_SUMS
from particletree._inference.defaults import default_prior

ESTIMATORS: list[type[Any]] = [BayesianTreeClassifier, BayesianTreeRegressor]
PLACES = {
    "max_depth": "write prior=TreePrior(max_depth=...).",
    "min_samples_split": "write prior=TreePrior(min_samples_split=...).",
    "min_samples_leaf": "the prior density of a rule would then depend on how many rows lie on both of its sides. A "
    "limit of the rows that a node needs to split is part of the prior: write prior=TreePrior("
    "min_samples_split=...).",
    "max_leaf_nodes": "write prior=TreePrior.expecting(n_leaves=...).",
    "ccp_alpha": "write prior=TreePrior(beta=...), or beta='auto'",
    "criterion": "judged by the marginal likelihood of the leaf model: write leaf=...",
    "max_features": "write sampler=SMC(proposal='lookahead', n_candidates=...).",
    "n_estimators": "write sampler=SMC(n_particles=..., n_islands=...).",
    "n_trees": "sampler=SMC(n_particles=..., n_islands=...); BARTRegressor and BARTClassifier have n_trees.",
    "class_weight": "pass sample_weight to fit, for example sklearn.utils.class_weight.compute_sample_weight(",
}


def test_each_has_its_place() -> None:
    assert set(PLACES) == set(INSTEAD)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("name", "place"), PLACES.items())
def test_the_error_names_what_takes_its_place(estimator: type[Any], name: str, place: str) -> None:
    with pytest.raises(TypeError) as caught:
        estimator(**{name: 3}, random_state=0)
    assert str(caught.value).startswith(f"{estimator.__name__} has no parameter {name}. ")
    assert place in str(caught.value)
    with pytest.raises(ValueError, match=f"{estimator.__name__} has no parameter {name}"):
        estimator().set_params(**{name: 3})


def test_the_prior_that_is_named_is_the_default() -> None:
    data = make_training_data([[0.0], [1.0]], [0, 1], n_classes=2)
    assert default_prior(data) == TreePrior(alpha=0.95, beta=0.2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_is_unknown_everywhere_is_pythons_error(estimator: type[Any]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_tress'"):
        estimator(n_tress=3)
    with pytest.raises(ValueError, match="Invalid parameter 'n_tress'"):
        estimator().set_params(n_tress=3)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_signature_is_that_of_the_parameters(estimator: type[Any]) -> None:
    signature = inspect.signature(estimator)
    assert list(signature.parameters) == [
        "prior",
        "leaf",
        "sampler",
        "categorical_features",
        "n_jobs",
        "random_state",
        "verbose",
        "warm_start",
    ]
    assert sorted(signature.parameters) == sorted(estimator().get_params(deep=False))
    model = clone(estimator(TreePrior.paper(max_depth=2), None, SMC.paper(n_particles=3)))
    assert (model.prior.max_depth, model.sampler.n_particles) == (2, 3)


TABLE = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
NUMBERS = np.array([0.0, 1.0, 2.0, 3.5])
SHORT = {"n_trees": 2, "n_iterations": 4, "n_chains": 1, "random_state": 0}


def list_labels():
    labels = np.empty(4, dtype=object)
    labels[:] = [(1,), (2,), (1,), (2,)]
    return labels


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: BARTRegressor(**SHORT | {"k": 0}).fit(TABLE, NUMBERS), ValueError, r"BARTRegressor\.k must"),
        (
            lambda: BARTClassifier(**SHORT | {"n_iterations": 0}).fit(TABLE, [0, 1, 0, 1]),
            ValueError,
            r"BARTClassifier\.n_iterations must be at least 1",
        ),
        (
            lambda: BARTRegressor(**SHORT, prior=TreePrior("auto", "auto")).fit(TABLE, NUMBERS),
            ValueError,
            'alpha and beta of the prior cannot be "auto"',
        ),
        (
            lambda: BayesianTreeRegressor(warm_start=True).fit(TABLE, NUMBERS).fit(TABLE, 2 * NUMBERS),
            ValueError,
            "warm_start=True adds to the previous fit",
        ),
        (
            lambda: BayesianTreeRegressor().fit(TABLE, NUMBERS).predict(TABLE.iloc[0]),
            ValueError,
            r"got a series of shape \(2,\)\. Pass a DataFrame: of one row X\.iloc\[\[0\]\]",
        ),
        (
            lambda: BayesianTreeRegressor().fit(TABLE, NUMBERS).predict(TABLE.to_dict("records")),
            TypeError,
            "X is a list of dicts. Pass a data frame",
        ),
        (lambda: BayesianTreeRegressor().fit(TABLE.to_dict("list"), NUMBERS), TypeError, "X is a dict. Pass a data"),
        (lambda: BayesianTreeClassifier().fit(TABLE, list_labels()), ValueError, "got several values in row 0"),
        (lambda: BayesianTreeClassifier().fit(TABLE, [[0], [1, 2], [0], [1]]), ValueError, "of different lengths"),
        (lambda: TreePrior.expecting("a"), TypeError, r"n_leaves must be a number above 1 \+ alpha = 1\.95, got 'a'"),
        (lambda: TreePrior.expecting(8, alpha="a"), TypeError, r"TreePrior\.alpha must be a number"),
        (lambda: BayesianTreeRegressor(verbose="a").fit(TABLE, NUMBERS), TypeError, "verbose must be an integer"),
        (lambda: BARTRegressor(**SHORT, verbose="a").fit(TABLE, NUMBERS), TypeError, "verbose must be an integer"),
        (
            lambda: BayesianTreeRegressor().fit(TABLE, NUMBERS).predict_quantiles(TABLE, q="a"),
            TypeError,
            "q must be a number or a list of numbers",
        ),
    ],
)
def test_errors_say_what_was_wrong_in_the_users_words(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.filterwarnings("ignore:The chains :sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (BayesianTreeRegressor(random_state=0, warm_start=True), NUMBERS),
        (BayesianTreeClassifier(random_state=0, warm_start=True), np.array([0, 1, 0, 1])),
        (BARTRegressor(**SHORT, warm_start=True), NUMBERS),
        (BARTClassifier(**SHORT, warm_start=True), np.array([0, 1, 0, 1])),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda X, y: (X, np.append(y[1:], y[-1]), None), "the target"),
        (lambda X, y: (X.iloc[:-1], y[:-1], None), r"the number of rows \(4 and 3\)"),
        (lambda X, y: (X.assign(b=X["b"] + 1), y, None), "the values of the feature 'b'"),
        (lambda X, y: (X, y, [1, 1, 1, 2]), "the weights of the rows"),
        (lambda X, y: (X.assign(c=1.0), y, None), r"the number of features \(2 and 3\)"),
    ],
)
def test_a_warm_start_with_other_rows_names_the_rows(estimator, y, change, difference):
    model = clone(estimator).fit(TABLE, y)
    before = model.posterior_
    message = f"but the rows are not those of that fit: they differ in .*{difference}.*set warm_start=False to start"
    with pytest.raises(ValueError, match=message):
        model.fit(*change(TABLE, y))
    assert model.posterior_ is before


SUMS: list[type[Any]] = [BARTRegressor, BARTClassifier]
PLACES_IN_SUMS = {
    "n_estimators": "write n_trees=...",
    "leaf": "Only single trees have leaf models.",
    "sampler": "Only single trees have several samplers.",
    "alpha": "write prior=TreePrior(alpha=...).",
    "max_depth": "write prior=TreePrior(max_depth=...).",
    "min_samples_split": "write prior=TreePrior(min_samples_split=...).",
    "min_samples_leaf": "write prior=TreePrior(min_samples_split=...).",
    "class_weight": "pass sample_weight, whole numbers, to fit, for example sklearn.utils",
    "learning_rate": "write k=...",
    "ndpost": "write n_iterations=..., burn_in=...",
}


@pytest.mark.parametrize("estimator", SUMS)
@pytest.mark.parametrize(("name", "place"), PLACES_IN_SUMS.items())
def test_sums_name_what_takes_the_place_of_a_parameter(estimator: type[Any], name: str, place: str) -> None:
    with pytest.raises(TypeError) as caught:
        estimator(**{name: 3}, random_state=0)
    assert str(caught.value).startswith(f"{estimator.__name__} has no parameter {name}. ")
    assert place in str(caught.value)
    with pytest.raises(ValueError, match=f"{estimator.__name__} has no parameter {name}"):
        estimator().set_params(**{name: 3})


def test_what_trees_have_no_parameter_for_sums_have_an_answer_to() -> None:
    assert set(INSTEAD) - {"n_trees"} < set(INSTEAD_IN_SUMS)
    assert not set(INSTEAD_IN_SUMS) & {*BARTRegressor().get_params(), *BARTClassifier().get_params()}


@pytest.mark.parametrize("estimator", SUMS)
def test_sums_keep_their_signature(estimator: type[Any]) -> None:
    assert list(inspect.signature(estimator).parameters)[:3] == ["n_trees", "prior", "k"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_tress'"):
        estimator(n_tress=3)
    assert clone(estimator(n_trees=3)).n_trees == 3


@pytest.fixture(scope="module")
def sums() -> BARTRegressor:
    return BARTRegressor(**SHORT | {"n_iterations": 40}).fit(TABLE, NUMBERS)


@pytest.mark.filterwarnings("ignore:The chains :sklearn.exceptions.ConvergenceWarning")
class TestWhatOnlySingleTreesHave:
    @pytest.mark.parametrize(
        ("name", "advice"),
        [
            ("predict_variance", "predict(X, return_std=True)"),
            ("to_sklearn", "A sum has no single tree to export"),
            ("explain", "plot_dependence"),
            ("log_evidence_", "cross-validation"),
        ],
    )
    def test_estimators(self, sums: BARTRegressor, name: str, advice: str) -> None:
        with pytest.raises(AttributeError) as caught:
            getattr(sums, name)
        assert f"BARTRegressor has no {name}, which only BayesianTreeRegressor has. " in str(caught.value)
        assert advice in str(caught.value)
        assert not hasattr(sums, name)

    def test_of_the_same_kind(self) -> None:
        with pytest.raises(AttributeError, match="'BARTClassifier' object has no attribute 'predict_variance'"):
            _ = BARTClassifier().predict_variance
        with pytest.raises(AttributeError, match="'BARTClassifier' object has no attribute 'posterior_'"):
            _ = BARTClassifier().posterior_

    @pytest.mark.parametrize(
        ("name", "advice"),
        [
            ("findings", "summary() says whether the chains agree"),
            ("best_tree", "A sum has no single tree to show"),
            ("forest", "A sum has no single tree to show"),
            ("inclusion_probabilities", "variable_use() has the shares"),
            ("merge", "set warm_start=True and fit again"),
            ("depths", "which only a Posterior of single trees has."),
        ],
    )
    def test_posteriors(self, sums: BARTRegressor, name: str, advice: str) -> None:
        with pytest.raises(AttributeError) as caught:
            getattr(sums.posterior_, name)
        assert f"BARTPosterior has no {name}, which only a Posterior of single trees has." in str(caught.value)
        assert advice in str(caught.value)

    def test_errors_of_properties_stay(self, sums: BARTRegressor) -> None:
        classes = BARTClassifier(**SHORT | {"n_iterations": 40}).fit(TABLE, [0, 1, 0, 1])
        with pytest.raises(AttributeError, match="Class labels have no noise of their own"):
            _ = classes.posterior_.noise_sd
        with pytest.raises(NotFittedError):
            _ = BARTRegressor().feature_importances_
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = sums.posterior_.nonsense
