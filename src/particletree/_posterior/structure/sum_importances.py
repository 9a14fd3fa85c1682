r"""Feature importances of sums of trees: the share of each feature in the variance of the posterior mean function.

Shares of splits say little about a sum: trees that explain nothing split too, on any feature. What matters is how the
mean function :math:`\bar f` changes with a feature. With rows :math:`x` of the training data, and their value of
feature j replaced by that of another row :math:`x'`, the variance that is lost without knowing the feature is

.. math:: V_j = \tfrac12 \operatorname{mean} \left(\bar f(x) - \bar f(x_1, .., x'_j, .., x_p)\right)^2

(Jansen 1999: the total effect of Sobol). The importance is :math:`V_j` divided by the sum over features. So it is a
share of what the model explains, like the share of the gain in log marginal likelihood of a single tree
(``_posterior/structure/importances.py``), and near 0 for features that do not matter, whose splits cancel in the mean.

Of several sums, for classes, the :math:`V_j` on the probit scale are added; a row counts for a sum by the probability
that its class is none of those before. Only trees that split on a feature are evaluated for it, so the time does not
depend on the number of features. Rows are paired at a few evenly spaced distances in the order of the table, without
random numbers.

Reference: Jansen, *Analysis of variance designs for model output*, Computer Physics Communications 117 (1999).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from particletree import _kernel
from particletree._model.rule import NODE
from particletree._posterior.predictions.tree_sums import TreeSums

if TYPE_CHECKING:
    from particletree._posterior.bart_posterior import BARTPosterior

Floats = NDArray[np.float64]
N_PARTNERS = 9  # other rows that each row is paired with


def feature_importances(posterior: BARTPosterior, rows: Floats) -> Floats:
    """Return the importance of each feature at rows that have been checked, shape (n_features,)."""
    shares = _shares_of_rows(posterior, rows)
    lost = np.zeros(posterior.n_features)
    for sums, share in zip(posterior.sums, shares, strict=True):
        lost += variance_lost(sums, rows, share)
    total = lost.sum()
    return lost / total if total > 0 else lost


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
    steps = np.setdiff1d(np.linspace(0, len(rows), N_PARTNERS + 2).astype(np.int64), [0, len(rows)])
    lost = np.zeros(rows.shape[1])
    for feature in np.unique(nodes["feature"][nodes["feature"] >= 0]) if steps.size else ():
        has_it = np.zeros(sums.n_structures, dtype=bool)
        has_it[structure_of_node[nodes["feature"] == feature]] = True
        trees = _one_draw(sums, has_it, totals[np.repeat(has_it, np.diff(first_leaf))])
        as_they_are = trees.predict(rows, 0, 1)[:, 0]
        for step in steps:
            changed = rows.copy()
            changed[:, feature] = np.roll(rows[:, feature], step)
            lost[feature] += weights @ (trees.predict(changed, 0, 1)[:, 0] - as_they_are) ** 2
    return lost / (2 * max(steps.size, 1))


def _one_draw(sums: TreeSums, chosen: NDArray[np.bool_], values: Floats) -> _kernel.SumDraws:
    """Return some structures with their leaf values as one draw, a sum of all of them."""
    sizes = np.diff(sums.starts)
    starts = np.concatenate([[0], np.cumsum(sizes[chosen])])
    structures = np.arange(starts.size - 1, dtype=np.int32)[None]
    return _kernel.SumDraws(sums.nodes[np.repeat(chosen, sizes)], starts, structures, values)


def _shares_of_rows(posterior: BARTPosterior, rows: Floats) -> Floats:
    """Return the weights of the rows for each sum, which add up to 1 over rows for the first, (n_sums, n_rows)."""
    if not posterior.is_classes:
        return np.full((1, len(rows)), 1 / len(rows))
    probabilities = posterior.predictions.means(rows)[:, posterior.class_order]
    none_before = 1 - np.cumsum(probabilities, axis=1) + probabilities
    return np.asarray(none_before.T[:-1] / len(rows))
