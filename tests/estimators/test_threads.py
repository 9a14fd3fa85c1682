"""Threads that share an estimator: predictions while another thread fits it to other data come from one fit only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from particletree import SMC, BARTClassifier, BARTRegressor, BayesianTreeClassifier, BayesianTreeRegressor
from particletree._estimators import base

SMALL: dict[str, Any] = {"n_trees": 5, "n_iterations": 30, "n_chains": 1, "random_state": 0}
TREE: dict[str, Any] = {"sampler": SMC.paper(n_particles=5, n_islands=1), "random_state": 0}


def labels(levels: str, classes: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return rows whose class depends on the level, which has another number in the other data."""
    return pd.DataFrame({"level": list(levels) * 20}), classes * 20


def numbers(levels: str, values: list[float]) -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.DataFrame({"level": list(levels) * 20})
    return frame, np.array(values * 20) + np.linspace(0.0, 0.1, 60)


FIRST_LABELS, OTHER_LABELS = labels("abc", ["x", "y", "y"]), labels("zcba", ["u", "v", "w", "x"])
FIRST_NUMBERS, OTHER_NUMBERS = numbers("abc", [1.0, 2.0, 3.0]), numbers("cba", [70.0, 80.0, 90.0])
CASES = {
    "tree of classes": (BayesianTreeClassifier(**TREE), FIRST_LABELS, OTHER_LABELS),
    "tree of numbers": (BayesianTreeRegressor(**TREE), FIRST_NUMBERS, OTHER_NUMBERS),
    "sum for classes": (BARTClassifier(**SMALL), FIRST_LABELS, OTHER_LABELS),
    "sum for numbers": (BARTRegressor(**SMALL), FIRST_NUMBERS, OTHER_NUMBERS),
}
cases = pytest.mark.parametrize(("model", "first", "other"), CASES.values(), ids=CASES.keys())


def in_a_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@cases
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fit_in_the_middle_of_a_prediction(
    monkeypatch: pytest.MonkeyPatch, model: Any, first: Any, other: Any, when: str
) -> None:
    """The other thread fits just before, or just after, the check of the rows."""
    expected = model.fit(*first).predict(first[0])
    check = base.check_features
    is_fitted_again = False

    def check_and_fit(*args: Any) -> Any:
        nonlocal is_fitted_again
        rows = check(*args) if when == "after" else None
        if not is_fitted_again:
            is_fitted_again = True
            in_a_thread(lambda: model.fit(*other))
        return check(*args) if rows is None else rows

    monkeypatch.setattr(base, "check_features", check_and_fit)
    np.testing.assert_array_equal(model.predict(first[0]), expected)
    assert is_fitted_again


@cases
def test_predictions_in_the_middle_of_a_fit(
    monkeypatch: pytest.MonkeyPatch, model: Any, first: Any, other: Any
) -> None:
    """Until the fit is done, all attributes are those of the fit before; a parameter that is set meanwhile stays."""
    expected = model.fit(*first).predict(first[0])
    before, seen = dict(vars(model)), []
    name = "_sample"
    sample = getattr(type(model), name)

    def look_and_sample(self: Any, data: Any) -> Any:
        in_a_thread(lambda: seen.append((dict(vars(model)), model.predict(first[0]))))
        model.set_params(verbose=0, n_jobs=2)
        return sample(self, data)

    monkeypatch.setattr(type(model), name, look_and_sample)
    model.fit(*other)
    ((attributes, predicted),) = seen
    assert attributes == before
    np.testing.assert_array_equal(predicted, expected)
    assert model.n_jobs == 2
    assert model.posterior_ is not before["posterior_"]
    model.set_params(n_jobs=None)


@cases
def test_threads_that_fit_and_predict_at_once(model: Any, first: Any, other: Any) -> None:
    answers = [tuple(model.fit(*data).predict(first[0]).tolist()) for data in (other, first)]
    n_fits, is_done = 10, threading.Event()

    def fit() -> None:
        for i in range(n_fits):
            model.fit(*(other, first)[i % 2])
        is_done.set()

    thread, found = threading.Thread(target=fit), set()
    thread.start()
    while not is_done.is_set():
        found.add(tuple(model.predict(first[0]).tolist()))
    thread.join()
    assert found <= set(answers)
