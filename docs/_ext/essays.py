"""Essays at the head of modules, shown on a page: their lists of references are left to the bibliography."""

from __future__ import annotations

from typing import Any


def drop_references(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Cut a module's docstring before its references and examples."""
    heads = [i for i, line in enumerate(lines) if what == "module" and line in ("References", "Examples")]
    if heads:
        del lines[heads[0] :]


def setup(app: Any) -> dict[str, bool]:
    """Look at docstrings before numpydoc does."""
    app.connect("autodoc-process-docstring", drop_references, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
