"""Names as pictures show them: of features, classes and targets, cut where they are too long."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree.data import check_rows
from particletree.model.target import ClassLabels
from particletree.model.text import is_number, one_line
from particletree.posterior import AdditivePosterior, Posterior

LONGEST = 24  # characters of a name


def shorten(name: object, longest: int = LONGEST) -> str:
    """Return a name in one line, with an ellipsis in its middle where it is too long: names often differ at the end.

    Examples
    --------
    >>> from particletree.plots.names import shorten
    >>> shorten("mean fractal dimension of the largest cell 7")
    'mean fractal…gest cell 7'
    """
    text, n_end = one_line(name), (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - n_end]}…{text[len(text) - n_end :]}"


def plain(text: str) -> str:
    """Return a text that matplotlib shows as it is: a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def posterior_of(model: Any) -> Posterior:
    """Return the posterior of a fitted estimator, or the posterior itself."""
    posterior = getattr(model, "posterior_", model)
    if isinstance(posterior, AdditivePosterior):
        raise TypeError("This picture is of single trees, not of sums of trees, for which there is plot_dependence.")
    if not isinstance(posterior, Posterior):
        raise TypeError(f"A posterior or a fitted estimator is needed, got {type(model).__name__}. Fit it first.")
    return posterior


def any_posterior_of(model: Any) -> Posterior | AdditivePosterior:
    """Return the posterior of a fitted estimator, of sums of trees too, or the posterior itself."""
    posterior = getattr(model, "posterior_", model)
    return posterior if isinstance(posterior, AdditivePosterior) else posterior_of(model)


def feature_names(posterior: Posterior | AdditivePosterior) -> list[str]:
    """Return the name of every feature, in full; `x[3]` where the data had no names."""
    return posterior.feature_names or [f"x[{feature}]" for feature in range(posterior.n_features)]


def feature_number(posterior: Posterior | AdditivePosterior, feature: int | str) -> int:
    """Return the number of a feature that is given by number or name."""
    if isinstance(feature, str) and feature in feature_names(posterior):
        return feature_names(posterior).index(feature)
    if isinstance(feature, numbers.Integral) and 0 <= feature < posterior.n_features:
        return int(feature)
    raise ValueError(
        f"There is no feature {feature!r}: give a number from 0 to {posterior.n_features - 1}, or one of the names "
        "that the posterior was fitted with."
    )


def output_names(target: Any) -> list[str]:
    """Return what each output is called: a class, or a target."""
    if isinstance(target, ClassLabels):
        return [class_name(label) for label in target.classes.tolist()]
    return list(
        target.names or ([f"target {i}" for i in range(target.n_outputs)] if target.n_outputs > 1 else ["mean"])
    )


def class_name(label: object) -> str:
    """Return a label; one that reads as a number is called a class."""
    return f"class {label}" if is_number(str(label)) else one_line(label)


def checked_rows(posterior: Posterior | AdditivePosterior, X: Any) -> NDArray[np.float64]:
    """Return rows as the posterior reads them, levels as their numbers."""
    return check_rows(X, posterior.n_features, posterior.feature_names, posterior.columns)
