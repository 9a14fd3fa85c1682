"""What the page shows, as plain values: the trees, their rules and numbers, and the words."""

import json

import numpy as np
import pytest
from scipy.stats import poisson

from particletree import MCMC, BayesianTreeClassifier, BayesianTreeRegressor, Exact, Posterior
from particletree._model.rule import goes_left
from particletree._posterior.findings import Finding
from particletree._report.page import to_json
from particletree._report.scores import probability_up_to
from particletree._report.words import findings
from particletree.report import render, report_data, write_report
from report.made_reports import mixed_model, mixed_table, number_model, rate_model


def sections(model, *arguments, **options):
    """Return the data of a report as they come out of JSON."""
    return json.loads(to_json(report_data(model, *arguments, **options)))


def walk(data, root, row):
    """Return the leaf of a row, levels by their numbers, by the rules as the page has them."""
    nodes, node = data["trees"]["nodes"], root
    while nodes["feature"][node] >= 0:
        value, rule = row[nodes["feature"][node]], nodes["rule"][node]
        if rule == 3:
            bits = bin(int("1" + nodes["sets"][nodes["set"][node]], 16))[3:]
            is_left = bits[int(value)] == "1"
        elif np.isnan(value):
            is_left = rule == 1
        else:
            is_left = rule == 2 or value <= nodes["threshold"][node]
        node = nodes["left" if is_left else "right"][node]
    return node


@pytest.mark.parametrize("n_levels", [3, 90])
def test_the_trees_are_those_of_the_posterior(n_levels):
    X, y = mixed_table(n_levels=n_levels)
    posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    data, rows = sections(posterior, X), posterior.as_numbers(X)[::20]
    order = np.argsort(-posterior.weights, kind="stable")
    blocks = posterior.leaf_blocks(rows)[:, order]
    counts = data["blocks"]["counts"]
    for row, expected in zip(rows, blocks, strict=True):
        for root, block in zip(data["trees"]["roots"], expected, strict=True):
            found = counts[data["trees"]["nodes"]["block"][walk(data, root, row)]]
            dense = np.zeros(3)
            dense[found[::2]] = found[1::2]
            np.testing.assert_array_equal(dense, posterior.forest.statistics[block])
    np.testing.assert_allclose(data["trees"]["weights"], posterior.weights[order], rtol=1e-9)


def test_thresholds_keep_every_digit():
    model, X, _ = mixed_model()
    nodes = sections(model, X)["trees"]["nodes"]
    shipped = {value for value in nodes["threshold"] if value is not None}
    own = model.posterior_.forest.nodes
    is_cut = (own["feature"] >= 0) & (own["kind"] < 2) & np.isfinite(own["threshold"])
    assert set(own["threshold"][is_cut].tolist()) <= shipped


def test_the_page_opens_with_the_score_beside_a_plain_guess():
    model, X, y = mixed_model()
    held_out = sections(model, X[:100], y[:100], X_test=X[100:], y_test=y[100:])
    accuracy = held_out["scores"]["scores"][0]
    right = float((model.predict(X[100:]) == y[100:]).mean())
    labels, counts = np.unique(y, return_counts=True)
    guessed = float((np.asarray(y[100:]) == labels[counts.argmax()]).mean())
    assert (accuracy["value"], accuracy["guess"]) == (pytest.approx(right), pytest.approx(guessed))
    assert (
        f"On {len(y) - 100} held-out rows its most probable class is right for {right:.1%}" in held_out["sentences"][1]
    )
    assert f"the most frequent class of the training rows, is right for {guessed:.1%}." in held_out["sentences"][1]
    assert held_out["figures"][0]["name"] == "Accuracy, held-out rows"
    assert held_out["figures"][0]["note"] == f"plain guess: {guessed:.1%}"
    assert "held-out rows the trees predict" in " ".join(each["finding"] for each in held_out["findings"])
    assert not {"Log evidence", "Effective sample size"} & {each["name"] for each in held_out["figures"]}
    assert {"Log evidence", "Effective sample size"} <= {name for name, _ in held_out["provenance"]}
    assert sections(model, X, y)["sentences"][1].endswith("this is too optimistic.")
    assert sections(model, X)["sentences"][1].startswith("How good the predictions are is not known here")


def test_a_plain_guess_that_is_better_is_said_to_be():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.lognormal(sigma=2.5, size=300)
    model = BayesianTreeRegressor(random_state=0).fit(X[:200], y[:200])
    data = sections(model, X[:200], y[:200], X_test=X[200:], y_test=y[200:])
    assert "always guessing the mean of the training rows has" in data["sentences"][1]
    assert data["sentences"][1].endswith("The plain guess is better on these rows.")
    assert data["findings"][0]["level"] == "warning"


def test_the_support_of_a_node_is_what_the_posterior_says():
    model, X, _ = mixed_model()
    posterior, trees = model.posterior_, sections(model, X)["trees"]
    table = trees["support"]
    known = {node: (p, n) for node, p, n in zip(table["node"], table["support"], table["n_runs"], strict=True)}
    for shown, tree in zip(trees["singled"], (posterior.consensus_tree(X), posterior.best_tree()), strict=True):
        expected = posterior.node_probabilities(tree)
        found = [known[shown["root"] + node] for node in range(tree.n_nodes)]
        np.testing.assert_allclose([p for p, _ in found], expected.support, atol=1e-5)
        assert [n for _, n in found] == expected.n_runs.tolist()
    assert len(known) == sum(2 * shown["leaves"] - 1 for shown in trees["singled"])
    assert (table["all_runs"], table["run"], table["tolerance"]) == (posterior.n_islands, "island", 0.1)


def test_fewer_trees_than_there_are():
    model, X, _ = mixed_model()
    data = sections(model, X, max_trees=3)["trees"]
    assert len(data["roots"]) == 3
    assert data["total"] == model.posterior_.forest.n_trees
    assert data["held"] == pytest.approx(np.sort(model.posterior_.weights)[-3:].sum())
    assert sum(data["weights"]) == pytest.approx(1)


def test_scores_say_which_rows_they_are_of():
    model, X, y = mixed_model()
    assert sections(model, X, y)["scores"]["origin"] == "training"
    assert sections(model, X[:100], y[:100])["scores"]["origin"] == "unknown"
    test = sections(model, X, y, X_test=X[:50], y_test=y[:50])["scores"]
    assert (test["origin"], test["rows"]) == ("held out", 50)
    right = (model.predict(X[:50]) == y[:50]).mean()
    assert test["scores"][0]["value"] == pytest.approx(right, abs=1e-6)
    assert sections(model, X)["scores"] is None


def test_scores_of_numbers():
    model, X, y = number_model()
    scores = sections(model, X, y)["scores"]
    error, density, covered = (each["value"] for each in scores["scores"])
    assert error == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)), rel=1e-5)
    assert density == pytest.approx(model.predict_log_density(X, y).mean(), rel=1e-5)
    low, high = model.predict_quantiles(X, [0.05, 0.95]).T
    assert covered == pytest.approx(((low < y) & (y <= high)).mean(), abs=1e-6)


def test_counts_of_the_model_itself_are_calibrated():
    """Of counts drawn from the predictions, the share below each predicted quantile is the quantile's."""
    model, X, _ = number_model("poisson")
    y = model.sample_predictive(X, 1, random_state=0)[:, 0].astype(float)
    scores = sections(model, X, X_test=X, y_test=y)["scores"]
    predicted, observed = np.array(scores["predicted"]), np.array(scores["observed"])
    assert (np.abs(observed - predicted) < 4 * np.sqrt(predicted * (1 - predicted) / len(y))).all()
    low, high = model.predict_quantiles(X, [0.05, 0.95]).T
    assert scores["scores"][2]["value"] == pytest.approx(((low <= y) & (y <= high)).mean(), abs=1e-6)
    assert scores["scores"][2]["value"] >= 0.88


def test_probabilities_of_counts():
    model, X, y = number_model("poisson")
    rows = model.posterior_.as_numbers(X)
    at_most, less = (probability_up_to(model.posterior_, rows, (y - k)[:, None])[:, 0] for k in (0, 1))
    assert np.log(at_most - less) == pytest.approx(model.predict_log_density(X, y), rel=1e-9)


class TestExposure:
    def test_counts_are_scored_over_their_exposure(self):
        model, X, y, miles = rate_model()
        scores = sections(model, X, y, exposure=miles)["scores"]
        assert scores["origin"] == "training"
        error, density, covered = (each["value"] for each in scores["scores"])
        assert error == pytest.approx(np.sqrt(np.mean((model.predict(X) * miles - y) ** 2)), rel=1e-5)
        assert density == pytest.approx(model.predict_log_density(X, y, miles).mean(), rel=1e-5)
        low, high = model.predict_quantiles(X, [0.05, 0.95], miles).T
        assert covered == pytest.approx(((low <= y) & (y <= high)).mean(), abs=1e-6)
        assert covered > 0.88

    def test_the_plain_guess_knows_the_exposure(self):
        model, X, y, miles = rate_model()
        error, density, _ = (each["guess"] for each in sections(model, X, y, exposure=miles)["scores"]["scores"])
        rate = y.sum() / miles.sum()
        assert error == pytest.approx(np.sqrt(np.mean((rate * miles - y) ** 2)), rel=1e-2)
        assert density == pytest.approx(poisson.logpmf(y, rate * miles).mean(), rel=1e-2)

    def test_counts_of_the_model_itself_are_calibrated(self):
        model, X, _, miles = rate_model()
        y = model.sample_predictive(X, 1, random_state=0, exposure=miles)[:, 0]
        scores = sections(model, X_test=X, y_test=y, exposure_test=miles)["scores"]
        predicted, observed = np.array(scores["predicted"]), np.array(scores["observed"])
        assert (np.abs(observed - predicted) < 4 * np.sqrt(predicted * (1 - predicted) / len(y))).all()
        assert scores["origin"] == "held out"

    def test_probabilities_of_counts(self):
        model, X, y, miles = rate_model()
        rows = model.posterior_.as_numbers(X)
        columns = {"exposure": miles}
        at_most, less = (probability_up_to(model.posterior_, rows, (y - k)[:, None], columns)[:, 0] for k in (0, 1))
        assert np.log(at_most - less) == pytest.approx(model.predict_log_density(X, y, miles), rel=1e-7)

    def test_without_the_exposure_nothing_is_scored(self, tmp_path):
        model, X, y, miles = rate_model()
        model.posterior_.save(tmp_path / "claims.npz")
        for made in (model, Posterior.load(tmp_path / "claims.npz")):
            data = sections(made, X, y)
            assert data["scores"] is None
            assert "exposure of the counts was not given" in data["unscored"]
            assert "exposure=..." in data["unscored"]
        assert "exposure_test=..." in sections(model, X, y, X_test=X, y_test=y, exposure=miles)["unscored"]
        assert sections(model, X)["unscored"] is None

    def test_the_page_says_that_it_predicts_a_rate(self):
        model, X, y, miles = rate_model()
        data = sections(model, X, y, exposure=miles, target_name="claims")
        assert data["sentences"][0].startswith("The model predicts the rate of claims per unit of exposure from 2 feat")
        assert data["target"]["mean"]["noun"] == "rate"
        assert data["unscored"] is None
        assert sections(model)["target"]["outputs"] == ["rate"]
        assert sections(model)["sentences"][0].startswith("The model predicts a rate per unit of exposure from 2 feat")

    def test_counts_without_exposure_are_as_before(self):
        model, X, y = number_model("poisson")
        data = sections(model, X, y)
        assert data["target"]["mean"]["noun"] == "mean"
        assert data["target"]["outputs"] == ["mean"]
        with_ones = sections(model, X, y, exposure=np.ones(len(y)))["scores"]
        assert [each["value"] for each in with_ones["scores"]] == pytest.approx(
            [each["value"] for each in data["scores"]["scores"]], rel=1e-6
        )

    def test_rows_without_a_count_need_no_exposure(self):
        model, X, y, miles = rate_model()
        y[:5], miles[:5] = np.nan, np.nan
        assert sections(model, X, y, exposure=miles)["scores"]["rows"] == len(y) - 5
        miles[7] = -1.0
        with pytest.raises(ValueError, match="Exposure that is not positive"):
            report_data(model, X, y, exposure=miles)

    def test_other_models_refuse_it(self):
        model, X, y = number_model()
        with pytest.raises(
            ValueError, match=r"has no use for exposure_test; leave it out, or fit with leaf=Poisson\(\)"
        ):
            report_data(model, X_test=X, y_test=y, exposure_test=y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": 240, "y": 239}, "X has 240 rows, but y has 239 values: give one for each row"),
        ({"X_test": 100, "y_test": 240}, "X_test has 100 rows, but y_test has 240 values"),
        ({"X": 240, "y": 240, "X_test": 100, "y_test": 99}, "X_test has 100 rows, but y_test has 99 values"),
        ({"y": 240}, "y was given without X: give the rows that it belongs to"),
        ({"X": 240, "y": 240, "y_test": 100}, "y_test was given without X_test"),
        ({"X": 240, "y": 240, "X_test": 100}, "X_test was given without y_test"),
        ({"exposure": 240}, "exposure was given without X"),
        ({"X": 240, "y": 240, "exposure": 100}, "X has 240 rows, but exposure has 100 values"),
    ],
)
def test_rows_and_targets_that_do_not_match_are_refused(tmp_path, given, message):
    model, X, y = number_model("poisson")
    parts = {"X": X, "y": y, "exposure": np.ones(len(y))}
    arguments = {name: parts[name.removesuffix("_test")][:n] for name, n in given.items()}
    with pytest.raises(ValueError, match=message):
        write_report(model, tmp_path / "page.html", **arguments)
    assert not (tmp_path / "page.html").exists()


def test_targets_of_another_shape_are_refused():
    model, X, y = number_model()
    with pytest.raises(ValueError, match=r"y has shape \(240, 2\), but the fit had 1 target: give the same"):
        report_data(model, X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="X has 240 rows, but y has a single value"):
        report_data(model, X, 1.0)
    assert sections(model, X, y[:, None])["scores"]["rows"] == 240
    model, X, y = mixed_model()
    with pytest.raises(ValueError, match=r"y must have shape \(240,\), one label for each row, got \(240, 1\)"):
        report_data(model, X, y[:, None])


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"max_trees": 0}, "max_trees must be an integer of at least 1.*got 0"),
        ({"max_trees": 2.5}, "max_trees must be an integer of at least 1.*got 2.5"),
        ({"n_dependence": -1}, "n_dependence must be an integer of at least 0.*got -1"),
        ({"n_dependence": True}, "n_dependence must be an integer of at least 0.*got True"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limit, message):
    with pytest.raises(ValueError, match=message):
        report_data(number_model()[0], **limit)


def test_limits_may_be_as_small_as_they_can_be():
    data = sections(number_model()[0], n_dependence=0, max_trees=1)
    assert data["dependence"]["panels"] == []
    assert len(data["trees"]["roots"]) == 1
    with pytest.raises(TypeError, match="max_tree"):
        report_data(number_model()[0], max_tree=1)


def test_features_that_hardly_matter_are_not_named():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.normal(size=300), rng.normal(size=300)])
    model = BayesianTreeClassifier(random_state=0).fit(X, X[:, 0] > 0)
    last = sections(model)["sentences"][-1]
    assert last == "What matters most is x[0]: 100% of the gain of all splits."


def test_labels_that_the_fit_does_not_know_are_refused():
    model, X, _ = mixed_model()
    with pytest.raises(ValueError, match="No row has a target that the model knows"):
        report_data(model, X, ["other"] * len(X))


def test_a_saved_posterior_has_a_page_without_rows(tmp_path):
    model, _, _ = mixed_model()
    model.posterior_.save(tmp_path / "model.npz", keep_rows=False)
    data = sections(Posterior.load(tmp_path / "model.npz"))
    assert [each["name"] for each in data["trees"]["singled"]] == ["Most probable tree"]
    assert not data["dependence"]["averaged"]
    assert data["sizes"]["rough"]
    assert {panel["name"] for panel in data["dependence"]["panels"]} == {"size", "colour", "age"}


def test_a_saved_posterior_has_the_page_of_the_fit(tmp_path):
    model, _, _ = mixed_model()
    model.posterior_.save(tmp_path / "model.npz")
    assert sections(Posterior.load(tmp_path / "model.npz")) == sections(model.posterior_)


def test_dependence_on_a_binary_feature_is_two_points():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 100), rng.normal(size=100)])
    model = BayesianTreeRegressor(random_state=0).fit(X, 3 * X[:, 0] + X[:, 1])
    binary, line = sorted(report_data(model, X)["dependence"]["panels"], key=lambda panel: panel["name"])
    assert (binary["is_line"], binary["values"], binary["deciles"]) == (False, [0.0, 1.0], [])
    assert line["is_line"]


@pytest.mark.parametrize("sampler", [MCMC(n_iterations=200, n_chains=2), Exact()])
def test_every_sampler_has_a_page(sampler):
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(12, 2)).astype(float)
    y = (X[:, 0] > 0).astype(int)
    data = sections(BayesianTreeClassifier(sampler=sampler, random_state=0).fit(X, y), X, y)
    assert data["exact"] == isinstance(sampler, Exact)
    assert data["target"]["outputs"] == ["class 0", "class 1"]
    assert data["features"][0]["name"] == "x[0]"


def test_several_targets():
    X, _ = mixed_table()
    y = np.stack((np.arange(240) % 7, np.arange(240) % 3), axis=1).astype(float)
    data = sections(BayesianTreeRegressor(random_state=0).fit(X, y), X, y)
    assert data["target"]["outputs"] == ["target 0", "target 1"]
    assert len(data["blocks"]["means"]) == len(data["blocks"]["distributions"]) == 2


def test_a_constant_target_has_a_page():
    X, _ = mixed_table()
    data = sections(BayesianTreeRegressor(random_state=0).fit(X, np.arange(240) // 239), X)
    assert data["sentences"]


def test_the_number_of_a_finding_is_shown_unless_its_text_has_it():
    found = Finding("warning", "chains", "Chains differ", 1.2345, 1.01, "Run longer.")
    told = Finding("note", "rhat", "R-hat is 1.2", 1.2, 1.01, "")
    endless = Finding("note", "sizes", "Islands differ", float("inf"), 1.0, "")
    assert findings([found, told, endless]) == [
        {"level": "warning", "finding": "Chains differ", "number": "1.23", "advice": "Run longer."},
        {"level": "note", "finding": "R-hat is 1.2", "number": None, "advice": ""},
        {"level": "note", "finding": "Islands differ", "number": None, "advice": ""},
    ]


def test_no_row_of_the_data_is_in_the_page():
    X, y = mixed_table()
    X["age"] = np.round(X["age"], 9)  # nine decimals: a value that is there by chance would be a wonder
    page = render(report_data(BayesianTreeClassifier(random_state=0).fit(X, y), X, y))
    model = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    nodes = model.forest.nodes
    ends = set(np.concatenate((nodes["gap_low"], nodes["gap_high"])).tolist())
    others = [value for value in X["age"].dropna() if value not in ends]
    assert len(others) > 50
    assert not any(repr(value) in page for value in others)


def test_the_rules_of_the_page_are_those_of_the_kernel():
    model, X, _ = mixed_model()
    posterior = model.posterior_
    data, rows = sections(model, X), posterior.as_numbers(X)
    nodes = posterior.forest.select(np.argsort(-posterior.weights, kind="stable")).nodes
    for node in np.flatnonzero(nodes["feature"] >= 0)[:40].tolist():
        values = rows[:, nodes["feature"][node]]
        sides = goes_left(values, np.broadcast_to(nodes[node], values.shape))
        table = data["trees"]["nodes"]
        stub = {"trees": {"nodes": {name: list(table[name]) for name in table}}}
        children = [table[side][node] for side in ("left", "right")]
        for child in children:
            stub["trees"]["nodes"]["feature"][child] = -1  # the walk ends one step below
        assert [walk(stub, node, row) == children[0] for row in rows] == sides.tolist()
