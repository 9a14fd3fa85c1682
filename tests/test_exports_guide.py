"""What docs/exports.md shows is what happens."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "exports.md"
BLOCK = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)
EXAMPLES = {"One tree in scikit-learn": "sklearn", "The posterior mean in ONNX": "onnxruntime"}  # and what each needs

pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="the tests were taken out of the repository")


def example(heading):
    """Return the code under a heading, and what it prints."""
    (section,) = (part for part in GUIDE.read_text("utf-8").split("\n## ") if part.startswith(heading))
    (block,) = BLOCK.findall(section)
    return block


@pytest.mark.parametrize("heading", EXAMPLES)
def test_the_example_prints_what_the_guide_says(heading, capsys):
    pytest.importorskip(EXAMPLES[heading], reason=f"{EXAMPLES[heading]} is not installed")
    code, output = example(heading)
    exec(compile(code, "exports.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == output


def test_every_example_is_tested():
    assert GUIDE.read_text("utf-8").count("```python") == len(EXAMPLES)
