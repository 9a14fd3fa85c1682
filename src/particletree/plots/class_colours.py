"""Colours of classes: the most frequent classes have one each; if there are too many, the others are grey."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from particletree.plots.style import COLOURS, LIGHT

OTHERS = "other classes"


def class_colours(frequencies: NDArray[np.float64]) -> list[str]:
    """Return the colour of each class; beyond seven classes the six most frequent have their own.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree.plots.class_colours import class_colours
    >>> class_colours(np.array([1.0, 2.0]))
    ['#0072B2', '#D55E00']
    >>> class_colours(np.arange(9.0))[:4]
    ['#BBBBBB', '#BBBBBB', '#BBBBBB', '#0072B2']
    """
    colours = [LIGHT] * frequencies.size
    for place, number in enumerate(coloured_classes(frequencies).tolist()):
        colours[number] = COLOURS[place]
    return colours


def coloured_classes(frequencies: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the classes that have their own colour, in order."""
    if frequencies.size <= len(COLOURS):
        return np.arange(frequencies.size)
    return np.sort(np.argsort(-frequencies, kind="stable")[: len(COLOURS) - 1])
