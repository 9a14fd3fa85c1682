"""What a leaf model or a prior from outside the package is made of; ``docs/extending.md`` adds one of each.

A leaf model is a header for the kernel and a subclass of `LeafModel`, or of `NumbersLeaf` for numbers; a prior is a
header and a subclass of `Prior`. Registered, they are saved and loaded with the posteriors that use them.
"""

from particletree._model.distributions import Beta, Distributions
from particletree._model.leaf import Faults, Floats, LeafModel, MeanWords
from particletree._model.leaves import register_leaf_model
from particletree._model.leaves.numbers import (
    NumbersLeaf,
    PerTarget,
    broken,
    check_per_target,
    for_each_target,
    refuse_first,
    rows_faults,
)
from particletree._model.parameters import Parameters, check_choice, check_integer, check_real
from particletree._model.prior import PRIORS, Prior, check_feature_weights
from particletree._model.row_columns import NO_COLUMNS, RowColumn, RowColumns
from particletree._model.target import ClassLabels, Numbers, Observations, Target
from particletree._model.text import format_count

__all__ = [
    "NO_COLUMNS",
    "PRIORS",
    "Beta",
    "ClassLabels",
    "Distributions",
    "Faults",
    "Floats",
    "LeafModel",
    "MeanWords",
    "Numbers",
    "NumbersLeaf",
    "Observations",
    "Parameters",
    "PerTarget",
    "Prior",
    "RowColumn",
    "RowColumns",
    "Target",
    "broken",
    "check_choice",
    "check_feature_weights",
    "check_integer",
    "check_per_target",
    "check_real",
    "for_each_target",
    "format_count",
    "refuse_first",
    "register_leaf_model",
    "rows_faults",
]
