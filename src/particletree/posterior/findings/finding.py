"""A finding: a text, the number behind it, how serious it is, and what to do."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from particletree.model.text import to_html
from particletree.posterior.plain import as_plain

GOOD, NOTE, WARNING = "good", "note", "warning"
LEVELS = (WARNING, NOTE, GOOD)  # in the order in which findings are listed
LINE_WIDTH = 100


@dataclass(frozen=True)
class Finding:
    """One result of the diagnostics of a posterior.

    Attributes
    ----------
    level : {"good", "note", "warning"}
        Whether it supports the result, is for information, or needs action.
    name : str
        A short, stable identifier.
    finding : str
        What was found, as text, with its number.
    number : float or None
        The number behind it; None if there is none.
    threshold : float or None
        The number from which the finding is a note or a warning, or up to which it is good.
    advice : str
        What to do about it, in terms of the parameters; empty if nothing need be done.
    """

    level: str
    name: str
    finding: str
    number: float | None
    threshold: float | None
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON; numbers that are not finite become None."""
        return dict(as_plain(self))

    def __str__(self) -> str:
        lead = f"{self.level:<7}  "
        text = f"{lead}{self.finding} {self.advice}".rstrip()
        return textwrap.fill(text, LINE_WIDTH, subsequent_indent=" " * len(lead), break_on_hyphens=False)


class Findings(tuple[Finding, ...]):
    """Findings, warnings first; `print` them to read them.

    Examples
    --------
    >>> from particletree.posterior.findings import Finding, Findings
    >>> print(Findings([Finding("note", "few_trees", "There are 3 trees.", 3.0, 10.0, "Run more islands.")]))
    note     There are 3 trees. Run more islands.
    """

    __slots__ = ()

    def of_level(self, level: str) -> Findings:
        """Return the findings of one level."""
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}.")
        return Findings(finding for finding in self if finding.level == level)

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as plain values for JSON."""
        return {"findings": [finding.to_dict() for finding in self]}

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self)

    __repr__ = __str__  # so that they are readable without `print`

    def _repr_html_(self) -> str:
        """Show the findings in a notebook."""
        return to_html(str(self))
