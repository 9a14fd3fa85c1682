"""Quality of the predictions on rows with known targets: calibration, and proper scores compared with a baseline.

For classes: the observed frequency of events that were predicted with probability p (``_plots/calibration.py``). For
numbers: the share of the observations below each predicted quantile; 5% should be below the 5% quantile, and so on. A
count counts as below the quantile u by the share of its own probability mass that is below u, so that here too the
share is u on average if the predictions are correct (Czado, Gneiting & Held 2009, Predictive model assessment for count
data, Biometrics 65). Row columns, such as the exposure of a count, are part of the predicted distribution. The baseline
predicts from the targets of the training rows, without features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from particletree._model.row_columns import NO_COLUMNS, RowColumns, select_rows
from particletree._model.target import ClassLabels, Observations
from particletree._model.text import json_numbers
from particletree._plots.calibration import calibration_of, one_hot, scores, wilson_interval
from particletree._posterior import Posterior

MOST_ROWS = 2_000  # whose quantiles are computed, evenly spaced
QUANTILES = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
DIGITS = 6

Floats = NDArray[np.float64]


def scores_section(
    posterior: Posterior, rows: Floats, y: NDArray[Any], held_out: bool, row_columns: RowColumns = NO_COLUMNS
) -> dict[str, Any]:
    """Return calibration and scores; `held_out` is true if the rows were not in the training data."""
    target = posterior.target
    if isinstance(target, ClassLabels):
        section = class_scores(posterior, rows, y, target)
    else:
        section = number_scores(posterior, rows, observed_values(posterior, y), row_columns)
    are_fitted = not held_out and are_training_rows(posterior, rows, y, row_columns)
    origin = "held out" if held_out else ("training" if are_fitted else "unknown")
    return section | {"rows": len(rows), "origin": origin}


def are_training_rows(
    posterior: Posterior, rows: Floats, y: NDArray[Any], row_columns: RowColumns = NO_COLUMNS
) -> bool:
    """Tell whether rows, each with weight 1, give the leaves of the largest tree the statistics of the fit."""
    largest = int(posterior.n_leaves.argmax())
    observed = Observations(posterior.target, observed_values(posterior, y), row_columns=row_columns)
    own = posterior.leaf.row_statistics(observed)
    blocks = posterior.leaf_blocks(rows)[:, largest]
    found = np.zeros_like(posterior.forest.statistics)
    np.add.at(found, blocks, own)
    leaves = posterior.forest.preorder(largest)
    leaves = posterior.forest.nodes["block"][leaves[~posterior.forest.is_split[leaves]]]
    return bool(np.allclose(found[leaves], posterior.forest.statistics[leaves], rtol=1e-6, atol=1e-6))


def observed_values(posterior: Posterior, y: NDArray[Any]) -> NDArray[Any]:
    """Return targets in the form of the leaf model: indices of classes, or a table of numbers."""
    target = posterior.target
    if isinstance(target, ClassLabels):
        chosen = one_hot(y, np.zeros((len(y), target.n_outputs)), target.classes).argmax(axis=1)
        return np.asarray(chosen, dtype=np.int32)
    return y.astype(np.float64).reshape(len(y), -1)


def class_scores(posterior: Posterior, rows: Floats, y: NDArray[Any], target: ClassLabels) -> dict[str, Any]:
    """Return the calibration curve of class probabilities and their scores."""
    p = posterior.predictions.means(rows)
    p = np.clip(p / p.sum(axis=1, keepdims=True), 0.0, 1.0)
    data, happened = calibration_of(y, p, target.classes), one_hot(y, p, target.classes)
    guess = np.broadcast_to(posterior.leaf.mean(posterior.root_statistics), p.shape)
    guess_brier, guess_log = scores(happened, guess)
    right, guess_right = (float(happened[np.arange(len(each)), each.argmax(axis=1)].mean()) for each in (p, guess))
    parts = ("predicted", "observed", "low", "high")
    return {part: json_numbers(getattr(data, part), DIGITS) for part in parts} | {
        "counts": data.counts.tolist(),
        "scores": [
            _score("Accuracy", right, guess_right, "share of rows whose most probable class is right", True),
            _score("Log-probability", data.log_probability, guess_log, "mean log probability of the right class", True),
            _score("Brier score", data.brier, guess_brier, "mean squared error of the probabilities", False),
        ],
    }


def number_scores(
    posterior: Posterior, rows: Floats, y: Floats, row_columns: RowColumns = NO_COLUMNS
) -> dict[str, Any]:
    """Return the share of observations below predicted quantiles, and scores."""
    some = np.unique(np.linspace(0, len(rows) - 1, min(MOST_ROWS, len(rows))).astype(np.int64))
    asked = rows[some], y[some], select_rows(row_columns, some)
    of_new_rows = posterior.leaf.columns_of_new_rows(asked[2])
    quantiles = posterior.predictions.quantiles(asked[0], QUANTILES.tolist(), of_new_rows)
    is_count = posterior.leaf.predictive_distributions(posterior.root_statistics[None], 0).is_discrete
    below = counts_below(posterior, *asked[:2], of_new_rows) if is_count else y[some][..., None] <= quantiles
    inside = (quantiles[..., 0] <= y[some]) & (y[some] <= quantiles[..., -1])
    share = below.reshape(-1, QUANTILES.size).mean(axis=0)
    low, high = wilson_interval(share, np.full(QUANTILES.size, len(some)))
    right = "0.9 or more is right, as counts are whole" if is_count else "0.9 is right"
    density, guess = posterior.predictions.log_densities(*asked).mean(), _root_density(posterior, y, row_columns)
    return {
        "predicted": QUANTILES.tolist(),
        "observed": json_numbers(share, DIGITS),
        "low": json_numbers(low, DIGITS),
        "high": json_numbers(high, DIGITS),
        "counts": [],
        "is_count": is_count,
        "scores": [
            _error(posterior, rows, y, row_columns),
            _score("Log density", density, guess, "mean log density of the observations", True),
            _score("In 90% interval", float(inside.mean()), None, f"share of observations; {right}", None),
        ],
    }


def _error(posterior: Posterior, rows: Floats, y: Floats, row_columns: RowColumns) -> dict[str, Any]:
    """Return the root mean squared error of the expected observations."""
    mean, guess = (
        posterior.leaf.expected(means, row_columns)
        for means in (posterior.predictions.means(rows), posterior.leaf.mean(posterior.root_statistics))
    )
    meaning = f"root of the mean squared error{posterior.leaf.mean_words(row_columns).scored}"
    error, guess_error = (float(np.sqrt(np.square(each - y).mean())) for each in (mean, guess))
    return _score("Error (RMSE)", error, guess_error, meaning, False)


def counts_below(posterior: Posterior, rows: Floats, y: Floats, row_columns: RowColumns = NO_COLUMNS) -> Floats:
    """Return the share of each count's probability below each quantile, shape (n_rows, n_outputs, n_quantiles).

    With F the predicted cdf this is (u - F(y - 1)) / (F(y) - F(y - 1)), between 0 and 1.
    """
    low, high = (probability_up_to(posterior, rows, y - k, row_columns)[..., None] for k in (1, 0))
    return np.asarray(np.clip((QUANTILES - low) / np.maximum(high - low, np.finfo(np.float64).tiny), 0.0, 1.0))


def probability_up_to(posterior: Posterior, rows: Floats, y: Floats, row_columns: RowColumns = NO_COLUMNS) -> Floats:
    """Return the predicted probability of at most y, shape (n_rows, n_outputs)."""
    mixtures = posterior.predictions.mixtures(rows)
    kinds = np.arange(len(rows)) if mixtures.kind is None else mixtures.kind
    weights, blocks = mixtures.weights[kinds], mixtures.blocks[kinds]
    outputs, statistics = range(y.shape[1]), mixtures.statistics[blocks.ravel()]
    repeated = select_rows(row_columns, np.repeat(np.arange(len(rows)), blocks.shape[1]))
    distributions = [posterior.leaf.predictive_distributions(statistics, output, repeated) for output in outputs]
    at = [np.repeat(y[:, output], blocks.shape[1]) for output in outputs]
    parts = [distribution.cdf(x).reshape(weights.shape) for distribution, x in zip(distributions, at, strict=True)]
    return np.stack([(weights * part).sum(axis=1) for part in parts], axis=1)


def _root_density(posterior: Posterior, y: Floats, row_columns: RowColumns) -> float:
    """Return the mean log density of observations under the root alone, as if the tree had one leaf."""
    root = np.broadcast_to(posterior.root_statistics, (len(y), posterior.root_statistics.size))
    distributions = [posterior.leaf.predictive_distributions(root, output, row_columns) for output in range(y.shape[1])]
    return float(
        sum(distribution.log_density(y[:, output]).mean() for output, distribution in enumerate(distributions))
    )


def _score(name: str, value: float, guess: float | None, meaning: str, higher: bool | None) -> dict[str, Any]:
    """Return a line of the table; `higher` is true if higher is better."""
    numbers = {"value": json_numbers(value, DIGITS), "guess": None if guess is None else json_numbers(guess, DIGITS)}
    return {"name": name, "meaning": meaning, "higher": higher} | numbers
