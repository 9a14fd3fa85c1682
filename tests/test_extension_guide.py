"""What docs/extending.md quotes stands in its files, what it links to is there, and its example runs."""

import re
import textwrap
from pathlib import Path

import pytest

from particletree import _kernel

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "extending.md"
EXAMPLE = "python example"  # the language of the block that is run rather than looked for
BLOCK = re.compile(r"^```(.+?)\n(.*?)^```", re.DOTALL | re.MULTILINE)

needs_sources = pytest.mark.skipif(not (ROOT / "kernel").exists(), reason="the tests are run beside an installed wheel")
pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="the tests were taken out of the repository")


def blocks(*languages):
    found = BLOCK.findall(GUIDE.read_text("utf-8")) if GUIDE.exists() else []
    return [text for language, text in found if language in languages]


def quotes(text, block):
    """Tell whether lines that follow each other in a text are those of a block, whatever they are indented by."""
    lines, wanted = text.splitlines(), textwrap.dedent(block).splitlines()
    windows = (lines[i : i + len(wanted)] for i in range(len(lines) - len(wanted) + 1))
    return any(textwrap.dedent("\n".join(window)).splitlines() == wanted for window in windows)


@pytest.mark.parametrize("block", blocks("cpp", "python"), ids=lambda block: block.strip().splitlines()[0])
def test_quoted_code_is_in_the_files(block):
    files = (ROOT / "tests" / "extension").iterdir()
    assert any(quotes(path.read_text("utf-8"), block) for path in files if path.suffix in (".h", ".py"))


def test_a_line_that_was_changed_is_found_out():
    text = (ROOT / "tests" / "extension" / "bernoulli.py").read_text("utf-8")
    block = next(block for block in blocks("python") if "betaln" in block)
    assert quotes(text, block)
    assert not quotes(text, block.replace("betaln(ones, zeros)", "betaln(zeros, ones)"))


def test_there_are_quotes_of_every_file():
    assert len(blocks("cpp")) >= 3
    assert len(blocks("python")) >= 8


@needs_sources
def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", BLOCK.sub("", GUIDE.read_text("utf-8")))
    assert links
    assert not [link for link in links if not (GUIDE.parent / link).exists()]


def test_the_settings_of_the_build_are_those_of_cmake():
    names = [name for block in blocks("sh") for name in re.findall(r"cmake\.define\.(\w+)=", block)]
    assert names == ["PARTICLETREE_EXTRA_LEAF_MODELS", "PARTICLETREE_EXTRA_PRIORS"]
    cmake = (ROOT / "CMakeLists.txt").read_text("utf-8")
    assert all(f"set({name} " in cmake for name in names)


@pytest.mark.skipif(
    "bernoulli" not in _kernel.LEAF_MODELS,
    reason="the kernel was built without PARTICLETREE_EXTRA_LEAF_MODELS=tests/extension/bernoulli.h",
)
def test_the_example_runs(capsys):
    (code,) = blocks(EXAMPLE)
    assert "from bernoulli import" in code
    exec(compile(code.replace("from bernoulli", "from extension.bernoulli"), "extending.md", "exec"), {})
    high, low = (float(p) for p in re.findall(r"[\d.]+", capsys.readouterr().out)[:2])
    assert high == pytest.approx(0.8, abs=0.1)
    assert low == pytest.approx(0.3, abs=0.1)
