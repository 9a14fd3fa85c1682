"""What the pages of the site show is what happens, and the reference has every public name."""

import ast
import importlib
import importlib.util
import inspect
import re
from collections import Counter
from pathlib import Path
from pkgutil import iter_modules

import pytest

import particletree

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = (DOCS / "api" / "index.md").read_text("utf-8") if DOCS.exists() else ""
FACADES = tuple(
    f"particletree.{name}".rstrip(".")
    for name in ("", "datasets", "extending", "inference", "plots", "reference", "report", "results")
)
GUIDES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] if DOCS.exists() else []
GUIDES += [page for page in DOCS.rglob("*.md") if not {"generated", "auto_examples"} & set(page.parts)]
PACKAGE = ROOT / "src" / "particletree"
FOLDERS = {path.name for root in (ROOT, PACKAGE) if root.exists() for path in root.iterdir() if path.is_dir()}
BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PRIVATE = re.compile(
    r"particletree\._[a-z]\w*|(?<![\w/.])_(?:model|data|inference|posterior|estimators|plots|report)\."
)
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


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    """Paths of the repository, or of the package; those of the user's machine have no folder of ours in front."""
    named = re.findall(r"(?<![\w/.:])((?:[\w.]+/)+[\w.*]*)", BLOCK.sub("", page.read_text("utf-8")))
    ours = {name.rstrip(".") for name in named if name.split("/")[0] in FOLDERS and "*" not in name}
    missing = {name for name in ours if not any((root / name).exists() for root in (ROOT, DOCS, PACKAGE))}
    assert not missing


def test_a_wrong_output_is_found_out():
    make = maker()
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert make.run_page(text) == ["2\n"]
    assert make.shown(text) == ["3\n"]


def documented():
    """Return the module and the name of every entry of the reference."""
    entries = []
    for directive, value in re.findall(r"^(.. currentmodule::|   |.. py:data::) ?(\w[\w.]*)$", REFERENCE, re.MULTILINE):
        if "currentmodule" in directive:
            module = value
        else:
            entries.append((module, value))
    return entries


def test_every_public_name_has_one_home_in_the_reference():
    homes = Counter(documented())
    assert [entry for entry, n in homes.items() if n > 1] == []
    public = {(facade, name) for facade in FACADES for name in importlib.import_module(facade).__all__}
    assert set(homes) - public == set()
    # A name that two facades offer is one object, and has its home in one of them.
    found = Counter(id(getattr(importlib.import_module(facade), name)) for facade, name in homes)
    assert [n for n in found.values() if n > 1] == []
    assert {
        (facade, name)
        for facade, name in public - set(homes) - {("particletree", "__version__")}
        if id(getattr(importlib.import_module(facade), name)) not in found
    } == set()


def test_every_public_module_is_a_facade():
    public = {f"particletree.{module.name}" for module in iter_modules(particletree.__path__) if module.name[0] != "_"}
    of_the_reference = {name for name in public if name.startswith("particletree.reference_")}
    assert public - of_the_reference == set(FACADES) - {"particletree"}


def members(entry):
    """Yield what the reference shows of an entry: itself, and its public members."""
    thing = getattr(importlib.import_module(entry[0]), entry[1])
    yield thing
    if isinstance(thing, type):
        for name, member in inspect.getmembers(thing):
            if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                yield member


@pytest.mark.parametrize("entry", documented() if DOCS.exists() else [], ids=".".join)
def test_no_docstring_of_the_reference_names_a_private_module(entry):
    texts = [inspect.getdoc(member) or "" for member in members(entry)]
    assert [text for text in texts if PRIVATE.search(text)] == []


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_no_page_names_a_private_module(page):
    text = re.sub(r"^.. automodule::.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
    assert not PRIVATE.search(text)


@pytest.mark.skipif(not PACKAGE.exists(), reason="the tests are run beside an installed wheel")
def test_no_message_names_a_private_module():
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        ]
        assert [text for text in texts if " " in text and PRIVATE.search(text)] == [], path
