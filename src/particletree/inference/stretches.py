"""Chains in stretches, so that Ctrl-C keeps what there is of chains that are not at their end.

A chain is run a stretch at a time: the kernel answers with the draws of the stretch and where the chain stands, and
goes on from there with the same generator. All chains have the same stretches, so that chains which are cut off after
the same stretch are of one length, as pooling and convergence diagnostics want them. After Ctrl-C those chains are
kept, and as many stretches of each, that leave most draws.

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

SHORTEST = 50  # sweeps: to go on costs about as much as two or three
MOST = 20


@dataclass(frozen=True)
class Stretch:
    """Sweeps of a chain that are run in one go, of which the first `burn_in` are left out."""

    n_before: int
    n_iterations: int
    burn_in: int

    @property
    def end(self) -> int:
        """Sweeps that the chain has done at its end."""
        return self.n_before + self.n_iterations


def stretches_of(n_iterations: int, burn_in: int, thin: int) -> list[Stretch]:
    """Return the stretches of a chain; each keeps a draw at least, and together as many as the chain in one go."""
    n_draws = (n_iterations - burn_in) // thin
    n_per_stretch = max(-(-SHORTEST // thin), -(-n_draws // MOST))
    ends = [burn_in + n * thin for n in range(n_per_stretch, n_draws, n_per_stretch)]
    if ends and n_draws % n_per_stretch:
        ends.pop()  # what is left would be shorter than the others: one with the stretch before
    bounds = [0, *ends, n_iterations]
    return [Stretch(first, last - first, burn_in if first == 0 else 0) for first, last in pairwise(bounds)]


def longest_common(n_done: Sequence[int]) -> tuple[int, list[int]]:
    """Return how many stretches to keep, and of which chains, given how many each has done; of most draws."""
    lengths = sorted({n for n in n_done if n > 0}, reverse=True)
    chains = {length: [chain for chain, n in enumerate(n_done) if n >= length] for length in lengths}
    best = max(lengths, key=lambda length: length * len(chains[length]), default=0)
    return best, chains.get(best, [])
