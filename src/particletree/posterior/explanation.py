r"""Explanation of a prediction: the path of one row through all trees, effects of conditions, groups, and neighbours.

**Effects.** Each split on the row's path changes the prediction from the mean of its block to that of the child
(``row_paths.py``). Summed by condition (feature and direction), and averaged over the weighted trees, these changes add
up exactly:

.. math:: \text{prediction} = \text{mean of all training rows} + \sum_{\text{conditions}} \text{effect}.

This is path attribution (Palczewska, Palczewski, Robinson & Neagu, *Interpreting random forest classification models
using a feature contribution method*, 2013; also known as Saabas' method). It shows how these trees arrive at the
prediction. The effects are not Shapley values: a feature is credited with what it adds after those above it, so splits
low in a tree get more than their share if features interact (Lundberg, Erion & Lee, *Consistent individualized feature
attribution for tree ensembles*, 2018). Nor are they causal effects.

**Groups of trees that disagree.** Trees are grouped by the class that they predict for the row; if all predict the
same, or the target is a number, they are divided in two by the prediction, at the cut with the least variance within
the groups. A group is characterised by the condition that differs most from the other trees: the largest difference
between the probabilities, in the group and in the others, that the path confines the row to at most (or above) a value.

**Neighbours.** Training rows in the same leaf as the row, by the posterior probability of that,
:math:`\sum_t w_t [\text{same leaf in tree } t]`; these are the rows from which the prediction is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particletree.data.one_row import as_one_row_table
from particletree.model.leaves.categorical import class_names
from particletree.model.leaves.numbers import target_names
from particletree.model.target import ClassLabels, Target
from particletree.model.text import to_html
from particletree.posterior import explanation_text
from particletree.posterior.kept_rows import NO_ROWS, kept_rows_of
from particletree.posterior.plain import as_plain
from particletree.posterior.predictions import check_level
from particletree.posterior.row_neighbours import Neighbour, find_neighbours
from particletree.posterior.row_paths import merge_conditions, separated_levels, walk
from particletree.posterior.row_rules import RowRule, levels_apart, row_rules
from particletree.posterior.row_values import plain_values
from particletree.posterior.summary import Spread, spread
from particletree.posterior.tree_groups import TreeGroup, group_trees

if TYPE_CHECKING:
    from particletree.posterior.posterior import Posterior

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanation of the prediction for one row; `print` it to read it.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    values : tuple
        The row's values: numbers, levels, None for missing.
    output : int
        Index of the class or target that is explained.
    output_name : str
        Its name.
    is_class : bool
        Whether it is a class, so that predictions are its probability.
    prediction : float
        The posterior mean, of the class's probability or the target.
    interval : tuple of float
        Credible interval of that probability or mean.
    observation_interval : tuple of float or None
        Interval of a new observation; None for a class.
    level : float
        Posterior probability of the intervals.
    base : float
        The prediction of the root, which contains all training rows.
    contributions : ndarray, shape (n_features,)
        The effect of the splits on each feature; `base` plus their sum plus `remainder` is the prediction.
    remainder : float
        0, except for an `Exact` posterior: the difference between the sum over all trees and the drawn trees, which
        are explained.
    rules : tuple of RowRule
        The conditions that the row meets, the largest effect first; their effects sum to the contributions.
    groups : tuple of TreeGroup
        Groups of trees by their prediction, the one with the largest weight first; one group if all predict the same.
    leaf_rows : Spread
        Number of training rows in the row's leaves.
    neighbours : tuple of Neighbour
        Rows that may be in the same leaf, the most probable first.
    neighbours_note : str
        The source of the neighbours, or why there are none.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    output: int
    output_name: str
    is_class: bool
    prediction: float
    interval: tuple[float, float]
    observation_interval: tuple[float, float] | None
    level: float
    base: float
    contributions: Floats
    remainder: float
    rules: tuple[RowRule, ...]
    groups: tuple[TreeGroup, ...]
    leaf_rows: Spread
    neighbours: tuple[Neighbour, ...]
    neighbours_note: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON; numbers that are not finite become None."""
        return dict(as_plain(self))

    def __str__(self) -> str:
        return explanation_text.describe(self)

    def _repr_html_(self) -> str:
        """Show the explanation in a notebook."""
        return to_html(str(self))

    __repr__ = __str__  # so that it is readable without `print`


def explain(
    posterior: Posterior,
    x: Any,
    *,
    of: object = None,
    level: float = 0.9,
    X: ArrayLike | None = None,
    n_neighbours: int = 5,
) -> Explanation:
    """Explain the prediction for one row: the effect of each condition, trees that disagree, and similar rows.

    Parameters
    ----------
    x : mapping, Series, frame of one row, list or array
        The row: by feature name in a mapping or a Series, in the order of the features in a list or an array.
    of : object, default None
        The class to explain, or the name or number of the target; None means the most probable class, or the first
        target.
    level : float, default 0.9
        Posterior probability of the intervals, strictly between 0 and 1.
    X : array-like or data frame, shape (n_rows, n_features), default None
        Rows among which neighbours are searched; None means the training rows that the posterior has kept, at most
        1,000.
    n_neighbours : int, default 5
        Maximal number of neighbours.

    Returns
    -------
    Explanation
        Numbers, with a text for `print`. The effects of the conditions and the mean of all training rows add up to the
        prediction; they are neither Shapley values nor causal effects.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = BayesianTreeClassifier(random_state=0).fit(X, y)
    >>> why = clf.explain(X.iloc[70])
    >>> why.output_name, round(why.prediction, 2)
    ('class 2', 0.76)
    >>> bool(abs(why.base + why.contributions.sum() - why.prediction) < 1e-12)
    True
    """
    check_level(level)
    rows = posterior.as_numbers(as_one_row_table(x, posterior.n_features, posterior.feature_names))
    predictions = posterior.predictions.means(rows)[0]
    output = _find_output(of, posterior.target, predictions)
    names, values = feature_names(posterior), plain_values(rows[0], posterior.columns)
    neighbours, note = _neighbours(posterior, rows, X, n_neighbours)
    base, on_the_way = _explain_paths(posterior, rows[0], output, names, values)
    explained = base + float(on_the_way["contributions"].sum())
    return Explanation(
        names=names,
        values=values,
        output=output,
        output_name=output_names(posterior.target)[output],
        is_class=isinstance(posterior.target, ClassLabels),
        prediction=float(predictions[output]),
        interval=_ends(posterior.predictions.intervals(rows, float(level))[0, output]),
        observation_interval=_observation_interval(posterior, rows, output, float(level)),
        level=float(level),
        base=base,
        remainder=float(predictions[output]) - explained if posterior.is_exact else 0.0,
        neighbours=neighbours,
        neighbours_note=note,
        **on_the_way,
    )


def _explain_paths(
    posterior: Posterior, row: Floats, output: int, names: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[float, dict[str, Any]]:
    """Return the prediction of the root, and the fields that depend on the paths from the root to the leaves."""
    forest, weights, block = posterior.forest, posterior.weights, posterior.forest.nodes["block"]
    means = posterior.leaf.mean(forest.statistics)[block]
    steps = walk(forest, row)
    conditions = merge_conditions(forest, row, steps, means[:, output], posterior.columns)
    effects = weights[conditions.tree] * conditions.change
    separated = separated_levels(forest, row, steps, posterior.columns)
    apart = {f: levels_apart(parts, weights, posterior.columns.levels[f]) for f, parts in separated.items()}
    return float(means[forest.roots[0], output]), {
        "contributions": np.bincount(conditions.feature, effects, minlength=row.size).astype(np.float64),
        "rules": row_rules(conditions, weights, names, values, apart),
        "groups": group_trees(conditions, weights, means[steps.leaf], output, posterior.target, names, values),
        "leaf_rows": spread(posterior.leaf.n_rows(forest.statistics)[block[steps.leaf]], weights),
    }


def feature_names(posterior: Posterior) -> tuple[str, ...]:
    """Return the names of the features; `x[0]` and so on if the data had no names."""
    return tuple(posterior.feature_names or [f"x[{f}]" for f in range(posterior.n_features)])


def output_names(target: Target) -> list[str]:
    """Return the names of the classes or targets."""
    return class_names(target)[0] if isinstance(target, ClassLabels) else target_names(target)


def _find_output(of: object, target: Target, predictions: Floats) -> int:
    if isinstance(target, ClassLabels):
        known: list[Any] = target.classes.tolist()
        default = int(np.argmax(predictions))
    else:
        known, default = list(range(target.n_outputs)), 0
        if target.names is not None and of in target.names:
            return target.names.index(str(of))
    if of is None:
        return default
    if of not in known:
        named = "" if isinstance(target, ClassLabels) or target.names is None else f" or {list(target.names)}"
        raise ValueError(f"of must be one of {known}{named}, or None, got {of!r}.")
    return known.index(of)


def _observation_interval(posterior: Posterior, rows: Floats, output: int, level: float) -> tuple[float, float] | None:
    if isinstance(posterior.target, ClassLabels):
        return None
    ends = ((1 - level) / 2, (1 + level) / 2)
    return _ends(posterior.predictions.quantiles(rows, ends)[0, output])


def _ends(interval: Floats) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


def _neighbours(posterior: Posterior, rows: Floats, X: ArrayLike | None, n: int) -> tuple[tuple[Neighbour, ...], str]:
    if X is None and posterior.kept_rows is None:
        return (), NO_ROWS
    if X is None:
        found = find_neighbours(posterior, rows, kept_rows_of(posterior), n, posterior.kept_row_numbers)
        return found, f"among {len(kept_rows_of(posterior)):,} training rows that the posterior has kept"
    candidates = posterior.as_numbers(X)
    return find_neighbours(posterior, rows, candidates, n), f"among {len(candidates):,} rows of X"
