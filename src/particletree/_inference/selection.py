r"""Settings chosen by the evidence: parameters of the prior or the leaf model that are "auto".

The evidence p(Y | X) of a setting is the probability of the data under it; it needs no held-out data, and the particle
filter estimates it. This is type II maximum likelihood (empirical Bayes): each parameter that is "auto" has a short
grid of values (`Prior.grid`, `LeafModel.grid`), and the setting with the highest evidence is chosen.

The search is a coordinate ascent: it starts in the middle of the grid and moves along one parameter at a time to a
better neighbour, until there is none. A setting is evaluated by one quick island, with the same seed for all settings
(common random numbers). Four to twelve settings are tried, which takes about the time of a default fit. The log
evidence has an error of several nats on most tables (``_posterior/runs/evidence.py``): two settings that are closer
than that cannot be distinguished, and :class:`Choice` says so.

The setting that wins is one whose quick island was lucky. No island of the fit has the seed of the search, so the fit
does not repeat the luck: given the setting, its evidence is unbiased. It is nevertheless the evidence of a setting that
was fitted to the data.

Few particles explore large trees less well, so the evidence of larger trees is underestimated more. The choice is
therefore biased towards smaller trees than those that predict best (``docs/defaults.md``), which is why the defaults
are fixed settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from particletree._data import TrainingData
from particletree._inference.parallel import spawn
from particletree._inference.smc import SMC
from particletree._model.leaf import LeafModel
from particletree._model.prior import Prior
from particletree._posterior.runs.provenance import Choice

QUICK = SMC(n_particles=10, n_islands=1, proposal="lookahead", ess_threshold=0.5)
SELECTION_CHILD = 2**32 - 1  # the child of the fit's seed that selects: its islands are children 0, 1, 2, ...
Place: TypeAlias = tuple[int, ...]  # a point of the grid, one index per parameter
Model: TypeAlias = tuple[Prior, LeafModel]


def choose_settings(
    data: TrainingData,
    prior: Prior,
    leaf: LeafModel,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    feature_names: list[str] | None = None,
) -> tuple[Prior, LeafModel, Choice | None]:
    """Return the model with a value for every parameter that is "auto", and the choice; None if none is "auto"."""
    for parameters in (prior, leaf):
        parameters.validate()
    of_prior, of_leaf = prior.grid(), leaf.grid(data.observations)
    grid = of_prior | of_leaf
    if not grid:
        return prior, leaf, None
    values = list(grid.values())
    (own_seed,) = spawn(seed, 1, SELECTION_CHILD)

    def model_at(place: Place) -> Model:
        chosen = {name: grid[name][i] for name, i in zip(grid, place, strict=True)}
        return (
            replace(prior, **{name: chosen[name] for name in of_prior}),
            replace(leaf, **{name: chosen[name] for name in of_leaf}),
        )

    def log_evidence(place: Place) -> float:
        return QUICK.run(data, *model_at(place), seed=own_seed, feature_names=feature_names, n_jobs=n_jobs).log_evidence

    tried = climb(tuple(len(each) // 2 for each in values), tuple(len(each) for each in values), log_evidence)
    settings = tuple({name: grid[name][i] for name, i in zip(grid, place, strict=True)} for place in tried)
    choice = Choice(settings, tuple(tried.values()))
    return *model_at(max(tried, key=lambda place: tried[place])), choice


def climb(start: Place, sizes: Place, value: Callable[[Place], float]) -> dict[Place, float]:
    """Maximise over a grid by coordinate ascent from `start`; return every place that was tried, with its value.

    Examples
    --------
    >>> from particletree._inference.selection import climb
    >>> tried = climb((1, 1), (3, 4), lambda place: -abs(place[0] - 2) - abs(place[1] - 1))
    >>> max(tried, key=tried.get), len(tried)
    ((2, 1), 5)
    """
    tried = {start: value(start)}
    best, is_moving = start, True
    while is_moving:
        is_moving = False
        for axis in range(len(sizes)):
            for step in (-1, 1):
                while 0 <= best[axis] + step < sizes[axis]:
                    place = (*best[:axis], best[axis] + step, *best[axis + 1 :])
                    if place in tried:
                        break
                    tried[place] = value(place)
                    if tried[place] <= tried[best]:
                        break
                    best, is_moving = place, True
    return tried
