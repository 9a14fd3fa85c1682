"""Replace links from a page to a file of the repository, such as `../kernel/block.h`, by the file's path as code.

The site has no page for such a file; in the repository, where the same Markdown is read, the links work.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\[([^\]\[]+)\]\(((?:\.\./)+[\w./-]*)\)")


def unlink(page: Path, text: str) -> str:
    """Return a page's text with links to files outside `docs/` replaced by their paths in the repository."""

    def replace(link: re.Match[str]) -> str:
        target = (page.parent / link[2]).resolve()
        is_page = target.is_relative_to(ROOT / "docs")
        return link[0] if is_page else f"{as_code(link[1], str(target.relative_to(ROOT)))}"

    return LINK.sub(replace, text)


def as_code(words: str, path: str) -> str:
    """Return the path as code, after the link's text if that is different."""
    plain = words.strip("`")
    return f"`{path}`" if plain in path else f"{words} (`{path}`)"


def on_source_read(app: Any, name: str, content: list[str]) -> None:
    """Rewrite the source of a page."""
    content[0] = unlink(Path(app.env.doc2path(name)), content[0])


def setup(app: Any) -> dict[str, bool]:
    """Register the handler for every page."""
    app.connect("source-read", on_source_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
