"""Conversion of scikit-learn's `random_state` and NumPy's generators to a `SeedSequence`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return a seed sequence for an int, RandomState, Generator, SeedSequence or None.

    A RandomState or a Generator is drawn from, so that the next fit with the same object differs, as is usual in
    scikit-learn; an int always gives the same sequence.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.SeedSequence):
        # `spawn` changes the state of a sequence: a copy keeps the caller's, and so the next fit with it, the same.
        return np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, got {random_state!r}.")
        return np.random.SeedSequence(int(random_state))
    raise TypeError(
        "random_state must be an integer, a numpy RandomState, Generator or SeedSequence, or None, "
        f"got {random_state!r}."
    )
