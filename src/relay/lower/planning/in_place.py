"""Which inputs of a kernel its result may be written over.

An input qualifies when the kernel reads each of its elements only to make the result's element at the same place: then
nothing is read after it was overwritten. That holds when everything the input flows through, up to the result, is
elementwise or broadcasting and has the result's shape.
"""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.traversal import children, post_order
from relay.ir.types import TensorType, Type
from relay.ops.record import FusionKind, OperatorRecord


def in_place_inputs(function: Function) -> tuple[int, ...]:
    """Positions of the parameters of a primitive function that its result may share memory with."""
    result = function.body.checked_type
    if not isinstance(result, TensorType):
        return ()
    readers: dict[int, list[Expr]] = {}
    for expr in post_order(function.body):
        for child in children(expr):
            readers.setdefault(id(child), []).append(expr)
    return tuple(
        position
        for position, parameter in enumerate(function.params)
        if parameter.checked_type == result and _flows_elementwise(parameter, readers, result)
    )


def _flows_elementwise(parameter: Expr, readers: dict[int, list[Expr]], result: Type) -> bool:
    stack: list[Expr] = list(readers.get(id(parameter), ()))
    seen: set[int] = set()
    while stack:
        reader = stack.pop()
        if id(reader) in seen:
            continue
        seen.add(id(reader))
        if not _is_elementwise(reader) or not _has_shape_of(reader, result):
            return False
        stack.extend(readers.get(id(reader), ()))
    return bool(seen)


def _is_elementwise(expr: Expr) -> bool:
    if not isinstance(expr, Call) or not isinstance(expr.op, Op):
        return False
    record = expr.op.operator
    return isinstance(record, OperatorRecord) and record.fusion <= FusionKind.BROADCAST


def _has_shape_of(expr: Expr, result: Type) -> bool:
    type_ = expr.checked_type
    return isinstance(type_, TensorType) and isinstance(result, TensorType) and type_.shape == result.shape
