"""The roundest number between two others, for readable thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

ENOUGH_DIGITS = 18  # one more than is needed to distinguish any two floats


def round_within(low: float, high: float, near: float) -> float:
    """Return the roundest number strictly between `low` and `high`; of several, the one nearest to `near`.

    The roundest is the one on the coarsest of the grids ..., 10, 5, 1, 0.5, 0.1, 0.05, ... So a cut between two whole
    numbers is 2007.5: an end of the gap would be shorter, but would not show the gap. If there is no float between the
    two, `near` itself is returned, which must lie in [low, high).

    Examples
    --------
    >>> from particletree.model.rounding import round_within
    >>> round_within(2007.0, 2008.0, near=2007.76)
    2007.5
    >>> round_within(0.1278, 0.1342, near=0.13308)
    0.13
    """
    start = max(near, math.nextafter(low, high))
    if start == high:
        return near
    exact = Fraction(start)
    for step in _grids(max(abs(low), abs(high))):
        below = exact // step * step
        # Converted to float, a decimal inside the gap may be rounded to an end of the gap: check again.
        numbers = [float(number) for number in (below, below + step) if low < number < high]
        inside = [number for number in numbers if low < number < high]
        if inside:
            return min(inside, key=lambda number: abs(number - near))
    return start


def _grids(largest: float) -> Iterator[Fraction]:
    """Yield the steps 10^k, 10^k / 2, 10^(k-1), ... from the first power of ten beyond the largest number."""
    first = math.floor(math.log10(largest)) + 1
    for exponent in range(first, first - ENOUGH_DIGITS - 1, -1):
        step = Fraction(10) ** exponent
        yield step
        yield step / 2
