"""Module docstrings shown on a page: their references are removed, because the bibliography has them."""

from __future__ import annotations

from typing import Any


def drop_references(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Truncate a module's docstring before its references and examples."""
    heads = [i for i, line in enumerate(lines) if what == "module" and line in ("References", "Examples")]
    if heads:
        del lines[heads[0] :]


def setup(app: Any) -> dict[str, bool]:
    """Register the handler, to run before numpydoc's."""
    app.connect("autodoc-process-docstring", drop_references, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
