"""What the guides in docs/ show is what happens."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)
EXAMPLES = {  # headings, and what the example below each needs
    "clusters.md": {"Dask": "distributed", "Ray": "ray", "Without a cluster": "particletree"},
    "exports.md": {"One tree in scikit-learn": "sklearn", "The posterior mean in ONNX": "onnxruntime"},
}
CASES = [(guide, heading) for guide, needs in EXAMPLES.items() for heading in needs]

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the tests were taken out of the repository")


def read_guide(guide):
    return (DOCS / guide).read_text("utf-8")


def example(guide, heading):
    """Return the code under a heading, and what it prints."""
    (section,) = (part for part in read_guide(guide).split("\n## ") if part.startswith(heading))
    (block,) = BLOCK.findall(section)
    return block


@pytest.mark.parametrize(("guide", "heading"), CASES)
def test_the_example_prints_what_the_guide_says(guide, heading, capsys, tmp_path, monkeypatch):
    needed = EXAMPLES[guide][heading]
    pytest.importorskip(needed, reason=f"{needed} is not installed")
    code, output = example(guide, heading)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, guide, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == output


@pytest.mark.parametrize("guide", EXAMPLES)
def test_every_example_is_tested(guide):
    assert read_guide(guide).count("```python") == len(EXAMPLES[guide])
