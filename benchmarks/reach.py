"""The question: how long until we are as good as CART.

A ladder of settings, from one particle to 6,000, is fitted with several seeds, CART in turn with them. The answer is
the quickest rung whose mean over the seeds is at least CART's on the test rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.data_sets import data_sets
from benchmarks.models import bayesian_tree, describe
from benchmarks.settings import Settings
from benchmarks.timing import time_once
from particletree._commands.cart import accuracy, make_cart, mean_log_probability, smoothed_probabilities
from particletree.datasets import Split
from particletree.inference import SMC

CART = "CART"
PRIOR = ((1, 30), (1, 100), (5, 30), (1, 300), (5, 100), (10, 100), (5, 300), (1, 1000), (20, 300))
OPTIMAL = ((1, 1), (1, 3), (1, 10), (3, 1), (5, 1), (5, 3), (10, 1), (10, 3))


@dataclass(frozen=True)
class Rung:
    """One setting (or CART) on one data set: the best time, and the mean scores over the seeds."""

    data: str
    method: str
    seconds: float
    ratio: float
    accuracy: float
    log_probability: float


@dataclass(frozen=True)
class Answer:
    """The fastest setting that is as good as CART, or None if none is."""

    data: str
    family: str
    by_accuracy: Rung | None
    by_log_probability: Rung | None


def measure(settings: Settings) -> Iterator[Rung]:
    """Fit all settings on every data set."""
    n_rungs = settings.choose(tiny=2, quick=6, full=9)
    ladder = [SMC.paper(n_islands=islands, n_particles=particles) for islands, particles in PRIOR[:n_rungs]]
    ladder += [
        SMC.paper(n_islands=islands, n_particles=particles, proposal="optimal")
        for islands, particles in OPTIMAL[:n_rungs]
    ]
    for data in data_sets(settings):
        settings.say(data.name)
        yield from climb(data, ladder, n_seeds=settings.choose(tiny=1, quick=2, full=5))


def climb(data: Split, ladder: Sequence[SMC], n_seeds: int) -> list[Rung]:
    """Fit CART and every setting once per seed, in turn."""
    makers: dict[str, Callable[[int], Any]] = {CART: lambda seed: make_cart(random_state=seed)}
    makers |= {describe(sampler): _maker(sampler) for sampler in ladder}
    seconds: dict[str, float] = {}
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in makers}
    for seed in range(n_seeds):
        for name, make in makers.items():
            model = make(seed)
            taken = time_once(lambda model=model: model.fit(data.X_train, data.y_train))  # type: ignore[misc]
            seconds[name] = min(taken, seconds.get(name, float("inf")))
            scores[name].append(score(model, data))
    rungs = []
    for name in makers:
        mean_accuracy, mean_log_prob = np.mean(scores[name], axis=0)
        ratio = seconds[name] / seconds[CART]
        rungs.append(Rung(data.name, name, seconds[name], ratio, float(mean_accuracy), float(mean_log_prob)))
    return rungs


def _maker(sampler: SMC) -> Callable[[int], Any]:
    return lambda seed: bayesian_tree(sampler, seed)


def score(model: Any, data: Split) -> tuple[float, float]:
    """Return accuracy and mean log-probability on the test rows."""
    probabilities: NDArray[np.float64]
    if hasattr(model, "posterior_"):
        probabilities = model.predict_proba(data.X_test)
    else:
        probabilities = smoothed_probabilities(model, data.X_test)
    return (
        accuracy(probabilities, model.classes_, data.y_test),
        mean_log_probability(probabilities, model.classes_, data.y_test),
    )


def answers(rungs: Sequence[Rung]) -> list[Answer]:
    """Find, for each data set and each proposal, the fastest setting that is as good as CART.

    Examples
    --------
    >>> cart = Rung("iris", "CART", 1.0, 1.0, 0.9, -0.3)
    >>> ours = [Rung("iris", "prior, 1 x 10", 0.1, 0.1, 0.8, -0.5), Rung("iris", "prior, 5 x 10", 0.4, 0.4, 0.95, -0.4)]
    >>> answer, = answers([cart, *ours])
    >>> answer.by_accuracy.ratio, answer.by_log_probability
    (0.4, None)
    """
    found = []
    for cart in (rung for rung in rungs if rung.method == CART):
        ours = [rung for rung in rungs if rung.data == cart.data and rung.method != CART]
        for family in dict.fromkeys(rung.method.split(",")[0] for rung in ours):
            members = [rung for rung in ours if rung.method.startswith(family)]
            right = [rung for rung in members if rung.accuracy >= cart.accuracy]
            sure = [rung for rung in members if rung.log_probability >= cart.log_probability]
            found.append(Answer(cart.data, family, _quickest(right), _quickest(sure)))
    return found


def _quickest(rungs: Sequence[Rung]) -> Rung | None:
    return min(rungs, key=lambda rung: rung.seconds, default=None)


def to_markdown(rungs: Sequence[Rung]) -> str:
    """Return the fastest settings that are as good as CART."""
    return markdown.table(
        ["data", "proposal", "CART's accuracy by", "CART's log-probability by"],
        ["x CART, to its accuracy", "x CART, to its log-probability"],
        [[a.data, a.family, *map(_setting, _rungs(a)), *map(_ratio, _rungs(a))] for a in answers(rungs)],
    )


def _rungs(answer: Answer) -> tuple[Rung | None, Rung | None]:
    return answer.by_accuracy, answer.by_log_probability


def _ratio(rung: Rung | None) -> str:
    return markdown.ratio(None if rung is None else rung.ratio)


def _setting(rung: Rung | None) -> str:
    return "none of the ladder" if rung is None else rung.method.split(", ")[1]
