"""The exact law of what a function draws: it is run once for every course that its random draws can take.

`Courses` stands in for NumPy's random generator. Draws of an index or a coin have few outcomes. A cut has many, but all
that anyone can ask of it is on which side of some given places it lies; so its outcomes are the intervals between these
places. Likewise a seed is for the coins of some given levels, and its outcomes are what these coins can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np

from particletree._model.rule import are_scattered_left

Result = TypeVar("Result")


class Courses:
    """A random generator that takes all courses in turn."""

    def __init__(self, places: Sequence[float] = (), levels: Sequence[int] = ()) -> None:
        self.places = sorted(places)
        found: dict[tuple[bool, ...], int] = {}
        for seed in range(2 ** (len(levels) + 6)):
            found.setdefault(tuple(bool(are_scattered_left(np.uint64(seed), level)) for level in levels), seed)
        self.seeds = [found[coins] for coins in product((False, True), repeat=len(levels))]
        self.taken: list[tuple[int, list[float]]] = []  # the choice in each draw, and the probabilities of all of them
        self.n_drawn = 0

    def choice(self, n: int, p: Any) -> int:
        probabilities = [float(each) for each in p]
        assert len(probabilities) == n
        if self.n_drawn == len(self.taken):
            first = next(i for i, probability in enumerate(probabilities) if probability > 0)
            self.taken.append((first, probabilities))
        self.n_drawn += 1
        return self.taken[self.n_drawn - 1][0]

    def random(self) -> float:
        return 0.25 + 0.5 * self.choice(2, [0.5, 0.5])

    def integers(self, n: int) -> int:
        return self.seeds[self.choice(len(self.seeds), [1 / len(self.seeds)] * len(self.seeds))]

    def uniform(self, low: float, high: float) -> float:
        cells = list(pairwise([low, *(place for place in self.places if low < place < high), high]))
        low, high = cells[self.choice(len(cells), [(b - a) / (high - low) for a, b in cells])]
        return (low + high) / 2

    def of(self, draw: Callable[[Any], Result]) -> Iterator[tuple[float, Result]]:
        """Yield each result of a function of a random generator with the probability of its course."""
        self.taken = []
        while True:
            self.n_drawn = 0
            result = draw(self)
            assert self.n_drawn == len(self.taken), "the function does not repeat itself"
            yield float(np.prod([probabilities[i] for i, probabilities in self.taken])), result
            while self.taken:  # the next course differs in the last draw that has another outcome
                i, probabilities = self.taken.pop()
                others = [j for j in range(i + 1, len(probabilities)) if probabilities[j] > 0]
                if others:
                    self.taken.append((others[0], probabilities))
                    break
            if not self.taken:
                return
