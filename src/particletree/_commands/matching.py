"""Match the columns of a file with the features of a posterior, and find levels that the fit has not seen."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from particletree._commands.console import tell
from particletree._files import Frame, Kind, TableFile, nearest_names
from particletree._model.columns import Level
from particletree._posterior import Posterior


def match_columns(posterior: Posterior, file: TableFile, others: Collection[str] = ()) -> list[str]:
    """Return the names of the columns in the order of the features; print a note about columns that are not used.

    `others` are the columns with another role, such as the target.
    """
    wanted = posterior.feature_names
    if wanted is None:
        names = [name for name in file.names if name not in others]
        if len(names) != posterior.n_features:
            raise ValueError(
                f"{file.path} has {len(names)} columns, but the posterior was fitted to {posterior.n_features} "
                "without names; give it those, in their order."
            )
        return names
    known, used = set(file.names), {*wanted, *others}
    missing = [name for name in wanted if name not in known]
    if missing:
        near = nearest_names(missing[0], file.names)
        raise ValueError(f"{file.path} lacks the column{'s' * (len(missing) > 1)} {_listed(missing)}; {near}")
    extra = [name for name in file.names if name not in used]
    if extra:
        tell(f"particletree: note: not used: {_listed(extra)}")
    return wanted


def _listed(names: Sequence[Level]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(repr, names[:10])) + more


def kinds_to_read(posterior: Posterior, names: Sequence[str]) -> dict[str, Kind]:
    """Return the kind that each column is read as: that of the fit, whatever the new rows contain."""
    kinds = dict.fromkeys(names, Kind.NUMBER)
    for index, levels in posterior.columns.levels.items():
        if levels and all(isinstance(level, bool) for level in levels):
            kinds[names[index]] = Kind.BOOLEAN
        elif not levels or any(isinstance(level, str) for level in levels):
            kinds[names[index]] = Kind.TEXT
    return kinds


class UnseenLevels:
    """Collects the levels that the fit has not seen; each tree sends them left or right at random."""

    def __init__(self, posterior: Posterior, names: Sequence[str]) -> None:
        self._known = {names[index]: set(levels) for index, levels in posterior.columns.levels.items()}
        self._found: dict[str, set[Level]] = {}

    def look(self, frame: Frame) -> None:
        """Collect the unseen levels of some more rows."""
        for name, known in self._known.items():
            new = {cell for cell in set(frame.columns[name].tolist()) - known if cell is not None and cell == cell}
            if new:
                self._found.setdefault(name, set()).update(new)

    def tell(self) -> None:
        """Print a note about each column with unseen levels."""
        for name, levels in self._found.items():
            tell(f"particletree: note: column {name!r} has levels that the fit has not seen: {_listed(sorted(levels))}")
