"""Checks of the trees themselves: what they explain, where they end, and what they are made from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree._model.target import ClassLabels
from particletree._posterior.findings.finding import ADVICE, GOOD, NOTE, WARNING, Examined, Finding, Floats, HeldOut
from particletree._posterior.structure.importances import gain_shares, inclusion_probabilities
from particletree._posterior.weighted_trees import WeightedTrees

MOST_AT_LIMIT = 0.5
MOST_ROOTS = 0.5
TIMES_THE_PRIOR = 3.0
ROWS_ALONE = 0.2
MANY_FEATURES, MOST_UNUSED = 10, 0.5
IDENTIFYING, DISTINCT_LEVELS, FEWEST_ROWS = 0.2, 0.9, 20


def roots_alone(examined: Examined) -> Finding | None:
    """Most trees have no split.

    Note where trees that are only a root have a posterior probability above 0.5: nothing was found that predicts.
    """
    posterior = examined.posterior
    alone = float(posterior.weights @ (posterior.n_leaves == 1))
    if alone <= MOST_ROOTS:
        return None
    text = f"With probability {alone:.2f} the tree has no split: nothing was found that predicts the target."
    return Finding(NOTE, "roots_alone", text, alone, MOST_ROOTS, ADVICE["roots_alone"])


def larger_than_prior(examined: Examined) -> Finding | None:
    """Trees are much larger than the prior expects.

    Note where the mean number of leaves is above 3 times the prior's, which is taken without the limits that a table
    sets, and so is too high rather than too low. Trees that are smaller than the prior expects are not reported: how
    small the prior's are on the table is not known to the posterior.
    """
    posterior = examined.posterior
    expected = posterior.prior.mean_leaves()
    ratio = float(posterior.weights @ posterior.n_leaves) / expected
    if ratio <= TIMES_THE_PRIOR:
        return None
    text = f"Trees have {ratio * expected:.1f} leaves on average, the prior expects {expected:.1f} at most."
    return Finding(NOTE, "larger_than_prior", text, ratio, TIMES_THE_PRIOR, ADVICE["larger_than_prior"])


def depth_limit(examined: Examined) -> Finding | None:
    """Trees end at the largest depth that is allowed.

    Note where trees as deep as `max_depth` have a posterior probability above 0.5.
    """
    posterior, limit = examined.posterior, examined.posterior.prior.max_depth
    if limit is None:
        return None
    share = float(posterior.weights @ (posterior.depths >= limit))
    if share <= MOST_AT_LIMIT:
        return None
    text = f"With probability {share:.2f} a tree is as deep as max_depth={limit} allows."
    return Finding(NOTE, "depth_limit", text, share, MOST_AT_LIMIT, ADVICE["depth_limit"])


def rows_alone(examined: Examined) -> Finding | None:
    """Many training rows are alone in their leaves.

    Warning where leaves of one row (or of a weight up to 1) hold more than 20% of all rows: such leaves repeat the
    data, as trees do where the prior allows too many leaves or the leaf model too little noise. Tables of fewer than 20
    rows are not judged.
    """
    n_rows = float(examined.posterior.leaf.n_rows(examined.posterior.root_statistics))
    share = float(examined.leaf_weights @ np.where(examined.node_rows <= 1, examined.node_rows, 0.0) / n_rows)
    if share <= ROWS_ALONE or n_rows < FEWEST_ROWS:
        return None
    text = f"{share:.0%} of the training rows are alone in their leaves."
    return Finding(WARNING, "rows_alone", text, share, ROWS_ALONE, ADVICE["rows_alone"])


def unused_features(examined: Examined) -> Finding | None:
    """Many features are in no tree.

    Note where there are at least 10 features and more than 50% of them are in no tree.
    """
    inclusion = inclusion_probabilities(examined.posterior)
    share = float((inclusion == 0).mean())
    if inclusion.size < MANY_FEATURES or share <= MOST_UNUSED:
        return None
    text = f"{int((inclusion == 0).sum())} of {inclusion.size} features are in no tree."
    return Finding(NOTE, "unused_features", text, share, MOST_UNUSED, ADVICE["unused_features"])


def identifying_feature(examined: Examined) -> Finding | None:
    """A feature that may merely number or name the rows has a large share of the gain.

    Note above a share of 0.2, for a feature that has no value twice in at least 20 kept rows and whose values are
    whole numbers in a range of at most twice the number of rows, or that has nearly (0.9) as many levels as rows. A key
    of other numbers cannot be distinguished from a measurement. Where no rows are kept, only levels are looked at.
    """
    posterior = examined.posterior
    suspects = np.where(could_identify(examined), gain_shares(posterior), 0.0)
    worst = int(np.argmax(suspects))
    if suspects[worst] <= IDENTIFYING:
        return None
    name = f"x[{worst}]" if posterior.feature_names is None else posterior.feature_names[worst]
    text = f"{name!r} has a gain share of {suspects[worst]:.2f}, and a value of its own for (nearly) every row."
    return Finding(
        NOTE, "identifying_feature", text, float(suspects[worst]), IDENTIFYING, ADVICE["identifying_feature"]
    )


def could_identify(examined: Examined) -> NDArray[np.bool_]:
    """Tell which features may merely number or name the rows; none where no rows are at hand."""
    posterior, rows = examined.posterior, examined.posterior.kept_rows
    n_rows = float(posterior.leaf.n_rows(posterior.root_statistics))
    answer = np.zeros(posterior.n_features, dtype=np.bool_)
    for feature, levels in posterior.columns.levels.items():
        answer[feature] = n_rows >= FEWEST_ROWS and len(levels) >= DISTINCT_LEVELS * n_rows
    if rows is None or len(rows) < FEWEST_ROWS:
        return answer
    for feature in set(range(posterior.n_features)) - set(posterior.columns.levels):
        column = rows[:, feature]
        is_whole = bool((column == np.floor(column)).all())  # nan is not
        half_range = column.max() / 2 - column.min() / 2  # the range itself may overflow
        answer[feature] = is_whole and np.unique(column).size == column.size and half_range < n_rows
    return answer


TREE_CHECKS = (
    roots_alone,
    larger_than_prior,
    depth_limit,
    rows_alone,
    unused_features,
    identifying_feature,
)


# The check of the predictions on held-out rows: whether they beat a constant.

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


def held_out(examined: Examined) -> Finding | None:
    """Whether the trees predict held-out rows better than a constant: what one leaf with all training rows predicts.

    Needs `findings(X_test, y_test)` with at least 2 rows. For classes their log probability is compared, for numbers
    the squared error and the log density. Warning where a score is worse than the constant's, by a mean difference
    below 0; good where every mean difference is at least 2 standard errors; a note between.
    """
    rows = examined.held_out
    if rows is None or len(rows.X) < 2:
        return None
    is_class = isinstance(examined.posterior.target, ClassLabels)
    compared = class_comparisons(examined.posterior, rows) if is_class else number_comparisons(examined.posterior, rows)
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


def class_comparisons(posterior: WeightedTrees, held_out: HeldOut) -> list[Comparison]:
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


def number_comparisons(posterior: WeightedTrees, held_out: HeldOut) -> list[Comparison]:
    """Return the squared errors of the expected observations, and the log densities."""
    y, columns, leaf = held_out.y, held_out.row_columns, posterior.leaf
    root = np.broadcast_to(posterior.root_statistics, (len(y), posterior.root_statistics.size))
    distributions = [leaf.predictive_distributions(root, output, columns) for output in range(y.shape[1])]
    constant = np.sum(
        [distribution.log_density(y[:, output]) for output, distribution in enumerate(distributions)], axis=0
    )
    trees = posterior.predictions.log_densities(held_out.X, y, columns)
    errors, guessed = (
        np.square(leaf.expected(mean, columns) - y).mean(axis=1)
        for mean in (posterior.predictions.means(held_out.X), leaf.mean(posterior.root_statistics))
    )
    return [
        Comparison(-errors, -guessed, f"error (RMSE) {errors.mean() ** 0.5:.4g} against {guessed.mean() ** 0.5:.4g}"),
        Comparison(trees, constant, f"mean log density {trees.mean():.4g} against {constant.mean():.4g}"),
    ]


HELD_OUT_CHECKS = (held_out,)
