"""Tables with missing values and categories go into the estimators as they are."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from particletree import SMC, BARTClassifier, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor

SMALL = SMC.paper(n_particles=10, n_islands=2)
ESTIMATORS: list[type[Any]] = [BayesianTreeClassifier, BayesianTreeRegressor]
N_ROWS = 120


def make_frame() -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of every kind of column, with holes, and labels that one text decides."""
    rng = np.random.default_rng(0)
    island = rng.choice(["Biscoe", "Dream", "Torgersen"], N_ROWS).astype(object)
    labels = (island == "Dream").astype(int)
    island[rng.random(N_ROWS) < 0.1] = None
    frame = pd.DataFrame(
        {
            "island": pd.Series(island, dtype=object),
            "mass": np.where(rng.random(N_ROWS) < 0.3, np.nan, rng.normal(size=N_ROWS)),
            "size": pd.Categorical(rng.choice(["small", "large"], N_ROWS), ["small", "medium", "large"]),
            "adult": pd.array(rng.choice([True, False], N_ROWS), dtype="boolean"),
            "eggs": pd.array(rng.integers(0, 3, N_ROWS), dtype="Int64"),
        }
    )
    frame.loc[5, ["size", "adult", "eggs"]] = None
    return frame, labels


FRAME, LABELS = make_frame()
LEVELS = {0: ("Biscoe", "Dream", "Torgersen"), 2: ("small", "large"), 3: (False, True)}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request: Any) -> Any:
    return request.param(sampler=SMALL, random_state=0).fit(FRAME, LABELS)


def questions(model: Any) -> list[Any]:
    """Return the methods that answer for rows."""
    names = ["predict", "predict_interval"]
    names += ["predict_proba", "predict_log_proba"] if hasattr(model, "classes_") else ["predict_variance"]
    return [getattr(model, name) for name in names]


def test_a_frame_needs_no_preparation(fitted: Any) -> None:
    assert fitted.score(FRAME, LABELS) > 0.7
    assert fitted._columns.levels == LEVELS
    assert fitted._columns.missing == {0, 1, 2, 3, 4}
    assert fitted.feature_names_in_.tolist() == list(FRAME.columns)
    assert fitted.feature_importances_.argmax() == 0


def test_other_containers_give_the_same_answers(fitted: Any) -> None:
    pl = pytest.importorskip("polars")
    columns = {name: [None if pd.isna(cell) else cell for cell in FRAME[name]] for name in FRAME}
    frame = pl.DataFrame(columns).with_columns(pl.col("size").cast(pl.Enum(["small", "medium", "large"])))
    array = np.array(list(columns.values()), dtype=object).T
    np.testing.assert_array_equal(clone(fitted).fit(frame, LABELS).predict(frame), fitted.predict(FRAME))
    of_array = clone(fitted).fit(array, LABELS)
    assert of_array._columns.levels == {**LEVELS, 2: ("large", "small")}
    assert of_array.score(array, LABELS) > 0.7


def test_unseen_levels_and_missing_values_are_answered(fitted: Any) -> None:
    rows = FRAME.iloc[:4].copy()
    rows["island"] = ["Atlantis", None, np.nan, "Dream"]
    rows["size"] = pd.Categorical(["huge", None, "large", "small"])
    for ask in questions(fitted):
        for answer in np.atleast_2d(np.asarray(ask(rows))):
            assert np.isfinite(np.asarray(answer, dtype=float)).all()


def test_the_order_of_other_categories_does_not_matter(fitted: Any) -> None:
    rows = FRAME.assign(size=FRAME["size"].cat.set_categories(["large", "huge", "small"]))
    np.testing.assert_array_equal(fitted.predict(rows), fitted.predict(FRAME))
    as_text = FRAME.assign(size=FRAME["size"].astype(object))
    np.testing.assert_array_equal(fitted.predict(as_text), fitted.predict(FRAME))


def test_a_pickled_model_knows_the_levels(fitted: Any) -> None:
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(FRAME), fitted.predict(FRAME))


def test_columns_in_another_order_are_refused(fitted: Any) -> None:
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(FRAME[FRAME.columns[::-1]])


def test_text_in_a_column_of_numbers_is_refused(fitted: Any) -> None:
    rows = FRAME.assign(mass=["heavy"] * N_ROWS)
    with pytest.raises(
        ValueError, match=r"Text in row 0, column 'mass' .*'heavy' is not a number. The training data held"
    ):
        fitted.predict(rows)


def test_a_refused_refit_keeps_the_levels(fitted: Any) -> None:
    model = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="Every weight"):
        model.fit(FRAME.assign(island="Mars"), LABELS, sample_weight=np.zeros(N_ROWS))
    assert model._columns.levels == LEVELS
    np.testing.assert_array_equal(model.predict(FRAME), fitted.predict(FRAME))


def test_islands_of_other_levels_are_not_added(fitted: Any) -> None:
    model = pickle.loads(pickle.dumps(fitted)).set_params(warm_start=True)
    model.fit(FRAME, LABELS)
    assert model.posterior_.n_islands == 4
    with pytest.raises(ValueError, match="the values of the feature 'island'"):
        model.fit(FRAME.replace({"island": {"Dream": "Anvers"}}), LABELS)


WAYS: dict[str, Any] = {
    "mask": [True, False, True],
    "indices": np.array([0, 2]),
    "names": ["code", "text"],
}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("listed", WAYS.values(), ids=WAYS.keys())
def test_columns_may_be_listed(estimator: type[Any], listed: Any) -> None:
    X = pd.DataFrame({"code": [3, 1, 3, 2], "x": [0.5, 1.5, 2.5, 3.5], "text": ["u", "v", "u", "v"]})
    model = estimator(sampler=SMALL, categorical_features=listed).fit(X, [0, 1, 0, 1])
    assert model._columns.levels == {0: (1, 2, 3), 2: ("u", "v")}
    assert model.predict(X).shape == (4,)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_none_means_that_no_column_is_categorical(estimator: type[Any]) -> None:
    model = estimator(sampler=SMALL, categorical_features=None)
    with pytest.raises(
        ValueError, match=r"Text in row 0, column 'island' .*leave categorical_features at \"from_dtype\""
    ):
        model.fit(FRAME[["island", "mass"]], LABELS)
    assert model.fit(FRAME[["mass", "adult", "eggs"]], LABELS)._columns.levels == {}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_level_of_rows_of_weight_zero_is_unseen(estimator: type[Any]) -> None:
    X = pd.DataFrame({"c": ["a", "b", "a", "b", "c"]})
    model = estimator(sampler=SMALL, random_state=0).fit(X, [0, 1, 0, 1, 1], sample_weight=[1, 1, 1, 1, 0])
    without = estimator(sampler=SMALL, random_state=0).fit(X[:4], [0, 1, 0, 1])
    assert model._columns == without._columns
    np.testing.assert_array_equal(model.predict(X), without.predict(X))


@pytest.mark.parametrize(
    "model",
    [*(estimator(sampler=SMALL) for estimator in ESTIMATORS), BARTClassifier(), BARTRegressor()],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1, 0]], ids=["all missing", "levels in rows of weight 0 only"])
def test_a_column_without_any_level_is_saved_too(model: Any, weights: Any, tmp_path: Path) -> None:
    level = None if weights is None else "a"
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0], "c": pd.Categorical([None, None, None, None, level])})
    settings = {"n_trees": 5, "n_iterations": 20} if "n_trees" in model.get_params() else {}
    model = clone(model).set_params(random_state=0, **settings).fit(X, [0, 0, 1, 1, 1], sample_weight=weights)
    assert model._columns.levels == {1: ()}
    model.posterior_.save(tmp_path / "p")
    posterior = type(model.posterior_).load(tmp_path / "p")
    assert posterior.columns == model.posterior_.columns
    rows = pd.DataFrame({"x": [0.5, 3.5, 2.5], "c": pd.Categorical([None, "a", "b"])})
    np.testing.assert_array_equal(posterior.predictive(rows), model.posterior_.predictive(rows))
    np.testing.assert_array_equal(posterior.predictive_interval(rows), model.posterior_.predictive_interval(rows))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_matrices_are_refused_with_what_to_do(estimator: type[Any]) -> None:
    message = (
        r"X is a sparse matrix, .* Pass X.toarray\(\); or, if it is a one-hot encoding, the original column of categ"
    )
    with pytest.raises(TypeError, match=message):
        estimator().fit(scipy.sparse.csr_matrix(np.eye(3)), [0, 1, 0])


# As a scikit-learn estimator


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tags(estimator: type[Any]) -> None:
    tags = estimator().__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.categorical


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_parameter_is_one_like_the_others(estimator: type[Any]) -> None:
    assert list(inspect.signature(estimator).parameters)[:4] == ["prior", "leaf", "sampler", "categorical_features"]
    assert estimator().get_params()["categorical_features"] == "from_dtype"
    model = clone(estimator(categorical_features=np.array([0, 2])))
    assert model.categorical_features.tolist() == [0, 2]
    assert repr(estimator(categorical_features=["a"])) == f"{estimator.__name__}(categorical_features=['a'])"


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_in_pipelines_that_pass_frames_on(estimator: type[Any]) -> None:
    numeric = make_column_selector(dtype_include="number")
    columns = ColumnTransformer([("scale", StandardScaler(), numeric)], remainder="passthrough")
    columns.set_output(transform="pandas")
    model = make_pipeline(columns, estimator(sampler=SMALL, random_state=0)).fit(FRAME, LABELS)
    last = model[-1]
    assert last.feature_names_in_.tolist() == [
        "scale__mass",
        "scale__eggs",
        "remainder__island",
        "remainder__size",
        "remainder__adult",
    ]
    assert last._columns.levels == {2: LEVELS[0], 3: LEVELS[2], 4: LEVELS[3]}
    assert model.predict(FRAME).shape == (N_ROWS,)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_cross_validated_and_searched(estimator: type[Any]) -> None:
    model = estimator(sampler=SMALL, random_state=0)
    assert np.isfinite(cross_val_score(model, FRAME, LABELS, cv=3)).all()
    grid = {"categorical_features": ["from_dtype", ["island", "size", "adult", "eggs"]]}
    search = GridSearchCV(model, grid, cv=2).fit(FRAME, LABELS)
    assert search.predict(FRAME).shape == (N_ROWS,)


def test_in_a_pipeline_that_passes_objects_on() -> None:
    to_objects = FunctionTransformer(lambda X: X.to_numpy(dtype=object))
    model = make_pipeline(to_objects, BayesianTreeClassifier(sampler=SMALL, random_state=0)).fit(FRAME, LABELS)
    assert model.score(FRAME, LABELS) > 0.8


@pytest.mark.parametrize("n_levels", [12, 90], ids=["listed levels", "scattered levels"])
def test_which_values_share_a_coin(n_levels: int) -> None:
    """Levels that no training row has share one; a level that only the block lacks has its own, as a missing value has.

    Half of the levels occur where x is 0, the others where it is 1.
    """
    level = np.tile(np.arange(n_levels), 12)
    X = pd.DataFrame({"level": [f"level {i}" for i in level], "x": (2 * level >= n_levels).astype(float)})
    y = 100.0 * X["x"] + level % 2 + np.linspace(0.0, 0.1, len(X))
    new = pd.DataFrame({"level": ["unseen", "seen nowhere", None, f"level {n_levels - 1}", f"level {n_levels - 3}"]})
    new["x"] = 0.0
    trees = BayesianTreeRegressor(sampler=SMC.paper(n_islands=50, n_particles=5), random_state=0).fit(X, y).posterior_
    sums = BARTRegressor(n_trees=10, n_iterations=60, n_chains=1, random_state=0).fit(X, y).posterior_
    leaves = np.array([tree.apply(trees.as_numbers(new)) for tree in trees.trees]).T
    for answers in (leaves, sums.predictive_draws(new)[..., 0]):
        np.testing.assert_array_equal(answers[0], answers[1])
        for i, j in ((0, 2), (0, 3), (2, 3), (3, 4)):
            assert (answers[i] != answers[j]).any()
