"""Groups whose result is a part of the memory of their first parameter, so that nothing needs to run: they change only
the shape, or take some of the elements that lie together."""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Function, Op, Var
from relay.ir.types import TensorType
from relay.lower.external import is_external
from relay.ops.record import OperatorRecord
from relay.ops.slice import StridedSliceAttributes, slices_of


def is_view(function: Function) -> bool:
    """Whether a primitive function only reshapes its first parameter; others say nothing but the shape. What another
    compiler has taken is computed by its code."""
    calls = _calls_of_first(function)
    return bool(calls) and all(map(_reshapes, calls))


def first_element(function: Function) -> int | None:
    """How many elements of its first parameter stand before those that a primitive function gives, which lie together;
    None where it does anything else, or that is not known now."""
    starts = [0 if _reshapes(call) else _start_of_slice(call) for call in _calls_of_first(function)]
    known = [start for start in starts if start is not None]
    return sum(known) if starts and len(known) == len(starts) else None


def behind_reshapes(expr: Expr) -> Expr:
    """What an expression only gives another shape to."""
    while isinstance(expr, Call) and _reshapes(expr):
        expr = expr.args[0]
    return expr


def _calls_of_first(function: Function) -> list[Call]:
    """The calls that a body consists of, where each has the next as its first argument, and the last has the first
    parameter."""
    calls: list[Call] = []
    expr: Expr = function.body
    while isinstance(expr, Call) and expr.args and not is_external(function):
        calls.append(expr)
        expr = expr.args[0]
    return calls if isinstance(expr, Var) and expr is function.params[0] else []


def _reshapes(call: Call) -> bool:
    op = call.op
    return isinstance(op, Op) and isinstance(op.operator, OperatorRecord) and op.operator.is_view


def _start_of_slice(call: Call) -> int | None:
    """The first element that a slice takes, where those that it takes lie together: one entry of each leading axis,
    neighbours along one axis, and all of those behind it."""
    data, result = call.args[0].checked_type, call.checked_type
    if not (isinstance(call.attrs, StridedSliceAttributes) and _has_elements(data) and _has_elements(result)):
        return None
    assert isinstance(data, TensorType)
    start, stretch, whole = 0, 1, True
    for extent, part in reversed(list(zip(data.shape, slices_of(call.attrs, data.shape), strict=True))):
        assert isinstance(extent, int)
        if not isinstance(part.start, int) or not (part.size == 1 or (whole and part.stride == 1)):
            return None
        whole = whole and part.size == extent
        start += part.start * stretch
        stretch *= extent
    return start


def _has_elements(type_: object) -> bool:
    """Whether a type is of tensors of so many elements, as a number that is not 0."""
    return isinstance(type_, TensorType) and all(isinstance(extent, int) and extent for extent in type_.shape)
