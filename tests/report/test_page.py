"""The page in a browser: what it predicts, its controls by pointer and keyboard, and names that try to break out."""

from itertools import pairwise

import numpy as np
import pytest

from report.made_reports import CLOSING, IMAGE, LEAVES, ODD, SCRIPT


def rows_to_try(X, n=5):
    """Return some rows of the data, one in which everything is missing, and one with a level never seen."""
    rows = X.iloc[np.linspace(0, len(X) - 1, n).astype(int)].to_numpy(dtype=object).tolist()
    unseen = list(rows[0])
    for column, name in enumerate(X.columns):
        if X[name].dtype == object:
            unseen[column] = "never seen"
    return [*rows, [None] * X.shape[1], unseen]


def as_frame(X, row):
    return (
        X.iloc[:1].copy().assign(**{name: [value] for name, value in zip(X.columns, row, strict=True)}).astype(X.dtypes)
    )


@pytest.mark.parametrize("name", ["mixed_model", "hostile_model", "many_levels_model", "many_trees_model"])
def test_the_form_gives_the_probabilities_and_intervals_of_the_estimator(open_page, name):
    page, model, X = open_page(name)
    for row in rows_to_try(X):
        page.enter(model.posterior_, row)
        frame = as_frame(X, row)
        outputs = page.outputs("low", "high")
        np.testing.assert_allclose(outputs[:, 0], model.predict_proba(frame)[0], atol=1e-6)
        np.testing.assert_allclose(outputs[:, 1:], model.predict_interval(frame, level=0.9)[0], atol=1e-6)


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_form_gives_the_mean_spread_and_quantiles_of_numbers(open_page, leaf):
    page, model, X = open_page("number_model", leaf)
    for row in rows_to_try(X):
        page.enter(model.posterior_, row)
        frame = as_frame(X, row)
        mean, sd = model.predict(frame, return_std=True)
        low, high = model.predict_quantiles(frame, [0.05, 0.95])[0]
        np.testing.assert_allclose(
            page.outputs("sd", "low", "high")[0], [mean[0], sd[0], low, high], rtol=1e-6, atol=1e-6
        )


def test_a_rate_is_called_a_rate(open_page):
    page, model, X = open_page("rate_model")
    assert "the rate of outcome per unit of exposure" in page.text("main")
    assert "Rate per unit of exposure, and standard deviation of a new count" in page.text(".prediction")
    assert "outcome over an exposure of 1" in page.text(".density")
    assert "rate of outcome" in page.text("#dependence")
    assert "predicted rate per unit of exposure" in page.text("#dependence")
    assert "Rate per unit of exposure" in page.text("#details")
    assert page.text(".miniature-head") == "rate, sd"
    assert "predicted as rate times exposure" in page.text("#calibration")
    assert "Mean and standard deviation" not in page.text("main")
    row = [22.0, X["city"].iloc[0]]
    page.enter(model.posterior_, row)
    np.testing.assert_allclose(page.outputs()[0, 0], model.predict(as_frame(X, row))[0], rtol=1e-6)


def test_without_exposure_the_page_says_why_nothing_is_scored(open_page):
    page = open_page("exposed_model")[0]
    words = page.text("#summary")
    assert "the exposure of the counts was not given" in words
    assert "--exposure COL" in words
    assert not page.find_all("#calibration table")


@pytest.mark.parametrize("name", ODD)
def test_odd_fits_have_pages_too(open_page, name):
    page, model, X = open_page("odd_model", name)
    assert page.text("h1") == "Predicting outcome"
    assert page.find_all("#tree [role=treeitem]")
    for row in ([1.0, None], [None, 0.0]):
        page.enter(model.posterior_, row)
        listed = model.posterior_.draws() if name == "exact" else model.posterior_
        expected = listed.predictive(as_frame(X, row))[0]
        np.testing.assert_allclose(page.outputs()[:, 0], expected, rtol=1e-6, atol=1e-12)
    shown = page.text("main")
    assert "NaN" not in shown
    assert "undefined" not in shown
    assert "Infinity" not in shown


def test_the_shown_tree_sends_the_row_where_the_tree_does(open_page):
    page, model, X = open_page("mixed_model")
    posterior = model.posterior_
    tree = posterior.consensus_tree(X).rounded()
    for row in rows_to_try(X):
        page.enter(posterior, row)
        encoded = posterior.as_numbers(as_frame(X, row))
        path = tree.decision_path(encoded).indices
        lines = page.find_all("#tree .on-path > .node")
        assert len(lines) == len(path)
        rows = [page.run("return arguments[0].querySelector('.rows').textContent", line) for line in lines]
        assert rows == [f"{tree.n_rows[node]:.0f}" for node in path]
        assert len(page.find_all("#tree .row-ends-here")) == 1


def test_every_tree_of_the_list_says_what_it_predicts(open_page):
    page, model, X = open_page("mixed_model")
    posterior = model.posterior_
    row = X.iloc[:1]
    page.enter(posterior, row.to_numpy(dtype=object)[0])
    order = np.argsort(-posterior.weights, kind="stable")
    expected = [str(posterior.trees[int(t)].predict(posterior.as_numbers(row))[0]) for t in order]
    answers = page.run("return [...document.querySelectorAll('#tree-list .answer')].map((each) => each.textContent)")
    assert len(answers) == len(expected) + 2  # the consensus tree and the most probable one come first
    assert [answer.split()[1] for answer in answers[2:]] == expected


def test_the_keyboard_opens_closes_and_walks(open_page):
    page = open_page("mixed_model")[0]
    page.click("#fold-all")
    items = "#tree [role=treeitem]"
    assert len(page.find_all(items)) == 1
    page.find(items).send_keys("")  # the focus comes here by Tab
    active = "return document.activeElement.getAttribute(arguments[0])"
    page.press("ARROW_RIGHT")
    assert len(page.find_all(items)) == 3
    page.press("ARROW_RIGHT")
    assert page.run(active, "aria-level") == "2"
    page.press("ARROW_LEFT")
    if page.run(active, "aria-level") == "2":  # it was open
        page.press("ARROW_LEFT")
    assert page.run(active, "aria-level") == "1"
    page.press("END")
    assert page.run("return document.activeElement === [...document.querySelectorAll(arguments[0])].at(-1)", items)
    page.press("HOME", "ARROW_DOWN", "ARROW_UP")
    assert page.run(active, "aria-level") == "1"
    page.press("ENTER")
    assert page.run(active, "aria-expanded") == "false"
    page.press("ENTER")
    assert page.run(active, "aria-expanded") == "true"
    assert page.run("return document.querySelectorAll('#tree [tabindex=\"0\"]').length") == 1


def test_the_list_of_trees_is_walked_by_arrows(open_page):
    page, model, _ = open_page("mixed_model")
    page.click("#tree-list [aria-selected=true]")
    page.press("ARROW_DOWN", "ARROW_DOWN")
    assert page.text("#tree-name") == "Tree 1"
    posterior = model.posterior_
    heaviest = posterior.trees[int(np.argmax(posterior.weights))]
    assert f"{heaviest.n_leaves} leaves" in page.text(".tree-caption")
    page.press("END")
    assert page.text("#tree-name") == f"Tree {posterior.forest.n_trees}"
    page.press("HOME")
    assert page.text("#tree-name") == "Consensus tree"


def test_scores_come_before_advice(open_page):
    page, _, _ = open_page("mixed_model")
    order = page.run("return [...document.querySelectorAll('#report > section')].map((each) => each.id)")
    assert order[:4] == ["summary", "calibration", "trust", "explore"]
    assert "plain guess" in page.text("#summary .figure")


def test_a_node_tells_its_rows_and_its_support(open_page):
    page, model, X = open_page("mixed_model")
    posterior = model.posterior_
    tree = posterior.consensus_tree(X).rounded()
    found = posterior.node_probabilities(tree)
    page.click("#open-all")
    lines = page.find_all("#tree [role=treeitem]")
    assert len(lines) == tree.n_nodes
    shown = page.run("return [...document.querySelectorAll('#tree .support')].map((each) => each.textContent)")
    assert len(shown) == tree.n_nodes
    for node, line in enumerate(lines):
        page.run("arguments[0].focus()", line)
        details = page.text("#details")
        assert f"{tree.n_rows[node]:.0f} training row" in details
        assert shown[node].endswith("*") == (found.n_runs[node] == 1)
        assert ("One island only" in details) == (found.n_runs[node] == 1)
        if found.support[node] == 0:
            assert "No tree of the posterior makes these splits" in details
        elif 0.01 < found.support[node] < 0.99:
            assert shown[node].rstrip("*") == f"{found.support[node]:.0%}"
            assert f"{shown[node].rstrip('*')} of all trees make about the same splits" in details
            assert f"They are of {found.n_runs[node]} of the {posterior.n_islands} islands." in details
    labels = page.run("return [...document.querySelectorAll('#tree .label')].map((each) => each.textContent)")
    shown = [label for label, rule in zip(labels, tree.rules, strict=True) if rule]
    assert shown == [rule.replace("<=", "≤").replace("-", "\u2212") for rule in tree.rules if rule]


def test_every_control_works(open_page):
    page, model, X = open_page("many_classes_model")
    page.click("#typical-row")
    typical = page.outputs()
    page.click("#empty-row")
    assert page.find("#row-0").get_attribute("value") == ""
    assert not np.allclose(page.outputs(), typical)
    page.click("#all-classes")
    np.testing.assert_allclose(page.outputs()[:, 0], model.predict_proba(as_frame(X, [None] * 35))[0], atol=1e-6)
    page.click("#all-classes")
    page.click("#more-fields summary")
    page.find("#row-34").send_keys("abc")
    assert page.find("#row-34").get_attribute("aria-invalid") == "true"
    assert page.find("#error-34").is_displayed()
    page.click("#open-all")
    n_open = len(page.find_all("#tree [role=treeitem]"))
    page.click("#fold-all")
    page.click("#open-path")
    assert 1 < len(page.find_all("#tree [role=treeitem]")) < n_open
    for button in page.find_all("section button.plain"):
        if button.is_displayed():
            page.run("arguments[0].click()", button)
    for link in page.find_all("nav a"):
        link.click()
        assert page.driver.current_url.endswith(link.get_attribute("href").split("#")[-1])


def test_tab_reaches_every_control(open_page):
    page, model, _ = open_page("mixed_model")
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    reached = set()
    for _ in range(60):
        page.press("TAB")
        script = "const at = document.activeElement; return at.id || at.getAttribute('role') || at.tagName"
        reached.add(page.run(script))
    fields = {f"row-{feature}" for feature in range(model.n_features_in_)}
    buttons = {"theme", "typical-row", "empty-row", "open-all", "fold-all", "open-path"}
    assert fields | buttons | {"option", "treeitem", "A"} <= reached


def test_light_and_dark(open_page):
    page = open_page("mixed_model")[0]
    colour = "return getComputedStyle(document.body).backgroundColor"
    try:
        for scheme, first, other in (("light", "Dark", "Light"), ("dark", "Light", "Dark")):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            before = page.run(colour)
            assert page.text("#theme") == first
            page.click("#theme")
            assert page.text("#theme") == other
            assert page.run(colour) != before
            page.run("delete document.documentElement.dataset.theme")
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("name", ["mixed_model", "many_classes_model", "many_levels_model"])
def test_a_narrow_window_needs_no_sideways_scrolling(open_page, name):
    page = open_page(name)[0]
    try:
        metrics = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        assert page.run("return document.documentElement.scrollWidth") <= 400
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_hostile_names_are_text(open_page):
    page = open_page("hostile_model")[0]
    for place in range(1, 5):
        page.click(f"#tree-list li:nth-child({place})")
        page.click("#open-all")
    assert page.run("return window.broken") is None
    assert page.find_all("img") == []
    assert len(page.find_all("script")) == 2
    assert page.run("return document.querySelector('label[for=row-0]').title") == SCRIPT
    assert page.run("return [...document.querySelectorAll('#row-1 option')].map((each) => each.textContent)")[:3] == [
        IMAGE,
        CLOSING,
        SCRIPT,
    ]
    titles = page.run("return [...document.querySelectorAll('#probabilities li')].map((each) => each.title)")
    assert set(titles) == {SCRIPT, IMAGE, CLOSING}


def test_an_injected_script_would_not_run(open_page):
    page = open_page("mixed_model")[0]
    page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.broken = 1\">')")
    page.run("const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.body.append(s)")
    assert page.run("return window.broken") is None
    refusals = page.console()
    assert refusals
    assert all("Content Security Policy" in message for message in refusals)
    page.requests()  # what was asked for was refused, as the console says
    page.driver.get("about:blank")


def test_five_hundred_trees_open_quickly(open_page):
    page, model, _ = open_page("many_trees_model")
    assert model.posterior_.forest.n_trees >= 500
    milliseconds = int(page.run("return document.documentElement.dataset.ready"))
    assert milliseconds < 10_000  # under 2 s on an idle machine: 10 s leaves room for a busy one
    assert len(page.find_all("#tree-list li")) == 200
    page.click("#more-trees")
    assert len(page.find_all("#tree-list li")) == 400


def test_headings_landmarks_and_labels(open_page):
    page = open_page("mixed_model")[0]
    assert len(page.find_all("main")) == 1
    assert len(page.find_all("h1")) == 1
    unlabelled = (
        "return [...document.querySelectorAll('input, select')].filter((each) => each.labels.length === 0).length"
    )
    assert page.run(unlabelled) == 0
    assert page.run("return document.querySelectorAll('svg:not([aria-label])').length") == 0
    levels = page.run("return [...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))
