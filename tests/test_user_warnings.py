"""A warning points at the line that called us, whichever way it took through the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from particletree import SMC, BayesianTreeClassifier, Categorical, TreePrior
from particletree._data import make_training_data

X = np.arange(30.0)[:, None]
MANY_CLASSES = np.arange(30)
TWO_CLASSES = MANY_CLASSES % 2
ONE_ZERO = np.append(np.ones(29), 0.0)
SHORT = SMC.paper(n_particles=2, n_islands=1, max_stages=1)


def fit(y: Any, weights: Any = None) -> None:
    BayesianTreeClassifier(sampler=SMC.paper(n_particles=2), random_state=0).fit(X, y, weights)


def run_truncated() -> None:
    data = make_training_data(X, TWO_CLASSES, 2)
    SHORT.run(data, TreePrior.paper(), Categorical.paper(), seed=np.random.SeedSequence(0))


CALLS = {
    "many classes": (lambda: fit(MANY_CLASSES), "30 classes in 30 rows"),
    "many classes, a row of weight 0": (lambda: fit(MANY_CLASSES, ONE_ZERO), "29 classes in 29 rows"),
    "small weights": (lambda: fit(TWO_CLASSES, np.full(30, 1 / 30)), "sums to 1 for 30 rows"),
    "small weights without an estimator": (
        lambda: make_training_data(X, TWO_CLASSES, 2, np.full(30, 1 / 30)),
        "sums to 1 for 30 rows",
    ),
    "truncated": (lambda: BayesianTreeClassifier(sampler=SHORT, random_state=0).fit(X, TWO_CLASSES), "max_stages=1"),
    "truncated without an estimator": (run_truncated, "max_stages=1"),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS.keys())
def test_warnings_point_at_this_file(call: Any, message: str) -> None:
    with pytest.warns(UserWarning, match=message) as caught:
        call()
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
