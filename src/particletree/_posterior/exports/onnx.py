"""The posterior's predictive means as an ONNX model of one tree ensemble, for onnxruntime and others.

    X, double (rows, features) -> TreeEnsembleRegressor -> Cast, Mul, Add -> prediction, or probabilities -> label

*Input.* `X` is float64, as returned by `posterior.as_numbers` for any table: nan is a missing value, and a categorical
feature has the numbers of its levels (listed in order in the model's metadata, as JSON under `levels`); the number
after the last level is for missing values, and the next one for unseen levels. Thresholds are float64 as well, so every
row reaches the same leaves as in our trees.

*Output.* For class labels `label`, of the type of the labels, and `probabilities`, double (rows, classes); for numbers
`prediction`, double (rows,), or (rows, targets). The operator sums in float64 but returns float32. So it computes
differences from the mean of all training rows, in units of the largest one, and the rest is done in float64: results
differ from ours by about 1e-7 of the range of the predictions.

*Trees* are those of ``tree_sum.py``, whose sum is the weighted mean, with the weights in the leaves. A set of levels
becomes a chain of comparisons with the numbers of its smaller side, all of which lead to the same child::

    number == 1 -> left     else number == 4 -> left     else right

Operators are those of ai.onnx.ml 3 (2022), which every onnxruntime that supports doubles in tree ensembles has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from particletree._model import rule
from particletree._model.target import ClassLabels, Target
from particletree._posterior.exports.tree_sum import SummedTree, sum_of_trees
from particletree._posterior.weighted_trees import WeightedTrees
from particletree._version import __version__

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # of ONNX 1.12, which older runtimes can read
ML = "ai.onnx.ml"
MISSING = 'to_onnx() needs onnx, which is not installed; run: pip install "particletree[onnx]"'

Floats = NDArray[np.float64]


class Node(NamedTuple):
    """A node in the form of the operator: a row for which the comparison is true goes to `yes`."""

    tree: int
    number: int
    feature: int = 0
    mode: str = "LEAF"
    value: float = 0.0
    yes: int = 0
    no: int = 0
    is_missing_yes: int = 0


def to_onnx(posterior: WeightedTrees) -> Any:
    """Return the predictive means, or class probabilities and labels, as an ONNX model.

    Parameters
    ----------
    posterior : Posterior
        Weighted trees. An exact posterior is refused: its predictions are not those of its drawn trees.

    Returns
    -------
    onnx.ModelProto
        Save it with `onnx.save(model, path)`, or pass `model.SerializeToString()` to onnxruntime.

    Examples
    --------
    >>> from particletree import BayesianTreeClassifier
    >>> model = BayesianTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> [output.name for output in to_onnx(model.posterior_).graph.output]
    ['label', 'probabilities']
    """
    if posterior.is_exact:
        raise TypeError(
            "An exact posterior is a sum over all trees, more than a tree ensemble can hold. Export the drawn trees "
            "with posterior.draws().to_onnx()."
        )
    try:
        import onnx  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(MISSING) from error
    means, centre = posterior.leaf.mean(posterior.forest.statistics), posterior.leaf.mean(posterior.root_statistics)
    largest = np.abs(means - centre).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    trees = sum_of_trees(posterior.forest, posterior.weights, (means - centre) / scale)
    return _model(posterior, _ensemble(posterior, trees), {"centre": centre, "scale": scale})


# The tree ensemble


def _ensemble(posterior: WeightedTrees, trees: list[SummedTree]) -> dict[str, Any]:
    """Return the attributes of the operator."""
    nodes = [node for number, tree in enumerate(trees) for node in _nodes(posterior, number, tree)]
    leaves = []  # tree, node, output and value; a leaf of value 0 has one entry, for the first output
    for number, tree in enumerate(trees):
        for node in np.flatnonzero(np.array(tree.rule) < 0).tolist():
            value = tree.values[node].tolist()
            leaves += [(number, node, *each) for each in enumerate(value if any(value) else value[:1])]
    columns = dict(zip(Node._fields, map(list, zip(*nodes, strict=True)), strict=True))
    leaf_trees, leaf_nodes, outputs, weights = map(list, zip(*leaves, strict=True))
    return {
        "n_targets": posterior.target.n_outputs,
        "nodes_treeids": columns["tree"],
        "nodes_nodeids": columns["number"],
        "nodes_featureids": columns["feature"],
        "nodes_modes": columns["mode"],
        "nodes_values_as_tensor": np.array(columns["value"]),
        "nodes_truenodeids": columns["yes"],
        "nodes_falsenodeids": columns["no"],
        "nodes_missing_value_tracks_true": columns["is_missing_yes"],
        "target_treeids": leaf_trees,
        "target_nodeids": leaf_nodes,
        "target_ids": outputs,
        "target_weights_as_tensor": np.array(weights),
    }


def _nodes(posterior: WeightedTrees, number: int, tree: SummedTree) -> Iterator[Node]:
    n_nodes = len(tree.rule)  # further numbers are those of comparisons with levels
    for node, of in enumerate(tree.rule):
        record = posterior.forest.nodes[of]
        if of < 0:
            yield Node(number, node)
        elif rule.is_set(record):
            chain = list(_chain(posterior, number, tree, node, n_nodes))
            n_nodes += len(chain) - 1
            yield from chain
        else:
            yes, no, feature = tree.left[node], tree.right[node], int(record["feature"])
            is_missing_left = int(record["kind"] == rule.CUT_MISSING_LEFT)
            yield Node(number, node, feature, "BRANCH_LEQ", float(record["threshold"]), yes, no, is_missing_left)


def _chain(posterior: WeightedTrees, number: int, tree: SummedTree, node: int, n_nodes: int) -> Iterator[Node]:
    """Yield the comparisons with the levels of the smaller side; the first one replaces the node."""
    record = posterior.forest.nodes[tree.rule[node]]
    feature = int(record["feature"])
    numbers = np.arange(len(posterior.columns.levels[feature]) + 2)  # levels, missing, and unseen levels
    is_left = rule.left_levels(record, numbers)
    yes, no = tree.left[node], tree.right[node]
    if 2 * is_left.sum() > is_left.size:
        yes, no, is_left = no, yes, ~is_left
    compared = numbers[is_left].tolist() or [-1]  # a set may send every number to one side
    places = [node, *range(n_nodes, n_nodes + len(compared) - 1)]
    for place, after, level in zip(places, [*places[1:], no], compared, strict=True):
        yield Node(number, place, feature, "BRANCH_EQ", float(level), yes, after)


# The graph


class Outputs(NamedTuple):
    """The part of the graph from the means to the outputs: operators, constants, and output descriptions."""

    operators: list[Any]
    constants: dict[str, NDArray[Any]]
    described: list[Any]


def _model(posterior: WeightedTrees, ensemble: dict[str, Any], affine: dict[str, Floats]) -> Any:
    """Return the graph; predictions are centre + scale * output of the ensemble."""
    from onnx import TensorProto, helper, numpy_helper

    outputs = _outputs(posterior.target)
    operators = [*_means(ensemble), *outputs.operators]
    table = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, posterior.n_features])
    constants = affine | outputs.constants
    arrays = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(operators, "particletree", [table], outputs.described, arrays)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="particletree")
    # What a user of the file needs to encode rows.
    levels = {str(feature): list(names) for feature, names in posterior.columns.levels.items()}
    about = {"feature_names": posterior.feature_names, "levels": levels, "particletree_version": __version__}
    helper.set_model_props(model, {name: json.dumps(value) for name, value in about.items()})
    return model


def _means(ensemble: dict[str, Any]) -> list[Any]:
    """Return the operators from `X` to `means`."""
    from onnx import TensorProto, helper, numpy_helper

    attributes = {
        name: numpy_helper.from_array(value, name) if isinstance(value, np.ndarray) else value
        for name, value in ensemble.items()
    }
    return [
        helper.make_node("TreeEnsembleRegressor", ["X"], ["deviations"], domain=ML, **attributes),
        helper.make_node("Cast", ["deviations"], ["double_deviations"], to=TensorProto.DOUBLE),
        helper.make_node("Mul", ["double_deviations", "scale"], ["scaled_deviations"]),
        helper.make_node("Add", ["scaled_deviations", "centre"], ["means"]),
    ]


def _outputs(target: Target) -> Outputs:
    from onnx import TensorProto, helper

    if isinstance(target, ClassLabels):
        return _class_outputs(target)
    shape = [None] if target.n_outputs == 1 else [None, target.n_outputs]
    output = helper.make_tensor_value_info("prediction", TensorProto.DOUBLE, shape)
    reshape = helper.make_node("Reshape", ["means", "shape"], ["prediction"])
    return Outputs([reshape], {"shape": np.array([-1, *shape[1:]])}, [output])


def _class_outputs(target: ClassLabels) -> Outputs:
    from onnx import TensorProto, helper

    labels = np.array(target.classes.tolist())
    labels = labels.astype(object) if labels.dtype.kind == "U" else labels
    operators = [
        helper.make_node("Identity", ["means"], ["probabilities"]),
        helper.make_node("ArgMax", ["means"], ["best"], axis=1, keepdims=0),
        helper.make_node("Gather", ["labels", "best"], ["label"]),
    ]
    described = [
        helper.make_tensor_value_info("label", helper.np_dtype_to_tensor_dtype(labels.dtype), [None]),
        helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, [None, target.n_outputs]),
    ]
    return Outputs(operators, {"labels": labels}, described)
