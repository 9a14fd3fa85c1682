"""One browser for all tests of the pages, and each page written once."""

import pytest

from particletree.report import write_report
from report import made_reports
from report.browser import Page, open_browser


@pytest.fixture(scope="session")
def driver():
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return a function from the name of a model in `made_reports` to the model, its rows and the file of its page."""
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def make(name, *arguments):
        key = "-".join((name, *arguments))
        if key not in made:
            model, X, y, *exposure = getattr(made_reports, name)(*arguments)
            path = folder / f"{key.replace(' ', '-')}.html"
            write_report(model, path, X, y, target_name="outcome", exposure=exposure[0] if exposure else None)
            made[key] = model, X, path
        return made[key]

    return make


@pytest.fixture
def open_page(driver, pages):
    """Return a function that opens the page of a model, and checks in the end that nothing went wrong in it."""
    opened = []

    def open_it(name, *arguments):
        model, X, path = pages(name, *arguments)
        opened.append(Page(driver, path))
        return opened[-1], model, X

    yield open_it
    for page in opened[-1:]:
        assert page.console() == []
        assert page.requests() == []
