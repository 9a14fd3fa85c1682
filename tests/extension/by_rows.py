"""A prior that is not part of the package: a block of n rows splits with probability n / (n + half)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from particletree.extending import PRIORS, Prior, check_feature_weights, check_real


@PRIORS.register
@dataclass
class ByRows(Prior):
    """`half` is the number of rows at which a block splits with probability 1/2."""

    half: float = 4.0
    feature_weights: Any = None

    kernel_name: ClassVar[str] = "by_rows"

    def validate(self) -> None:
        check_real(self, "half", "above 0", low=0, high=math.inf, closed="neither")
        check_feature_weights(self)

    def kernel_parameters(self) -> list[float]:
        return [self.half]

    def split_probability(self, depth: int, n_rows: int, mass: float = 0.0) -> float:
        return n_rows / (n_rows + self.half)
