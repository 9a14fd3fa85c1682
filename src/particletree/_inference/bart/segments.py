"""Chains run in segments, so that after Ctrl-C the draws of unfinished chains can be kept.

A chain is run one segment at a time: the kernel returns the draws of the segment and the state of the chain, and
continues from there with the same generator. All chains have the same segments, so that chains which are cut off after
the same segment have equal lengths, as pooling and convergence diagnostics require. After Ctrl-C, the chains and the
number of segments of each are chosen that keep the most draws.

Examples
--------
>>> [(each.n_before, each.n_iterations, each.burn_in) for each in segments_of(500, 250, 1)][:2]
[(0, 300, 250), (300, 50, 0)]
>>> longest_common([5, 2, 2, 0])
(2, [0, 1, 2])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SHORTEST = 50  # sweeps: continuing a chain costs about as much as two or three
MOST = 20


@dataclass(frozen=True)
class Segment:
    """Sweeps of a chain that are run in one call of the kernel; the first `burn_in` are discarded."""

    n_before: int
    n_iterations: int
    burn_in: int

    @property
    def end(self) -> int:
        """Number of sweeps of the chain up to the end of the segment."""
        return self.n_before + self.n_iterations


def segments_of(n_iterations: int, burn_in: int, thin: int) -> list[Segment]:
    """Return the segments of a chain; each keeps at least one draw, and all together the draws of the whole chain."""
    n_draws = (n_iterations - burn_in) // thin
    n_per_segment = max(-(-SHORTEST // thin), -(-n_draws // MOST))
    ends = [burn_in + n * thin for n in range(n_per_segment, n_draws, n_per_segment)]
    if ends and n_draws % n_per_segment:
        ends.pop()  # the remainder would be a short segment: join it with the one before
    bounds = [0, *ends, n_iterations]
    return [Segment(first, last - first, burn_in if first == 0 else 0) for first, last in pairwise(bounds)]


def longest_common(n_done: Sequence[int]) -> tuple[int, list[int]]:
    """Return the number of segments and the chains that keep the most draws, given the segments done by each."""
    lengths = sorted({n for n in n_done if n > 0}, reverse=True)
    chains = {length: [chain for chain, n in enumerate(n_done) if n >= length] for length in lengths}
    best = max(lengths, key=lambda length: length * len(chains[length]), default=0)
    return best, chains.get(best, [])
