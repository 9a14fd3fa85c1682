"""One tree as a fitted tree of scikit-learn: it predicts the same, and what others make of such trees works on it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    export_graphviz,
    export_text,
    plot_tree,
)

from particletree import SMC, BayesianTreeClassifier, BayesianTreeRegressor, Poisson, Posterior, TreePrior
from particletree._estimators.decision_tree import float32_thresholds
from particletree._model import rule

FEW = SMC.paper(n_particles=10, n_islands=2)


def with_holes(X, share=0.2, seed=0):
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X)


def fitted_iris(holes=0.0, seed=0, **settings):
    X, y = load_iris(return_X_y=True)
    X = with_holes(X, holes)
    return BayesianTreeClassifier(sampler=FEW, random_state=seed).fit(X, y, **settings), X


def fitted_diabetes(n_targets=1):
    X, y = load_diabetes(return_X_y=True)
    Y = y if n_targets == 1 else np.column_stack([y, np.sqrt(y)])
    return BayesianTreeRegressor(sampler=FEW, random_state=0).fit(X, Y), X


def fresh_rows(X, n_rows=500, seed=1):
    """Rows with values from all of the features' ranges and beyond, in float32, some of them missing."""
    rng = np.random.default_rng(seed)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    rows = rng.uniform(low - 1, high + 1, size=(n_rows, X.shape[1])).astype(np.float32)
    return with_holes(rows.astype(np.float64), 0.1, seed)


def assert_same_labels(tree, made, rows):
    assert (made.apply(rows) == tree.apply(rows)).all()
    assert (made.predict_proba(rows) == tree.predict_proba(rows)).all()
    assert (made.predict(rows) == tree.predict(rows)).all()


# Predictions


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_every_tree_of_a_posterior_predicts_the_same(holes, seed):
    model, X = fitted_iris(holes, seed)
    for tree in [*model.posterior_.trees, model.posterior_.best_tree().rounded()]:
        made = model.to_sklearn(tree)
        assert_same_labels(tree, made, X)
        assert_same_labels(tree, made, fresh_rows(X))


def test_trees_that_ask_whether_a_value_is_there_are_among_them():
    model, _ = fitted_iris(0.3)
    nodes = model.posterior_.forest.nodes
    assert rule.is_presence(nodes).any()
    assert (nodes["kind"] == rule.CUT_MISSING_LEFT).any()
    assert ((nodes["kind"] == rule.CUT_MISSING_RIGHT) & rule.has_gap(nodes)).any()


def test_the_consensus_tree_is_the_default():
    model, X = fitted_iris()
    assert_same_labels(model.posterior_.consensus_tree(), model.to_sklearn(), X)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_numbers(n_targets):
    model, X = fitted_diabetes(n_targets)
    for tree in model.posterior_.trees[:10]:
        made = model.to_sklearn(tree)
        assert isinstance(made, DecisionTreeRegressor)
        assert (made.predict(X) == tree.predict(X)).all()
        assert (made.predict(fresh_rows(X)) == tree.predict(fresh_rows(X))).all()
        assert made.n_outputs_ == n_targets
        assert (made.tree_.impurity > 0).all()


def test_rates_of_counts():
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(100, 2)), rng.uniform(1, 3, size=100)
    y = rng.poisson(exposure * np.where(X[:, 0] > 0, 5, 1))
    model = BayesianTreeRegressor(leaf=Poisson(), sampler=FEW, random_state=0).fit(X, y, exposure=exposure)
    tree = model.posterior_.consensus_tree()
    assert (model.to_sklearn(tree).predict(X) == tree.predict(X)).all()


@pytest.mark.parametrize("labels", [["a", "b", "c"], [2.0, 5.0, 9.0], [-1, 0, 7]])
def test_labels_keep_their_type(labels):
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, np.array(labels)[y])
    made = model.to_sklearn()
    assert isinstance(made, DecisionTreeClassifier)
    assert made.classes_.tolist() == labels
    assert made.predict(X).tolist() == model.posterior_.consensus_tree().predict(X).tolist()


def test_two_labels_that_are_booleans():
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y == 1)
    assert model.to_sklearn().predict(X[::60]).tolist() == [False, True, False]


def test_a_tree_that_is_only_a_root():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    model = BayesianTreeClassifier(TreePrior.paper(max_depth=0), random_state=0).fit(X, y)
    made = model.to_sklearn()
    assert made.tree_.node_count == 1
    assert (made.predict_proba(X) == 0.5).all()


# What scikit-learn knows of a fitted tree


def test_counts_of_rows_are_weighted():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 3, size=y.size)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y, sample_weight=weights)
    tree = model.posterior_.consensus_tree()
    made = model.to_sklearn(tree).tree_
    on_way = tree.decision_path(X).toarray().astype(bool)
    assert np.allclose(made.weighted_n_node_samples, weights @ on_way)
    assert np.abs(made.n_node_samples - weights @ on_way).max() <= 1
    assert np.allclose(made.impurity, 1 - (tree.means**2).sum(axis=1))


def test_names_and_shape():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = (model := BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y)).posterior_.best_tree()
    made = model.to_sklearn(tree)
    assert made.feature_names_in_.tolist() == list(X.columns)
    assert made.n_features_in_ == 4
    assert (made.get_depth(), made.get_n_leaves()) == (tree.depth, tree.n_leaves)
    assert (made.decision_path(X).toarray() == tree.decision_path(X).toarray()).all()
    assert made.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="feature names"):
        made.predict(X.rename(columns={"petal width (cm)": "width"}))


def test_it_can_be_pickled_and_cloned():
    model, X = fitted_iris(0.2)
    made = model.to_sklearn()
    again = pickle.loads(pickle.dumps(made))
    assert (again.predict_proba(X) == made.predict_proba(X)).all()
    assert clone(made).fit(X, made.predict(X)).score(X, made.predict(X)) > 0.9


def test_a_posterior_without_rows_needs_a_tree(tmp_path):
    model, X = fitted_iris()
    model.posterior_.save(tmp_path / "trees.npz", keep_rows=False)
    again = BayesianTreeClassifier.from_posterior(Posterior.load(tmp_path / "trees.npz"))
    with pytest.raises(ValueError, match=r"pass X, the rows .* posterior\.consensus_tree\(X\)"):
        again.to_sklearn()
    tree = again.posterior_.consensus_tree(X)
    assert_same_labels(tree, again.to_sklearn(tree), X)


def test_a_tree_of_another_target_is_refused():
    (labels, _), (numbers, _) = fitted_iris(), fitted_diabetes()
    with pytest.raises(ValueError, match=r"tree predicts Numbers\(.*\), but this model ClassLabels"):
        labels.to_sklearn(numbers.posterior_.best_tree())


# What scikit-learn's trees cannot say


def test_levels_are_refused():
    X = pd.DataFrame({"colour": pd.Categorical(["red", "blue", "green", "blue"] * 10)})
    y = (X["colour"] == "blue").to_numpy()
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"divides the levels of 'colour' \(colour .*OneHotEncoder"):
        model.to_sklearn()


@pytest.mark.parametrize("values", [(1.0, 1.0 + 1e-12), (1e300, 2e300), (1e-300, 2e-300)])
def test_values_that_float32_cannot_tell_apart_are_refused(values):
    X, y = np.array(values * 10)[:, np.newaxis], [0, 1] * 10
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"cuts 'x\[0\]' between .* the same number in float32"):
        model.to_sklearn()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.floats(1e-3, 1e6))
def test_rows_as_near_as_float32_can_tell_go_the_same_way(seed, n_steps, scale):
    """Training values are neighbours that float32 tells apart, with the digits of float64 after that."""
    rng = np.random.default_rng(seed)
    spacing = np.spacing(np.float32(scale)).astype(np.float64)
    X = scale + spacing * (np.arange(12) * n_steps + rng.uniform(-0.4, 0.4, size=12))
    X = X[np.unique(X.astype(np.float32), return_index=True)[1]][:, np.newaxis]
    y = rng.integers(0, 2, size=len(X))
    y[:2] = 0, 1
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=5, n_islands=1), random_state=seed).fit(X, y)
    for tree in model.posterior_.trees:
        assert_same_labels(tree, model.to_sklearn(tree), X)


def test_thresholds_move_only_where_they_must():
    model, _ = fitted_iris(0.3)
    assert all(np.array_equal(float32_thresholds(t), t.threshold, equal_nan=True) for t in model.posterior_.trees)


# What others do with it


def test_plot_and_texts():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y)
    tree = model.posterior_.consensus_tree().rounded()
    made = model.to_sklearn(tree)
    names = list(X.columns)
    figure, axes = plt.subplots()
    texts = [box.get_text() for box in plot_tree(made, feature_names=names, filled=True, ax=axes)]
    plt.close(figure)
    assert sum("gini" in text for text in texts) == tree.n_nodes
    assert f"{names[tree.feature[0]]} <= {float(f'{tree.threshold[0]:.3f}')}" in texts[0]
    assert export_text(made, feature_names=names).count("class:") == tree.n_leaves
    graph = export_graphviz(made, feature_names=names, class_names=["a", "b", "c"])
    assert graph.startswith("digraph Tree {")
    assert graph.count("gini = ") == tree.n_nodes


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_shap_adds_up_to_the_probabilities(holes):
    shap = pytest.importorskip("shap")
    model, X = fitted_iris(holes)
    made = model.to_sklearn()
    explained = shap.TreeExplainer(made)(X)
    total = explained.values.sum(axis=1) + explained.base_values
    assert np.abs(total - made.predict_proba(X)).max() < 1e-9
    assert np.ptp(explained.values) > 0.1


def test_shap_adds_up_to_the_mean():
    shap = pytest.importorskip("shap")
    model, X = fitted_diabetes()
    made = model.to_sklearn()
    explained = shap.TreeExplainer(made)(X)
    assert np.abs(explained.values.sum(axis=1) + explained.base_values - made.predict(X)).max() < 1e-6


def test_dtreeviz_reads_it():
    dtreeviz = pytest.importorskip("dtreeviz")
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y)
    tree = model.posterior_.consensus_tree()
    viz = dtreeviz.model(model.to_sklearn(tree), X, y, feature_names=list("abcd"), target_name="species")
    leaves = {leaf.id: leaf.nsamples() for leaf in viz.shadow_tree.leaves}
    assert leaves == {node: tree.n_rows[node] for node in np.flatnonzero(tree.feature < 0)}
    assert viz.shadow_tree.predict(X[60]) == model.to_sklearn(tree).predict(X[60:61])[0]
    assert "<" in viz.explain_prediction_path(X[60])
