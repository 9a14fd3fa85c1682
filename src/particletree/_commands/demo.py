"""The demonstration behind `particletree demo`: a comparison with CART on two data sets of scikit-learn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from particletree._commands.cart import accuracy, make_cart, mean_log_probability, smoothed_probabilities
from particletree._commands.console import format_table
from particletree._estimators import BayesianTreeClassifier
from particletree._model import ClassLabels, TreePrior
from particletree._posterior import Posterior

HEADINGS = ("data", "method", "fit, ms", "accuracy", "log-prob.", "log evidence", "ESS")


@dataclass(frozen=True)
class Row:
    """One line of the demonstration's table."""

    data: str
    method: str
    milliseconds: float
    accuracy: float
    log_probability: float
    posterior: Posterior | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the line as text, cell by cell."""
        evidence = ess = "-"
        if self.posterior is not None:
            evidence = f"{self.posterior.log_evidence:.1f} ± {self.posterior.log_evidence_se:.1f}"
            ess = f"{self.posterior.effective_sample_size:.1f}"
        return (
            self.data,
            self.method,
            f"{self.milliseconds:.1f}",
            f"{self.accuracy:.3f}",
            f"{self.log_probability:.3f}",
            evidence,
            ess,
        )


def compare(name: str, bunch: Any) -> Iterator[Row]:
    """Fit CART and the Bayesian trees on 70% of the rows and yield their scores on the remaining 30%."""
    X_train, X_test, y_train, y_test = train_test_split(bunch.data, bunch.target, test_size=0.3, random_state=0)
    cart = make_cart()
    milliseconds = _fit_time(cart, X_train, y_train)
    yield _row(name, "CART", milliseconds, smoothed_probabilities(cart, X_test), y_test)
    model = BayesianTreeClassifier(random_state=0)
    milliseconds = _fit_time(model, X_train, y_train)
    posterior = _name(model.posterior_, bunch)
    yield _row(name, "particletree", milliseconds, model.predict_proba(X_test), y_test, posterior)


def run_demo() -> None:
    """Print the comparison, an interval, and a tree for breast cancer."""
    rows = [*compare("breast cancer", load_breast_cancer()), *compare("digits", load_digits())]
    print("Fitted on 70% of the rows, scored on the others:\n")
    print(format_table([HEADINGS, *(row.cells() for row in rows)]))
    print(
        "\nlog-prob. is the mean log probability of the right class (CART's leaves smoothed; higher is better), log"
        "\nevidence is log p(y | X) of the model with its standard error, ESS the effective sample size of the trees.\n"
    )
    print(_intervals())
    print("\nA small tree to read, for breast cancer (under a prior that expects four leaves):\n")
    print(_small_tree())


def _intervals() -> str:
    """Return predictions with credible intervals for some rows that were not in the training data."""
    bunch = load_breast_cancer()
    X_train, X_test, y_train, y_test = train_test_split(bunch.data, bunch.target, test_size=0.3, random_state=0)
    model = BayesianTreeClassifier(random_state=0).fit(X_train, y_train)
    probability, interval = model.predict_proba(X_test)[:, 1], model.predict_interval(X_test)[:, 1]
    width = interval[:, 1] - interval[:, 0]
    chosen = [int(np.argmin(width)), int(np.argsort(width)[len(width) * 9 // 10]), int(np.argmax(width))]
    names = bunch.target_names
    lines = [
        f"  row {i:3d}: {probability[i]:.2f}, 90% interval {interval[i, 0]:.2f} to {interval[i, 1]:.2f}; "
        f"it was {names[y_test[i]]}"
        for i in chosen
    ]
    return "\n".join([f"Probability that a tumour is {names[1]}, for a clear and two unclear rows:", *lines])


def _small_tree() -> str:
    """Return the most probable tree under a prior that expects about four leaves: to read, not to predict with."""
    bunch = load_breast_cancer()
    model = BayesianTreeClassifier(prior=TreePrior.expecting(n_leaves=4), random_state=0).fit(bunch.data, bunch.target)
    return str(_name(model.posterior_, bunch).best_tree().rounded())


def _fit_time(model: Any, X: Any, y: Any) -> float:
    start = time.perf_counter()
    model.fit(X, y)
    return 1e3 * (time.perf_counter() - start)


def _name(posterior: Posterior, bunch: Any) -> Posterior:
    """Return the posterior with the names of the data set's features and classes, for printing."""
    names = [str(name) for name in bunch.feature_names]
    return replace(posterior, feature_names=names, target=ClassLabels(np.asarray(bunch.target_names)))


def _row(data: str, method: str, ms: float, probabilities: Any, y: Any, posterior: Posterior | None = None) -> Row:
    classes = np.unique(y)
    return Row(
        data,
        method,
        ms,
        accuracy(probabilities, classes, y),
        mean_log_probability(probabilities, classes, y),
        posterior,
    )
