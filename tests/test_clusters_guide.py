"""What docs/clusters.md shows is what happens."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "clusters.md"
BLOCK = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)
EXAMPLES = {"Dask": "distributed", "Ray": "ray", "Without a cluster": "particletree"}  # and what each needs

pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="the tests were taken out of the repository")


def example(heading):
    """Return the code under a heading, and what it prints."""
    (section,) = (part for part in GUIDE.read_text("utf-8").split("\n## ") if part.startswith(heading))
    (block,) = BLOCK.findall(section)
    return block


@pytest.mark.parametrize("heading", EXAMPLES)
def test_the_example_prints_what_the_guide_says(heading, capsys, tmp_path, monkeypatch):
    pytest.importorskip(EXAMPLES[heading], reason=f"{EXAMPLES[heading]} is not installed")
    code, output = example(heading)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "clusters.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == output


def test_every_example_is_tested():
    assert GUIDE.read_text("utf-8").count("```python") == len(EXAMPLES)
