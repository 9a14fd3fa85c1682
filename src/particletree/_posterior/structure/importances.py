r"""Feature importances: shares in the variance of the mean function; and shares in the gain of the splits.

**Importances.** The mean function :math:`\bar f` is what the posterior predicts: class probabilities or means. With
rows :math:`x` of the training data, and their value of feature j replaced by that of another row :math:`x'`, the
variance that is lost without knowing the feature is

.. math:: V_j = \tfrac12 \operatorname{mean} \left(\bar f(x) - \bar f(x_1, .., x'_j, .., x_p)\right)^2

(Jansen 1999: the total effect of Sobol). The importance is :math:`V_j` divided by the sum over features: a share of
what the model explains, near 0 for features that do not matter, whose splits cancel in the mean. All are zero if the
function does not vary. The :math:`V_j` of several classes or targets are added; each target is divided by the standard
deviation of its predictions, so that units do not matter. Rows are paired at a few evenly spaced distances in the order
of the table, without random numbers. Features that no tree cuts are not evaluated.

Sums of trees differ in two points, because all draws of all trees would take too long. Only the trees that split on a
feature are evaluated for it. Of several sums, for classes, the :math:`V_j` on the probit scale are added; a row counts
for a sum by the probability that its class is none of those before.

**Shares of the gain** (single trees). A split gains :math:`\log r = \log \ell(left) + \log \ell(right) - \log
\ell(block)` nats of log marginal likelihood. A feature's share is the posterior mean of the total gain of the splits on
it (zero if that is negative), divided by the sum over features; all are zero if there is no gain. It needs no rows.

Reference: Jansen, *Analysis of variance designs for model output*, Computer Physics Communications 117 (1999).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree._model.rule import NODE
from particletree._model.target import ClassLabels
from particletree._posterior.base import some_rows
from particletree._posterior.predictions.tree_sums import TreeSums
from particletree._posterior.sums_of_trees import SumsOfTrees
from particletree._posterior.weighted_trees import WeightedTrees

Floats = NDArray[np.float64]
N_PARTNERS = 9  # other rows that each row is paired with
N_ROWS = 200  # rows at which single trees are compared: each has a value for every feature and partner
N_ROWS_OF_SUMS = 1000
ROUNDING = 1e-12  # predictions that vary by less than this share of their size are constant


def importances_of_trees(posterior: WeightedTrees, rows: Floats) -> Floats:
    """Return the importance of each feature at some of the rows, which have been checked, shape (n_features,)."""
    rows = some_rows(rows, N_ROWS)
    distances = partner_distances(len(rows))
    forest, predictions = posterior.forest, posterior.predictions
    as_they_are = predictions.means(rows)
    size, spread = np.ones((2, as_they_are.shape[1]))
    if not isinstance(posterior.target, ClassLabels):
        size = np.abs(as_they_are).max(axis=0, initial=np.finfo(np.float64).tiny)  # squares of the means may overflow
        spread = (as_they_are / size).std(axis=0)
        spread[spread < ROUNDING] = np.inf
    lost = np.zeros(posterior.n_features)
    # Exact predictions are sums over all trees, of which the forest has only some.
    features = np.arange(lost.size) if posterior.is_exact else np.unique(forest.feature[forest.is_split])
    for feature in features if distances.size else ():
        changed = np.tile(rows, (distances.size, 1))
        changed[:, feature] = np.concatenate([np.roll(rows[:, feature], distance) for distance in distances])
        means = predictions.means(changed).reshape(-1, *as_they_are.shape)
        lost[feature] = np.square((means / size - as_they_are / size) / spread).sum()
    return shares(lost)


def importances_of_sums(posterior: SumsOfTrees, rows: Floats) -> Floats:
    """Return the importance of each feature at some of the rows, which have been checked, shape (n_features,)."""
    rows = some_rows(rows, N_ROWS_OF_SUMS)
    row_weights = np.full((1, len(rows)), 1 / len(rows))
    if posterior.is_classes:
        probabilities = posterior.predictions.means(rows)[:, posterior.class_order]
        none_before = 1 - np.cumsum(probabilities, axis=1) + probabilities
        row_weights = none_before.T[:-1] / len(rows)  # of each sum
    lost = np.zeros(posterior.n_features)
    for sums, weights in zip(posterior.sums, row_weights, strict=True):
        lost += variance_lost(sums, rows, weights)
    return shares(lost)


def gain_shares(posterior: WeightedTrees) -> Floats:
    """Return the share of each feature in the gain of the splits, shape (n_features,)."""
    split = posterior.forest.is_split
    weights = posterior.forest.node_weights(posterior.weights)[split]
    gains = np.bincount(
        posterior.forest.feature[split],
        weights=weights * split_gains(posterior)[split],
        minlength=posterior.n_features,
    )
    return shares(gains.clip(min=0.0))


def shares(amounts: Floats) -> Floats:
    """Return amounts divided by their sum; all zero if that is 0."""
    total = amounts.sum()
    return np.asarray(amounts / total if total > 0 else np.zeros_like(amounts), dtype=np.float64)


def partner_distances(n_rows: int) -> NDArray[np.int64]:
    """Return how far apart in the table the rows are that are paired, evenly spaced; nothing for one row.

    Examples
    --------
    >>> partner_distances(100).tolist(), partner_distances(3).tolist(), partner_distances(1).tolist()
    ([10, 20, 30, 40, 50, 60, 70, 80, 90], [1, 2], [])
    """
    return np.setdiff1d(np.linspace(0, n_rows, N_PARTNERS + 2).astype(np.int64), [0, n_rows])


def split_gains(posterior: WeightedTrees) -> NDArray[np.float64]:
    """Return the gain in log marginal likelihood of each node of the forest that splits; 0 at leaves."""
    forest = posterior.forest
    log_marginal = posterior.leaf.log_marginal(forest.statistics)[forest.nodes["block"]]
    gain = log_marginal[forest.left] + log_marginal[forest.right] - log_marginal
    return np.where(forest.is_split, gain, 0.0)


def inclusion_probabilities(posterior: WeightedTrees) -> NDArray[np.float64]:
    """Return the posterior probability that a tree cuts each feature at least once, shape (n_features,)."""
    forest, weights = posterior.forest, posterior.weights
    inclusion = np.zeros(posterior.n_features)
    features = np.unique(forest.feature[forest.is_split])
    for first in range(0, features.size, 64):
        some = features[first : first + 64]
        bits = forest.trees_that_cut(some)
        inclusion[some] = [weights[bits >> np.uint64(i) & np.uint64(1) == 1].sum() for i in range(some.size)]
    return inclusion.clip(max=1.0)


def variance_lost(sums: TreeSums, rows: Floats, weights: Floats) -> Floats:
    """Return the variance of the mean function that is lost without each feature, for weighted rows.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model.rule import NODE
    >>> stump = np.zeros(3, dtype=NODE)
    >>> stump["feature"], stump["block"], stump["threshold"] = [1, -1, -1], [0, 0, 1], [0.5, 0, 0]
    >>> stump["left"][0], stump["right"][0] = 1, 2
    >>> one = np.zeros((1, 1), dtype=np.int32)
    >>> sums = TreeSums(stump.view(np.uint8).reshape(3, -1), np.array([0, 3]), one, np.array([0.0, 1.0]), one[0])
    >>> variance_lost(sums, np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5])).tolist()
    [0.0, 0.5]
    """
    nodes = sums.nodes.view(NODE)[:, 0]
    totals, first_leaf = sums.mean_values()
    structure_of_node = np.repeat(np.arange(sums.n_structures), np.diff(sums.starts))
    steps = partner_distances(len(rows))
    lost = np.zeros(rows.shape[1])
    for feature in np.unique(nodes["feature"][nodes["feature"] >= 0]) if steps.size else ():
        has_it = np.zeros(sums.n_structures, dtype=bool)
        has_it[structure_of_node[nodes["feature"] == feature]] = True
        # The structures that split on the feature, with their leaf values, are one draw: a sum of all of them.
        n_nodes = np.diff(sums.starts)
        starts = np.concatenate([[0], np.cumsum(n_nodes[has_it])])
        structures = np.arange(starts.size - 1, dtype=np.int32)[None]
        values = totals[np.repeat(has_it, np.diff(first_leaf))]
        trees = _kernel.SumDraws(sums.nodes[np.repeat(has_it, n_nodes)], starts, structures, values)
        as_they_are = trees.predict(rows, 0, 1)[:, 0]
        for step in steps:
            changed = rows.copy()
            changed[:, feature] = np.roll(rows[:, feature], step)
            lost[feature] += weights @ (trees.predict(changed, 0, 1)[:, 0] - as_they_are) ** 2
    return lost / (2 * max(steps.size, 1))
