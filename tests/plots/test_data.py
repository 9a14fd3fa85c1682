"""What pictures show, against numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from particletree import (
    MCMC,
    SMC,
    BARTClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exact,
    Exponential,
    Gaussian,
    Poisson,
    TreePrior,
)
from particletree._model.text import shorten
from particletree._plots.calibration import calibration_of
from particletree._plots.dependence import drawable
from particletree._plots.genealogy import shown_generations
from particletree._plots.partition import faded_colours
from particletree._plots.quantiles import standard_errors, weighted_quantiles
from particletree._plots.sizes import bin_edges, simulate_prior
from particletree._plots.tree_layout import leaf_densities
from particletree._posterior.runs.genealogy import DESCENDANT, check_genealogies
from particletree._posterior.runs.provenance import infer_provenance
from particletree._posterior.runs.traces import FILTER_RECORD
from particletree.plots import (
    calibration_data,
    choice_data,
    dependence_data,
    genealogy_data,
    importances_data,
    interactions_data,
    islands_data,
    partition_data,
    sizes_data,
    stages_data,
    tree_layout,
)
from plots.made_posteriors import small_posterior

ROWS = np.array([[1.0, 0.0, 9.0], [2.0, 0.0, 9.0], [2.0, 1.0, 9.0], [1.0, 1.0, 9.0]])


def means(n_first, n_second):
    """Return the class probabilities of a leaf under Categorical(2.0): one pseudo-count for each of two classes."""
    return np.array([n_first + 1.0, n_second + 1.0]) / (n_first + n_second + 2.0)


def test_layout_of_a_tree():
    layout = tree_layout(small_posterior().trees[0])
    assert layout.depth.tolist() == [0, 1, 1, 2, 2]
    assert layout.line.tolist() == [0.75, 0.0, 1.5, 1.0, 2.0]
    assert layout.parent.tolist() == [-1, 0, 0, 2, 2]
    assert layout.is_left.tolist() == [False, True, False, True, False]
    assert layout.rules == ("a <= 1.5", "", "b <= 0.5", "", "")
    assert layout.n_rows.tolist() == [8.0, 4.0, 4.0, 3.0, 1.0]
    np.testing.assert_allclose(layout.means[1], means(4, 0))
    assert (layout.intervals[..., 0] < layout.means).all()
    assert (layout.intervals[..., 1] > layout.means).all()


@pytest.mark.parametrize(("max_leaves", "n_leaves"), [(1, [3]), (2, [3, 1, 2]), (3, [3, 1, 2, 1, 1])])
def test_deep_parts_are_folded(max_leaves, n_leaves):
    layout = tree_layout(small_posterior().trees[0], max_leaves)
    assert layout.n_leaves.tolist() == n_leaves
    assert layout.n_lines <= max_leaves


def test_no_two_nodes_of_a_column_are_closer_than_a_line():
    X = np.random.default_rng(0).normal(size=(300, 4))
    posterior = BayesianTreeClassifier(random_state=0).fit(X, (X[:, 0] * X[:, 1] > 0).astype(int)).posterior_
    for tree in list(posterior.trees)[:20]:
        layout = tree_layout(tree)
        for depth in np.unique(layout.depth):
            assert (np.diff(np.sort(layout.line[layout.depth == depth])) >= 1).all()


def test_how_probable_the_nodes_are():
    posterior = small_posterior()
    tree = posterior.trees[0]
    assert tree_layout(tree).support is None
    layout = tree_layout(tree, posterior=posterior)
    np.testing.assert_allclose(layout.support, [0.8, 0.8, 0.5, 0.5, 0.5])
    folded = tree_layout(tree, 2, posterior=posterior).support
    np.testing.assert_allclose(folded, [0.8, 0.8, np.nan])


def test_nodes_of_another_posterior_are_refused():
    other = BayesianTreeClassifier(random_state=0).fit(ROWS, [0, 1, 1, 0]).posterior_
    with pytest.raises(ValueError, match="not one of this posterior"):
        tree_layout(small_posterior().trees[0], posterior=other)


def number_tree(leaf, y):
    X = np.arange(len(y), dtype=float)[:, None]
    return BayesianTreeRegressor(leaf=leaf, random_state=0).fit(X, y).posterior_.best_tree()


@pytest.mark.parametrize("leaf", [Gaussian(), Exponential()])
def test_densities_of_leaves_are_those_of_one_more_observation(leaf):
    tree = number_tree(leaf, np.repeat([1.0, 9.0], 20) + np.tile([0.1, 0.2, 0.3, 0.4], 10))
    layout = tree_layout(tree)
    densities = leaf_densities(tree, layout)
    distributions = tree.leaf.predictive_distributions(tree.node_statistics, 0)
    assert densities.log_density.shape == (tree.n_nodes, densities.values.size)
    node = int(np.flatnonzero(tree.feature < 0)[-1])
    for place in (0, 30, 59):
        at = np.full(tree.n_nodes, densities.values[place])
        assert densities.log_density[node, place] == pytest.approx(distributions.log_density(at)[node])
    assert densities.values[0] == pytest.approx(distributions.quantile(0.02)[tree.feature < 0].min())


def test_densities_of_counts_are_at_whole_numbers():
    tree = number_tree(Poisson(), np.repeat([1, 9], 20))
    densities = leaf_densities(tree, tree_layout(tree))
    np.testing.assert_array_equal(densities.values, densities.values.round())
    assert (np.diff(densities.values) >= 1).all()
    assert np.exp(densities.log_density[tree.feature < 0]).sum(axis=1) == pytest.approx(1.0, abs=0.1)


def test_a_layout_needs_a_line():
    with pytest.raises(ValueError, match="max_leaves must be at least 1"):
        tree_layout(small_posterior().trees[0], 0)


def test_dependence_by_hand():
    data = dependence_data(small_posterior(), "b", ROWS, n_points=2, level=0.5)
    left, right, leaf, root = means(4, 0), means(0, 4), [means(0, 3), means(0, 1)], means(4, 4)
    low, high = (0.5 * (left + each) / 2 + 0.3 * (left + right) / 2 + 0.2 * root for each in leaf)
    np.testing.assert_allclose(data.mean[0], low)
    np.testing.assert_allclose(data.mean[-1], high)
    assert data.name == "b"
    assert data.values.size == 2
    assert data.observed.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert (data.low <= data.high).all()


def test_the_average_of_dependence_is_that_of_predictions():
    posterior = small_posterior()
    data = dependence_data(posterior, 0, ROWS, n_points=3)
    for value, mean in zip(data.values, data.mean, strict=True):
        changed = ROWS.copy()
        changed[:, 0] = value
        np.testing.assert_allclose(mean, posterior.predictive(changed).mean(axis=0))


def test_missing_values_and_levels_have_places_of_their_own():
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "blue", None], 90), np.where(rng.random(90) < 0.2, np.nan, rng.normal(size=90))
    X = np.array([colour, size], dtype=object).T
    clf = BayesianTreeClassifier(random_state=0).fit(X, (colour == "red").astype(int))
    of_levels, of_numbers = dependence_data(clf, 0, X), dependence_data(clf, 1, X, n_points=4)
    assert of_levels.levels == ("blue", "red")
    assert np.isnan(of_levels.values).tolist() == [False, False, True]
    assert of_levels.mean[:, 1].argmax() == 1
    assert np.isnan(of_numbers.values).tolist() == [False] * 4 + [True]


def test_a_feature_that_is_not_there():
    with pytest.raises(ValueError, match="There is no feature 'd'"):
        dependence_data(small_posterior(), "d", ROWS)
    with pytest.raises(TypeError, match="Fit it first"):
        importances_data(BayesianTreeClassifier())


def test_importances_by_hand():
    posterior = small_posterior(((0.5, 0.3, 0.2), (0.1, 0.1, 0.8)))
    data = importances_data(posterior, X=ROWS)
    assert data.names[0] == "a"
    assert sorted(data.names) == ["a", "b", "c"]
    np.testing.assert_allclose(data.importance, posterior.feature_importances(ROWS)[data.features])
    of = dict(zip(data.names, zip(data.inclusion, data.inclusion_se, strict=True), strict=True))
    np.testing.assert_allclose(of["a"], (0.5, 0.3))
    np.testing.assert_allclose(of["b"], (0.3, 0.2))
    np.testing.assert_allclose(of["c"], (0.0, 0.0))


def test_at_most_so_many_features():
    assert importances_data(small_posterior(), max_features=1, X=ROWS).names == ("a",)


def test_interactions_by_hand():
    data = interactions_data(small_posterior())
    assert data.names == ("a", "b")
    np.testing.assert_allclose(data.in_tree, [[0.8, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(data.on_path, [[0.0, 0.5], [0.5, 0.0]])
    np.testing.assert_allclose([data.in_tree_se, data.on_path_se], 0.0)


def test_errors_of_interactions_by_hand():
    data = interactions_data(small_posterior(((0.5, 0.3, 0.2), (0.1, 0.1, 0.8))))
    np.testing.assert_allclose(data.in_tree_se, [[0.3, 0.2], [0.2, 0.2]])
    np.testing.assert_allclose(data.on_path_se, [[0.0, 0.2], [0.2, 0.0]], atol=1e-12)
    np.testing.assert_allclose(standard_errors(np.array([[1.0, 3.0, 5.0]])), 2 / 3**0.5)


def filtered(genealogy, n_resamplings):
    """Return a posterior of one island with this genealogy."""
    trace = np.zeros(10, dtype=FILTER_RECORD)
    trace["resampled"][1 : 2 * n_resamplings : 2] = True
    made = np.array(genealogy, dtype=DESCENDANT)
    return replace(small_posterior(), genealogy=[made], trace=[trace], provenance=infer_provenance([trace]))


def test_genealogy_by_hand():
    # Two lineages of 3 and 1 at the first resampling; the second has no offspring, the first 3 and 1.
    posterior = filtered([(0, 0, 1), (0, 0, 3), (1, 1, 1), (1, 1, 3)], 1)
    check_genealogies(posterior.genealogy, posterior.trace)
    data = genealogy_data(posterior)
    assert (data.n_particles, data.n_resamplings) == (4, 1)
    assert data.stages.tolist() == [2, 10]
    assert data.ancestors.tolist() == [1, 2]
    assert data.generation.tolist() == [0, 0, 1, 1, 1]
    assert data.survives.tolist() == [False, True, True, True, False]
    np.testing.assert_allclose(data.start, [[3, 4], [0, 3], [2.25, 3], [0, 2.25], [3, 4]])
    np.testing.assert_allclose(data.end, [[3, 4], [0, 3], [3, 4], [0, 3], [4, 4]])


def test_bands_tile_the_picture():
    X = np.random.default_rng(0).normal(size=(80, 3))
    smc = SMC.paper(n_particles=60, n_islands=2, ess_threshold=0.9)
    clf = BayesianTreeClassifier(sampler=smc, random_state=0).fit(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    for most in (2, 5, 100):
        data = genealogy_data(clf, island=1, max_generations=most)
        assert 2 <= data.stages.size <= most
        for generation in range(data.stages.size):
            here = data.generation == generation
            for edges in (data.start[here], data.end[here]):
                in_order = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
                np.testing.assert_allclose(in_order[1:, 0], in_order[:-1, 1], atol=1e-9)
                assert (edges.min(), edges.max()) == (pytest.approx(0, abs=1e-9), pytest.approx(60))


def test_all_ancestors_are_counted_where_generations_are_left_out():
    assert shown_generations(5, 24).tolist() == [0, 1, 2, 3, 4]
    assert shown_generations(500, 24)[[0, -2, -1]].tolist() == [0, 498, 499]
    posterior = filtered([(0, 0, 1), (0, 0, 3), (1, 1, 4), (2, 0, 2), (2, 0, 2)], 2)
    data = genealogy_data(posterior, max_generations=2)
    assert data.stages.tolist() == [2, 10]
    assert data.ancestors.tolist() == [1, 2]


def test_what_has_no_genealogy():
    with pytest.raises(ValueError, match="has no genealogy: only SMC"):
        genealogy_data(small_posterior())
    posterior = filtered([(0, 0, 4)], 0)
    with pytest.raises(ValueError, match="island must be from 0 to 0, got 1"):
        genealogy_data(posterior, island=1)
    with pytest.raises(ValueError, match="max_generations must be at least 2"):
        genealogy_data(posterior, max_generations=1)


def test_no_interactions_where_nothing_is_cut():
    with pytest.raises(ValueError, match="No tree cuts any feature"):
        interactions_data(small_posterior(((0.0, 0.0, 1.0),)))


def test_sizes_by_hand():
    data = sizes_data(small_posterior())
    posterior = dict(zip(data.leaves.tolist(), data.leaves_posterior, strict=True))
    assert {size: round(p, 9) for size, p in posterior.items() if p > 0} == {1: 0.2, 2: 0.3, 3: 0.5}
    assert data.leaves_prior.sum() == pytest.approx(1)
    assert data.depths_prior.sum() == pytest.approx(1)
    assert data.depths.max() <= 7


def test_the_prior_on_rows_that_can_be_cut_once():
    X = np.array([[0.0], [1.0]])
    clf = BayesianTreeClassifier(prior=TreePrior(alpha=0.7), random_state=0).fit(X, [0, 1])
    data = sizes_data(clf, X, n_draws=2000)
    assert data.leaves.tolist() == [1, 2]
    np.testing.assert_allclose(data.leaves_prior, [0.3, 0.7], atol=0.04)
    np.testing.assert_allclose(data.depths_prior, data.leaves_prior)


def test_the_simulated_prior_has_the_mean_of_the_branching_process():
    prior = TreePrior(alpha=0.8, beta=2.0)
    leaves, depths = simulate_prior(prior, 10**9, 20_000, np.random.default_rng(0))
    assert leaves.mean() == pytest.approx(prior.mean_leaves(), abs=4 * leaves.std() / 20_000**0.5)
    assert (leaves >= depths + 1).all()
    assert (depths == 0).mean() == pytest.approx(0.2, abs=0.012)


def test_the_simulated_prior_keeps_the_limits():
    leaves, depths = simulate_prior(TreePrior.paper(max_depth=2), 1000, 500, np.random.default_rng(0))
    assert depths.max() == 2
    assert leaves.max() <= 4
    leaves, _ = simulate_prior(TreePrior.paper(), 3, 500, np.random.default_rng(0))
    assert leaves.max() <= 3


def test_bins_are_few_and_hold_everything():
    for sizes in ([1], [1, 2, 30], [5, 100], [1, 5000], [0, 90]):
        edges = bin_edges(np.array(sizes))
        assert np.histogram(sizes, edges)[0].sum() == len(sizes)
        assert edges.size <= 26


def test_a_feature_with_few_values_is_asked_for_at_these_alone():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.choice([1.0, 2.5, 90.0], 200), rng.normal(size=200)])
    X[::7, 1] = np.nan
    model = BayesianTreeRegressor(random_state=0).fit(X, 3 * X[:, 0] + np.nan_to_num(X[:, 1]))
    binary, three, many = (dependence_data(model, feature, X) for feature in range(3))
    assert binary.values.tolist() == [0.0, 1.0]
    np.testing.assert_array_equal(three.values, [1.0, 2.5, 90.0, np.nan])
    assert many.values.size == 50
    assert (binary.is_line, three.is_line, many.is_line) == (False, False, True)
    assert dependence_data(model, 1, X, n_points=2).is_line  # who asks for two points of three values gets a range


def test_of_many_levels_those_with_most_rows_are_drawn():
    rng = np.random.default_rng(0)
    levels = np.array([f"l{i:02}" for i in range(60)])
    column = np.concatenate((levels, np.repeat(levels[10:34], 3), [None] * 5)).astype(object)
    y = rng.normal(size=column.size) + np.array([0 if each is None else int(each[1:]) for each in column]) / 10
    model = BayesianTreeRegressor(categorical_features=[0], random_state=0).fit(column[:, None], y)
    everything = dependence_data(model, 0, column[:, None])
    data = drawable(everything)
    assert data.levels == tuple(levels[10:34])
    np.testing.assert_array_equal(data.values, [*range(24), np.nan])
    np.testing.assert_array_equal(data.mean[:24], everything.mean[10:34])
    np.testing.assert_array_equal(data.mean[24], everything.mean[60])


def test_rules_of_a_layout_have_no_more_digits_than_separate_the_rows():
    X, y = load_iris(return_X_y=True)
    tree = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_.best_tree()
    layout = tree_layout(tree)
    assert layout.rules == tuple(tree.rounded().rules)
    assert max(map(len, layout.rules)) <= len("x[3] <= 1.65") < max(map(len, tree.rules))


def test_calibration_by_hand():
    data = calibration_of([0, 1, 1, 1], [0.1, 0.1, 0.8, 0.8], [0, 1], n_bins=2)
    np.testing.assert_allclose(data.predicted, [0.1, 0.8])
    np.testing.assert_allclose(data.observed, [0.5, 1.0])
    assert data.counts.tolist() == [2, 2]
    assert data.brier == pytest.approx((0.01 + 0.81 + 0.04 + 0.04) / 4)
    assert data.log_probability == pytest.approx(np.log([0.9, 0.1, 0.8, 0.8]).mean())
    assert ((data.low <= data.observed) & (data.observed <= data.high + 1e-12)).all()


def test_calibration_of_three_classes_pools_them():
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    data = calibration_of(["u", "w"], p, ["u", "v", "w"], n_bins=1)
    assert data.counts.tolist() == [6]
    assert data.observed[0] == pytest.approx(1 / 3)
    assert data.brier == pytest.approx((0.25 + 0.09 + 0.04 + 0.01 + 0.01 + 0.04) / 2)


def test_calibration_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"of 2 rows and 3 classes, but y has shape \(2,\) and there are 2 classes"):
        calibration_of(["u", "w"], np.full((2, 3), 1 / 3), ["u", "w"])
    with pytest.raises(ValueError, match=r"of 2 rows and 2 classes, but y has shape \(3,\)"):
        calibration_of(["u", "w", "w"], np.full((2, 2), 0.5), ["u", "w"])
    with pytest.raises(ValueError, match=r"the label .*'x'.*, which is not among the classes"):
        calibration_of(["u", "x"], np.full((2, 2), 0.5), ["u", "w"])
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration_of([0, 1], [0.5, 1.5], [0, 1])


def test_calibration_takes_a_model_and_rows_as_the_other_plots_do():
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["b", "a", "c"])[y]
    some = labels != "c"  # a class that does not occur in the rows still has probabilities
    bayes = BayesianTreeClassifier(random_state=0).fit(X, labels)
    bart = BARTClassifier(n_trees=5, n_iterations=20, n_chains=1, random_state=0).fit(X, labels)
    cart = DecisionTreeClassifier(random_state=0).fit(X, labels)
    for model in (bayes, bayes.posterior_, bart, bart.posterior_, cart):
        p = model.predict_proba(X[some]) if hasattr(model, "predict_proba") else model.predictive(X[some])
        data = calibration_data(model, X[some], labels[some], n_bins=5)
        expected = calibration_of(labels[some], p, ["a", "b", "c"], n_bins=5)
        assert (data.brier, data.counts.tolist()) == (expected.brier, expected.counts.tolist())
    numbers = BayesianTreeRegressor(random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="Calibration is of class probabilities, and BayesianTreeRegressor predicts"):
        calibration_data(numbers, X, y)


def test_stages_of_islands_and_chains():
    X, y = ROWS[:, :2], [0, 1, 1, 0]
    filtered = (
        BayesianTreeClassifier(sampler=SMC.paper(n_particles=5, n_islands=2), random_state=0).fit(X, y).posterior_
    )
    runs = stages_data(filtered)
    assert len(runs) == 2
    np.testing.assert_array_equal(runs[0].upper, filtered.trace[0]["ess"])
    assert runs[1].lower[-1] == pytest.approx(filtered.log_evidences[1])
    chain = BayesianTreeClassifier(sampler=MCMC(n_iterations=20, n_chains=2, burn_in=5), random_state=0).fit(X, y)
    runs = stages_data(chain)
    assert runs[0].steps.tolist() == list(range(6, 21))
    assert runs[0].upper.tolist() == chain.posterior_.along_chains(chain.posterior_.n_leaves)[0].tolist()


def test_draws_without_a_history_have_no_stages():
    clf = BayesianTreeClassifier(sampler=Exact(), random_state=0).fit(ROWS[:, :2], [0, 1, 1, 0])
    with pytest.raises(ValueError, match="no record of stages"):
        stages_data(clf)


def test_islands_by_hand():
    posterior = small_posterior(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), [-4.0, -6.0])
    data = islands_data(posterior)
    assert data.kind == "island"
    assert data.log_evidences.tolist() == [-4.0, -6.0]
    np.testing.assert_allclose(data.leaves, [3.0, 1.0])
    np.testing.assert_allclose(data.leaves_sd, [0.0, 0.0])
    # On the two kept rows the islands say means(4, 0) and means(0, 3) against the root's halves.
    expected = (abs(means(4, 0)[0] - 0.5) + abs(means(0, 3)[0] - 0.5)) / 4
    np.testing.assert_allclose(data.distances, [expected, expected])
    assert data.distances.mean() == pytest.approx(posterior.agreement.predictions)


def test_partition_by_hand():
    data = partition_data(small_posterior(), ROWS, ("a", "b"), n_points=2)
    assert data.means.shape == (2, 2, 2)
    np.testing.assert_allclose(data.means[0, 0], 0.8 * means(4, 0) + 0.2 * means(4, 4))
    np.testing.assert_allclose(data.means[1, 1], 0.5 * means(0, 1) + 0.3 * means(0, 4) + 0.2 * means(4, 4))
    assert (data.widths > 0).all()
    assert data.points.tolist() == ROWS[:, :2].tolist()


def test_a_plane_needs_two_features_with_numbers():
    rows = ROWS.copy()
    rows[:, 1] = np.nan
    with pytest.raises(ValueError, match="X has no value of b"):
        partition_data(small_posterior(), rows, ("a", "b"))
    X = np.array([["red", 1.0], ["blue", 2.0], ["red", 3.0]], dtype=object)
    with pytest.raises(ValueError, match="is categorical: choose two features"):
        partition_data(BayesianTreeClassifier(random_state=0).fit(X, [0, 1, 0]), X)


def test_colours_fade_from_certainty_to_a_guess():
    faded = faded_colours(np.array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]]), ["#000000", "#FF0000"])
    np.testing.assert_allclose(faded, [[0, 0, 0], [1, 1, 1], [1, 0.5, 0.5]])


def test_choice_has_the_best_first():
    X = np.random.default_rng(0).normal(size=(60, 2))
    reg = BayesianTreeRegressor(prior=TreePrior(beta="auto"), random_state=0).fit(X, X[:, 0])
    data = choice_data(reg)
    assert (np.diff(data.log_evidences) <= 0).all()
    assert data.is_toss_up[0]
    assert data.names[0] == f"beta {reg.posterior_.prior.beta:g}"
    with pytest.raises(ValueError, match="No setting was chosen"):
        choice_data(small_posterior())


def test_quantiles_along_an_axis():
    values = np.array([[3.0, 30.0], [1.0, 10.0], [2.0, 20.0]])
    quantiles = weighted_quantiles(values, np.array([0.2, 0.5, 0.3]), np.array([0.05, 0.95]), axis=0)
    assert quantiles.tolist() == [[1.0, 3.0], [10.0, 30.0]]


def test_names_are_cut_in_the_middle():
    assert shorten("short") == "short"
    assert shorten("abcdefghij", 7) == "abc…hij"
    assert len(shorten("x" * 99)) == 24
