"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the tests were taken out of the repository")
def test_the_example_prints_what_the_readme_says(capsys):
    code, output = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", README.read_text("utf-8"), re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == output
