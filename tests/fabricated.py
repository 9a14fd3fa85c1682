"""Results that were never measured: what a figure says about them is known beforehand."""

from collections.abc import Callable
from typing import Any

import numpy as np

from papers.harness.journal import Entry, key_of
from papers.icml2013.experiment import Claim, Experiment
from papers.icml2013.methods import Chain, PriorDraws
from papers.icml2013.scale import QUICK, Scale
from papers.icml2013.summaries import Points, summarise

NOISE = 0.001  # over seeds: small beside every difference that is planted


def points(experiment: Experiment, make: Callable[[str, Any], dict[str, Any]], scale: Scale = QUICK) -> Points:
    """Return the points of an experiment whose cells gave what `make(data, method)` says, with a little noise."""
    rng = np.random.default_rng(0)
    entries = {}
    for cell in experiment.cells(scale):
        result = make(cell.data, cell.method)
        if not isinstance(cell.method, Chain | PriorDraws):
            defaults = {
                "seconds": 0.01,
                "accuracy": 0.9,
                "log_evidence": -100.0,
                "depth": 9.0,
                "leaves": 50.0,
                "row_depth": 6.0,
            }
            result = {name: value + NOISE * rng.normal() for name, value in (defaults | result).items()}
            result["seconds"] = abs(result["seconds"])
        entries[key_of(cell.description)] = Entry(cell.description, result, 0.1, 0.1)
    return Points(summarise(experiment.cells(scale), entries))


def chain(seconds: list[float], log_probability: list[float]) -> dict[str, Any]:
    """Return what a chain would have given at these times."""
    return {
        "iterations": list(range(len(seconds))),
        "seconds": seconds,
        "log_probability": log_probability,
        "accuracy": [0.9] * len(seconds),
        "log_probability_second_half": log_probability,
        "leaves": 50.0,
        "depth": 9.0,
    }


def claim(claims: list[Claim], words: str) -> Claim:
    """Return the one claim with these words."""
    (found,) = (c for c in claims if words in c.text)
    return found
