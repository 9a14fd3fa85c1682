"""Runs the examples of README.md as a reader would paste them, and compares what they print with what it shows.

    python .ci/readme_examples.py README.md

It needs nothing but what the examples need: `.ci/run` starts it in an environment where the package alone is installed,
so that whatever else an example needs must be installed by a command that the README shows before it. Commands and
Python code run in one temporary folder. Durations are not compared, and output may go on after what is shown.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SECTIONS = ("Use", "From the command line")
_BLOCK = re.compile(r"^```(python|)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
_DURATION = re.compile(r"(?<=rows in )[\d.]+ s|(?<=^CART) +\d+|(?<=^particletree) +\d+", re.MULTILINE)


def main(readme: str) -> None:
    """Run all examples; the first that fails, or prints something else, ends the program."""
    examples = examples_of(Path(readme).read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for language, code, shown in examples:
            print(f"\n{code}", end="", flush=True)
            check(run(language, code, folder), shown)
    print(f"\n{len(examples)} examples of {readme} do what it says.")


def examples_of(text: str) -> list[tuple[str, str, str]]:
    """Return language, code and shown output of each example."""
    parts = {part.partition("\n")[0]: part for part in text.split("\n## ")}
    return [block for name in SECTIONS for block in _BLOCK.findall(parts[name])]


def run(language: str, code: str, folder: str) -> str:
    """Return what Python code or commands of a shell print."""
    command = [sys.executable, "-c", code] if language == "python" else ["bash", "-euo", "pipefail", "-c", code]
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    return result.stdout


def check(printed: str, shown: str) -> None:
    """Refuse output that differs from what is shown."""
    expected, found = (_DURATION.sub(" # ", text) for text in (shown, printed))
    if not found.startswith(expected):
        sys.exit(f"It should print\n{shown}\nand prints\n{printed}")


if __name__ == "__main__":
    main(*sys.argv[1:])
