"""Parameters of scikit-learn's trees that this package does not have: the error says what to use instead."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
Owner = TypeVar("Owner")

_PRIOR = "prior=TreePrior(alpha=0.95, beta=0.2, {})"  # the default alpha and beta
_SAMPLES_SPLIT = _PRIOR.format("min_samples_split=...")

INSTEAD = {
    "max_depth": f"A limit of the depth is part of the prior: write {_PRIOR.format('max_depth=...')}.",
    "min_samples_split": f"It is part of the prior: write {_SAMPLES_SPLIT}.",
    "min_samples_leaf": "It is left out because the prior density of a rule would then depend on how many rows lie on "
    f"both of its sides. A limit of the rows that a node needs to split is part of the prior: write {_SAMPLES_SPLIT}.",
    "max_leaf_nodes": "The prior says how many leaves are likely: write prior=TreePrior.expecting(n_leaves=...).",
    "ccp_alpha": "Trees are not pruned: the prior keeps them small, more so with a larger beta: write "
    "prior=TreePrior(alpha=0.95, beta=...), or beta='auto' to let the evidence choose.",
    "criterion": "Splits are judged by the marginal likelihood of the leaf model: write leaf=..., for example "
    "leaf=Categorical(concentration=...) for classes or leaf=Gaussian() for numbers.",
    "max_features": "Every feature that varies in a node may be split on; how many rules are looked at is up to the "
    "sampler: write sampler=SMC(proposal='lookahead', n_candidates=...).",
    "n_estimators": "The number of trees is that of the sampler's particles: write "
    "sampler=SMC(n_particles=..., n_islands=...).",
    "class_weight": "Weights are those of rows: pass sample_weight to fit, for example "
    "sklearn.utils.class_weight.compute_sample_weight('balanced', y).",
}


def describe_habit(owner: type, names: Iterable[str]) -> str | None:
    """Return what to use instead of the first of these names that other trees have; None if there is none.

    Examples
    --------
    >>> from particletree.estimators.habits import describe_habit
    >>> describe_habit(int, ["base", "max_leaf_nodes"]).split(":")[0]
    'int has no parameter max_leaf_nodes. The prior says how many leaves are likely'
    """
    known = [name for name in names if name in INSTEAD]
    return f"{owner.__name__} has no parameter {known[0]}. {INSTEAD[known[0]]}" if known else None


def refuse_habits(
    init: Callable[Concatenate[Owner, P], None],
) -> Callable[Concatenate[Owner, P], None]:
    """Decorate a constructor so that a parameter of other trees raises a helpful error; its signature stays."""

    @functools.wraps(init)
    def checked(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> None:
        message = describe_habit(type(self), kwargs)
        if message is not None:
            raise TypeError(message)
        init(self, *args, **kwargs)

    return checked


def refuse_habits_to_set(owner: type, params: dict[str, Any]) -> None:
    """Raise a `ValueError`, as scikit-learn does for an unknown parameter, that says what to use instead."""
    message = describe_habit(owner, params)
    if message is not None:
        raise ValueError(message)
