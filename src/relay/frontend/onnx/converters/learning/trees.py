"""TreeEnsemble and its two older forms, TreeEnsembleRegressor and TreeEnsembleClassifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from relay.frontend.onnx.converters.learning.forest import LEAF, MEMBER, MODES, Forest, Numbers, aggregated, in_range
from relay.frontend.onnx.converters.learning.scores import (
    best,
    both_ways,
    class_labels,
    of_two_classes,
    transformed,
    with_rest,
)
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.tensor_attribute import tensor_attribute
from relay.frontend.shared.formulas.triangles import LARGEST_CONSTANT
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr, const
from relay.ops.elementwise.elementwise_binary import add

# TreeEnsemble: nodes and leaves apart

_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def _ints(node: OnnxNode, name: str, default: Sequence[int] | None = None) -> Numbers:
    return np.array(node.ints(name, default), np.int64)


def _named(node: OnnxNode, name: str, names: Sequence[str]) -> str:
    number = node.int(name)
    return names[number] if 0 <= number < len(names) else node.unsupported(f"with {name} {number}")


def _ensemble(node: OnnxNode) -> Result:
    forest = _of_nodes_and_leaves(node)
    total = aggregated(node, forest, _named(node, "aggregate_function", _AGGREGATES))
    return transformed(node, total, _named(node, "post_transform", _TRANSFORMS))


def _of_nodes_and_leaves(node: OnnxNode) -> Forest:
    """Leaves come behind the nodes."""
    modes, splits = tensor_attribute(node, "nodes_modes").astype(np.int64), tensor_attribute(node, "nodes_splits")
    targets, said = _ints(node, "leaf_targetids"), tensor_attribute(node, "leaf_weights")
    nodes, leaves, count = modes.size, said.size, node.int("n_targets")
    children: list[Numbers] = []
    for side in ("true", "false"):
        is_leaf, child = (_ints(node, f"nodes_{side}{what}") for what in ("leafs", "nodeids"))
        _same_length(node, [is_leaf, child, modes])
        in_range(node, child[is_leaf != 0], leaves, "leaves")
        in_range(node, child[is_leaf == 0], nodes, "nodes")
        children.append(np.where(is_leaf != 0, nodes + child, child))
    none, itself = np.zeros(leaves, np.int64), np.arange(nodes, nodes + leaves)
    features = _ints(node, "nodes_featureids")
    nan_is_true = _ints(node, "nodes_missing_value_tracks_true", (0,) * nodes)
    _same_length(node, [features, nan_is_true, splits, modes])
    _same_length(node, [targets, said])
    weights = _silent(node, nodes + leaves, count, said)
    weights[itself, in_range(node, targets, count, "targets")] = said
    return Forest(
        np.concatenate([modes, np.full(leaves, LEAF)]), np.concatenate([features, none]),
        np.concatenate([splits, none.astype(splits.dtype)]), np.concatenate([children[0], itself]),
        np.concatenate([children[1], itself]), np.concatenate([nan_is_true, none]) != 0,
        _members(node, modes, leaves), in_range(node, _ints(node, "tree_roots"), nodes, "nodes"), weights,
    )  # fmt: skip


def _members(node: OnnxNode, modes: Numbers, leaves: int) -> Numbers | None:
    """The sets stand one after another, each with NaN behind it, in the order of the nodes that ask for them."""
    places = np.flatnonzero(modes == MEMBER)
    if not places.size:
        return None
    given = tensor_attribute(node, "membership_values") if node.has("membership_values") else np.zeros(0, np.float32)
    sets = np.split(given, np.flatnonzero(np.isnan(given)) + 1)[:-1]
    if len(sets) != places.size:
        node.unsupported(f"with {len(sets)} sets for {places.size} nodes")
    found = np.full((modes.size + leaves, max(each.size for each in sets)), np.nan, given.dtype)
    for place, each in zip(places, sets, strict=True):
        found[place, : each.size] = each  # NaN is no member
    return found


def _silent(node: OnnxNode, nodes: int, targets: int, said: Numbers) -> Numbers:
    """[nodes, targets]: none says anything."""
    if targets < 1 or nodes * targets > LARGEST_CONSTANT:
        node.unsupported(f"with {nodes} nodes and {targets} targets")
    return np.full((nodes, targets), np.nan, said.dtype)


def _same_length(node: OnnxNode, given: Sequence[Numbers]) -> None:
    if len({each.size for each in given}) > 1:
        node.unsupported(f"with attributes of {', '.join(str(each.size) for each in given)} entries")


# The older forms: nodes by the numbers of their trees, leaves among them


def _older_forest(node: OnnxNode, what: str, columns: int) -> Forest:
    """`what` the leaves are about: targets or classes."""
    texts: Any = node.attributes["nodes_modes"]
    if not set(texts) <= set(MODES):
        node.unsupported(f"with modes {', '.join(sorted(set(texts) - set(MODES)))}")
    modes = np.array([MODES[text] for text in texts], np.int64)
    trees, numbers = _ints(node, "nodes_treeids"), _ints(node, "nodes_nodeids")
    yes, no = _ints(node, "nodes_truenodeids"), _ints(node, "nodes_falsenodeids")
    features, splits = _ints(node, "nodes_featureids"), _floats(node, "nodes_values")
    nan_is_true = _ints(node, "nodes_missing_value_tracks_true", ())
    nan_is_true = nan_is_true if nan_is_true.size else np.zeros(modes.size, np.int64)
    _same_length(node, [modes, trees, numbers, yes, no, features, splits, nan_is_true])
    places = {pair: place for place, pair in enumerate(zip(trees.tolist(), numbers.tolist(), strict=True))}

    def placed(of: Numbers, ids: Numbers) -> Numbers:
        pairs = list(zip(of.tolist(), ids.tolist(), strict=True))
        if any(pair not in places for pair in pairs):
            node.unsupported("with a node that is none of its tree's")
        return np.array([places[pair] for pair in pairs], np.int64)

    inner = modes != LEAF
    children = [np.arange(modes.size), np.arange(modes.size)]
    for each, ids in zip(children, (yes, no), strict=True):
        each[inner] = placed(trees[inner], ids[inner])
    below = np.concatenate([each[inner] for each in children])
    roots = np.setdiff1d(np.arange(modes.size), below)
    stem = {"targets": "target", "classes": "class"}[what]
    of, ids, targets = (_ints(node, f"{stem}_{name}") for name in ("treeids", "nodeids", "ids"))
    said = _floats(node, f"{stem}_weights")
    _same_length(node, [of, ids, targets, said])
    weights = _silent(node, modes.size, columns, said)
    at = placed(of, ids), in_range(node, targets, columns, what)
    weights[at] = 0
    np.add.at(weights, at, said)
    return Forest(
        modes, np.where(inner, features, 0), splits, children[0], children[1], nan_is_true != 0, None, roots, weights
    )


def _floats(node: OnnxNode, name: str) -> Numbers:
    if node.has(f"{name}_as_tensor"):
        return tensor_attribute(node, f"{name}_as_tensor")
    return np.array(node.ints(name, ()), np.float32)


def _with_base(node: OnnxNode, total: Expr, forest: Forest) -> Expr:
    base = _floats(node, "base_values")
    return add(total, const(base.astype(forest.weights.dtype))) if base.size else total


def _regressor(node: OnnxNode) -> Result:
    forest = _older_forest(node, "targets", node.int("n_targets"))
    total = _with_base(node, aggregated(node, forest, node.text("aggregate_function")), forest)
    return transformed(node, total, node.text("post_transform"))


def _classifier(node: OnnxNode) -> Result:
    """The label and the scores. Where leaves speak of one class of two, it is the second, and the first has the rest:
    1 - score, if no leaf is negative, else -score (as onnxruntime has it)."""
    labels, transform = class_labels(node, "classlabels_int64s", "classlabels_strings"), node.text("post_transform")
    classes, spoken_of = len(node.ints("classlabels_int64s")), np.unique(_ints(node, "class_ids"))
    if classes != 2 or spoken_of.size != 1:
        forest = _older_forest(node, "classes", classes)
        scores = _with_base(node, aggregated(node, forest, "SUM"), forest)
        return best(scores, labels), transformed(node, scores, transform)
    forest = _older_forest(node, "classes", int(spoken_of[0]) + 1)
    total = _with_base(node, aggregated(node, _last_column(forest), "SUM"), forest)
    if bool(np.all(np.nan_to_num(forest.weights) >= 0)):
        scores = with_rest(total, forest.dtype)
        if transform not in ("NONE", "LOGISTIC"):
            node.unsupported(f"of one class with post_transform {transform!r}")
        return of_two_classes(total, 0.5, labels, forest.dtype), scores
    return of_two_classes(total, 0.0, labels, forest.dtype), transformed(node, both_ways(total), transform)


def _last_column(forest: Forest) -> Forest:
    return replace(forest, weights=forest.weights[:, -1:])


_NODES = (
    "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates", "nodes_missing_value_tracks_true", "nodes_modes",
    "nodes_truenodeids",
)  # fmt: skip
_OLDER = (
    *_NODES, "base_values", "base_values_as_tensor", "nodes_hitrates_as_tensor", "nodes_nodeids", "nodes_treeids",
    "nodes_values", "nodes_values_as_tensor", "post_transform",
)  # fmt: skip

TREES: tuple[Converter, ...] = (
    converter(
        "ai.onnx.ml.TreeEnsemble", _ensemble, *_NODES, "aggregate_function", "leaf_targetids", "leaf_weights",
        "membership_values", "n_targets", "nodes_falseleafs", "nodes_splits", "nodes_trueleafs", "post_transform",
        "tree_roots",
    ),
    converter(
        "ai.onnx.ml.TreeEnsembleRegressor", _regressor, *_OLDER, "aggregate_function", "n_targets", "target_ids",
        "target_nodeids", "target_treeids", "target_weights", "target_weights_as_tensor",
    ),
    converter(
        "ai.onnx.ml.TreeEnsembleClassifier", _classifier, *_OLDER, "class_ids", "class_nodeids", "class_treeids",
        "class_weights", "class_weights_as_tensor", "classlabels_int64s", "classlabels_strings",
    ),
)  # fmt: skip
