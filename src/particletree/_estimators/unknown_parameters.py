"""Parameters and methods that users know from other trees, but an estimator does not have: errors say what to use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
Owner = TypeVar("Owner")

_PRIOR = "prior=TreePrior({})"
_SAMPLES_SPLIT = _PRIOR.format("min_samples_split=...")

INSTEAD = {
    "max_depth": f"A limit of the depth is part of the prior: write {_PRIOR.format('max_depth=...')}.",
    "min_samples_split": f"It is part of the prior: write {_SAMPLES_SPLIT}.",
    "min_samples_leaf": "It is left out because the prior density of a rule would then depend on how many rows lie on "
    f"both of its sides. A limit of the rows that a node needs to split is part of the prior: write {_SAMPLES_SPLIT}.",
    "max_leaf_nodes": "The prior says how many leaves are likely: write prior=TreePrior.expecting(n_leaves=...).",
    "ccp_alpha": "Trees are not pruned: the prior keeps them small, more so with a larger beta: write "
    "prior=TreePrior(beta=...), or beta='auto' to let the evidence choose.",
    "criterion": "Splits are judged by the marginal likelihood of the leaf model: write leaf=..., for example "
    "leaf=Categorical(concentration=...) for classes or leaf=Gaussian() for numbers.",
    "max_features": "Every feature that varies in a node may be split on; how many rules are looked at is up to the "
    "sampler: write sampler=SMC(proposal='lookahead', n_candidates=...).",
    "n_estimators": "The number of trees is that of the sampler's particles: write "
    "sampler=SMC(n_particles=..., n_islands=...).",
    "n_trees": "The number of trees is that of the sampler's particles: write "
    "sampler=SMC(n_particles=..., n_islands=...); BARTRegressor and BARTClassifier have n_trees.",
    "class_weight": "Weights are those of rows: pass sample_weight to fit, for example "
    "sklearn.utils.class_weight.compute_sample_weight('balanced', y).",
}

_N_TREES = "The number of trees is n_trees: write n_trees=..."
_SWEEPS = "The length of the chains is n_iterations, of which the first burn_in sweeps are discarded: write "
INSTEAD_IN_SUMS = {
    "n_estimators": f"{_N_TREES}.",
    "ntree": f"{_N_TREES}.",
    "m": f"{_N_TREES}.",
    "leaf": "Only single trees have leaf models. The leaf values of a sum are normal; write k=... to shrink them more "
    "or less. For counts, write BayesianTreeRegressor(leaf=Poisson()).",
    "sampler": "Only single trees have several samplers. Sums are drawn by Markov chains: write n_iterations=..., "
    "n_chains=..., and moves=BARTMoves(...).",
    "alpha": "It is part of the prior: write prior=TreePrior(alpha=...).",
    "beta": "It is part of the prior: write prior=TreePrior(beta=...).",
    "max_depth": f"A limit of the depth is part of the prior: write {_PRIOR.format('max_depth=...')}.",
    "min_samples_split": f"It is part of the prior: write {_PRIOR.format('min_samples_split=...')}.",
    "min_samples_leaf": INSTEAD["min_samples_leaf"].replace(_SAMPLES_SPLIT, _PRIOR.format("min_samples_split=...")),
    "max_leaf_nodes": "The prior keeps the trees of a sum small: write prior=TreePrior(beta=...), with a "
    "larger beta for fewer leaves.",
    "ccp_alpha": "Trees are not pruned: the prior keeps them small, more so with a larger beta: write "
    "prior=TreePrior(beta=...).",
    "criterion": "Splits are judged by the marginal likelihood of the residuals; nothing else can be chosen.",
    "max_features": "Every feature that varies in a node may be split on; nothing else can be chosen.",
    "class_weight": INSTEAD["class_weight"].replace(
        "pass sample_weight to fit", "pass sample_weight, whole numbers, to fit"
    ),
    "learning_rate": "Leaf values are shrunk by their prior: write k=..., larger to shrink them more.",
    "n_particles": "It is one of the moves: write moves=BARTMoves(n_particles=..., regrow_share=...).",
    "n_islands": "The independent runs are chains: write n_chains=...",
    "n_samples": f"{_SWEEPS}n_iterations=..., burn_in=...",
    "ndpost": f"{_SWEEPS}n_iterations=..., burn_in=...",
    "nskip": f"{_SWEEPS}n_iterations=..., burn_in=...",
}


def describe_unknown(owner: type, names: Iterable[str]) -> str | None:
    """Return what to use instead of the first of these names that other trees have; None if there is none.

    Examples
    --------
    >>> from particletree._estimators.unknown_parameters import describe_unknown
    >>> describe_unknown(int, ["base", "max_leaf_nodes"]).split(":")[0]
    'int has no parameter max_leaf_nodes. The prior says how many leaves are likely'
    """
    instead = getattr(owner, "instead", INSTEAD)
    known = [name for name in names if name in instead]
    return f"{owner.__name__} has no parameter {known[0]}. {instead[known[0]]}" if known else None


def refuse_unknown(
    init: Callable[Concatenate[Owner, P], None],
) -> Callable[Concatenate[Owner, P], None]:
    """Decorate a constructor so that a parameter of other trees raises a helpful error; its signature stays."""

    @functools.wraps(init)
    def checked(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> None:
        message = describe_unknown(type(self), kwargs)
        if message is not None:
            raise TypeError(message)
        init(self, *args, **kwargs)

    return checked


def refuse_unknown_in_init(owner: type[Owner]) -> type[Owner]:
    """Decorate a dataclass so that its constructor refuses parameters of other trees."""
    cast(Any, owner).__init__ = refuse_unknown(owner.__init__)
    return owner


def refuse_unknown_to_set(owner: type, params: dict[str, Any]) -> None:
    """Raise a `ValueError`, as scikit-learn does for an unknown parameter, that says what to use instead."""
    message = describe_unknown(owner, params)
    if message is not None:
        raise ValueError(message)
