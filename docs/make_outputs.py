"""Run the code on the pages of the guide and write its output: `python docs/make_outputs.py [PAGE ...]`.

The `python` blocks of a page run one after the other, in one namespace; a line of an `sh` block that begins with
`particletree` runs as that command. A `text` block after them contains their output; the tests compare it
(`tests/test_site.py`), except durations.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PAGES = [
    "index.md",
    "start.md",
    "columns.md",
    "correctness.md",
    "diagnostics.md",
    "settings.md",
    *sorted(f"guide/{path.name}" for path in DOCS.glob("guide/*.md")),
]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
SECONDS = re.compile(r"\b[\d.]+ s\b|[\d,]+ a second")


def run_page(text: str) -> list[str]:
    """Return the output of each block of a page, run in a temporary folder."""
    before, names = Path.cwd(), {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return [run_block(language, code, names) for language, code, _ in BLOCK.findall(text)]
        finally:
            os.chdir(before)


def run_block(language: str, code: str, names: dict[str, object]) -> str:
    """Return the output of a block."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if language == "python":
            exec(compile(code, "<page>", "exec"), names)
        else:
            run_commands(code)
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n"


def run_commands(lines: str) -> None:
    """Run the lines that call `particletree`."""
    from particletree._commands.main import main

    for line in lines.splitlines():
        if line.startswith("particletree ") and main(shlex.split(line)[1:]) != 0:
            raise RuntimeError(f"failed: {line}")


def shown(text: str) -> list[str | None]:
    """Return the output of each block according to the page, None if the page has no `text` block for it."""
    return [block[3] for block in BLOCK.finditer(text)]


def without_seconds(output: str) -> str:
    """Return a text without durations, which differ between machines."""
    return SECONDS.sub("# s", output)


def write_outputs(page: Path) -> None:
    """Run a page, and write the output into its `text` blocks."""
    text = page.read_text("utf-8")
    outputs = iter(run_page(text))

    def replace(block: re.Match[str]) -> str:
        output = next(outputs)
        return block[0] if block[3] is None else f"```{block[1]}\n{block[2]}```\n\n```text\n{output}```\n"

    page.write_text(BLOCK.sub(replace, text), "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        print(name)
        write_outputs(DOCS / name)
