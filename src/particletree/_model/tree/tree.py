"""A tree for people: printed, drawn in notebooks, rounded, exported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from particletree._model import rule
from particletree._model.tree import drawing, exports
from particletree._model.tree.arrays import TreeArrays

MAX_LINES = 100  # str(tree) shows at most about this many lines; to_text() shows everything


@dataclass(frozen=True, eq=False, repr=False)
class Tree(TreeArrays):
    """One tree, read-only, with the attributes of `TreeArrays`; `print(tree)` draws it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as dictionaries and lists that JSON can hold.

        `nodes` are in the order of the tree's arrays. Each has its number, depth, rows, statistics and prediction:
        class probabilities in the order of the target's classes, or means. A split also has its children and its
        `rule`: the text, the kind (cut, present or set), feature and name, the threshold and its gap or the levels on
        both sides, and the sides of missing values and of unseen levels.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier
        >>> model = BayesianTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
        >>> model.posterior_.best_tree().rounded().to_dict()["nodes"][0]["rule"]["text"]
        'x[0] <= 1.5'
        """
        return exports.to_dict(self)

    def to_sql(self, output: str = "prediction", of: object = None) -> str:
        """Return the tree as an SQL expression, `CASE WHEN ... END`, of columns with the features' names.

        It gives the same result as the tree for every row: `NULL` is a missing value, and unseen levels go to the side
        that the tree has drawn for them.

        Parameters
        ----------
        output : {"prediction", "probability", "leaf"}, default "prediction"
            The value of the expression: the most probable class or the mean; the probability of the class `of`; or the
            index of the leaf, as in `apply`.
        of : object, default None
            The class, for "probability"; for the prediction of several targets the index of the target, from 0.

        Examples
        --------
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
        >>> model = BayesianTreeClassifier(random_state=0).fit(X, y)
        >>> print(model.posterior_.consensus_tree().rounded().to_sql())
        CASE WHEN "x[0]" <= 5.0 THEN 'a'
          ELSE 'b'
        END
        """
        return exports.to_sql(self, output, of)

    def rounded(self) -> Tree:
        """Return a tree with the roundest threshold in each gap, for readability; it predicts with these thresholds.

        A threshold is drawn uniformly between two neighbouring values of the data, so most of its digits carry no
        information. If it is rounded within that gap, every training row stays in its leaf; a new row whose value lies
        in the gap may move to another.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from particletree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_.best_tree()
        >>> float(tree.threshold[0]), float(tree.rounded().threshold[0])
        (0.6761293136202664, 0.7)
        >>> bool((tree.apply(X) == tree.rounded().apply(X)).all())
        True
        """
        return replace(self, nodes=rule.rounded(self.nodes), is_rounded=True)

    def to_text(self, max_depth: int | None = None) -> str:
        """Draw the tree as text, down to `max_depth` (None: all of it); omitted parts show their number of leaves."""
        return drawing.draw(self, max_depth)

    def __str__(self) -> str:
        """Draw the tree, down to a depth that needs about a hundred lines."""
        return self.to_text(self._shown_depth)

    def _repr_html_(self) -> str:
        """Show the tree in a notebook, down to the same depth as `print`, with a bar at each leaf."""
        return drawing.to_html(self, self._shown_depth)

    @property
    def _shown_depth(self) -> int:
        n_shown = np.cumsum(np.bincount(self.node_depths))
        return int(np.searchsorted(n_shown, MAX_LINES, side="right")) - 1

    def __repr__(self) -> str:
        return f"Tree({self.n_leaves} leaves, depth {self.depth})"
