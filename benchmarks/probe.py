"""One fit in a separate process, to measure its memory: `python -m benchmarks.probe`.

The parent sends a :class:`Task` as JSON on standard input and gets a :class:`Reading` as JSON on standard output. The
first fit gives the peak memory; further fits, the preparation alone and CART take turns for the times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data_sets import generate
from benchmarks.memory import peak_rise
from benchmarks.models import bayesian_tree
from benchmarks.timing import best_times, time_once
from particletree._commands.cart import make_cart
from particletree._data import TrainingData, check_classification_data
from particletree.datasets import load_pendigits
from particletree.inference import SMC


@dataclass(frozen=True)
class Task:
    """The data and settings of a fit, and how often it is repeated."""

    n_rows: int = 1000
    n_features: int = 20
    n_classes: int = 3
    shape: str = "mixed"
    pendigits_dir: str | None = None  # pen-digits from this folder instead of generated data
    sampler: dict[str, Any] = field(default_factory=dict)  # parameters of SMC
    n_jobs: int = 1
    n_rounds: int = 1
    n_cart_rounds: int = 0


@dataclass(frozen=True)
class Reading:
    """The measurements: best times in seconds, and memory in bytes."""

    seconds: float
    prepare_seconds: float  # of it
    cart_seconds: float | None
    peak_bytes: int | None
    prepared_bytes: int
    n_rows: int
    n_features: int
    n_classes: int
    n_trees: int


def run_in_new_process(task: Task) -> Reading:
    """Run a task in a new process, and return its measurements."""
    command = [sys.executable, "-m", "benchmarks.probe"]
    result = subprocess.run(
        command, input=json.dumps(asdict(task)), capture_output=True, text=True, check=False, env=environment()
    )
    if result.returncode != 0:
        reason = (result.stderr.strip() or "nothing was said").splitlines()[-1]
        raise RuntimeError(f"The process for {task} ended with status {result.returncode}: {reason}")
    return Reading(**json.loads(result.stdout.splitlines()[-1]))


def environment() -> dict[str, str]:
    """Return the environment of a new process in which the benchmarks can be imported from any folder."""
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(place for place in places if place)}


def run(task: Task) -> Reading:
    """Measure a task in this process."""
    X, y = load(task)
    model = bayesian_tree(SMC.paper(**task.sampler), n_jobs=task.n_jobs)
    warm_up(task)
    first: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # truncation by max_stages does not matter here
        peak = peak_rise(lambda: first.append(time_once(partial(model.fit, X, y))))
        n_trees = len(model.posterior_.trees)
        contestants: dict[str, Callable[[], Any]] = {
            "ours": partial(model.fit, X, y),
            "prepare": partial(check_classification_data, model, X, y),
            "CART": partial(make_cart().fit, X, y),
        }
        rounds = {"ours": task.n_rounds - 1, "prepare": task.n_rounds, "CART": task.n_cart_rounds}
        seconds = best_times(contestants, rounds)
    data = check_classification_data(model, X, y)
    return Reading(
        seconds=min(*first, seconds.get("ours", float("inf"))),
        prepare_seconds=seconds["prepare"],
        cart_seconds=seconds.get("CART"),
        peak_bytes=peak,
        prepared_bytes=prepared_bytes(data),
        n_rows=len(y),
        n_features=X.shape[1],
        n_classes=data.observations.target.n_outputs,
        n_trees=n_trees,
    )


def load(task: Task) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the rows to fit."""
    if task.pendigits_dir is not None:
        data = load_pendigits(task.pendigits_dir)
        return data.X_train, data.y_train
    return generate(task.n_rows, task.n_features, task.n_classes, task.shape)


def warm_up(task: Task) -> None:
    """Fit a few rows, so that lazy imports do not count."""
    X, y = generate(200, 5)
    settings = task.sampler | {"n_particles": 5, "n_islands": 2}
    bayesian_tree(SMC.paper(**settings), n_jobs=task.n_jobs).fit(X, y)


def prepared_bytes(data: TrainingData) -> int:
    """Return the size of the prepared data: ranks, distinct values, offsets and labels."""
    table = data.table
    return int(table.ranks.nbytes + table.values.nbytes + table.offsets.nbytes + data.observations.values.nbytes)


if __name__ == "__main__":
    print(json.dumps(asdict(run(Task(**json.load(sys.stdin))))))
