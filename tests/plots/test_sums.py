"""Pictures of sums of trees: partial dependence and importances."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from particletree import BARTClassifier, BARTRegressor, BayesianTreeClassifier
from particletree._plots.dependence import dependence_data
from particletree.plots import importances_data, plot_dependence, plot_importances, plot_sizes, plot_tree
from particletree.report import write_report

SMALL = {"n_trees": 10, "n_iterations": 40, "n_chains": 2, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), rng.integers(0, 3, 100)])
    X[::9, 0] = np.nan
    return BARTRegressor(**SMALL, categorical_features=[1]).fit(X, np.nan_to_num(X[:, 0]) + X[:, 1]), X


def test_the_curve_is_the_mean_of_predictions_with_the_value_set(model):
    bart, X = model
    data = dependence_data(bart, 0, X, level=0.8, n_points=4)
    assert np.isnan(data.values[-1])  # missing is asked for as well
    for place, value in enumerate(data.values):
        changed = X.copy()
        changed[:, 0] = value
        draws = bart.posterior_.predictive_draws(changed)[..., 0].mean(axis=0)
        assert data.mean[place, 0] == pytest.approx(draws.mean())
        assert data.low[place, 0] <= np.quantile(draws, 0.15) <= np.quantile(draws, 0.85) <= data.high[place, 0]


def test_levels_and_classes_can_be_drawn(model):
    bart, X = model
    assert len(dependence_data(bart.posterior_, 1, X).levels) == 3
    assert plot_dependence(bart, 1, X).get_ylabel()
    iris = load_iris()
    classifier = BARTClassifier(**SMALL).fit(iris.data, iris.target)
    data = dependence_data(classifier, 2, iris.data, n_points=5)
    np.testing.assert_allclose(data.mean.sum(axis=1), 1.0)


def test_importances_are_drawn_of_sums_as_of_trees(model):
    bart, X = model
    data = importances_data(bart)
    posterior = bart.posterior_
    assert data.importance.tolist() == sorted(posterior.feature_importances(), reverse=True)
    assert data.names == tuple(f"x[{feature}]" for feature in data.features)
    is_cut = (posterior.split_shares() > 0)[:, data.features]
    np.testing.assert_allclose(data.inclusion, is_cut.mean(axis=0))
    chains = [is_cut[posterior.chain == chain].mean(axis=0) for chain in range(2)]
    np.testing.assert_allclose(data.inclusion_se, np.std(chains, axis=0, ddof=1) / np.sqrt(2))
    ax = plot_importances(bart, max_features=1, X=X[:50])
    assert [bar.get_width() for bar in ax.patches] == [posterior.feature_importances(X[:50]).max()]


def test_pictures_of_single_trees_say_so(model):
    with pytest.raises(TypeError, match="of single trees, not of sums"):
        plot_sizes(model[0])


def test_a_tree_is_asked_for_where_many_are_given(model):
    X, y = model[1], np.arange(100) % 2
    classifier = BayesianTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"got BayesianTreeClassifier. Pass its posterior_\.consensus_tree\(\)"):
        plot_tree(classifier)
    with pytest.raises(TypeError, match=r"got Posterior. Pass its consensus_tree\(\)"):
        plot_tree(classifier.posterior_)
    with pytest.raises(TypeError, match=r"draws one tree, got BARTRegressor. Pass a Tree\."):
        plot_tree(model[0])


def test_there_is_no_report_yet(model, tmp_path):
    for given in (model[0], model[0].posterior_):
        with pytest.raises(TypeError, match="no report for sums of trees yet"):
            write_report(given, tmp_path / "report.html")
