"""The reference for readers of the site, made from docstrings that are also read beside the source.

- A source file in brackets, such as ``(``evidence.py``)``, is left out: the site has no page for it.
- References of inherited docstrings to pages of scikit-learn's site are left as text.
- Fields of named tuples, which Python documents as "Alias for field number 0", are described by their class.
- Default values that a dataclass makes anew for each object are shown as `...`.
- The tip of a link names the public module of what it leads to, not the private one in which that is written.
"""

from __future__ import annotations

import re
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any

_FILE = r"`{1,2}[\w/]+\.py`{1,2}"
SOURCE = re.compile(rf"\s*\({_FILE}(?:,\s+{_FILE})*\)")
ELSEWHERE = re.compile(r":(?:ref|term):`([^<`]*?)\s*(?:<[^>]*>)?`")
TIP = re.compile(r'(href="[^"#]*#(particletree\.[\w.]+)" title=")particletree\._[\w.]+(?=")')
FIELD = type(namedtuple("Pair", "first").first)


def on_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring; those of modules are essays, which may name files."""
    if what != "module":
        text = ELSEWHERE.sub(r"\1", SOURCE.sub("", "\n".join(lines)))
        lines[:] = text.replace("check User Guide", "check scikit-learn's user guide").split("\n")


def on_member(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the fields of named tuples, and modules; None leaves the decision to others."""
    return True if isinstance(obj, FIELD | ModuleType) else None


def on_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    """Write `...` for a default value that is made anew."""
    return None if signature is None else (signature.replace("<factory>", "..."), returns)


def on_finished(app: Any, error: Exception | None) -> None:
    """Rewrite the tips of links, those in the code of the gallery too."""
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text("utf-8")
        if TIP.search(text):
            page.write_text(TIP.sub(r"\1\2", text), "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the handlers; that of docstrings runs before numpydoc's."""
    app.connect("autodoc-process-docstring", on_docstring, priority=100)
    app.connect("autodoc-skip-member", on_member)
    app.connect("autodoc-process-signature", on_signature)
    app.connect("build-finished", on_finished, priority=900)  # after the gallery's
    return {"parallel_read_safe": True, "parallel_write_safe": True}
