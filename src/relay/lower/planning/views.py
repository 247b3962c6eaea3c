"""Groups whose result is a part of the memory of their first parameter, so that nothing needs to run: they change only
the shape, or take some of the elements that lie together."""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import Call, Expr, Function, Op, Var
from relay.ir.types import TensorType
from relay.lower.kernels.external import is_opaque
from relay.lower.kernels.index_faults import tells_of_body
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.combine import SplitAttributes, split_ranges
from relay.ops.manipulation.slice import Slice, StridedSliceAttributes, slices_of


def is_view(function: Function) -> bool:
    """Whether a primitive function only reshapes its first parameter; others say nothing but the shape. What another
    compiler has taken is computed by its code."""
    calls = _calls_of_first(function)
    return bool(calls) and all(map(_reshapes, calls))


def first_elements(function: Function) -> tuple[int, ...] | None:
    """How many elements of its first parameter stand before each result of a primitive function, where it takes parts
    of that which lie together; None where it does anything else, or that is not known now."""
    found: tuple[int, ...] | None = None
    for call in reversed(_calls_of_first(function)):
        starts = (0,) if _reshapes(call) else _starts(call)
        if starts is None:
            return None
        found = tuple((found[0] if found else 0) + start for start in starts)
    return found


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
    if is_opaque(function) or tells_of_body(function):
        return []
    while isinstance(expr, Call) and expr.args:
        calls.append(expr)
        expr = expr.args[0]
    return calls if isinstance(expr, Var) and expr is function.params[0] else []


def _reshapes(call: Call) -> bool:
    op = call.op
    return isinstance(op, Op) and isinstance(op.operator, OperatorRecord) and op.operator.is_view


def _starts(call: Call) -> tuple[int, ...] | None:
    """The first element that each result of a slice or a split takes, where those that it takes lie together."""
    data = call.args[0].checked_type
    shape = _numbers(data.shape) if isinstance(data, TensorType) else ()
    match call.attrs:
        case StridedSliceAttributes() as attributes if shape:
            found = [slices_of(attributes, shape)]
        case SplitAttributes() as attributes if shape:
            axis = attributes.axis % len(shape)
            before, after = (tuple(Slice(0, extent) for extent in part) for part in (shape[:axis], shape[axis + 1 :]))
            ranges = split_ranges(attributes, shape[axis])
            found = [(*before, Slice(start, size), *after) for start, size in ranges]
        case _:
            return None
    starts = [_start(each, shape) for each in found]
    known = tuple(start for start in starts if start is not None)
    return known if len(known) == len(starts) else None


def _start(slices: Sequence[Slice], shape: tuple[int, ...]) -> int | None:
    """The first element of a part that lies together: one entry of each leading axis, neighbours along one axis, and
    all of those behind it."""
    start, stretch, whole = 0, 1, True
    for extent, part in reversed(list(zip(shape, slices, strict=True))):
        if not isinstance(part.start, int) or not isinstance(part.size, int) or part.size == 0:
            return None
        if part.size > 1 and not (whole and part.stride == 1):
            return None
        whole = whole and part.size == extent
        start += part.start * stretch
        stretch *= extent
    return start


def _numbers(shape: Sequence[object]) -> tuple[int, ...]:
    """Extents that are numbers; none where some are not."""
    known = tuple(extent for extent in shape if isinstance(extent, int))
    return known if len(known) == len(shape) else ()
