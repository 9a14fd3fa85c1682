"""The settings of a case: how thorough it is, the folder of the paper's data, and a callback for progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

Scale = Literal["tiny", "quick", "full"]
T = TypeVar("T")


def silent(_: str) -> None:
    """Ignore progress messages."""


@dataclass(frozen=True)
class Settings:
    """The settings of a run of the benchmarks.

    Parameters
    ----------
    scale : {"tiny", "quick", "full"}, default "full"
        `full` takes about half an hour and its figures can be quoted, `quick` about two minutes for a first impression;
        `tiny` takes seconds and measures nothing, for tests.
    data_dir : Path or None, default None
        Folder with the paper's data sets; None leaves them out, unless the environment variable names one.
    say : callable
        Called with a short text about what is measured next.

    Examples
    --------
    >>> Settings(scale="quick").choose(tiny=1, quick=3, full=15)
    3
    """

    scale: Scale = "full"
    data_dir: Path | None = None
    say: Callable[[str], None] = silent

    def choose(self, *, tiny: T, quick: T, full: T) -> T:
        """Return the value for the scale of this run."""
        return {"tiny": tiny, "quick": quick, "full": full}[self.scale]
