"""Every plot draws: on new axes and on given ones, with labels, without leaving a figure open."""

import subprocess
import sys
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification

from particletree import (
    MCMC,
    BARTRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Exponential,
    Gaussian,
    Poisson,
    TreePrior,
    plots,
)
from particletree._model.leaves import GaussianKnownVariance
from particletree._plots.names import without_formulas
from particletree._plots.tree import class_parts
from particletree._plots.tree_layout import wrap_rule
from particletree.report import write_report
from plots.made_posteriors import small_posterior

matplotlib.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def classifier():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return BayesianTreeClassifier(prior=TreePrior(beta="auto"), random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def regressor():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return BayesianTreeRegressor(random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def many_classes():
    X, y = make_classification(800, 30, n_informative=10, n_classes=26, n_clusters_per_class=1, random_state=0)
    names = [f"${'long ' * 12}$ {number}" for number in range(30)]
    import pandas as pd

    X = pd.DataFrame(X, columns=names)
    return BayesianTreeClassifier(random_state=0).fit(X, [f"{'kind ' * 9}{k}" for k in y]), X, y


PLOTS = {
    "genealogy": (2, lambda model, X, y, ax: plots.plot_genealogy(model, ax)),
    "sure tree": (1, lambda model, X, y, ax: plots.plot_tree(model.posterior_.best_tree(), ax, posterior=model)),
    "tree": (1, lambda model, X, y, ax: plots.plot_tree(model.posterior_.best_tree(), ax)),
    "dependence": (1, lambda model, X, y, ax: plots.plot_dependence(model, 2, X, ax)),
    "importances": (1, lambda model, X, y, ax: plots.plot_importances(model, ax)),
    "interactions": (1, lambda model, X, y, ax: plots.plot_interactions(model, ax)),
    "sizes": (2, lambda model, X, y, ax: plots.plot_sizes(model, X, ax, n_draws=50)),
    "stages": (2, lambda model, X, y, ax: plots.plot_stages(model, ax)),
    "islands": (3, lambda model, X, y, ax: plots.plot_islands(model, ax)),
    "partition": (1, lambda model, X, y, ax: plots.plot_partition(model, X, (2, 3), ax, n_points=10)),
}


def panels_of(drawn):
    return drawn if isinstance(drawn, list) else [drawn]


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("data", ["classifier", "regressor", "many_classes"])
def test_a_plot_draws_in_one_new_figure_that_pyplot_shows(name, data, request):
    n_panels, draw = PLOTS[name]
    model, X, y = request.getfixturevalue(data)
    panels = panels_of(draw(model, X, y, None))
    assert len(panels) == n_panels
    panels[0].figure.canvas.draw()
    assert len(plt.get_fignums()) == 1
    assert plt.gcf() is panels[0].figure
    assert panels[0].figure.get_figwidth() >= 3.4 or name.endswith("tree")
    if not name.endswith("tree"):
        assert panels[-1].get_xlabel() or panels[-1].get_title()


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_draws_on_given_axes(name, classifier):
    n_panels, draw = PLOTS[name]
    figure, axes = plt.subplots(1, n_panels)
    try:
        drawn = draw(*classifier, axes)
        assert panels_of(drawn) == list(np.ravel(axes))
        assert plt.get_fignums() == [figure.number]
    finally:
        plt.close(figure)


def test_calibration_and_choice(classifier):
    model, X, y = classifier
    ax = plots.plot_calibration(model, X, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted probability (grey: predictions)", "observed frequency")
    assert any("Brier score 0." in text.get_text() for text in ax.texts)
    assert plots.plot_choice(model).get_xlabel() == "log evidence"
    assert len(plt.get_fignums()) == 2


def test_dependence_on_a_binary_feature_has_points_and_ticks_at_its_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100, 2)).astype(float)
    model = BayesianTreeRegressor(random_state=0).fit(X, X[:, 0] + rng.normal(size=100))
    ax = plots.plot_dependence(model, 0, X)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1"]
    assert len(ax.containers) == 1  # points with bars
    assert len(ax.collections) == 1  # the bars, and no band
    assert ax.lines[0].get_xdata().tolist() == [0.0, 1.0]


def test_many_levels_and_classes_fit_into_the_figure(many_classes):
    rng = np.random.default_rng(0)
    column = rng.integers(0, 100, 600)
    X = np.array([f"a level with a long name, number {k}" for k in column], dtype=object)[:, None]
    model = BayesianTreeRegressor(categorical_features=[0], random_state=0).fit(X, column % 10 + rng.normal(size=600))
    levels = plots.plot_dependence(model, 0, X)
    assert len(levels.get_xticklabels()) == 24
    assert "(24 of 100 levels, those with most rows)" in levels.get_xlabel()
    classifier, X, _ = many_classes
    some = plots.plot_dependence(classifier, 2, X)
    assert [text.get_text() for text in some.get_legend().get_texts()][-1] == "and 21 more"
    every = plots.plot_dependence(classifier, 2, X, outputs=range(26))
    assert [text.get_text() for text in every.get_legend().get_texts()][-1] == "and 17 more"
    for ax in (levels, some, every, plots.plot_partition(classifier, X, (1, 2), n_points=10)):
        ax.figure.canvas.draw()
        labels = ax.get_xticklabels() if ax is levels else []
        parts = [*labels, ax.xaxis.label, *([ax.get_legend()] if ax.get_legend() else [])]
        for part in parts:
            box = part.get_window_extent()
            assert box.x0 >= 0
            assert box.x1 <= ax.figure.bbox.width
            assert box.y0 >= 0
            assert box.y1 <= ax.figure.bbox.height
        boxes = [label.get_window_extent() for label in labels]
        assert all(one.x1 <= other.x0 + 1 for one, other in pairwise(boxes)), "labels overlap"


@pytest.mark.parametrize("scale", [1e160, 1e300, 1.7e308])
def test_features_up_to_the_largest_float(scale, tmp_path):
    """Warnings are errors in the tests: nothing may overflow on the way to the right answer."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model = BayesianTreeRegressor(random_state=0).fit(X * scale, y)
    assert np.corrcoef(model.predict(X * scale), y)[0, 1] > 0.8
    bart = BARTRegressor(n_trees=10, n_iterations=40, n_chains=1, random_state=0).fit(X * scale, y)
    assert np.corrcoef(bart.predict(X * scale), y)[0, 1] > 0.8
    print(model.posterior_.summary(), model.explain(X[:1] * scale))
    for ax in (
        plots.plot_dependence(model, 0, X * scale),
        plots.plot_dependence(bart, 0, X * scale),
        plots.plot_partition(model, X * scale, n_points=10),
        plots.plot_tree(model.posterior_.best_tree()),
    ):
        ax.figure.savefig(tmp_path / "drawn.png")
    if scale > 1e300:
        assert plots.plot_dependence(model, 0, X * scale).get_xlabel() == "x[0] / 1e308"
    write_report(model, tmp_path / "report.html", X * scale, y)


def test_chains_have_traces():
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(sampler=MCMC(n_iterations=50, n_chains=2), random_state=0).fit(X, y)
    assert [ax.get_ylabel() for ax in plots.plot_stages(model)] == ["leaves", "log likelihood"]
    assert plots.plot_islands(model)[2].get_xlabel() == "chain"


def test_a_tree_says_its_rules_and_answers():
    ax = plots.plot_tree(small_posterior().trees[0])
    texts = [text.get_text() for text in ax.texts]
    assert {"a ≤ 1.5", "b ≤ 0.5", "yes", "no", "class 0 p = 0.83\n4 rows"} <= set(texts)


def test_a_tree_that_is_a_root():
    texts = [text.get_text() for text in plots.plot_tree(small_posterior().trees[2]).texts]
    assert texts == ["class 0 p = 0.50\n8 rows", "class 0", "class 1"]


def test_a_star_marks_the_splits_of_one_run():
    posterior = small_posterior(((0.5, 0.5, 0.0), (0.0, 0.5, 0.5)))
    for place, is_marked in ((0, True), (1, False)):
        tree = posterior.trees[place]
        n_runs = posterior.node_probabilities(tree).n_runs
        texts = [text.get_text() for text in plots.plot_tree(tree, posterior=posterior).texts]
        assert any(text.endswith("%*") for text in texts) == (1 in n_runs[tree.feature >= 0]) == is_marked
        assert ("%: trees that split so, down to here; *: found by one run" in texts) == is_marked


def test_a_tree_says_how_probable_its_splits_are():
    posterior = small_posterior()
    texts = [text.get_text() for text in plots.plot_tree(posterior.trees[0], posterior=posterior).texts]
    assert {"80%", "50%", "%: trees that split so, down to here"} <= set(texts)
    assert "80%" not in [text.get_text() for text in plots.plot_tree(posterior.trees[0]).texts]


def test_a_leaf_of_too_many_classes_shows_two():
    widths, colours = class_parts(np.array([[0.1] * 10, [0.5, 0.05, 0.3, *[0.15 / 7] * 7]]), 1)
    np.testing.assert_allclose(widths, [0.5, 0.3, 0.2])
    assert len(colours) == 3


@pytest.mark.parametrize("leaf", [Gaussian(), GaussianKnownVariance(), Poisson(), Exponential()])
@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_leaves_of_every_model_of_numbers_have_a_density(leaf, scale):
    X, y = np.arange(40.0)[:, None], scale * np.repeat([1.0, 9.0], 20) + (1.0 - scale)
    posterior = BayesianTreeRegressor(leaf=leaf, random_state=0).fit(X, y).posterior_
    ax = plots.plot_tree(posterior.best_tree(), posterior=posterior)
    ax.figure.canvas.draw()
    assert len(ax.collections) == posterior.best_tree().n_leaves
    corners = np.concatenate([np.concatenate(part.get_paths()[0].to_polygons()) for part in ax.collections])
    assert np.isfinite(corners).all()


def test_a_genealogy_says_how_few_ancestors_there_are(classifier):
    upper, lower = plots.plot_genealogy(classifier[0], island=1)
    assert "island 2 of" in upper.get_title()
    assert "particles descend from" in upper.get_title()
    assert lower.get_xticklabels()[-1].get_text() == "end"


def test_folded_parts_are_counted():
    texts = [text.get_text() for text in plots.plot_tree(small_posterior().trees[0], max_leaves=2).texts]
    assert "class 1 p = 0.83\n4 rows, 2 leaves" in texts


def test_a_tree_that_is_too_large_for_its_axes_is_folded(regressor):
    tree = regressor[0].posterior_.best_tree().rounded()
    figure, ax = plt.subplots(figsize=(3.4, 2.4))
    try:
        plots.plot_tree(tree, ax)
        assert any(text.get_text().endswith(" leaves") for text in ax.texts)
        assert min(text.get_fontsize() for text in ax.texts) > 4
    finally:
        plt.close(figure)


@pytest.mark.parametrize("is_sure", [False, True])
@pytest.mark.parametrize("outline", [False, True])
def test_texts_of_a_tree_do_not_overlap(regressor, is_sure, outline):
    tree = regressor[0].posterior_.best_tree().rounded()
    ax = plots.plot_tree(tree, posterior=regressor[0] if is_sure else None, outline=outline)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def test_an_outline_fits_into_one_column(classifier):
    posterior = classifier[0].posterior_
    tree = posterior.consensus_tree().rounded()
    assert plots.plot_tree(tree, posterior=posterior).figure.get_figwidth() > 5
    assert plots.plot_tree(tree, posterior=posterior, outline=True).figure.get_figwidth() < 3.4


def test_axes_that_are_too_narrow_have_an_outline(classifier):
    tree = classifier[0].posterior_.consensus_tree().rounded()
    figure, ax = plt.subplots(figsize=(3.4, 5))
    try:
        texts = [text.get_text() for text in plots.plot_tree(tree, ax).texts]
        assert not any(text.endswith(" leaves") for text in texts)
        assert sum(text in ("yes", "no") for text in texts) == tree.n_nodes - 1
    finally:
        plt.close(figure)


def test_a_set_of_levels_is_wrapped():
    assert wrap_rule("island in {Biscoe, Dream, Torgersen, and many more}") == "island\nin {Bisco…ny more}"
    assert wrap_rule("a rather long name of a feature <= 2").endswith("\n≤ 2")
    assert wrap_rule("x <= -1.3155841090622105e-05 or missing") == "x\n≤ -1.3155841090622105e-05 or missing"


def test_the_number_of_axes_must_fit(classifier):
    with pytest.raises(ValueError, match="has 2 panels"):
        plots.plot_sizes(classifier[0], axes=[None])


def test_a_dollar_sign_is_text(classifier):
    ax = plots.plot_tree(small_posterior().trees[0])
    ax.set_title(without_formulas("$5 to $10"))
    ax.figure.canvas.draw()
    assert ax.get_title() == r"\$5 to \$10"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "particletree\[plots\]"'):
        plots.plot_importances(small_posterior(), X=np.eye(3))
    assert plots.importances_data(small_posterior(), X=np.eye(3)).names


def test_nothing_imports_matplotlib_before_it_draws():
    code = "import sys, particletree.plots, particletree._estimators; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
