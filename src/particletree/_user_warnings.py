"""Warnings that point at the user's line of code, however many functions of this package are on the call stack."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the nearest line outside this package, where the user can change something.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("The weights are small.")
    >>> str(caught[0].message)
    'The weights are small.'
    """
    frame, n_frames = sys._getframe(), 1  # those of this package, from this one up
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, n_frames = frame.f_back, n_frames + 1
    warnings.warn(message, category, stacklevel=n_frames)
