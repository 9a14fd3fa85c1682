"""Prints the lengths of the package's functions and files, for information: no length fails.

The length of a function is its lines of code: those of its body, without docstring, comments, blank lines and the
functions inside it. We aim at a median of at most 6, nine in ten of at most 20, and no file above 400 lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median, quantiles

SOURCE = Path(__file__).parents[1] / "src" / "particletree"
LONG_FILE = 400


def main() -> None:
    """Print the figures."""
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    functions = [(length, f"{name}:{function}") for name, text in texts.items() for function, length in measure(text)]
    lengths = [length for length, _ in functions]
    files = [(text.count("\n"), name) for name, text in texts.items()]
    ninth = quantiles(lengths, n=10)[-1]
    print(f"{len(lengths)} functions: median {median(lengths):.0f} lines, nine in ten at most {ninth:.0f}")
    print(f"longest: {largest(functions)}")
    print(f"{len(files)} files, {sum(length > LONG_FILE for length, _ in files)} of more than {LONG_FILE} lines")
    print(f"longest: {largest(files)}")


def measure(text: str) -> Iterator[tuple[str, int]]:
    """Yield each function's name and its lines of code."""
    code = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            inside = (inner for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef) and inner is not node)
            yield node.name, len(code & lines_of(body) - lines_of(inside))


def lines_of(nodes: Iterable[ast.stmt]) -> set[int]:
    """Return the line numbers of statements."""
    return {number for node in nodes for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def largest(items: list[tuple[int, str]]) -> str:
    """Return the five largest, with their names."""
    return ", ".join(f"{name} {length}" for length, name in sorted(items, reverse=True)[:5])


if __name__ == "__main__":
    main()
