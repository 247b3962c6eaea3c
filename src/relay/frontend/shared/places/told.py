"""Extents that a model tells apart from the type of a tensor: by attributes, or by what an axis means."""

from __future__ import annotations

from collections.abc import Mapping

from relay.frontend.shared.node import Node
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr
from relay.ops.manipulation.shape import reshape


def with_extents(node: Node, value: Value, told: Mapping[int, int]) -> Expr:
    """The value with the extents of these axes; where its type does not tell them, the run checks it."""
    shape = tuple(told.get(axis, extent) for axis, extent in enumerate(value.shape))
    if any(isinstance(extent, int) and extent != shape[axis] for axis, extent in enumerate(value.shape)):
        node.unsupported(f"with a tensor of type {value.type} that is said to be of the shape {shape}")
    return value.expr if shape == value.shape else reshape(value.expr, shape, allowzero=True)
