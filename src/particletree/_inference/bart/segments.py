"""Chains run in stretches, so that after Ctrl-C the draws of unfinished chains can be kept.

A chain is run one stretch at a time: the kernel returns the draws of the stretch and the state of the chain, and
continues from there with the same generator. All chains have the same stretches, so that chains which are cut off after
the same stretch have equal lengths, as pooling and convergence diagnostics require. After Ctrl-C, the chains and the
number of stretches of each are chosen that keep the most draws.

Examples
--------
>>> [(each.n_before, each.n_iterations, each.burn_in) for each in stretches_of(500, 250, 1)][:2]
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
class Stretch:
    """Sweeps of a chain that are run in one call of the kernel; the first `burn_in` are discarded."""

    n_before: int
    n_iterations: int
    burn_in: int

    @property
    def end(self) -> int:
        """Number of sweeps of the chain up to the end of the stretch."""
        return self.n_before + self.n_iterations


def stretches_of(n_iterations: int, burn_in: int, thin: int) -> list[Stretch]:
    """Return the stretches of a chain; each keeps at least one draw, and all together the draws of the whole chain."""
    n_draws = (n_iterations - burn_in) // thin
    n_per_stretch = max(-(-SHORTEST // thin), -(-n_draws // MOST))
    ends = [burn_in + n * thin for n in range(n_per_stretch, n_draws, n_per_stretch)]
    if ends and n_draws % n_per_stretch:
        ends.pop()  # the remainder would be a short stretch: join it with the one before
    bounds = [0, *ends, n_iterations]
    return [Stretch(first, last - first, burn_in if first == 0 else 0) for first, last in pairwise(bounds)]


def longest_common(n_done: Sequence[int]) -> tuple[int, list[int]]:
    """Return the number of stretches and the chains that keep the most draws, given the stretches done by each."""
    lengths = sorted({n for n in n_done if n > 0}, reverse=True)
    chains = {length: [chain for chain, n in enumerate(n_done) if n >= length] for length in lengths}
    best = max(lengths, key=lambda length: length * len(chains[length]), default=0)
    return best, chains.get(best, [])
