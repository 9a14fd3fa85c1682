"""What plots are given: a posterior or an estimator, rows, and the names of features, classes and targets."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._data import check_rows
from particletree._model.target import ClassLabels
from particletree._model.text import is_number, one_line
from particletree._posterior import BARTPosterior, Posterior


def without_formulas(text: str) -> str:
    """Return a text that matplotlib shows unchanged: dollar signs are escaped, so that they start no formula."""
    return text.replace("$", r"\$")


def posterior_of(model: Any) -> Posterior:
    """Return the posterior of a fitted estimator, or the posterior itself."""
    posterior = getattr(model, "posterior_", model)
    if isinstance(posterior, BARTPosterior):
        raise TypeError(
            "This picture is of single trees, not of sums of trees, for which there are plot_dependence "
            "and plot_importances."
        )
    if not isinstance(posterior, Posterior):
        raise TypeError(f"A posterior or a fitted estimator is needed, got {type(model).__name__}. Fit it first.")
    return posterior


def any_posterior_of(model: Any) -> Posterior | BARTPosterior:
    """Return the posterior of a fitted estimator, BART included, or the posterior itself."""
    posterior = getattr(model, "posterior_", model)
    return posterior if isinstance(posterior, BARTPosterior) else posterior_of(model)


def feature_names(posterior: Posterior | BARTPosterior) -> list[str]:
    """Return the full name of every feature; `x[3]` if the data had no names."""
    return posterior.feature_names or [f"x[{feature}]" for feature in range(posterior.n_features)]


def feature_number(posterior: Posterior | BARTPosterior, feature: int | str) -> int:
    """Return the index of a feature that is given by index or name."""
    if isinstance(feature, str) and feature in feature_names(posterior):
        return feature_names(posterior).index(feature)
    if isinstance(feature, numbers.Integral) and 0 <= feature < posterior.n_features:
        return int(feature)
    raise ValueError(
        f"There is no feature {feature!r}: give a number from 0 to {posterior.n_features - 1}, or one of the names "
        "that the posterior was fitted with."
    )


def output_names(target: Any) -> list[str]:
    """Return the name of each output: a class (`class 1` if the label is a number), or a target."""
    if isinstance(target, ClassLabels):
        labels = target.classes.tolist()
        return [f"class {label}" if is_number(str(label)) else one_line(label) for label in labels]
    if target.names:
        return list(target.names)
    return [f"target {i}" for i in range(target.n_outputs)] if target.n_outputs > 1 else ["mean"]


def checked_rows(posterior: Posterior | BARTPosterior, X: Any) -> NDArray[np.float64]:
    """Check rows, and return them as numbers, with levels encoded."""
    return check_rows(X, posterior.n_features, posterior.feature_names, posterior.columns)
