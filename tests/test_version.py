"""The version stands once, in `src/particletree/_version.py`; what must repeat it, repeats it."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import particletree

ROOT = Path(__file__).parents[1]


def test_it_is_a_release_or_a_release_to_come():
    assert re.fullmatch(r"\d+\.\d+\.\d+(a\d+|b\d+|rc\d+|\.dev\d+)?", particletree.__version__)


def test_the_installed_package_has_it():
    assert metadata.version("particletree") == particletree.__version__


def test_the_citation_has_it():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [particletree.__version__]


def test_the_changelog_has_it():
    # A released version has a heading; before the release, the open section says what it is going to be.
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.escape(particletree.__version__.removesuffix(".dev0"))
    assert re.search(rf"^## \[{version}\] - \d{{4}}-\d{{2}}-\d{{2}}$|^To become {version}\b", changelog, re.MULTILINE)
