"""What docs/additive.md shows runs."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "additive.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the tests were taken out of the repository")
def test_the_examples_run_one_after_the_other(capsys):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 6
    names = {}
    for code in blocks:
        exec(compile(code, "additive.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "1,000 draws of 200 trees from 4 chains" in printed
    assert "\n1000\n" in printed
    assert names["intervals"].shape == (150, 3, 2)
    assert names["drawn"].shape == (3, 100)
    assert (names["of_new"][:, 0] < names["of_mean"][:, 0]).all()
