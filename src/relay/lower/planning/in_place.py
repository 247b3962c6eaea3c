"""Which inputs of a kernel its results may be written over.

An input qualifies when the kernel reads each of its elements only to make the results' elements at the same place: then
nothing is read after it was overwritten. That holds when everything the input flows through, up to the results, is
elementwise or broadcasting and has their shape. Several results of one shape are written together, when all elements at
a place are known.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import Call, Expr, Function, Op, Tuple
from relay.ir.traversal import children, post_order
from relay.ir.types import TensorType
from relay.ops.framework.record import FusionKind, OperatorRecord


def in_place_inputs(function: Function) -> tuple[int, ...]:
    """Positions of the parameters of a primitive function that a result may share memory with."""
    body = function.body
    ends = body.fields if isinstance(body, Tuple) else (body,)
    results = [each.checked_type for each in ends if isinstance(each.checked_type, TensorType)]
    if len(results) < len(ends) or len({each.shape for each in results}) != 1:
        return ()
    readers: dict[int, list[Expr]] = {}
    for expr in post_order(body):
        for child in children(expr):
            readers.setdefault(id(child), []).append(expr)
    return tuple(
        position
        for position, parameter in enumerate(function.params)
        if parameter.checked_type in results and _flows_elementwise(parameter, body, readers, results[0])
    )


def results_of(function: Function, positions: Sequence[int]) -> tuple[bool, ...]:
    """Which fields of the result of a primitive function are made of some of its parameters.

    >>> from relay.ops.framework.build import var
    >>> from relay.ops.elementwise.elementwise_binary import add, subtract
    >>> w, m, g = (var(name, shape=(4,)) for name in "wmg")
    >>> moved = add(m, g)
    >>> results_of(Function((w, m, g), Tuple((moved, subtract(w, moved)))), [0])
    (False, True)
    """
    made: set[Expr] = {function.params[position] for position in positions}
    for expr in post_order(function.body):
        if not made.isdisjoint(children(expr)):
            made.add(expr)
    fields = function.body.fields if isinstance(function.body, Tuple) else (function.body,)
    return tuple(each in made for each in fields)


def _flows_elementwise(parameter: Expr, body: Expr, readers: dict[int, list[Expr]], result: TensorType) -> bool:
    stack: list[Expr] = list(readers.get(id(parameter), ()))
    seen: set[int] = set()
    while stack:
        reader = stack.pop()
        if id(reader) in seen:
            continue
        seen.add(id(reader))
        if reader is body and isinstance(reader, Tuple):
            continue
        if not _is_elementwise(reader) or not _has_shape_of(reader, result):
            return False
        stack.extend(readers.get(id(reader), ()))
    return bool(seen)


def _is_elementwise(expr: Expr) -> bool:
    if not isinstance(expr, Call) or not isinstance(expr.op, Op):
        return False
    record = expr.op.operator
    return isinstance(record, OperatorRecord) and record.fusion <= FusionKind.BROADCAST


def _has_shape_of(expr: Expr, result: TensorType) -> bool:
    type_ = expr.checked_type
    return isinstance(type_, TensorType) and type_.shape == result.shape
