"""What the pages of the site show is what happens, and the reference has every public name."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
OWN_TESTS = {
    "additive.md",
    "clusters.md",
    "exports.md",
    "extending.md",
}  # tests of their own

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the tests were taken out of the repository")


def maker(path="make_outputs.py"):
    spec = importlib.util.spec_from_file_location(Path(path).stem, DOCS / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = maker().PAGES if DOCS.exists() else []


@pytest.mark.parametrize("page", PAGES)
def test_the_code_prints_what_the_page_says(page):
    pytest.importorskip("palmerpenguins")
    make = maker()
    text = (DOCS / page).read_text("utf-8")
    for printed, said in zip(make.run_page(text), make.shown(text), strict=True):
        if said is not None:
            assert make.without_seconds(printed) == make.without_seconds(said), "run: python docs/make_outputs.py"


def test_every_page_with_code_is_run():
    with_code = {
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "```python" in path.read_text("utf-8")
    }
    assert with_code <= {*PAGES, *OWN_TESTS, "gallery/README.md"}


def test_the_page_of_plots_has_every_picture_with_its_code():
    pytest.importorskip("palmerpenguins")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    make = maker("gallery/make.py")
    page = (DOCS / "gallery" / "README.md").read_text("utf-8")
    for draw in make.PICTURES.values():
        assert draw() is not None
        pyplot.close("all")
        assert f"```python\n{make.code_of(draw)}\n```" in page, "run: python docs/gallery/make.py"


@pytest.mark.skipif(not (DOCS.parent / "kernel").exists(), reason="the tests are run beside an installed wheel")
def test_files_that_a_page_names_are_there():
    page = (DOCS / "how_it_works.md").read_text("utf-8").split("## From the paper to code and tests")[1]
    named = re.findall(r"`([\w/]+\.(?:py|h))`", page)
    assert len(named) > 20
    assert not [
        name
        for name in named
        if not any((DOCS.parent / folder / name).exists() for folder in (".", "src/particletree"))
    ]


def test_a_wrong_output_is_found_out():
    make = maker()
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert make.run_page(text) == ["2\n"]
    assert make.shown(text) == ["3\n"]


@pytest.mark.parametrize("module", ["", ".plots", ".report", ".inference", ".results"])
def test_the_reference_has_every_public_name(module):
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api" / "index.md").read_text("utf-8"), re.MULTILINE))
    assert set(importlib.import_module(f"particletree{module}").__all__) - {"__version__"} <= listed
