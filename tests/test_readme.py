"""What the README shows is what happens."""

import re
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
RUNNER = README.parent / ".ci" / "readme_examples.py"


@pytest.mark.skipif(not README.exists(), reason="the tests were taken out of the repository")
def test_the_examples_print_what_the_readme_says(capsys):
    examples = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 3
    for code, output in examples:
        exec(compile(code, "README.md", "exec"), {})
        assert capsys.readouterr().out == output


@pytest.mark.skipif(not RUNNER.exists(), reason="the tests were taken out of the repository")
@pytest.mark.skipif(
    None in map(shutil.which, ("bash", "python", "particletree")), reason="no shell, or not on its path"
)
def test_the_commands_print_what_the_readme_says(tmp_path):
    """`.ci/run` runs all examples, where the package alone is installed; here those for a shell, but `pip install`."""
    spec = spec_from_file_location("readme_examples", RUNNER)
    runner = module_from_spec(spec)
    spec.loader.exec_module(runner)
    commands = [
        (language, code, shown)
        for language, code, shown in runner.examples_of(README.read_text("utf-8"))
        if language == "" and not code.startswith("pip install ")
    ]
    assert len(commands) == 3
    for language, code, shown in commands:
        assert shown
        runner.check(runner.run(language, code, tmp_path), shown)
