"""Write special forms by general operators: CanonicalizeOps.

before: nn.bias_add(%x, %b, axis=1)                    (%x of rank 4)
after:  add(%x, expand_dims(%b, axis=1, num_newaxis=2))

before: %0 = split(%x, indices_or_sections=2, axis=1); %0.1                   (%x of shape (1, 8))
after:  strided_slice(%x, begin=[4], end=[8], axes=[1])

Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Function, Op, TupleGetItem
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.record import OperatorRecord
from relay.ops.framework.scale_role import AddsBias
from relay.ops.manipulation.combine import SplitAttributes, split_ranges
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.slice import strided_slice
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=3)
def CanonicalizeOps(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace bias_add by a broadcast addition and parts of a split by slices: these fuse and fold like any other."""
    return rewrite_nodes(function, lambda _, expr: _canonical(expr))


def _canonical(expr: Expr) -> Expr:
    match expr:
        case Call(op=Op(operator=OperatorRecord(scale=AddsBias(axis))), args=(data, bias), attrs=attrs):
            type_ = data.checked_type
            if not isinstance(type_, TensorType):
                return expr
            rank = len(type_.shape)
            trailing = rank - 1 - getattr(attrs, axis) % rank
            return add(data, expand_dims(bias, axis=1, num_newaxis=trailing) if trailing else bias)
        case TupleGetItem(tuple_value=Call(args=(data,), attrs=SplitAttributes() as attrs), index=index):
            return _part(data, attrs, index) or expr
        case _:
            return expr


def _part(data: Expr, attributes: SplitAttributes, index: int) -> Expr | None:
    """One part of a split as a slice, where its place is known."""
    type_ = data.checked_type
    if not isinstance(type_, TensorType):
        return None
    axis = attributes.axis % len(type_.shape)
    start, size = split_ranges(attributes, type_.shape[axis])[index]
    if not isinstance(start, int) or not isinstance(size, int):
        return None
    return strided_slice(data, begin=(start,), end=(start + size,), axes=(axis,))
