"""X is checked once, whether the estimator is asked or its posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from particletree import MCMC, SMC, BayesianTreeClassifier, Exact
from particletree._data import features

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 0.0]])
Y = np.array([0, 0, 1, 1])
SAMPLERS = [SMC.paper(n_particles=5), MCMC(n_iterations=20), Exact(n_draws=5)]
FORMS: list[Callable[[Any], Any]] = [np.array, np.asfortranarray, np.ndarray.tolist, np.float32, pd.DataFrame]
QUESTIONS: dict[str, Callable[[BayesianTreeClassifier, Any], Any]] = {
    "predict": lambda model, rows: model.predict(rows),
    "predict_proba": lambda model, rows: model.predict_proba(rows),
    "predict_interval": lambda model, rows: model.predict_interval(rows),
    "predictive": lambda model, rows: model.posterior_.predictive(rows),
    "predictive_interval": lambda model, rows: model.posterior_.predictive_interval(rows),
}


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_rows_are_checked_once(
    monkeypatch: pytest.MonkeyPatch, sampler: Any, form: Callable[[Any], Any], ask: Callable[..., Any]
) -> None:
    model = BayesianTreeClassifier(sampler=sampler, random_state=0).fit(X, Y)
    expected = ask(model, X)
    seen = []
    look = features._refuse_infinite  # every check ends with this one

    def count(given: Any, rows: Any) -> Any:
        seen.append(given)
        return look(given, rows)

    monkeypatch.setattr(features, "_refuse_infinite", count)
    np.testing.assert_array_equal(ask(model, form(X)), expected)
    assert len(seen) == 1


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS.keys())
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([[0.0, 1.0], [np.inf, 0.0]]), r"Infinite value \(inf\).* in row 1, column 0 of X"),
        (np.zeros((1, 3)), r"expecting 2 features|must have the shape \(rows, 2\)"),
        (np.zeros((0, 2)), r"0 sample\(s\)"),
        (np.zeros(2), "Reshape your data"),
    ],
)
def test_a_plain_array_that_is_wrong_is_refused_all_the_same(
    ask: Callable[..., Any], rows: np.ndarray, message: str
) -> None:
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=5), random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        ask(model, rows)


def test_an_array_in_the_place_of_a_frame_is_taken_with_scikit_learns_warning() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = BayesianTreeClassifier(sampler=SMC.paper(n_particles=5), random_state=0).fit(frame, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict_proba(X)
