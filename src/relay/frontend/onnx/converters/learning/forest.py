"""Ensembles of decision trees as tables of nodes.   x[b, features] → [b, targets]

All trees go down at once, level by level: places[b, trees] becomes the places of the children that the features choose.
A leaf is its own child, so that all arrive after as many levels as the deepest tree has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.onnx.node import OnnxNode
from relay.frontend.shared.control.loops import Exprs, repeated
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import (
    equal,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    not_equal,
    where,
)
from relay.ops.elementwise.elementwise_binary import add, logical_or, multiply
from relay.ops.framework.build import with_known_type
from relay.ops.indexing.index import gather, take
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.reduction import reduce

Numbers = NDArray[Any]

_COMPARISONS: Sequence[tuple[str, Callable[[Expr, Expr], Expr]]] = (
    ("BRANCH_LEQ", less_equal), ("BRANCH_LT", less), ("BRANCH_GTE", greater_equal), ("BRANCH_GT", greater),
    ("BRANCH_EQ", equal), ("BRANCH_NEQ", not_equal),
)  # fmt: skip
MEMBER = len(_COMPARISONS)
LEAF = -1
MODES = {name: place for place, (name, _) in enumerate(_COMPARISONS)} | {"LEAF": LEAF}
"""How nodes compare, by name; a node of a set has no name."""
_DEEPEST = 4096


@frozen(eq=False)
class Forest:
    """Nodes by place: how each compares which feature with what (`members` has a row of numbers for each node, those of
    sets), its children, and whether NaN is true. `weights[nodes, targets]` is what a leaf says, NaN where it says
    nothing."""

    modes: Numbers
    features: Numbers
    splits: Numbers
    yes: Numbers
    no: Numbers
    nan_is_true: Numbers
    members: Numbers | None
    roots: Numbers
    weights: Numbers

    @property
    def dtype(self) -> DType:
        """What numbers are compared and summed in."""
        return DType.FLOAT64 if self.splits.dtype == np.float64 else DType.FLOAT32


def _depth(node: OnnxNode, forest: Forest) -> int:
    """Of the deepest leaf."""
    level = np.unique(forest.roots)
    for depth in range(_DEEPEST):
        inner = level[forest.modes[level] != LEAF]
        if not inner.size:
            return depth
        level = np.unique(np.concatenate([forest.yes[inner], forest.no[inner]]))
    return node.unsupported(f"with nodes more than {_DEEPEST} deep, or in a circle")


def in_range(node: OnnxNode, places: Numbers, count: int, what: str) -> Numbers:
    if places.size and (int(places.min()) < 0 or int(places.max()) >= count):
        node.unsupported(f"with {what} outside of its {count}")
    return places


def _arrived(node: OnnxNode, forest: Forest, x: Expr) -> Expr:
    """int64[b, trees]: the leaf that each tree comes to."""
    depth = _depth(node, forest)
    batch = node.value(0).shape[0]
    start = broadcast_to(const(forest.roots[None]), (batch, forest.roots.size))
    count, one = with_known_type(const(0, DType.INT64)), const(1, DType.INT64)

    def step(state: Exprs, given: Exprs) -> Exprs:
        turn, places = state
        chosen = _chosen(forest, places, given[0])
        return [add(turn, one), where(chosen, take(const(forest.yes), places), take(const(forest.no), places))]

    found = repeated(
        node, [count, start], [x], lambda state, _: less(state[0], const(depth, DType.INT64)), step
    )  # fmt: skip
    return found[1]


def _chosen(forest: Forest, places: Expr, x: Expr) -> Expr:
    """Whether the nodes at these places are true."""
    value, split = gather(x, 1, take(const(forest.features), places)), take(const(forest.splits), places)
    modes, kinds = take(const(forest.modes), places), [int(each) for each in np.unique(forest.modes) if each != LEAF]
    result: Expr | None = None
    for kind in kinds:
        if kind == MEMBER:
            members = take(const(forest.members), places, axis=0)
            holds: Expr = reduce.any(equal(expand_dims(value, 2), members), -1)
        else:
            holds = _COMPARISONS[kind][1](value, split)
        result = holds if result is None else where(equal(modes, const(kind, DType.INT64)), holds, result)
    if result is None:  # leaves only
        return equal(places, places)
    if not np.any(forest.nan_is_true):
        return result
    return where(isnan(value), logical_or(result, take(const(forest.nan_is_true), places)), result)


def aggregated(node: OnnxNode, forest: Forest, how: str) -> Expr:
    """[b, targets]: what the leaves say, over all trees."""
    x, nodes = node.value(0), forest.modes.size
    features = x.shape[1] if x.rank == 2 else None
    if not isinstance(features, int):
        node.unsupported(f"of {x.type}")
    for places, count, what in (
        (forest.yes, nodes, "nodes"), (forest.no, nodes, "nodes"), (forest.roots, nodes, "nodes"),
        (forest.features, features, "features"),
    ):  # fmt: skip
        in_range(node, places, count, what)
    leaves = _arrived(node, forest, as_dtype(x.expr, forest.dtype))
    silent = np.isnan(forest.weights)

    def said(otherwise: float) -> Expr:
        return take(const(np.where(silent, otherwise, forest.weights).astype(forest.weights.dtype)), leaves, axis=0)

    match how:
        case "SUM" | "AVERAGE":
            total = reduce.sum(said(0.0), 1)
            return total if how == "SUM" else multiply(total, const(1 / forest.roots.size, forest.dtype))
        case "MIN":
            return reduce.min(said(float(np.finfo(forest.weights.dtype).max)), 1)
        case "MAX":
            return reduce.max(said(float(np.finfo(forest.weights.dtype).min)), 1)
        case other:
            return node.unsupported(f"with aggregate_function {other!r}")
