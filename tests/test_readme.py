"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the tests were taken out of the repository")
def test_the_examples_print_what_the_readme_says(capsys):
    examples = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 3
    for code, output in examples:
        exec(compile(code, "README.md", "exec"), {})
        assert capsys.readouterr().out == output
