"""What notebooks show: what `print` says, with bars, in which nothing from the data is code."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from particletree import SMC, BayesianTreeClassifier, BayesianTreeRegressor

NAME, LABEL = "<script>alert(1)</script>", "<b>yes</b>"
WIDTH = re.compile(r"height:100%;width:([\d.e+-]+)%")


@pytest.fixture(scope="module")
def posterior():
    frame = pd.DataFrame({NAME: [0.0, 1.0, 8.0, 9.0] * 5})
    return BayesianTreeClassifier(random_state=0).fit(frame, ["no & no", "no & no", LABEL, LABEL] * 5).posterior_


def text_of(markup):
    """Return what a reader sees: breaks are lines, and all other tags are taken away."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup.replace("<br>", "\n")))


def words_of(text):
    return " ".join(text.split())


def test_what_came_from_the_data_is_escaped(posterior):
    for shown in (posterior.consensus_tree(), posterior.summary(), posterior):
        markup = shown._repr_html_()
        assert html.escape(NAME) in markup
        assert NAME not in markup
        assert LABEL not in markup
        assert set(re.findall(r"</?(\w+)", markup)) <= {"pre", "span", "br", "div", "b", "table", "tr", "td"}


def test_a_tree_is_its_text_with_a_bar_at_each_leaf(posterior):
    for tree in (posterior.consensus_tree(), posterior.best_tree().rounded()):
        markup = tree._repr_html_()
        assert text_of(markup) == str(tree)
        assert markup.count("width:5em") == tree.n_leaves


def test_bars_are_the_class_probabilities(posterior):
    tree = posterior.consensus_tree()
    widths = [float(width) for width in WIDTH.findall(tree._repr_html_())]
    drawn = 100 * tree.means[tree.feature < 0].ravel()
    assert widths == pytest.approx(drawn[drawn >= 0.5], rel=1e-3)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_bars_of_numbers_go_from_the_lowest_leaf_to_the_highest(n_targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.column_stack([X[:, 0] > 0, X[:, 1]])[:, :n_targets] + 0.1 * rng.normal(size=(200, n_targets))
    model = BayesianTreeRegressor(sampler=SMC.paper(n_particles=20), random_state=0).fit(X, y)
    tree = model.posterior_.consensus_tree()
    widths = [float(width) for width in WIDTH.findall(tree._repr_html_())]
    assert max(widths) == 100
    assert len(widths) == (np.ptp(tree.means[tree.feature < 0, 0]) > 0) * (tree.n_leaves - 1)


def test_a_tree_that_is_only_a_root_has_a_bar():
    model = BayesianTreeRegressor(random_state=0).fit(np.zeros((4, 1)), [1.0, 2.0, 3.0, 4.0])
    assert WIDTH.findall(model.posterior_.best_tree()._repr_html_()) == ["100"]


def test_a_large_tree_is_cut_as_its_text_is():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, size=(2000, 2))
    model = BayesianTreeClassifier(random_state=0).fit(X, np.floor(X).sum(axis=1) % 2)
    tree = max(model.posterior_.trees, key=lambda tree: tree.n_leaves)
    assert tree.n_nodes > 100
    assert text_of(tree._repr_html_()) == str(tree)


def test_the_summary_says_what_its_text_says(posterior):
    summary = posterior.summary()
    shown = words_of(text_of(re.sub("</t[dr]>|</b>", " ", summary._repr_html_())))
    for line in str(summary).split("Largest gain shares")[0].splitlines():
        assert words_of(line) in shown
    assert words_of(summary.verdict) in shown
    assert f"in {summary.features[0].inclusion:.0%} of the trees" in shown
    assert posterior._repr_html_() == summary._repr_html_()
