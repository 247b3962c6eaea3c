"""Operators whose result has extents that only values tell (`arange`, `argwhere`, `unique`, `dyn.reshape`).

Such an operator is a kernel group of its own, and runs in two steps: a kernel computes the extents, which become
symbols of the procedure; then there is room for the result, and a second kernel fills it.

    before: let %v: Tensor[(arange_0,), int32] = fn (%p0, Primitive=1) { arange(0, %p0, 1) }(%n)
    after:  %1 = tensor int64[1]; arange_extents(%n) into %1; arange_0 = %1[0]; check -1 != arange_0
            %2 = tensor int32[arange_0]; arange(%n) into %2 [arange_0]
"""

from __future__ import annotations

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.type_traversal import type_symbols
from relay.ir.types import TensorType
from relay.ops.framework.record import FromValues, OperatorRecord

EXTENTS = "Extents"
"""The attribute of a primitive function that stands for the extents of its body, not for its value."""


def value_extents(function: Function) -> FromValues | None:
    """How the open extents of a primitive function are found, if values tell them."""
    match function.body:
        case Call(op=Op(operator=OperatorRecord(extents=FromValues() as extents))) if open_symbols(function):
            return extents
        case _:
            return None


def open_symbols(function: Function) -> tuple[Symbol, ...]:
    """The symbols of a primitive function's result that stand in no parameter, in order of appearance.

    Where the extents come from types, these are symbols that the function around it knows (`zeros` of a shape).
    """
    if function.body.checked_type is None:
        return ()
    given = {symbol for parameter in function.params for symbol in _symbols(parameter)}
    return tuple(symbol for symbol in type_symbols(function.body.checked_type) if symbol not in given)


def _symbols(expr: Expr) -> tuple[Symbol, ...]:
    return () if expr.checked_type is None else type_symbols(expr.checked_type)


def extents_function(function: Function) -> Function:
    """The primitive function of the open extents of another's result."""
    name = f"{function.attrs.get('name', 'kernel')}_extents"
    attrs = {**function.attrs, "name": name, EXTENTS: 1}
    type_ = TensorType((len(open_symbols(function)),), DType.INT64)
    return Function(function.params, function.body, type_, attrs=attrs, span=function.span)
