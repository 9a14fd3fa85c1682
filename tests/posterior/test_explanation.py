"""One row explained: against sums and searches over the trees one by one, and by hand."""

from __future__ import annotations

import html
import json
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import oracle
from forests import make_posterior
from particletree import MCMC, SMC, BayesianTreeClassifier, BayesianTreeRegressor, Exact, Poisson, Posterior
from particletree._model.columns import Columns
from particletree._model.rule import goes_left
from particletree._posterior.explanation.conditions import UNSEEN, plain_values, walk
from particletree._posterior.explanation.groups import best_cut
from particletree._posterior.summary.trees import spread
from plots.made_posteriors import small_posterior

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"width": RNG.normal(size=150), "colour": RNG.choice(["red", "blue", "green"], size=150)})
FRAME["n"] = RNG.integers(0, 9, size=150).astype(float)
FRAME.loc[::7, "width"] = np.nan
FRAME.loc[::11, "colour"] = None
LABELS = np.where(
    FRAME["width"].fillna(1) + (FRAME["colour"] == "red") > 0.5, "yes", np.where(FRAME["n"] > 4, "no", "?")
)
NUMBERS = FRAME["width"].fillna(1).to_numpy() + (FRAME["colour"] == "red") + 0.1 * RNG.normal(size=150)


def fit_labels(sampler=None):
    return BayesianTreeClassifier(sampler=sampler, random_state=0).fit(FRAME, LABELS)


POSTERIORS = {
    "random trees": lambda: (make_posterior()[0], make_posterior()[1]),
    "mixed columns": lambda: (fit_labels().posterior_, FRAME),
    "chains": lambda: (fit_labels(MCMC(n_iterations=400, n_chains=2)).posterior_, FRAME),
    "numbers": lambda: (BayesianTreeRegressor(random_state=0).fit(FRAME, NUMBERS).posterior_, FRAME),
    "counts": lambda: (
        BayesianTreeRegressor(leaf=Poisson(), random_state=0).fit(FRAME, FRAME["n"]).posterior_,
        FRAME,
    ),
    "two targets": lambda: (
        BayesianTreeRegressor(random_state=0)
        .fit(FRAME, pd.DataFrame({"up": NUMBERS, "down": -2 * FRAME["n"]}))
        .posterior_,
        FRAME,
    ),
}


@pytest.fixture(params=POSTERIORS, scope="module")
def fitted(request):
    return POSTERIORS[request.param]()


def row_of(X, i):
    return X.iloc[i] if isinstance(X, pd.DataFrame) else X[i]


def leaves_one_by_one(posterior, rows):
    """Return the leaf of each row in each tree, tree by tree."""
    return np.array([tree.apply(rows) for tree in posterior.trees])


class TestSums:
    def test_contributions_and_base_are_the_prediction(self, fitted):
        posterior, X = fitted
        for i in range(0, 40, 3):
            for output in range(posterior.target.n_outputs):
                of = posterior.target.classes[output] if hasattr(posterior.target, "classes") else output
                why = posterior.explain(row_of(X, i), of=of, n_neighbours=0)
                expected = posterior.predictive(X[i : i + 1])[0, output]
                assert why.prediction == expected
                assert why.base + why.contributions.sum() == pytest.approx(expected, rel=1e-10, abs=1e-10)
                assert sum(rule.effect for rule in why.rules) == pytest.approx(why.contributions.sum(), abs=1e-10)
                assert why.remainder == 0

    def test_contributions_are_those_of_the_trees_one_by_one(self, fitted):
        posterior, X = fitted
        x = posterior.as_numbers(X[4:5])
        expected, asked = np.zeros(posterior.n_features), np.zeros(posterior.n_features)
        why = posterior.explain(row_of(X, 4))
        for tree, weight in zip(posterior.trees, posterior.weights, strict=True):
            path = tree.decision_path(x).indices
            for node, child in pairwise(path):
                expected[tree.feature[node]] += weight * (tree.means[child] - tree.means[node])[why.output]
            asked[np.unique(tree.feature[path[:-1]])] += weight
        assert why.contributions == pytest.approx(expected, abs=1e-10)
        for feature in range(posterior.n_features):
            probabilities = [rule.probability for rule in why.rules if rule.feature == feature]
            assert max(probabilities, default=0.0) <= asked[feature] + 1e-12 <= sum(probabilities) + 2e-12

    def test_an_exact_posterior_states_what_its_draws_leave_open(self):
        data = oracle.TWO_CLASSES
        model = BayesianTreeClassifier(sampler=Exact(n_draws=50), random_state=0).fit(data.X, data.y)
        why = model.explain(data.X[0])
        assert why.prediction == model.predict_proba(data.X[:1])[0].max()
        assert why.base + why.contributions.sum() + why.remainder == pytest.approx(why.prediction, abs=1e-12)
        assert 0 < abs(why.remainder) < 0.1
        assert "drawn trees against all trees" in str(why)

    def test_levels_are_parted_as_by_the_trees_one_by_one(self):
        posterior = fit_labels().posterior_
        x = posterior.as_numbers(FRAME[5:6])
        assert x[0, 1] < 3
        others = np.repeat(x, 3, axis=0)
        others[:, 1] = np.arange(3)  # the levels, in their order
        expected = np.zeros(3)
        for tree, weight in zip(posterior.trees, posterior.weights, strict=True):
            path = tree.decision_path(x).indices
            for node, child in pairwise(path):
                if tree.feature[node] == 1:
                    went = goes_left(others[:, 1], np.broadcast_to(tree.nodes[node], 3))
                    parted = went != (child == tree.left[node])
                    expected += weight * parted * ~self.seen(tree, path, node, others)
        rule = next(rule for rule in posterior.explain(FRAME.iloc[5]).rules if rule.kind == "level")
        found = dict(rule.apart)
        assert [found.get(level, 0.0) for level in ("blue", "green", "red")] == pytest.approx(expected)
        assert rule.text.startswith(f"colour is {FRAME.iloc[5]['colour']}, not ")

    @staticmethod
    def seen(tree, path, node, others):
        """Tell which levels were parted from the row above a node."""
        parted = np.zeros(3, dtype=bool)
        for above, child in pairwise(path):
            if above == node:
                return parted
            if tree.feature[above] == 1:
                went = goes_left(others[:, 1], np.broadcast_to(tree.nodes[above], 3))
                parted |= went != (child == tree.left[above])
        raise AssertionError("the node is not on the path")


class TestGroups:
    def test_they_are_all_trees_once(self, fitted):
        posterior, X = fitted
        for i in range(0, 40, 5):
            why = posterior.explain(row_of(X, i), n_neighbours=0)
            assert sum(group.weight for group in why.groups) == pytest.approx(1)
            assert sorted(t for group in why.groups for t in group.trees) == list(range(posterior.forest.n_trees))
            means = [group.weight * group.mean for group in why.groups]
            assert sum(means) == pytest.approx(why.prediction, rel=1e-10, abs=1e-10)
            assert all(group.low <= group.mean + 1e-12 <= group.high + 2e-12 for group in why.groups)

    def test_a_parting_holds_for_the_trees_one_by_one(self, fitted):
        posterior, X = fitted
        x = posterior.as_numbers(X[4:5])
        why = posterior.explain(row_of(X, 4))
        for group in why.groups:
            parting = group.parting
            if parting is None or np.isnan(parting.limit):
                continue
            is_at_most = parting.kind == "at most"
            meets = np.array([self.confines(t, x, parting.feature, parting.limit, is_at_most) for t in posterior.trees])
            is_in = np.isin(np.arange(meets.size), group.trees)
            for members, found in ((is_in, parting.in_group), (~is_in, parting.in_others)):
                expected = posterior.weights[members & meets].sum() / posterior.weights[members].sum()
                assert found == pytest.approx(expected, abs=1e-12)

    @staticmethod
    def confines(tree, x, feature, bound, is_at_most):
        """Tell whether a tree's path confines a feature to at most, or above, a bound."""
        path = tree.decision_path(x).indices
        left = [tree.left[node] == child for node, child in pairwise(path)]
        cuts = [
            float(tree.nodes["threshold"][node])
            for node, is_left in zip(path[:-1], left, strict=True)
            if tree.feature[node] == feature and is_left == is_at_most
        ]
        return any(cut <= bound if is_at_most else cut >= bound for cut in cuts)

    def test_the_cut_leaves_the_least_variance(self):
        rng = np.random.default_rng(1)
        numbers, weights = rng.normal(size=12), rng.dirichlet(np.ones(12))

        def variance_within(cut):
            parts = [(numbers <= cut), (numbers > cut)]
            return sum(weights[p] @ (numbers[p] - np.average(numbers[p], weights=weights[p])) ** 2 for p in parts)

        assert best_cut(numbers, weights) == min(np.sort(numbers)[:-1], key=variance_within)
        assert best_cut(np.full(3, 7.0), np.full(3, 1 / 3)) == 7.0


class TestNeighbours:
    def test_probabilities_are_those_of_the_trees_one_by_one(self, fitted):
        posterior, X = fitted
        rows = posterior.as_numbers(X)
        leaves = leaves_one_by_one(posterior, rows)
        expected = posterior.weights @ (leaves == leaves[:, [4]])
        why = posterior.explain(row_of(X, 4), X=X, n_neighbours=len(X))
        found = {neighbour.row: neighbour.probability for neighbour in why.neighbours}
        assert found[4] == pytest.approx(1)
        assert [found.get(i, 0.0) for i in range(len(X))] == pytest.approx(expected, abs=1e-12)
        assert [n.probability for n in why.neighbours] == sorted(found.values(), reverse=True)
        assert f"among {len(X)} rows of X" in str(why)

    def test_kept_rows_are_looked_at_without_others(self):
        posterior = fit_labels().posterior_
        why = posterior.explain(FRAME.iloc[3], n_neighbours=2)
        assert len(why.neighbours) == 2
        assert why.neighbours_note == "among 150 training rows that the posterior has kept"
        place = posterior.kept_row_numbers.tolist().index(why.neighbours[0].row)
        assert why.neighbours[0].values == plain_values(posterior.kept_rows[place], posterior.columns)

    def test_a_posterior_without_rows_says_why_there_are_none(self, tmp_path):
        posterior = fit_labels().posterior_.without_rows()
        posterior.save(tmp_path / "trees.npz")
        for copy in (Posterior.load(tmp_path / "trees.npz"), pickle.loads(pickle.dumps(posterior))):
            why = copy.explain(FRAME.iloc[3])
            assert why.neighbours == ()
            assert "has kept no rows of its training data" in str(why)
            assert copy.explain(FRAME.iloc[3], X=FRAME).neighbours


class TestByHand:
    """The trees of `small_posterior`: a <= 1.5 with b <= 0.5 below on the right; a <= 1.5 alone; a root."""

    def test_all_numbers(self):
        posterior = small_posterior()
        why = posterior.explain([2.0, 0.0, 7.0])  # class probabilities: (n + 1) / (total + 2)
        assert (why.output_name, why.base) == ("class 1", 0.5)
        assert why.prediction == pytest.approx(0.5 * 4 / 5 + 0.3 * 5 / 6 + 0.2 / 2)
        assert why.contributions == pytest.approx([0.8 * (5 / 6 - 1 / 2), 0.5 * (4 / 5 - 5 / 6), 0.0])
        first, second = why.rules
        assert (first.text, first.kind, first.low, first.high) == ("a > 1.5", "above", 1.5, 1.5)
        assert (first.effect, first.probability) == (pytest.approx(0.8 / 3), pytest.approx(0.8))
        assert (second.text, second.probability) == ("b <= 0.5", pytest.approx(0.5))
        assert why.leaf_rows.mean == pytest.approx(0.5 * 3 + 0.3 * 4 + 0.2 * 8)

    def test_groups(self):
        why = small_posterior().explain([2.0, 0.0, 7.0])
        heavy, light = why.groups
        assert (heavy.label, heavy.weight, heavy.trees) == ("class 1", pytest.approx(0.8), (0, 1))
        assert (light.label, light.weight, light.trees) == ("class 0", pytest.approx(0.2), (2,))
        assert (heavy.parting.text, heavy.parting.in_group, heavy.parting.in_others) == ("a > 1.5", 1.0, 0.0)
        assert light.parting is None

    def test_neighbours(self):
        near, far = small_posterior().explain([2.0, 0.0, 7.0], X=[[3.0, 0.1, 0.0], [1.0, 0.0, 0.0]]).neighbours
        assert (near.row, near.probability, near.values) == (0, pytest.approx(1), (3.0, 0.1, 0.0))
        assert (far.row, far.probability) == (1, pytest.approx(0.2))

    def test_the_tightest_of_several_cuts_counts(self):
        X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
        posterior = BayesianTreeClassifier(sampler=SMC.paper(n_particles=30), random_state=0).fit(X, X[:, 0]).posterior_
        why = posterior.explain([0.0])
        (rule,) = why.rules
        paths = [tree.decision_path([[0.0]]).indices[:-1] for tree in posterior.trees]
        asks = np.array([path.size > 0 for path in paths])
        assert max(path.size for path in paths) > 1
        bounds = [tree.threshold[path].min() for tree, path in zip(posterior.trees, paths, strict=True) if path.size]
        expected = spread(bounds, posterior.weights[asks] / posterior.weights[asks].sum())
        assert (rule.low, rule.high) == (expected.low, expected.high)
        assert (rule.kind, rule.probability) == ("at most", pytest.approx(posterior.weights[asks].sum()))

    def test_a_root_alone(self):
        X = np.zeros((6, 2))
        why = BayesianTreeClassifier(random_state=0).fit(X, ["a", "b"] * 3).explain(X[0])
        assert (why.rules, why.contributions.tolist(), len(why.groups)) == ((), [0.0, 0.0], 1)
        assert "No tree splits" in str(why)
        assert walk(BayesianTreeClassifier().fit(X, ["a", "b"] * 3).posterior_.forest, X[0]).node.size == 0


class TestWhatTheRowComesIn:
    def test_every_container_gives_the_same(self):
        model = fit_labels()
        row = FRAME.iloc[5]
        texts = {
            str(model.explain(each))
            for each in (
                row,
                row.to_dict(),
                dict(reversed(row.to_dict().items())),
                FRAME[5:6],
                row.tolist(),
                [row.tolist()],
                row.to_numpy(),
                row.to_numpy().reshape(1, -1),
            )
        }
        assert len(texts) == 1

    def test_without_names(self):
        X = np.arange(20.0).reshape(10, 2)
        model = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] > 9)
        expected = str(model.explain(X[3]))
        for each in ({"x[1]": 7.0, "x[0]": 6.0}, pd.Series([6.0, 7.0]), (6, 7)):
            assert str(model.explain(each)) == expected

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (FRAME[:2], "One row is explained at a time, got 2 rows"),
            (FRAME[:2].to_numpy(), "One row is explained at a time, got 2 rows"),
            (FRAME[:2].to_numpy().tolist(), "One row is explained at a time, got 2 rows"),
            ([1.0, "red"], "The row has 2 values, but the posterior was fitted to 3 features"),
            (np.zeros((1, 4)), "The row has 4 values, but the posterior was fitted to 3 features"),
            ({"width": 1.0, "n": 2.0, "height": 3.0}, r"lacks \['colour'\] and also has \['height'\]"),
        ],
    )
    def test_errors_say_what_is_wrong(self, row, message):
        with pytest.raises(ValueError, match=message):
            fit_labels().explain(row)

    def test_what_is_no_row(self):
        with pytest.raises(TypeError, match="A row is a list, an array, a mapping, a Series or a frame of one row"):
            fit_labels().explain(7.0)

    def test_wrong_questions(self):
        with pytest.raises(ValueError, match=r"of must be one of \['\?', 'no', 'yes'\], or None, got 'maybe'"):
            fit_labels().explain(FRAME.iloc[0], of="maybe")
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            fit_labels().explain(FRAME.iloc[0], level=1.0)
        two = POSTERIORS["two targets"]()[0]
        with pytest.raises(ValueError, match=r"of must be one of \[0, 1\] or \['up', 'down'\], or None, got 'left'"):
            two.explain(FRAME.iloc[0], of="left")
        assert two.explain(FRAME.iloc[0], of="down").output == two.explain(FRAME.iloc[0], of=1).output == 1


class TestText:
    def test_long_names_are_cut_and_what_is_asked_of_them_is_not(self):
        rng = np.random.default_rng(0)
        name = "a name of " + "very " * 20 + "many words"
        X = pd.DataFrame({name: rng.normal(size=200)})
        why = BayesianTreeClassifier(random_state=0).fit(X, X[name] > 0).explain({name: 2.0})
        line = next(line for line in str(why).splitlines() if "in 100% of the trees" in line)
        assert line.strip().startswith("a name of ve… many words > ")
        assert all(len(line) < 120 for line in str(why).splitlines())
        assert repr(why) == str(why)

    def test_names_levels_and_missing_values_are_said(self):
        model = fit_labels()
        row = {"width": None, "colour": "red", "n": 3.0}
        text = str(model.explain(row))
        assert text.startswith("Explanation of one row: ")
        for part in ("width is missing", "colour is red", "90% interval of the probability", "all training rows"):
            assert part in text
        assert "colour is missing" in str(model.explain({"width": -1.0, "colour": None, "n": 3.0}))
        assert f"colour is {UNSEEN}" in str(model.explain({"width": -1.0, "colour": "mauve", "n": 3.0}))
        assert all(len(line) <= 130 for line in text.splitlines())

    def test_numbers_have_both_intervals(self):
        model = BayesianTreeRegressor(random_state=0).fit(FRAME, NUMBERS)
        why = model.explain(FRAME.iloc[2], level=0.8)
        assert why.interval == pytest.approx(model.predict_interval(FRAME[2:3], 0.8, of="mean")[0])
        assert why.observation_interval == pytest.approx(model.predict_interval(FRAME[2:3], 0.8)[0])
        assert "80% interval of a new one" in str(why)

    def test_classes_have_the_interval_of_the_one_explained(self):
        model = fit_labels()
        why = model.explain(FRAME.iloc[2], of="no")
        assert why.interval == pytest.approx(model.predict_interval(FRAME[2:3])[0, 1])
        assert why.observation_interval is None

    def test_trees_that_agree_are_said_to(self):
        X = np.r_[np.zeros(40), np.ones(40)][:, None]
        why = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] > 0).explain([0.0])
        assert "The trees agree: class False, " in str(why)

    def test_trees_that_agree_on_another_class_than_the_explained_one(self):
        X = np.r_[np.zeros(40), np.ones(40)][:, None]
        model = BayesianTreeClassifier(random_state=0).fit(X, np.where(X[:, 0] > 0, "q", "p"))
        assert "The trees agree: p, " in str(model.explain([0.0], of="p"))
        assert "The trees agree: predict p; q, " in str(model.explain([0.0], of="q"))

    def test_names_cannot_break_lines_or_markup(self):
        frame = FRAME.rename(columns={"width": "<b>wi\ndth"})
        why = BayesianTreeClassifier(random_state=0).fit(frame, LABELS).explain(frame.iloc[1])
        plain = fit_labels().explain(FRAME.iloc[1])
        assert len(str(why).splitlines()) == len(str(plain).splitlines())
        assert why._repr_html_() == f"<pre>{html.escape(str(why))}</pre>"
        assert "<b>" not in why._repr_html_()


def test_json_can_hold_it(fitted):
    posterior, X = fitted
    why = posterior.explain(row_of(X, 4))
    read = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert read["prediction"] == why.prediction
    assert read["contributions"] == why.contributions.tolist()
    assert [rule["text"] for rule in read["rules"]] == [rule.text for rule in why.rules]
    assert read["leaf_rows"]["mean"] == why.leaf_rows.mean


def test_values_for_people():
    columns = Columns(3, levels={1: ("blue", "red")})
    assert plain_values(np.array([np.nan, 3.0, 2.0]), columns) == (None, UNSEEN, 2.0)
    assert plain_values(np.array([1.0, 2.0, 2.0]), columns) == (1.0, None, 2.0)
