"""One tree outside the package: predictions, paths, JSON, and SQL that sqlite runs."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from model.made_forests import make_forest
from particletree import SMC, BayesianTreeClassifier, BayesianTreeRegressor, TreePrior
from particletree._model import Categorical, ClassLabels
from particletree._model.rule import LEAF, NODE
from particletree._model.tree import exports
from particletree._model.tree.exports import CUT, SET, RuleValues, condition
from particletree._model.tree.tree import Tree

HOSTILE = 'width "x"; DROP TABLE rows --'
COLOURS = ["red", "it's blue", "", "NULL", "green"]


def mixed_frame(n_rows, seed, n_levels=5):
    rng = np.random.default_rng(seed)
    colours = np.array(COLOURS + [f"level {i}" for i in range(100)], dtype=object)[:n_levels]
    frame = pd.DataFrame({HOSTILE: rng.normal(size=n_rows), "colour": colours[rng.integers(n_levels, size=n_rows)]})
    frame["b"] = rng.integers(3, size=n_rows).astype(float)
    frame.loc[rng.random(n_rows) < 0.2, HOSTILE] = np.nan
    frame.loc[rng.random(n_rows) < 0.2, "colour"] = None
    return frame


def labels_of(frame):
    x, colour = frame[HOSTILE].fillna(1.0), frame["colour"].map(lambda c: len(str(c)))
    return np.where(x + frame["b"] + colour % 3 > 2, "it's", "no")


def run_sql(frame, expression):
    """Return what sqlite makes of an expression for each row."""
    with sqlite3.connect(":memory:") as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame)
        connection.execute(f"CREATE TABLE rows ({names})")
        rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * frame.shape[1])})", rows)
        return [answer for (answer,) in connection.execute(f"SELECT {expression} FROM rows ORDER BY rowid")]


@pytest.mark.parametrize("n_levels", [5, 90], ids=["listed levels", "scattered levels"])
def test_sql_sends_every_row_where_the_tree_does(n_levels):
    frame = mixed_frame(300, seed=0, n_levels=n_levels)
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=50, n_islands=2), random_state=0).fit(
        frame, labels_of(frame)
    )
    new = pd.concat([frame, mixed_frame(100, seed=1, n_levels=n_levels)], ignore_index=True)
    new.loc[::17, "colour"] = "never seen"
    new.loc[::13, "b"] = np.nan
    rows = model.posterior_.as_numbers(new)
    trees = [*model.posterior_.trees[:15], model.posterior_.consensus_tree(), model.posterior_.best_tree().rounded()]
    for tree in trees:
        assert run_sql(new, tree.to_sql("leaf")) == tree.apply(rows).tolist()
    assert run_sql(new, trees[0].to_sql()) == trees[0].predict(rows).tolist()
    assert np.allclose(
        run_sql(new, trees[0].to_sql("probability", "no")), trees[0].predict_proba(rows)[:, 1], rtol=1e-12
    )


def test_sql_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3]).astype(float) + 0.1 * rng.normal(size=(80, 2))
    tree = BayesianTreeRegressor(random_state=0).fit(X, y).posterior_.consensus_tree()
    frame = pd.DataFrame(X, columns=["x[0]", "x[1]"])
    assert np.allclose(run_sql(frame, tree.to_sql(of=1)), tree.predict(X)[:, 1], rtol=1e-12)
    assert tree.predict(X).shape == (80, 2)
    with pytest.raises(ValueError, match=r"of must be one of \[0, 1\], got 2"):
        tree.to_sql(of=2)
    with pytest.raises(TypeError, match="no classes"):
        tree.predict_proba(X)


def deep_tree(depth):
    """Return a tree whose splits cut x at 0.5, 1.5, ..., each with a leaf on its left."""
    nodes = np.full(2 * depth + 1, LEAF, dtype=NODE)
    splits = np.arange(0, 2 * depth, 2)
    nodes["feature"][splits], nodes["threshold"][splits] = 0, np.arange(depth) + 0.5
    nodes["left"][splits], nodes["right"][splits] = splits + 1, splits + 2
    nodes["block"] = np.arange(2 * depth + 1)
    counts = np.random.default_rng(0).integers(1, 9, (2 * depth + 1, 2)).astype(float)
    return Tree(nodes, counts, ClassLabels(np.array(["no", "yes"])), Categorical(2.0))


@pytest.mark.parametrize("output", ["prediction", "probability", "leaf"])
def test_sql_of_a_tree_deeper_than_its_indentation(monkeypatch, output):
    monkeypatch.setattr(exports, "DEEPEST_INDENT", 3)  # sqlite cannot read expressions of 20 levels
    tree, rows = deep_tree(10), np.arange(12.0)[:, None]
    expected = {
        "leaf": tree.apply,
        "prediction": tree.predict,
        "probability": lambda rows: tree.predict_proba(rows)[:, 1],
    }
    answers = run_sql(pd.DataFrame(rows, columns=["x[0]"]), tree.to_sql(output, "yes"))
    assert answers == expected[output](rows).tolist()


@pytest.mark.parametrize("output", ["prediction", "probability", "leaf"])
def test_exports_grow_in_proportion_to_the_tree(monkeypatch, output):
    """A tree of twice the depth gives twice the text, and its predictions are computed once, not for each node."""
    n_calls, mean = [], Categorical.mean
    monkeypatch.setattr(Categorical, "mean", lambda *given: n_calls.append(1) or mean(*given))
    half, whole = (len(deep_tree(depth).to_sql(output, "yes")) for depth in (500, 1_000))
    assert whole < 2.1 * half
    assert len(n_calls) <= 2
    assert len(deep_tree(1_000).to_dict()["nodes"]) == 2_001
    assert len(n_calls) <= 3


def test_sql_says_what_is_wrong_with_the_question():
    tree = make_forest().tree(0, ClassLabels(np.array(["no", "yes"])), Categorical(2.0))
    with pytest.raises(ValueError, match="output must be one of prediction, probability, leaf, got 'all'"):
        tree.to_sql("all")
    with pytest.raises(ValueError, match=r"of must be one of \['no', 'yes'\], got None"):
        tree.to_sql("probability")


def test_lists_are_never_empty():
    only_missing = RuleValues(SET, 0, "c", is_missing_left=True, right=("a",))
    assert condition(only_missing) == '(1 = 0 OR "c" IS NULL)'
    everything = RuleValues(SET, 0, "c", is_missing_left=False, is_unseen_left=True, left=("a", True))
    assert condition(everything) == '"c" IS NOT NULL'
    assert condition(replace(everything, is_unseen_left=False)) == "\"c\" IN ('a', TRUE)"
    assert condition(RuleValues(CUT, 0, "x", is_missing_left=True, threshold=1.5)) == '("x" <= 1.5 OR "x" IS NULL)'


def test_paths_lead_from_the_root_to_the_leaf():
    X = np.random.default_rng(0).normal(size=(60, 3))
    tree = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0).posterior_.consensus_tree()
    paths = tree.decision_path(X)
    assert paths.shape == (60, tree.n_nodes)
    for row, leaf in enumerate(tree.apply(X)):
        path = paths.indices[paths.indptr[row] : paths.indptr[row + 1]]
        assert (path[0], path[-1], len(path)) == (0, leaf, tree.node_depths[leaf] + 1)
        assert all(child in (tree.left[node], tree.right[node]) for node, child in pairwise(path))
    assert tree.decision_path(X[:0]).shape == (0, tree.n_nodes)


def test_a_dictionary_is_json_and_has_the_rules():
    frame = mixed_frame(200, seed=3)
    prior = TreePrior.paper(max_depth=6)
    model = BayesianTreeClassifier(prior, sampler=SMC.paper(n_particles=50), random_state=0).fit(
        frame, labels_of(frame)
    )
    kinds = set()
    for tree in model.posterior_.trees[:30]:
        read = json.loads(json.dumps(tree.to_dict(), allow_nan=False))
        assert read["target"] == {"kind": "classes", "classes": ["it's", "no"]}
        assert len(read["nodes"]) == tree.n_nodes
        for node in read["nodes"]:
            if "rule" not in node:
                assert sum(node["prediction"]) == pytest.approx(1.0)
                continue
            kinds.add(node["rule"]["kind"])
            assert node["rule"]["text"] == tree.rules[node["node"]]
            assert read["nodes"][node["left"]]["n_rows"] + read["nodes"][node["right"]]["n_rows"] == node["n_rows"]
            if node["rule"]["kind"] == "set":
                assert {*node["rule"]["left_levels"], *node["rule"]["right_levels"]} == {*COLOURS}
    assert kinds == {"cut", "present", "set"}


def test_rounding_moves_no_row():
    X = np.random.default_rng(0).normal(size=(60, 3))
    tree = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] > 0).posterior_.best_tree()
    np.testing.assert_array_equal(tree.apply(X), tree.rounded().apply(X))


def test_text_is_refused_with_what_to_do():
    model = BayesianTreeClassifier(random_state=0).fit(pd.DataFrame({"a": ["u", "v"] * 20}), [0, 1] * 20)
    with pytest.raises(ValueError, match=r"posterior\.as_numbers\(X\) makes one of a table with text"):
        model.posterior_.best_tree().predict([["u"], ["v"]])


def test_sql_has_a_line_for_each_case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    tree = BayesianTreeClassifier(random_state=0).fit(X, (X[:, 0] > 0) + 2 * (X[:, 1] > 0)).posterior_.best_tree()
    assert tree.n_leaves >= 4
    assert all(line.count("CASE") <= 1 for line in tree.to_sql().splitlines())
