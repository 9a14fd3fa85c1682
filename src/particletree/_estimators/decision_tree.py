"""One tree as a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor` of scikit-learn.

scikit-learn has no constructor for a given tree. But a fitted tree can be pickled: its `tree_` is restored from a
state, an array of nodes and an array of values. So a tree with a single node is fitted, which sets everything that
depends on the data (classes, numbers of features and targets), and its `tree_` is replaced by one of the same type with
our state. Only public classes are imported, and the fields of a node are those of the installed scikit-learn.

*Values* are our predictions: the posterior means of the leaf model, for inner nodes as if they were leaves. *Samples*
are (weighted) numbers of training rows. *Impurity* is the Gini impurity of the value for classes, and for numbers the
noise variance under the leaf model, averaged over targets. Nodes keep their numbers.

*Thresholds.* scikit-learn rounds the values of rows to float32, r(x), and goes left if r(x) <= threshold. Rounding
keeps the order, so every training row goes to the same side as in our tree if r(low) <= threshold < r(high) for the
neighbouring values of the node's rows, low <= threshold < high. A threshold that violates this is moved to the nearest
number that does not; the others stay. A new row can go to another side only if its value is within float32 precision
of a threshold, about 1e-7 of the value, and never if all values are float32 already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from particletree._model import rule
from particletree._model.target import ClassLabels
from particletree._model.tree.exports import rule_values
from particletree._model.tree.tree import Tree

Floats = NDArray[np.float64]
LEAF_FEATURE = LEAF_THRESHOLD = -2  # scikit-learn's mark of a leaf; a missing child is -1, as in our trees


def to_decision_tree(tree: Tree, n_features: int) -> Any:
    """Return a fitted tree of scikit-learn with the same predictions; `n_features` is that of the data.

    Examples
    --------
    >>> from sklearn.tree import export_text
    >>> from particletree import BayesianTreeClassifier
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 9, ["a", "a", "b", "b"] * 9
    >>> posterior = BayesianTreeClassifier(random_state=0).fit(X, y).posterior_
    >>> decision_tree = to_decision_tree(posterior.consensus_tree().rounded(), 1)
    >>> print(export_text(decision_tree, feature_names=["x"], show_weights=True))
    |--- x <= 5.00
    |   |--- weights: [17.85, 0.15] class: a
    |--- x >  5.00
    |   |--- weights: [0.15, 17.85] class: b
    <BLANKLINE>
    """
    for node in np.flatnonzero(rule.is_set(tree.nodes)):
        name = rule_values(tree, int(node)).name
        raise ValueError(
            f"The tree divides the levels of {name!r} ({tree.rules[node]}), and scikit-learn's trees cut numbers only. "
            "Encode the column as numbers, e.g. with sklearn.preprocessing.OneHotEncoder, and fit again; or export "
            "with posterior.to_onnx(), tree.to_sql() or tree.to_dict(), which know levels."
        )
    # A tree with a single node, fitted to identical rows, and the values and impurities of our nodes.
    estimator: Any
    if isinstance(tree.target, ClassLabels):
        rows = np.zeros((tree.target.n_outputs, n_features))
        estimator = DecisionTreeClassifier().fit(rows, tree.target.classes)
        values = tree.means[:, np.newaxis, :]
        impurities = 1.0 - np.square(tree.means).sum(axis=1)
    else:
        y = np.zeros(1) if tree.target.n_outputs == 1 else np.zeros((1, tree.target.n_outputs))
        estimator = DecisionTreeRegressor().fit(np.zeros((1, n_features)), y)
        values = tree.means[:, :, np.newaxis]
        impurities = tree.leaf.variances(tree.node_statistics)[0].mean(axis=1)
    empty = estimator.tree_
    nodes = np.zeros(tree.n_nodes, dtype=empty.__getstate__()["nodes"].dtype)
    is_leaf = tree.feature < 0
    nodes["left_child"], nodes["right_child"] = tree.left, tree.right
    nodes["feature"] = np.where(is_leaf, LEAF_FEATURE, tree.feature)
    nodes["threshold"] = np.where(is_leaf, LEAF_THRESHOLD, float32_thresholds(tree))
    nodes["missing_go_to_left"] = tree.nodes["kind"] == rule.CUT_MISSING_LEFT
    nodes["impurity"] = impurities
    nodes["n_node_samples"] = np.maximum(np.rint(tree.n_rows), 1)
    nodes["weighted_n_node_samples"] = tree.n_rows
    state = {"nodes": nodes, "values": np.ascontiguousarray(values, dtype=np.float64)}
    sizes = {"max_depth": tree.depth, "node_count": tree.n_nodes}
    estimator.tree_ = type(empty)(n_features, np.atleast_1d(empty.n_classes), empty.n_outputs)
    estimator.tree_.__setstate__(state | sizes)
    if tree.feature_names is not None:
        estimator.feature_names_in_ = np.array(tree.feature_names, dtype=object)
    return estimator


def float32_thresholds(tree: Tree) -> Floats:
    """Return thresholds with which training rows, rounded to float32, go to the same sides as in the tree.

    Examples
    --------
    >>> import numpy as np
    >>> from particletree._model import Forest
    >>> low, high, nan = 0.1, 0.2, np.nan  # rounded to float32, 0.1 becomes 0.10000000149...
    >>> columns = {"threshold": [low, nan, nan], "gap_low": [low, nan, nan], "gap_high": [high, nan, nan]}
    >>> links = {"feature": [0, -1, -1], "right": [2, -1, -1], "block": [0, 1, 2]}
    >>> counts = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> tree = Forest.from_preorder(offsets=[0, 3], statistics=counts, **links, **columns).tree(0)
    >>> bool(np.float32(low) <= tree.threshold[0]), bool(np.float32(low) <= float32_thresholds(tree)[0])
    (False, True)
    """
    is_cut = rule.has_gap(tree.nodes)
    with np.errstate(over="ignore"):
        low, high = (gap.astype(np.float32).astype(np.float64) for gap in (tree.gap_low, tree.gap_high))
    for node in np.flatnonzero(is_cut & (low >= high)):
        name = rule_values(tree, int(node)).name
        raise ValueError(
            f"The tree cuts {name!r} between {tree.gap_low[node]} and {tree.gap_high[node]}, which are the same number "
            "in float32, to which scikit-learn's trees round. Subtract an offset from the column or scale it, and fit "
            "again; or export with posterior.to_onnx(), tree.to_sql() or tree.to_dict(), which keep float64."
        )
    highest = np.nextafter(high, -np.inf)
    return np.where(is_cut, np.clip(tree.threshold, low, highest), tree.threshold)
