"""A leaf model with a flat likelihood: its marginal is 1 for all labels, so that the posterior is the prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from particletree._model.distributions import Beta
from particletree._model.leaf import Floats
from particletree._model.leaves.categorical import Categorical


@dataclass
class Flat(Categorical):
    """A leaf model with a flat likelihood: its marginal is 1 for all labels, so that the posterior is the prior.

    With it the samplers draw from the tree prior, to see what `alpha` and `beta` mean on given data, and to test that a
    flat likelihood returns the prior. Predictions ignore the labels too: every class has the same probability, with the
    prior's interval.

    Examples
    --------
    >>> from particletree import Flat
    >>> Flat().mean([3, 1])
    array([0.5, 0.5])
    """

    kernel_name: ClassVar[str] = "flat"

    concentration: float | str | None = 5.0

    def log_marginal(self, statistics: ArrayLike) -> Floats:
        """Return zero for every set of counts."""
        return np.zeros(np.shape(statistics)[:-1])

    def pseudo_counts(self, statistics: ArrayLike) -> Floats:
        """Return the parameters of the Dirichlet prior, whatever the counts."""
        return super().pseudo_counts(np.zeros(np.shape(statistics)))

    def parameter_distributions(self, statistics: Floats, output: int) -> Beta:
        """Return the prior's Beta distribution, whatever the counts."""
        return super().parameter_distributions(np.zeros_like(statistics), output)
