"""The check of the predictions on held-out rows: whether they beat a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from particletree.model.target import ClassLabels
from particletree.posterior.findings.advice import ADVICE
from particletree.posterior.findings.case import Case, Floats, HeldOut
from particletree.posterior.findings.finding import GOOD, NOTE, WARNING, Finding

if TYPE_CHECKING:
    from particletree.posterior.posterior import Posterior

WORSE, CLEARLY_BETTER = 0.0, 2.0


class Comparison(NamedTuple):
    """A score of the trees, and of a constant, for each row; higher is better. The text has both."""

    trees: Floats
    constant: Floats
    text: str

    @property
    def gain(self) -> float:
        """The mean difference in its standard errors."""
        difference = self.trees - self.constant
        mean, error = float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(difference.size))
        if np.allclose(difference, 0.0, rtol=0.0, atol=1e-12 * float(np.abs(self.constant).max())):
            return 0.0
        return mean / error if error > 0 else float(np.copysign(np.inf, mean))


def held_out(case: Case) -> Finding | None:
    """Whether the trees predict held-out rows better than a constant: what one leaf with all training rows predicts.

    Needs `findings(X_test, y_test)` with at least 2 rows. For classes their log probability is compared, for numbers
    the squared error and the log density. Warning where a score is worse than the constant's, by a mean difference
    below 0; good where every mean difference is at least 2 standard errors; a note between.
    """
    rows = case.held_out
    if rows is None or len(rows.X) < 2:
        return None
    is_class = isinstance(case.posterior.target, ClassLabels)
    compared = class_comparisons(case.posterior, rows) if is_class else number_comparisons(case.posterior, rows)
    gain = min(each.gain for each in compared)
    level = WARNING if gain < WORSE else (GOOD if gain >= CLEARLY_BETTER else NOTE)
    how = {WARNING: "worse than", NOTE: "not clearly better than", GOOD: "better than"}[level]
    constant = "the class shares" if is_class else "the mean"
    text = (
        f"On {len(rows.X):,} held-out rows the trees predict {how} {constant} of the training rows alone: "
        f"{', '.join(each.text for each in compared)}."
    )
    threshold = WORSE if level == WARNING else CLEARLY_BETTER
    return Finding(level, "held_out", text, gain, threshold, "" if level == GOOD else ADVICE["held_out"])


def class_comparisons(posterior: Posterior, held_out: HeldOut) -> list[Comparison]:
    """Return the log probability of the right class; its text has the accuracy too."""
    right = held_out.y
    p = posterior.predictions.means(held_out.X)
    guess = np.broadcast_to(posterior.leaf.mean(posterior.root_statistics), p.shape)
    rows = np.arange(len(right))
    with np.errstate(divide="ignore"):
        trees, constant = np.log(p[rows, right]), np.log(guess[rows, right])
    hits, guessed = (float((each.argmax(axis=1) == right).mean()) for each in (p, guess))
    text = (
        f"accuracy {hits:.3g} against {guessed:.3g}, mean log probability {trees.mean():.3g} against "
        f"{constant.mean():.3g}"
    )
    return [Comparison(trees, constant, text)]


def number_comparisons(posterior: Posterior, held_out: HeldOut) -> list[Comparison]:
    """Return the squared errors of the means and the log densities; counts are predicted over their exposure."""
    y, exposure, leaf = held_out.y, held_out.exposure, posterior.leaf
    over = 1.0 if exposure is None else exposure[:, None]
    root = np.broadcast_to(posterior.root_statistics, (len(y), posterior.root_statistics.size))
    laws = [leaf.predictive_laws(root, output, exposure) for output in range(y.shape[1])]
    constant = np.sum([law.log_density(y[:, output]) for output, law in enumerate(laws)], axis=0)
    trees = posterior.predictions.log_densities(held_out.X, y, exposure)
    errors, guessed = (
        np.square(mean * over - y).mean(axis=1)
        for mean in (posterior.predictions.means(held_out.X), leaf.mean(posterior.root_statistics))
    )
    return [
        Comparison(-errors, -guessed, f"error (RMSE) {errors.mean() ** 0.5:.4g} against {guessed.mean() ** 0.5:.4g}"),
        Comparison(trees, constant, f"mean log density {trees.mean():.4g} against {constant.mean():.4g}"),
    ]


CHECKS = (held_out,)
