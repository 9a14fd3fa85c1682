"""Rows held out, and the scores on them."""

import numpy as np
import pytest

from particletree import BayesianTreeClassifier, BayesianTreeRegressor
from particletree._commands.held_out import choose_held_out, left_out_of_cart, score_cart, score_fit
from particletree._commands.training_table import Problem, Roles
from particletree._files import Kind


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_of_each_class_about_the_share(share):
    y = np.repeat(["a", "b", "c", "d"], [100, 50, 20, 1])
    held_out = choose_held_out(y, share, seed=1, is_regression=False)
    for label, n in zip("abc", (100, 50, 20), strict=True):
        assert abs(held_out[y == label].sum() - share * n) <= 1
    assert not held_out[y == "d"].any()


def test_numbers_by_the_seed():
    y = np.arange(50.0)
    first, again, other = (choose_held_out(y, 0.3, seed, is_regression=True) for seed in (0, 0, 1))
    assert first.sum() in (14, 15)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def make_problem(y, is_regression, weights=None):
    colours = np.array(["red", "blue", None, "green"], dtype=object)[np.arange(len(y)) % 4]
    X = np.column_stack([np.arange(len(y), dtype=float).astype(object), colours])
    roles = Roles("y", None, {"a": Kind.NUMBER, "colour": Kind.TEXT})
    return Problem(roles, X, y, weights, is_regression, np.arange(len(y)))


def test_scores_of_classes_are_by_weight():
    train = make_problem(np.repeat(["x", "z"], 40).astype(object), is_regression=False)
    model = BayesianTreeClassifier(random_state=0, categorical_features=[1]).fit(train.X, train.y)
    halves = np.where(train.y == "x", 1.0, 0.0)
    test = make_problem(train.y, is_regression=False, weights=halves)
    accuracy, log_probability = score_fit(model, 0.0, test).values
    log_probabilities = model.predict_log_proba(train.X)[:40, 0]
    assert accuracy == pytest.approx(np.mean(model.predict(train.X)[:40] == "x"))
    assert log_probability == pytest.approx(log_probabilities.mean())
    assert score_cart(train, test).values[0] == 1.0


def test_scores_of_numbers():
    generator = np.random.default_rng(0)
    y = np.repeat([0.0, 10.0], 100) + generator.normal(size=200)
    problem = make_problem(y, is_regression=True)
    model = BayesianTreeRegressor(random_state=0, categorical_features=[1]).fit(problem.X, y)
    for score in (score_fit(model, 0.0, problem), score_cart(problem, problem)):
        rmse, log_density, coverage = score.values
        assert rmse < 1.2
        assert log_density == pytest.approx(-1.42, abs=0.25)  # of a standard normal: -log sqrt(2 pi e)
        assert 0.8 < coverage < 1.0


def test_categories_of_many_levels_are_numbered_for_cart():
    y = np.repeat(["x", "z"], 40).astype(object)
    levels = np.array([f"level {i // 2:02d}" for i in range(80)], dtype=object)[:, None]
    problem = Problem(Roles("y", None, {"level": Kind.TEXT}), levels, y, None, False, np.arange(80))
    assert score_cart(problem, problem).values[0] == 1.0


def test_cart_does_without_names_of_the_rows():
    generator = np.random.default_rng(0)
    size = generator.normal(size=400)
    y = np.sort(1000 * size)  # names in the order of the target tempt CART; no held-out row has one that it knows
    seen = (np.sort(size) + generator.normal(0, 0.3, 400)).astype(object)
    X = np.column_stack([seen, np.array([f"name {i:03d}" for i in range(400)], dtype=object)])
    with_names = Problem(Roles("y", None, {"size": Kind.NUMBER, "name": Kind.TEXT}), X, y, None, True, np.arange(400))
    without = Problem(Roles("y", None, {"size": Kind.NUMBER}), X[:, :1].astype(float), y, None, True, np.arange(400))
    held_out = choose_held_out(y, 0.3, 0, is_regression=True)
    assert left_out_of_cart(with_names.rows(~held_out)) == [1]
    scores = [score_cart(problem.rows(~held_out), problem.rows(held_out)) for problem in (with_names, without)]
    assert scores[0].values == scores[1].values
    alone = Problem(Roles("y", None, {"name": Kind.TEXT}), X[:, 1:], y, None, True, np.arange(400))
    assert score_cart(alone.rows(~held_out), alone.rows(held_out)).values[0] == pytest.approx(
        y[held_out].std(), rel=0.1
    )
