"""Warnings that point at the line of the caller's program, however many of our functions are on the way."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line that is not in this package: that is where the user can change something.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("The weights are small.")
    >>> str(caught[0].message)
    'The weights are small.'
    """
    warnings.warn(message, category, stacklevel=_frames_inside() + 1)


def _frames_inside() -> int:
    """Return how many frames, counted from `warn_caller`, belong to this package."""
    frame, n_frames = sys._getframe(1), 0
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, n_frames = frame.f_back, n_frames + 1
    return n_frames
