"""The page on diagnostics says what the checks say."""

import importlib.util
from pathlib import Path

import pytest

from particletree._posterior.findings import CHECKS

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.skipif(not DOCS.exists(), reason="the tests were taken out of the repository")
def test_the_page_is_that_of_the_checks():
    spec = importlib.util.spec_from_file_location("make_diagnostics", DOCS / "make_diagnostics.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text("utf-8") == module.page(), "run: python docs/make_diagnostics.py"
    for check in CHECKS:
        assert f"### `{check.__name__}`" in module.page()
