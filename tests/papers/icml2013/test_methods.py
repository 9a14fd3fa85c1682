"""What a cell measures, against the estimators themselves."""

import numpy as np
import pytest

from papers.harness.journal import key_of
from papers.icml2013 import methods
from papers.icml2013.cells import BREAST_CANCER, Cell, load
from papers.icml2013.methods import Boosting, Cart, Chain, Filter, PriorDraws, RandomForest
from papers.icml2013.prior import exact_means
from particletree import MCMC, SMC, BayesianTreeClassifier, Categorical, TreePrior
from particletree._commands.cart import mean_log_probability


@pytest.fixture(scope="module")
def data():
    return load(BREAST_CANCER, None)


def test_a_filter_is_scored_as_the_classifier_is(data):
    found = Filter(50, "empirical", n_islands=2).measure(data, seed=3)
    sampler = SMC.paper(n_particles=50, n_islands=2, proposal="empirical")
    model = BayesianTreeClassifier(TreePrior.paper(), Categorical.paper(), sampler=sampler, random_state=3).fit(
        data.X_train, data.y_train
    )
    assert found["accuracy"] == model.score(data.X_test, data.y_test)
    assert found["log_evidence"] == model.log_evidence_
    expected = mean_log_probability(model.predict_proba(data.X_test), model.classes_, data.y_test)
    assert found["log_probability"] == pytest.approx(expected)
    assert found["seconds"] > 0


def test_a_filter_that_never_resamples(data):
    found = Filter(50, ess_threshold=0.0).measure(data, seed=3)
    model = BayesianTreeClassifier(
        TreePrior.paper(),
        Categorical.paper(),
        sampler=SMC.paper(n_particles=50, n_islands=1, ess_threshold=0.0),
        random_state=3,
    )
    assert found["log_evidence"] == model.fit(data.X_train, data.y_train).log_evidence_
    assert found["log_evidence"] != Filter(50).measure(data, seed=3)["log_evidence"]


def test_ten_particles_never_resample(data):
    without = {name: value for name, value in Filter(10).measure(data, seed=3).items() if name != "seconds"}
    assert without.items() <= Filter(10, ess_threshold=0.0).measure(data, seed=3).items()


def test_how_deep_rows_end_is_what_their_leaves_say(data):
    model = BayesianTreeClassifier(
        TreePrior.paper(), Categorical.paper(), sampler=SMC.paper(n_particles=20, n_islands=1), random_state=0
    )
    posterior = model.fit(data.X_train, data.y_train).posterior_
    by_tree = []
    for tree in posterior.trees:
        is_leaf = tree.feature < 0
        by_tree.append(np.average(tree.node_depths[is_leaf], weights=tree.node_statistics.sum(axis=1)[is_leaf]))
    assert methods.mean_row_depth(posterior) == pytest.approx(posterior.weights @ np.array(by_tree))


def test_a_chain_ends_where_the_classifier_does(data):
    found = Chain(2000, n_chains=2, n_kept=100).measure(data, seed=1)
    model = BayesianTreeClassifier(
        TreePrior.paper(),
        Categorical.paper(),
        sampler=MCMC(n_iterations=2000, n_chains=2, burn_in=0, thin=20),
        random_state=1,
    )
    model.fit(data.X_train, data.y_train)
    assert found["iterations"][-1] == 2000
    assert found["accuracy"][-1] == model.score(data.X_test, data.y_test)
    expected = mean_log_probability(model.predict_proba(data.X_test), model.classes_, data.y_test)
    assert found["log_probability"][-1] == pytest.approx(expected)
    assert np.all(np.diff(found["seconds"]) >= 0)


@pytest.mark.parametrize("method", [Cart("entropy", 5), RandomForest(10), Boosting(10)])
def test_baselines_know_something(data, method):
    found = method.measure(data, seed=0)
    assert found["accuracy"] > 0.85
    assert -0.5 < found["log_probability"] < 0.0


def test_trees_on_unlimited_data_have_the_means_of_the_branching_process():
    prior = TreePrior(0.95, 0.5)
    depths, n_nodes = methods.grow_on_unlimited_data(prior, 40_000, np.random.default_rng(0))
    for values, expected in zip((depths, n_nodes), exact_means(prior), strict=True):
        z = (values.mean() - expected) / (values.std() / np.sqrt(values.size))
        assert abs(z) < 4, f"{values.mean()} instead of {expected}, z = {z}"


def test_trees_on_rows_are_smaller_than_on_unlimited_data(data):
    on_rows = PriorDraws(5000).measure(data, seed=0)
    assert on_rows["nodes"] < exact_means(TreePrior.paper())[1]
    assert sum(on_rows[f"depth = {d}"] for d in methods.DEPTHS) == pytest.approx(1.0, abs=1e-3)


def test_a_cell_is_the_same_wherever_its_data_are():
    here, there = (Cell("MAGIC", Filter(10), 0, folder) for folder in (None, "/data"))
    assert key_of(here.description) == key_of(there.description)
    assert here == there


def test_cells_with_other_settings_are_other_cells():
    cells = [
        Cell("MAGIC", method, 0) for method in (Filter(10), Filter(10, "optimal"), Cart(), Cart(min_samples_leaf=5))
    ]
    assert len({key_of(cell.description) for cell in cells}) == 4
