"""The posterior mean in onnxruntime: equal to ours to 1e-6, for every kind of target and column."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from forests import make_posterior
from particletree import (
    MCMC,
    SMC,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exact,
    Exponential,
    Gaussian,
    Poisson,
    Posterior,
    TreePrior,
)

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

FEW = SMC.paper(n_particles=20, n_islands=3)


def run(posterior, X):
    """Return the outputs of the exported model by name."""
    model = posterior.to_onnx()
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": posterior.as_numbers(X)}), strict=True))


def assert_same_classes(model, X):
    found = run(model.posterior_, X)
    assert np.abs(found["probabilities"] - model.predict_proba(X)).max() < 1e-6
    assert found["label"].tolist() == model.predict(X).tolist()


def assert_same_numbers(model, X):
    found, expected = run(model.posterior_, X)["prediction"], model.predict(X)
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= 1e-6 * (expected.std(axis=0) + np.abs(expected))).all()


def table_with_everything(n_rows=400, n_levels=4, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n_rows), "weight": rng.normal(size=n_rows)})
    frame["kind"] = pd.Categorical(rng.choice([f"level {i}" for i in range(n_levels)], size=n_rows))
    for name in frame.columns:
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    y = np.where(frame["kind"].astype(object).isin(["level 1", "level 3"]), 2.0, frame["size"].fillna(-3.0))
    return frame, y + 0.1 * rng.normal(size=n_rows)


def with_unseen_levels(frame):
    frame = frame.assign(kind=frame["kind"].astype(object))
    frame.loc[::7, "kind"] = "never seen"
    return frame


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"], [0.0, 2.0, 4.0], [False, True, True]])
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_class_labels(labels, holes):
    X, y = load_iris(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < holes, np.nan, X)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, np.array(labels)[y])
    assert_same_classes(model, X)


def test_rows_on_thresholds_and_beside_them():
    """Rows that differ from a threshold by the last digit of float64 go the right way: nothing is rounded before."""
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(sampler=FEW, random_state=0).fit(X, y)
    nodes = model.posterior_.forest.nodes
    cuts = nodes[nodes["feature"] >= 0]
    at = np.repeat(X[:1], len(cuts), axis=0)
    at[np.arange(len(cuts)), cuts["feature"]] = cuts["threshold"]
    for rows in (at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)):
        assert_same_classes(model, rows)


@pytest.mark.parametrize("leaf", [Gaussian(), Poisson(), Exponential()])
def test_numbers(leaf):
    X, y = load_diabetes(return_X_y=True)
    assert_same_numbers(BayesianTreeRegressor(leaf=leaf, sampler=FEW, random_state=0).fit(X, y), X)


def test_several_targets_in_units_that_float32_does_not_hold():
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y * 1e60, y * 1e-60, 1e6 + y / y.max()])
    assert_same_numbers(BayesianTreeRegressor(sampler=FEW, random_state=0).fit(X, Y), X)


@pytest.mark.parametrize("n_levels", [2, 4, 62, 63, 200])
def test_levels_missing_values_and_levels_never_seen(n_levels):
    frame, y = table_with_everything(n_levels=n_levels)
    model = BayesianTreeRegressor(sampler=FEW, random_state=0).fit(frame, y)
    assert (model.posterior_.forest.feature == 2).any()
    assert_same_numbers(model, frame)
    assert_same_numbers(model, with_unseen_levels(frame))


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_a_table_with_everything(seed):
    frame, y = table_with_everything(seed=seed)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 1.0])]
    model = BayesianTreeClassifier(sampler=FEW, random_state=seed).fit(frame, labels)
    assert_same_classes(model, with_unseen_levels(frame))


def test_chains_weights_and_files(tmp_path):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, size=y.size)
    sampler = MCMC(n_iterations=200, n_chains=2)
    model = BayesianTreeClassifier(sampler=sampler, random_state=0).fit(X, y, sample_weight=weights)
    assert_same_classes(model, X)
    model.posterior_.save(tmp_path / "trees.npz")
    again = BayesianTreeClassifier.from_posterior(Posterior.load(tmp_path / "trees.npz"))
    assert again.to_onnx() == model.to_onnx()


def test_trees_of_a_root_alone():
    X, y = np.arange(8.0).reshape(4, 2), ["a", "b", "b", "b"]
    model = BayesianTreeClassifier(TreePrior.paper(max_depth=0), random_state=0).fit(X, y)
    assert_same_classes(model, X)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    posterior, X = make_posterior(seed, n_trees=30, n_classes=2 + seed)
    rows = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
    assert np.abs(run(posterior, rows)["probabilities"] - posterior.predictive(rows)).max() < 1e-6


def test_the_file_says_what_its_columns_are():
    frame, y = table_with_everything()
    model = BayesianTreeRegressor(sampler=FEW, random_state=0).fit(frame, y).to_onnx()
    about = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert about["feature_names"] == ["size", "weight", "kind"]
    assert about["levels"] == {"2": [f"level {i}" for i in range(4)]}


def test_shared_decisions_keep_it_small():
    X, y = load_breast_cancer(return_X_y=True)
    posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    (trees,) = (node for node in posterior.to_onnx().graph.node if node.op_type == "TreeEnsembleRegressor")
    (modes,) = (attribute.strings for attribute in trees.attribute if attribute.name == "nodes_modes")
    assert len(modes) < 0.5 * (2 * posterior.n_leaves - 1).sum()


def test_an_exact_posterior_is_refused_and_its_draws_are_not():
    X, y = np.arange(6.0)[:, np.newaxis], [0, 0, 1, 0, 1, 1]
    posterior = BayesianTreeClassifier(sampler=Exact(n_draws=50), random_state=0).fit(X, y).posterior_
    with pytest.raises(TypeError, match=r"posterior\.draws\(\)\.to_onnx\(\)"):
        posterior.to_onnx()
    draws = posterior.draws()
    assert np.abs(run(draws, X)["probabilities"] - draws.predictive(X)).max() < 1e-6


def test_without_onnx_the_error_says_what_to_install(monkeypatch):
    posterior, _ = make_posterior()
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "particletree\[onnx\]"'):
        posterior.to_onnx()
